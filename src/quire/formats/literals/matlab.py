"""Values in MATLAB, and in Octave: doubles, strings, cells and maps."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from .translate import HALF, LiteralWriter, Unfit, microseconds, text_keys

_EXACT_INTEGER = 2**53
_HIDDEN = re.compile("([\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]+)")
_ASCII_ESCAPED = re.compile(r'[\\"\x00-\x1f\x7f]')


class Matlab(LiteralWriter):
    """Each line ends in a semicolon, so that nothing is shown."""

    language = "MATLAB"
    comment = "% {}"
    words = ("NaN", "true", "false")
    names = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
    reserved = frozenset(
        ("break", "case", "catch", "classdef", "continue", "else", "elseif", "end", "for", "function", "global", "if",
         "otherwise", "parfor", "persistent", "return", "spmd", "switch", "try", "while", "NaN", "Inf", "true", "false",
         "containers", "datetime", "uint8", "char", "milliseconds", "seconds")
    )  # fmt: skip

    def assign(self, name: str, value: Any) -> str:
        """Without showing it."""
        return f"{name} = {self.write(value)};"

    def integer(self, value: int) -> str:
        """A double, as every number there."""
        if abs(value) > _EXACT_INTEGER:
            raise Unfit(value, "an integer past 2^53 is not exact there")
        return str(value)

    def text(self, value: str) -> str:
        """A string; it knows no escapes, so characters that cannot be seen are added by number."""
        return self._pieces(value, '"', " + ", "{}")

    def _characters(self, value: str) -> str:
        """A row of characters: what the key of a map is."""
        return self._pieces(value, "'", " ", "[{}]")

    def _pieces(self, value: str, quote: str, between: str, around: str) -> str:
        if HALF.search(value):
            raise Unfit(value, "it holds half a character")
        plain = [f"{quote}{piece.replace(quote, quote * 2)}{quote}" for piece in _HIDDEN.split(value)[::2]]
        hidden = [f"char([{' '.join(str(ord(each)) for each in piece)}])" for piece in _HIDDEN.split(value)[1::2]]
        if not hidden:
            return plain[0]
        pieces = [piece for pair in zip(plain, [*hidden, ""], strict=True) for piece in pair if piece]
        return around.format(between.join(pieces))

    def binary(self, value: bytes) -> str:
        """A row of bytes."""
        return f"uint8([{' '.join(map(str, value))}])"

    def listed(self, value: list[Any]) -> str:
        """A row of cells."""
        return f"{{{self.all(value)}}}"

    def mapping(self, value: dict[Any, Any]) -> str:
        """A map; its keys are rows of characters."""
        if not value:
            return "containers.Map()"
        keys = ", ".join(map(self._characters, text_keys(value)))
        return f"containers.Map({{{keys}}}, {{{self.all(value.values())}}})"

    def date(self, value: dt.date) -> str:
        """A datetime at midnight: there are no dates alone."""
        return f"datetime({value.year}, {value.month}, {value.day})"

    def datetime(self, value: dt.datetime) -> str:
        """A datetime without a zone, in milliseconds."""
        if value.tzinfo is not None or value.microsecond % 1000:
            raise Unfit(value, "only a time without a zone, in whole milliseconds, is exact there")
        parts = [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond // 1000]
        return f"datetime({', '.join(map(str, parts if parts[6] else parts[:6]))})"

    def duration(self, value: dt.timedelta) -> str:
        """A duration, in milliseconds."""
        milliseconds, rest = divmod(microseconds(value), 1000)
        if rest or abs(milliseconds) > _EXACT_INTEGER:
            raise Unfit(value, "only whole milliseconds are exact there")
        return f"milliseconds({milliseconds})"


class Octave(Matlab):
    """What reads like MATLAB and is not: its strings have escapes, and it has no dates."""

    language = "Octave"
    reserved = Matlab.reserved | {"endif", "endwhile", "endfor", "endfunction", "unwind_protect", "do", "until"}

    def text(self, value: str) -> str:
        """A string with escapes."""
        if HALF.search(value):
            raise Unfit(value, "it holds half a character")
        # Only bytes have numbers there: what is no ASCII stands as it is.
        return f'"{re.sub(_ASCII_ESCAPED, _octal, value)}"'

    def _characters(self, value: str) -> str:
        return self.text(value)

    def date(self, value: dt.date) -> str:
        """There is none."""
        raise Unfit(value)

    def datetime(self, value: dt.datetime) -> str:
        """There is none."""
        raise Unfit(value)

    def duration(self, value: dt.timedelta) -> str:
        """There is none."""
        raise Unfit(value)


def _octal(match: re.Match[str]) -> str:
    return f"\\{match[0]}" if match[0] in ('"', "\\") else f"\\{ord(match[0]):03o}"
