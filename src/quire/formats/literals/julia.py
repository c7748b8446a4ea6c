"""Values in Julia: nothing is promoted, so that 1 beside 2.5 stays an integer."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from .translate import LiteralWriter, Unfit, escaped, microseconds, one_type


class Julia(LiteralWriter):
    """Integers of any size are literals there."""

    language = "Julia"
    words = ("nothing", "true", "false")
    reserved = frozenset(
        ("baremodule", "begin", "break", "catch", "const", "continue", "do", "else", "elseif", "end", "export", "false",
         "finally", "for", "function", "global", "if", "import", "let", "local", "macro", "module", "quote", "return",
         "struct", "true", "try", "using", "while", "_", "nothing", "missing", "NaN", "Inf", "Dict", "Set", "Any", "UInt8",
         "Dates", "where", "isa", "in", "ccall", "big")
    )  # fmt: skip

    def __init__(self, taken: Iterable[str] = ()) -> None:
        super().__init__(frozenset(taken))
        self._dates = False

    def imports(self) -> Iterable[str]:
        """Dates come with Julia, but have to be asked for."""
        return ["import Dates"] if self._dates else []

    def text(self, value: str) -> str:
        """Text, in which `$` means itself."""
        return f'"{escaped(value, chr(34) + "$")}"'

    def binary(self, value: bytes) -> str:
        """A vector of bytes."""
        return f"UInt8[{', '.join(f'0x{byte:02x}' for byte in value)}]"

    def listed(self, value: list[Any]) -> str:
        """A vector; `Any` where its members would be made the same otherwise."""
        return f"{'' if one_type(value) else 'Any'}[{self.all(value)}]"

    def tupled(self, value: tuple[Any, ...]) -> str:
        """A tuple, also of one."""
        return f"({self.all(value)}{',' * (len(value) == 1)})"

    def set_of(self, members: list[Any], *, frozen: bool) -> str:
        """A set; Julia has no frozen one."""
        if frozen:
            return super().set_of(members, frozen=True)
        return f"Set({self.listed(members)})"

    def mapping(self, value: dict[Any, Any]) -> str:
        """A Dict, with any keys."""
        pairs = [f"{self.write(key)} => {self.write(each)}" for key, each in value.items()]
        return f"Dict{{Any, Any}}({', '.join(pairs)})" if not _one_kind(value) else f"Dict({', '.join(pairs)})"

    def _of_dates(self, text: str) -> str:
        self._dates = True
        return f"Dates.{text}"

    def date(self, value: dt.date) -> str:
        """A Date."""
        return self._of_dates(f"Date({value.year}, {value.month}, {value.day})")

    def datetime(self, value: dt.datetime) -> str:
        """A DateTime: without a zone, in milliseconds."""
        if value.tzinfo is not None:
            raise Unfit(value, "it has no zones of its own")
        milliseconds, rest = divmod(value.microsecond, 1000)
        if rest:
            raise Unfit(value, "it counts in milliseconds")
        parts = [value.year, value.month, value.day, value.hour, value.minute, value.second, milliseconds]
        return self._of_dates(f"DateTime({', '.join(map(str, parts if milliseconds else parts[:6]))})")

    def time(self, value: dt.time) -> str:
        """A Time."""
        if value.tzinfo is not None:
            raise Unfit(value, "it has no zones of its own")
        parts = [value.hour, value.minute, value.second, *divmod(value.microsecond, 1000)]
        return self._of_dates(f"Time({', '.join(map(str, parts if value.microsecond else parts[:3]))})")

    def duration(self, value: dt.timedelta) -> str:
        """A period, in seconds if they are whole."""
        seconds, rest = divmod(microseconds(value), 1_000_000)
        return self._of_dates(f"Second({seconds})" if not rest else f"Microsecond({microseconds(value)})")


def _one_kind(value: dict[Any, Any]) -> bool:
    """Whether keys are of one type, so that none of them is made another."""
    return bool(value) and one_type(list(value)) is not None
