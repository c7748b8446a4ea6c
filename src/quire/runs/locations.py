"""Where notebooks come from and go to: a file, standard input or output, or an address.

A place is text: a path, `-`, or `s3://`, `gs://`, `az://`, `https://`. Read whole, and
written whole or not at all. An address may hold what is secret, a password or a signature:
keep and show it as `shown` gives it, which also is the path whose ending says the format.

A place may be a template: `runs/{region}_{pm[run_uuid]}.ipynb`. Templates are papermill's, which are Python's `str.format`,
but without what that opens: no attribute of a value is read, and a value stays inside the folder that the template names.
Beside the parameters, papermill's own are known as `pm[run_uuid]`, `pm[current_datetime_local]` and
`pm[current_datetime_utc]`, also without `pm`.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from string import Formatter
from typing import IO, Any, cast

from ..connection import remote_file, shown_address
from ..core.errors import BadInput, Unavailable
from ..core.ids import nearest
from ..disk import MOST_BYTES, STANDARD, check_writable, decode, in_thread, read_text, writing


def is_remote(place: str) -> bool:
    """Whether a place is an address, and no file of this machine."""
    return "://" in place


def is_standard(place: str) -> bool:
    """Whether a place is standard input or output."""
    return place == str(STANDARD)


def shown(place: str) -> str:
    """The place as it may be shown and kept: of an address, nothing that may be secret."""
    return shown_address(place) if is_remote(place) else place


async def read_place(place: str) -> str:
    """Return the text at a place, line ends as they are."""
    if not is_remote(place):
        return read_text(Path(place))
    file = remote_file(place, os.environ)
    return decode(await in_thread(file.read, MOST_BYTES), file.name)


async def write_place(place: str, text: str) -> None:
    """Put `text` there, whole or not at all."""
    data = text.encode("utf-8", "surrogatepass")
    async with writing_place(place) as file:
        await in_thread(file.write, data)


async def check_place(place: str) -> None:
    """Raise if it is plain already that nothing can be written there; folders that are missing are made."""
    if is_remote(place):
        await in_thread(remote_file(place, os.environ).check)
    elif not is_standard(place):
        check_writable(Path(place))


@asynccontextmanager
async def writing_place(place: str) -> AsyncGenerator[IO[bytes]]:
    """Open a file that takes the place of what is there once everything was written. Write to it in a thread."""
    if not is_remote(place) and not is_standard(place):
        async with _replacing(Path(place)) as file:
            yield file
        return
    # Elsewhere a file cannot be replaced at the end: it is made here first.
    with tempfile.TemporaryFile() as file:
        yield file
        await in_thread(remote_file(place, os.environ).write if is_remote(place) else _print, file)


@asynccontextmanager
async def _replacing(path: Path) -> AsyncGenerator[IO[bytes]]:
    """`disk.writing`, whose waits for the disk are in a thread."""
    manager = writing(path)
    file = await in_thread(manager.__enter__)
    try:
        yield file
    except BaseException:
        # It raises the same again, or what it makes of it.
        await in_thread(manager.__exit__, *sys.exc_info())
        raise
    await in_thread(manager.__exit__, None, None, None)


def _print(file: IO[bytes]) -> None:
    file.seek(0)
    try:
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise  # whoever reads it has seen enough
    except OSError as error:
        raise Unavailable(f"Standard output cannot be written: {error.strerror or error}.") from error


_BUILT_IN = "pm"
_FIELD = re.compile(r"(?P<name>[^\W\d]\w*)(?P<keys>(?:\[[^\[\]{}]*\])*)")
_MOST_DIGITS = re.compile(r"\d{4}")
"""A width that would fill the memory."""
_OUTSIDE = re.compile("[/\\\\\x00-\x1f\x7f\ud800-\udfff]")


def fill_path(template: str, values: Mapping[str, Any], *, run: str, now: dt.datetime) -> str:
    """Return the path with each `{name}` replaced. `now` is the local time, with its offset."""
    if "{" not in template and "}" not in template:
        return template
    known = _known(values, run, now)
    segments = _Segments()
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise _bad(template, f"{error}. A brace that is meant as such is written twice") from None
    for text, field, spec, conversion in parts:
        segments.add(text)
        if field is not None:
            _add(segments, _Field(template, field, spec or "", conversion), known)
    return segments.path(template)


def _known(values: Mapping[str, Any], run: str, now: dt.datetime) -> dict[str, Any]:
    own = {
        "run_uuid": run,
        "current_datetime_local": now.replace(tzinfo=None),
        "current_datetime_utc": now.astimezone(dt.UTC),
    }
    return {**own, _BUILT_IN: own, **values}


def _bad(template: str, why: str) -> BadInput:
    return BadInput(f"path {template[:200]!r}: {why}.", template=template)


class _Field:
    """One `{…}` of a template."""

    def __init__(self, template: str, field: str, spec: str, conversion: str | None) -> None:
        self.template = template
        self.field = field
        self.spec = spec
        if conversion not in (None, "s"):
            raise self.bad("what comes behind a `!` is not for paths")
        if "{" in spec or _MOST_DIGITS.search(spec):
            raise self.bad(f"its format {spec[:40]!r} is not for paths")

    def bad(self, why: str) -> BadInput:
        return _bad(self.template, f"{{{self.field[:80]}}}: {why}")

    def value(self, known: Mapping[str, Any]) -> Any:
        """What it names: a parameter, or a member of one by its key."""
        field = self.field
        if field.startswith(f"{_BUILT_IN}.") and isinstance(known[_BUILT_IN], dict):
            field = f"{_BUILT_IN}[{field.removeprefix(f'{_BUILT_IN}.')}]"
        match = _FIELD.fullmatch(field)
        if match is None:
            raise self.bad("name a parameter, and a member of one as {name[key]}")
        if match["name"] not in known:
            raise self._missing(match["name"], known)
        value: Any = known[match["name"]]
        for key in re.findall(r"\[([^\]]*)\]", match["keys"]):
            value = self._member(value, key)
        return value

    def _missing(self, name: str, known: Mapping[str, Any]) -> BadInput:
        close = nearest(name, known)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        names = ", ".join(each for each in known if each != _BUILT_IN)
        return BadInput(f"{self.bad('no such parameter')} Known are {names}.{hint}", template=self.template)

    def _member(self, value: Any, key: str) -> Any:
        try:
            if isinstance(value, dict):
                return cast("dict[str, Any]", value)[key]
            if isinstance(value, (list, tuple)) and key.isdecimal():
                return cast("list[Any]", value)[int(key[:9])]
        except (KeyError, IndexError):
            pass
        raise self.bad(f"there is no {key[:40]!r} in it")

    def text(self, value: Any) -> str:
        """The value as papermill would format it."""
        match value:
            case str():
                return self._formatted(str.__str__(value))
            case None | bool():
                return self._formatted(str(value))
            case int() | float() | dt.date() | dt.time():
                return self._formatted(value)
            case _:
                raise self.bad(f"a value of type {type(value).__name__} cannot be part of a path")

    def _formatted(self, value: Any) -> str:
        try:
            return format(value, self.spec) if self.spec else str(value)
        except (ValueError, OverflowError, TypeError):
            raise self.bad(f"{value!r:.40} cannot be formatted as {self.spec!r}") from None


def _add(segments: _Segments, field: _Field, known: Mapping[str, Any]) -> None:
    value = field.value(known)
    if isinstance(value, str) and _OUTSIDE.search(value):
        why = f"{str.__str__(value)!r:.60} would lead to another folder, or is no file name"
        raise field.bad(f"{why}. Write folders into the path itself")
    segments.add(field.text(value), given=True)


class _Segments:
    """A path as it grows, and which parts of it values have a share in."""

    def __init__(self) -> None:
        self._text = [""]
        self._given = [False]

    def add(self, text: str, *, given: bool = False) -> None:
        first, *others = text.split("/")
        self._text[-1] += first
        self._given[-1] |= given
        self._text += others
        self._given += [given] * len(others)

    def path(self, template: str) -> str:
        """The whole of it, unless values make it climb or mean something else."""
        for text, given in zip(self._text, self._given, strict=True):
            if given and text in ("", ".", "..", "-"):
                raise _bad(template, f"the values make {text!r} of a part of it, which is no file name")
        return "/".join(self._text)
