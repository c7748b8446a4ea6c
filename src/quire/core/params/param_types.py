"""The types a parameter can have, and how text and JSON become values of them.

A type is written as Python writes it: `int`, `list[str]`, `date | None`. The table in
docs/reference/parameters.md has them all. A value that does not fit is a `Misfit`; who
asked says which parameter it was for.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from ..errors import BadInput
from ..values import FilePath, untag


class Type(NamedTuple):
    """A type, read: `list[int] | None` is a union of a list and of none."""

    name: str
    of: tuple[Type, ...] = ()

    def __str__(self) -> str:
        if self.name == "union":
            return " | ".join(map(str, self.of))
        inner = ", ".join(map(str, self.of))
        return f"{self.name}[{inner}]" if inner else self.name


class Misfit(ValueError):
    """A value is not of the type that is wanted."""


ANY = Type("any")
NONE = Type("None")
MORE = Type("...")
"""`tuple[int, ...]`: as many as there are."""
_SYNONYMS = {
    "integer": "int",
    "number": "float",
    "string": "str",
    "text": "str",
    "boolean": "bool",
    "timedelta": "duration",
    "array": "list",
    "object": "dict",
    "mapping": "dict",
    "purepath": "path",
    "none": "None",
    "nonetype": "None",
    "null": "None",
    "anystr": "str",
}
SIMPLE = ("int", "float", "str", "bool", "date", "datetime", "time", "duration", "path", "bytes", "any", "None")
GENERIC = {"list": 1, "set": 1, "frozenset": 1, "tuple": None, "dict": 2}
"""How many types stand in the brackets; of a tuple, as many as it has members."""
_EXAMPLES = {
    "int": "5",
    "float": "0.5",
    "str": "text",
    "bool": "true",
    "date": "2026-01-31",
    "datetime": "2026-01-31T06:00",
    "time": "06:00",
    "duration": "90",
    "path": "data/sales.csv",
    "list": "'[1, 2]'",
    "tuple": "'[1, 2]'",
    "set": "'[1, 2]'",
    "frozenset": "'[1, 2]'",
    "dict": "'{\"a\": 1}'",
    "None": "null",
}
_TOKEN = re.compile(r"\s*([\w.]+|[\[\],|?])")


def parse_type(text: str) -> Type | None:
    """Read a type as it is written; None when it is none of ours."""
    tokens: list[str] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None or len(tokens) > 100:
            return None
        tokens.append(match[1])
        position = match.end()
    try:
        found = _union(tokens)
    except IndexError:
        return None
    return found if not tokens else None


def _union(tokens: list[str]) -> Type | None:
    members = [_one(tokens)]
    while tokens and tokens[0] == "|":
        tokens.pop(0)
        members.append(_one(tokens))
    return union([member for member in members if member is not None]) if None not in members else None


def union(members: list[Type]) -> Type:
    """One type out of several: flat, each once, None last."""
    flat: list[Type] = []
    for member in members:
        flat += member.of if member.name == "union" else (member,)
    once = [*dict.fromkeys(each for each in flat if each != NONE), *([NONE] if NONE in flat else [])]
    return once[0] if len(once) == 1 else Type("union", tuple(once))


def _one(tokens: list[str]) -> Type | None:
    name = tokens.pop(0).rpartition(".")[2]
    if name in ("Optional", "Union"):
        inner = _inner(tokens)
        return union([*inner, *([NONE] if name == "Optional" else [])]) if inner else None
    name = _SYNONYMS.get(name.lower(), name if name == "None" else name.lower())
    inner = _inner(tokens) if tokens[:1] == ["["] else ()
    if tokens[:1] == ["?"]:
        tokens.pop(0)
        found = _checked(name, inner)
        return union([found, NONE]) if found else None
    return _checked(name, inner)


def _inner(tokens: list[str]) -> tuple[Type, ...] | None:
    """What stands in brackets; None when it is nothing we know."""
    if tokens.pop(0) != "[":
        return None
    found: list[Type] = []
    while True:
        if tokens[0] == "..." and found:
            found.append(Type(tokens.pop(0)))
        elif (member := _union(tokens)) is not None:
            found.append(member)
        else:
            return None
        mark = tokens.pop(0)
        if mark == "]":
            return tuple(found)
        if mark != ",":
            return None


def _checked(name: str, inner: tuple[Type, ...] | None) -> Type | None:
    if inner is None or (name in SIMPLE and inner) or (name not in SIMPLE and name not in GENERIC):
        return None
    if MORE in inner and (name != "tuple" or len(inner) != 2):
        return None
    return Type(name, inner) if not inner or GENERIC[name] in (None, len(inner)) else None


def type_of(value: Any) -> Type:
    """The type of a default, where nothing else says it."""
    match value:
        case None:
            return ANY
        case bool() | int() | float() | str() | bytes() | dt.date() | dt.time() | dt.timedelta():
            return Type(_scalar_name(value))
        case list() | set() | frozenset():
            members = union([type_of(each) for each in cast("list[Any]", value)]) if value else ANY
            return Type(type(cast("object", value)).__name__, () if members.name in ("any", "union") else (members,))
        case tuple():
            return Type("tuple")
        case Mapping():
            return Type("dict")
        case _:
            return ANY


def _scalar_name(value: Any) -> str:
    if isinstance(value, FilePath):
        return "path"
    name = type(value).__name__
    return {"timedelta": "duration"}.get(name, name)


def article(wanted: Type) -> str:
    """`an int`, `a list[int]`."""
    return f"{'an' if str(wanted)[0] in 'aeiou' else 'a'} {wanted}"


def example(wanted: Type) -> str:
    """A value as it could be typed."""
    first = wanted.of[0] if wanted.name == "union" else wanted
    if first.name in ("list", "set", "frozenset") and first.of and first.of[0].name not in ("int", "float", "any"):
        inner = {"bool": "true"}.get(first.of[0].name, f'"{_EXAMPLES.get(first.of[0].name, "a")}"')
        return f"'[{inner}]'"
    return _EXAMPLES.get(first.name, "text")


# ---- From text


def from_text(text: str, wanted: Type) -> Any:
    """Read what somebody typed as a value of the type."""
    if wanted.name == "union":
        return _first_that_fits(wanted, text, from_text)
    reader = _READERS.get(wanted.name)
    try:
        return reader(text) if reader is not None else fit(json.loads(text), wanted)
    except (ValueError, OverflowError, RecursionError):
        raise Misfit from None


def _first_that_fits(wanted: Type, value: Any, read: Callable[[Any, Type], Any]) -> Any:
    # None first, and text last: everything that is typed is text.
    order = sorted(wanted.of, key=lambda each: (each != NONE, each.name in ("str", "path", "any")))
    for each in order:
        try:
            return read(value, each)
        except Misfit:
            continue
    raise Misfit


_INT = re.compile(r"[+-]?[0-9]+(?:_[0-9]+)*")
_FLOAT = re.compile(
    r"[+-]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf|infinity)", re.IGNORECASE
)
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _int(text: str) -> int:
    if not _INT.fullmatch(text.strip()):
        raise ValueError(text)
    return int(text)


def _float(text: str) -> float:
    if not _FLOAT.fullmatch(text.strip()):
        raise ValueError(text)
    return float(text)


def _bool(text: str) -> bool:
    found = _BOOLEANS.get(text.strip().lower())
    if found is None:
        raise ValueError(text)
    return found


def _none(text: str) -> None:
    if text.strip().lower() not in ("none", "null"):
        raise ValueError(text)


def _path(text: str) -> FilePath:
    if not text or "\0" in text:
        raise ValueError(text)
    return FilePath(text)


def _duration(text: str) -> dt.timedelta:
    seconds = _float(text)
    if not math.isfinite(seconds):
        raise ValueError(text)
    return dt.timedelta(seconds=seconds)


def guess(text: str) -> Any:
    """What a typed text most likely is, where nothing says its type: as papermill takes it."""
    if text in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[text]
    for read in (_int, _float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


_READERS: dict[str, Callable[..., Any]] = {
    "int": _int,
    "float": _float,
    "str": str,
    "bool": _bool,
    "date": dt.date.fromisoformat,
    "datetime": dt.datetime.fromisoformat,
    "time": dt.time.fromisoformat,
    "duration": _duration,
    "path": _path,
    "bytes": str.encode,
    "None": _none,
    "any": guess,
}


# ---- From JSON, or from Python


def fit(value: Any, wanted: Type) -> Any:
    """Take a value that has a type already as one of the type that is wanted."""
    try:
        return _fit(untag(value) if isinstance(value, dict) else value, wanted)
    except (BadInput, RecursionError, ValueError, OverflowError):
        raise Misfit from None


def _fit(value: Any, wanted: Type) -> Any:
    if wanted.name == "union":
        return _first_that_fits(wanted, value, fit)
    if wanted.name == "any":
        return untag(value) if isinstance(value, (dict, list)) else value
    if wanted.name in GENERIC:
        return _fit_members(value, wanted)
    if hasattr(value, "__fspath__") and wanted.name == "path":
        return FilePath(value.__fspath__())
    if type(value) is _PYTHON[wanted.name]:
        return value
    if isinstance(value, str) and wanted.name in ("date", "datetime", "time", "path"):
        return from_text(value, wanted)
    if wanted.name == "float" and type(value) is int:
        return float(value)
    if wanted.name == "duration" and type(value) in (int, float):
        return dt.timedelta(seconds=cast("float", value))
    if wanted.name == "datetime" and type(value) is dt.date:
        return dt.datetime(value.year, value.month, value.day)
    raise Misfit


_PYTHON: dict[str, type] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "date": dt.date,
    "datetime": dt.datetime,
    "time": dt.time,
    "duration": dt.timedelta,
    "path": FilePath,
    "bytes": bytes,
    "None": type(None),
}


def _fit_members(value: Any, wanted: Type) -> Any:
    if wanted.name == "dict":
        return _fit_pairs(value, wanted)
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise Misfit
    members = list(cast("list[Any]", value))
    if wanted.name == "tuple" and wanted.of and MORE not in wanted.of:
        if len(members) != len(wanted.of):
            raise Misfit
        return tuple(fit(member, each) for member, each in zip(members, wanted.of, strict=True))
    made = [fit(member, wanted.of[0] if wanted.of else ANY) for member in members]
    try:
        return {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[wanted.name](made)
    except TypeError:  # a list in a set
        raise Misfit from None


def _fit_pairs(value: Any, wanted: Type) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise Misfit
    keys, values = wanted.of or (ANY, ANY)
    return {fit(key, keys): fit(each, values) for key, each in cast("Mapping[Any, Any]", value).items()}
