"""`{{date}}` and its like in the parameters and the output path of a schedule.

A template names one of a few values, and nothing else: no attribute is read, nothing is called, there are no loops, no
conditions and no variables of the environment. What is wrong with one is said when the schedule is added.

    {{date}}                                  2026-11-20, the day on which the run is due, in the schedule's zone
    {{time}}                                  06:00
    {{run_number}}                            1, 2, 3 …
    {{schedule}}                              the schedule's name
    {{previous.results.health_score}}         a result of the last run that succeeded
    {{previous.results.health_score or 0}}    and what to take as long as there is none

A parameter that is one template and nothing else is the value with its type; within other text it is text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import cast

import msgspec

from ..errors import BadInput
from ..ids import nearest
from ..values import Json

OF_TIME = ("date", "time", "run_number", "schedule")
"""What is known of every run: these may stand in a path, too."""
PREVIOUS = "previous.results."
_TEMPLATE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w-]{0,99}(?:\.[\w-]{1,100}){0,3}")
_FORMS = "{{date}}, {{time}}, {{run_number}}, {{schedule}} and {{previous.results.NAME}}"


class MissingValue(msgspec.Struct, frozen=True):
    """The value of a template that names a result which no run has recorded yet."""

    name: str


class _Reference(msgspec.Struct, frozen=True):
    name: str
    default: Json | MissingValue


def check_templates(value: Json, what: str, *, in_path: bool = False) -> None:
    """Refuse a text with a template that could not be filled, also inside lists and objects."""
    match value:
        case str():
            _check_text(value, what, in_path=in_path)
        case list():
            for each in cast("list[Json]", value):
                check_templates(each, what, in_path=in_path)
        case dict():
            for name, each in cast("dict[str, Json]", value).items():
                _check_text(name, what, in_path=False)
                check_templates(each, what, in_path=in_path)
        case _:
            pass


def values_at(name: str, due: datetime, zone: tzinfo, run_number: int, previous: Mapping[str, Json]) -> dict[str, Json]:
    """Return what templates may name, for the run of a schedule that is due at a moment."""
    local = due.astimezone(zone)
    known: dict[str, Json] = {f"{PREVIOUS}{result}": value for result, value in previous.items()}
    known |= {"date": local.date().isoformat(), "time": local.strftime("%H:%M"), "run_number": run_number}
    return known | {"schedule": name}


def fill(value: Json, known: Mapping[str, Json]) -> Json | MissingValue:
    """Return a value with its templates filled; MissingValue where it is one that has nothing to name."""
    match value:
        case str():
            return _filled_text(value, known)
        case list():
            filled = [fill(each, known) for each in cast("list[Json]", value)]
            return next((each for each in filled if isinstance(each, MissingValue)), filled)
        case dict():
            by_name = {name: fill(each, known) for name, each in cast("dict[str, Json]", value).items()}
            return next((each for each in by_name.values() if isinstance(each, MissingValue)), by_name)
        case _:
            return value


def fill_output(path: str, known: Mapping[str, Json]) -> str:
    """Return an output path with its templates filled. A time has no colon there: some systems allow none in a name."""
    return _TEMPLATE.sub(lambda match: str(known[match[1].strip()]).replace(":", "-"), path)


def _filled_text(text: str, known: Mapping[str, Json]) -> Json | MissingValue:
    found = list(_TEMPLATE.finditer(text))
    if not found:
        return text
    values = [_value(match[1], known) for match in found]
    if missing := next((each for each in values if isinstance(each, MissingValue)), None):
        return missing
    if len(found) == 1 and found[0].span() == (0, len(text)):
        return values[0]
    shown = iter(each if isinstance(each, str) else msgspec.json.encode(each).decode() for each in values)
    return _TEMPLATE.sub(lambda _: next(shown), text)


def _value(inside: str, known: Mapping[str, Json]) -> Json | MissingValue:
    wanted = _reference(inside)
    return known.get(wanted.name, wanted.default)


def _check_text(text: str, what: str, *, in_path: bool) -> None:
    if "{%" in text or "{#" in text:
        raise BadInput(f"{what}: {text[:80]!r} has a statement. A template only names a value: {_FORMS}.")
    if "{{" in _TEMPLATE.sub("", text):
        raise BadInput(f"{what}: {text[:80]!r} has braces that do not end. Write {{{{name}}}}.")
    for match in _TEMPLATE.finditer(text):
        try:
            wanted = _reference(match[1])
        except BadInput as error:
            raise BadInput(f"{what}: {error}") from None
        if in_path and wanted.name not in OF_TIME:
            told = f"{what}: {{{{{wanted.name}}}}} cannot be part of a path, for it may be anything"
            raise BadInput(f"{told}. A path may have {', '.join('{{' + each + '}}' for each in OF_TIME)}.")


def _reference(inside: str) -> _Reference:
    name, found, rest = inside.strip().partition(" or ")
    name = name.strip()
    if not _NAME.fullmatch(name):
        told = f"{{{{{inside.strip()[:80]}}}}} is not the name of a value: nothing is computed, called or looped over"
        raise BadInput(f"{told} in a template. There is {_FORMS}.")
    if name not in OF_TIME and not (name.startswith(PREVIOUS) and name.count(".") == 2):
        close = nearest(name, OF_TIME)
        hint = f" Did you mean {{{{{close[0]}}}}}?" if close else ""
        raise BadInput(f"There is no {{{{{name[:80]}}}}} in a schedule: there is {_FORMS}, and no environment.{hint}")
    return _Reference(name, _literal(name, rest) if found else MissingValue(name))


def _literal(name: str, text: str) -> Json:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        text = msgspec.json.encode(text[1:-1]).decode()
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        raise BadInput(
            f"{{{{{name} or {text[:40]}}}}}: what comes behind `or` is a number, true, null or a 'text'."
        ) from None
