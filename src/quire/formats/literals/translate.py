"""Parameters as source code: the cell that a run puts under the defaults.

Papermill's languages, and its first line. A value is exactly the same in the language, or
it is refused by name: none becomes text that nobody asked for, and none can be more than
one expression. A language is a writer in a module beside this one and a line in `_WRITERS`.

What the writers share is here as well: which value is of which kind, and when to give up. A language is a subclass of
`LiteralWriter`: it writes the kinds of values it has, exactly, and leaves the others to it, which refuses them.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from typing import Any, ClassVar, cast

from ...core.errors import BadInput
from ...core.values import FilePath

COMMENT = "Parameters"
_WRITERS = {
    "python": ("python", "Python"),
    "r": ("r", "R"),
    "scala": ("scala", "Scala"),
    "julia": ("julia", "Julia"),
    "matlab": ("matlab", "Matlab"),
    "octave": ("matlab", "Octave"),
    "csharp": ("dotnet", "CSharp"),
    "fsharp": ("dotnet", "FSharp"),
    "powershell": ("dotnet", "PowerShell"),
    "bash": ("bash", "Bash"),
    "javascript": ("javascript", "JavaScript"),
    "typescript": ("javascript", "JavaScript"),
}
"""Where the writer of a language is: only the one that is needed is loaded."""
LANGUAGES = tuple(_WRITERS)
"""The languages that parameters can be written in."""
_ALSO = {
    "c#": "csharp", ".net-csharp": "csharp", "f#": "fsharp", ".net-fsharp": "fsharp", "pwsh": "powershell",
    ".net-powershell": "powershell", "sh": "bash", "ipython": "python", "ipython3": "python", "python3": "python",
    "pysparkkernel": "python", "sparkkernel": "scala", "sparkrkernel": "r", "ir": "r",
}  # fmt: skip
"""What kernels and notebooks call them besides."""


def known_language(language: str, kernel: str = "") -> str | None:
    """The name of the language here, told by the kernel's name first, as papermill does; None if it is not known."""
    for name in (kernel.lower(), language.lower()):
        if (found := _ALSO.get(name, name)) in _WRITERS:
            return found
    return None


def translate(values: Mapping[str, Any], language: str, *, comment: str = COMMENT) -> str:
    """Return the source that gives each name its value."""
    writer = _writer(language, values)
    lines = [_line(writer, name, value) for name, value in values.items()]
    return "".join(f"{line}\n" for line in (writer.comment.format(comment), *writer.imports(), *lines))


def fits(name: str, value: Any, language: str) -> bool:
    """Whether the language can hold the value, under that name."""
    try:
        _line(_writer(language, (name,)), name, value)
    except BadInput:
        return False
    return True


def _writer(language: str, names: Any) -> LiteralWriter:
    known = known_language(language)
    if known is None:
        told = f"parameters cannot be written in {language!r}: the languages are {', '.join(LANGUAGES)}."
        raise BadInput(f"{told} Run it without parameters, or name another with -l.", language=language)
    module, name = _WRITERS[known]
    return cast("LiteralWriter", getattr(import_module(f".{module}", __package__), name)(frozenset(names)))


def _line(writer: LiteralWriter, name: str, value: Any) -> str:
    if not writer.is_name(name):
        told = f"parameter {name[:80]!r}: no variable can have that name in {writer.language}. Choose another name."
        raise BadInput(told, parameter=name)
    try:
        return writer.assign(name, value)
    except Unfit as error:
        told = f"parameter {name!r}: a value of type {error.type} cannot be written in {writer.language}: {error}."
        raise BadInput(f"{told} Pass it in another form, or in parts.", parameter=name, type=error.type) from None


MOST_DEEP = 80
"""Python's parser takes 200 brackets, and a frozenset has two."""
_MOST_BITS = 13_000
"""Beyond some 4,000 digits Python itself no longer reads an integer."""
_KINDS = {"timedelta": "duration", "FilePath": "path", "NoneType": "None"}
HALF = re.compile("[\ud800-\udfff]")
"""Half a character: Python's text can hold one."""


class Unfit(ValueError):
    """A value that the language cannot hold: why, and of which type."""

    def __init__(self, value: Any, why: str = "it has no such values") -> None:
        super().__init__(why)
        name = type(value).__name__
        self.type = _KINDS.get(name, name)


class LiteralWriter:
    """Writes values as expressions of one language."""

    language: ClassVar[str]
    """As people write it."""
    comment: ClassVar[str] = "# {}"
    words: ClassVar[tuple[str, str, str]] = ("null", "true", "false")
    """None, true and false."""
    special: ClassVar[tuple[str, str, str]] = ("NaN", "Inf", "-Inf")
    names: ClassVar[re.Pattern[str]] = re.compile(r"[^\W\d]\w*")
    reserved: ClassVar[frozenset[str]] = frozenset()
    """Words that can be no variable."""

    def __init__(self, taken: Collection[str] = ()) -> None:
        self.taken = taken
        """The names of the parameters: what is imported is called otherwise."""
        self._depth = 0

    def imports(self) -> Iterable[str]:
        """The lines that what was written so far needs above it."""
        return ()

    def assign(self, name: str, value: Any) -> str:
        """One line that gives the value to the name."""
        return f"{name} = {self.write(value)}"

    def is_name(self, name: str) -> bool:
        """Whether a variable can be called so."""
        return self.names.fullmatch(name) is not None and name not in self.reserved

    def write(self, value: Any) -> str:
        """The value as one expression."""
        self._depth += 1
        try:
            if self._depth > MOST_DEEP:
                raise Unfit(value, f"it is nested more than {MOST_DEEP} deep")
            found = self._scalar(value)
            return self._container(value) if found is None else found
        finally:
            self._depth -= 1

    def _scalar(self, value: Any) -> str | None:
        match value:
            case None:
                return self.none()
            case bool():
                return self.words[1 if value else 2]
            case int():
                if value.bit_length() > _MOST_BITS:
                    raise Unfit(value, "it has more than 4,000 digits")
                return self.integer(int(value))
            case float():
                return self.number(float(value)) if math.isfinite(value) else self.not_finite(value)
            case FilePath():
                return self.path(str.__str__(value))
            case str():
                return self.text(str.__str__(value))
            case _:
                return None

    def _container(self, value: Any) -> str:
        match value:
            case bytes() | bytearray():
                return self.binary(bytes(value))
            case list():
                return self.listed(cast("list[Any]", value))
            case tuple():
                return self.tupled(cast("tuple[Any, ...]", value))
            case set() | frozenset():
                # A set has no order, and equal values make equal cells.
                return self.set_of(sorted(cast("set[Any]", value), key=repr), frozen=isinstance(value, frozenset))
            case Mapping():
                return self.mapping(dict(cast("Mapping[Any, Any]", value)))
            case _:
                return self._moment(value)

    def _moment(self, value: Any) -> str:
        # Not of a subclass: a data frame's timestamp has nanoseconds.
        kind = cast("type[Any]", type(value))
        if kind is dt.datetime:
            return self.datetime(value)
        if kind is dt.date:
            return self.date(value)
        if kind is dt.time:
            return self.time(value)
        if kind is dt.timedelta:
            return self.duration(value)
        if hasattr(value, "__fspath__") and isinstance(found := value.__fspath__(), str):
            return self.path(found)
        raise Unfit(value)

    # What each language says in its own way.

    def none(self) -> str:
        """None."""
        return self.words[0]

    def integer(self, value: int) -> str:
        """An integer of any size."""
        return str(value)

    def number(self, value: float) -> str:
        """A finite float, by the shortest text that is exactly it."""
        return repr(value)

    def not_finite(self, value: float) -> str:
        """NaN and the infinities."""
        return self.special[0 if math.isnan(value) else 1 if value > 0 else 2]

    def text(self, value: str) -> str:
        """Text, whatever is in it."""
        raise Unfit(value)

    def path(self, value: str) -> str:
        """A path: in most languages paths are text."""
        return self.text(value)

    def binary(self, value: bytes) -> str:
        """Bytes."""
        raise Unfit(value)

    def listed(self, value: list[Any]) -> str:
        """A list."""
        raise Unfit(value)

    def tupled(self, value: tuple[Any, ...]) -> str:
        """A tuple: where there is none, a list has the same members in the same order."""
        return self.listed(list(value))

    def set_of(self, members: list[Any], *, frozen: bool) -> str:
        """A set."""
        raise Unfit(frozenset(members) if frozen else set(members))

    def mapping(self, value: dict[Any, Any]) -> str:
        """A dict."""
        raise Unfit(value)

    def date(self, value: dt.date) -> str:
        """A date."""
        raise Unfit(value)

    def datetime(self, value: dt.datetime) -> str:
        """A date with a time of day, with or without an offset."""
        raise Unfit(value)

    def time(self, value: dt.time) -> str:
        """A time of day."""
        raise Unfit(value)

    def duration(self, value: dt.timedelta) -> str:
        """How long something takes."""
        raise Unfit(value)

    # What several of them need.

    def all(self, members: Iterable[Any], between: str = ", ") -> str:
        """Expressions in a row."""
        return between.join(map(self.write, members))


def escaped(text: str, also: str = '"', form: str = "\\u{:04x}", beyond: str = "") -> str:
    """Text between double quotes in a language that escapes with backslashes, on one line.

    `also` are the characters that get a backslash beside the backslash itself, `beyond` those
    that are written as `form` beside the control characters.
    """
    if HALF.search(text):
        raise Unfit(text, "it holds half a character")
    marked = re.sub(rf"[\\{re.escape(also)}]", lambda match: f"\\{match[0]}", text)
    hidden = rf"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff{beyond}]"
    return re.sub(hidden, lambda match: _SHORT.get(match[0]) or form.format(ord(match[0])), marked)


_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def text_keys(value: Mapping[Any, Any]) -> dict[str, Any]:
    """The mapping, if its keys are text."""
    for key in value:
        if not isinstance(key, str):
            raise Unfit(value, f"its keys are text there, and {key!r:.40} is none")
    return cast("dict[str, Any]", value)


def one_type(members: Collection[Any]) -> type[Any] | None:
    """The type that all are of, if it is one that a typed list holds as it is."""
    kinds: set[type[Any]] = {cast("type[Any]", type(each)) for each in members}
    kind = kinds.pop() if len(kinds) == 1 else None
    return kind if kind in (bool, int, float, str) else None


def microseconds(value: dt.timedelta) -> int:
    """A duration as one integer."""
    return (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds


def offset_minutes(value: dt.datetime) -> int | None:
    """How far from UTC its clock is; None without one."""
    offset = value.utcoffset()
    if offset is None:
        return None
    minutes, rest = divmod(microseconds(offset), 60_000_000)
    if rest:
        raise Unfit(value, "an offset is whole minutes there")
    return minutes
