"""Values in Scala, with what Java has for dates, paths and large numbers."""

from __future__ import annotations

import datetime as dt
from typing import Any

from .translate import LiteralWriter, Unfit, escaped, offset_minutes, one_type

_INT = range(-(2**31), 2**31)
_LONG = range(-(2**63), 2**63)
_MOST_MEMBERS = 22


class Scala(LiteralWriter):
    """Values that are assigned once."""

    language = "Scala"
    comment = "// {}"
    words = ("None", "true", "false")
    special = ("Double.NaN", "Double.PositiveInfinity", "Double.NegativeInfinity")
    reserved = frozenset(
        ("abstract", "case", "catch", "class", "def", "do", "else", "enum", "export", "extends", "false", "final", "finally",
         "for", "forSome", "given", "if", "implicit", "import", "lazy", "macro", "match", "new", "null", "object", "override",
         "package", "private", "protected", "return", "sealed", "super", "then", "this", "throw", "trait", "true", "try",
         "type", "val", "var", "while", "with", "yield", "_", "None", "Seq", "Map", "Set", "Double", "BigInt", "Array", "java",
         "Byte", "Any", "Tuple1")
    )  # fmt: skip

    def assign(self, name: str, value: Any) -> str:
        """A `val`."""
        return f"val {name} = {self.write(value)}"

    def integer(self, value: int) -> str:
        """An Int, a Long or a BigInt."""
        if value in _INT:
            return str(value)
        return f"{value}L" if value in _LONG else f'BigInt("{value}")'

    def text(self, value: str) -> str:
        """Text: without a letter before it, `$` means itself."""
        return f'"{escaped(value)}"'

    def path(self, value: str) -> str:
        """A path of Java's."""
        if "\0" in value:
            raise Unfit(value, "no path has a NUL")
        return f"java.nio.file.Paths.get({self.text(value)})"

    def binary(self, value: bytes) -> str:
        """An array of bytes, which are signed there."""
        return f"Array[Byte]({', '.join(str(byte - 256 if byte > 127 else byte) for byte in value)})"

    def listed(self, value: list[Any]) -> str:
        """A Seq; `Any` where its members would be made the same otherwise."""
        return f"Seq{_of(value)}({self.all(value)})"

    def tupled(self, value: tuple[Any, ...]) -> str:
        """A tuple of 1 to 22."""
        if not 1 <= len(value) <= _MOST_MEMBERS:
            raise Unfit(value, f"a tuple has 1 to {_MOST_MEMBERS} members there")
        return f"Tuple1({self.all(value)})" if len(value) == 1 else f"({self.all(value)})"

    def set_of(self, members: list[Any], *, frozen: bool) -> str:
        """A Set, which never changes."""
        return f"Set{_of(members)}({self.all(members)})"

    def mapping(self, value: dict[Any, Any]) -> str:
        """A Map, with any keys."""
        pairs = ", ".join(f"{self.write(key)} -> {self.write(each)}" for key, each in value.items())
        keys, values = list(value), list(value.values())
        kinds = "" if _is_one(keys) and _is_one(values) else f"[{'String' if one_type(keys) is str else 'Any'}, Any]"
        return f"Map{kinds}({pairs})"

    def date(self, value: dt.date) -> str:
        """A LocalDate."""
        return f"java.time.LocalDate.of({value.year}, {value.month}, {value.day})"

    def datetime(self, value: dt.datetime) -> str:
        """A LocalDateTime, or an OffsetDateTime."""
        kind = "LocalDateTime" if offset_minutes(value) is None else "OffsetDateTime"
        return f'java.time.{kind}.parse("{value.isoformat()}")'

    def time(self, value: dt.time) -> str:
        """A LocalTime."""
        if value.tzinfo is not None:
            raise Unfit(value, "its zone has no meaning without a day")
        return f'java.time.LocalTime.parse("{value.isoformat()}")'

    def duration(self, value: dt.timedelta) -> str:
        """A Duration."""
        seconds = value.days * 86_400 + value.seconds
        return f"java.time.Duration.ofSeconds({seconds}L, {value.microseconds * 1000}L)"


def _of(members: list[Any]) -> str:
    return "" if _is_one(members) else "[Any]"


def _is_one(members: list[Any]) -> bool:
    """Whether none of them is made another: an Int beside a BigInt is."""
    kind = one_type(members)
    return kind is not None and (kind is not int or len({(each in _INT, each in _LONG) for each in members}) == 1)
