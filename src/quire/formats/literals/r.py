"""Values in R: lists of anything, integers as integers, dates as dates."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from .translate import LiteralWriter, Unfit, escaped, text_keys

_MOST_INTEGER = 2**31 - 1
_EXACT_INTEGER = 2**53


class R(LiteralWriter):
    """`=`, as papermill assigns."""

    language = "R"
    words = ("NULL", "TRUE", "FALSE")
    names = re.compile(r"(?:[^\W\d_]|\.(?!\d))[\w.]*")
    reserved = frozenset(
        ("if", "else", "repeat", "while", "function", "for", "next", "break", "in", "TRUE", "FALSE", "NULL", "Inf", "NaN",
         "NA", "NA_integer_", "NA_real_", "NA_complex_", "NA_character_", "...")
    )  # fmt: skip

    def is_name(self, name: str) -> bool:
        """Not `..1` either: that is an argument."""
        return super().is_name(name) and not re.fullmatch(r"\.\.\d+", name)

    def integer(self, value: int) -> str:
        """An integer, or beyond 32 bits a double that is exactly it."""
        if abs(value) > _EXACT_INTEGER:
            raise Unfit(value, "an integer past 2^53 is not exact there")
        return f"{value}L" if abs(value) <= _MOST_INTEGER else str(value)

    def number(self, value: float) -> str:
        """In decimal as long as R reads that exactly, else in hexadecimal."""
        text = repr(value)
        digits = re.sub(r"e.*|[-.]", "", text).strip("0")
        return text if len(digits) <= 15 and (value == 0 or 1e-15 <= abs(value) <= 1e15) else value.hex()

    def text(self, value: str) -> str:
        """Text; R keeps no NUL."""
        if "\0" in value:
            raise Unfit(value, "a NUL ends every text there")
        return f'"{escaped(value)}"'

    def binary(self, value: bytes) -> str:
        """A raw vector."""
        return f"as.raw(c({', '.join(map(hex, value))}))" if value else "raw(0)"

    def listed(self, value: list[Any]) -> str:
        """A list: a vector would make all members the same."""
        return f"list({self.all(value)})"

    def mapping(self, value: dict[Any, Any]) -> str:
        """A list with names."""
        if "" in value:
            raise Unfit(value, "a name cannot be empty there")
        pairs = [f"{self.text(key)} = {self.write(each)}" for key, each in text_keys(value).items()]
        # Without names it would be a list like any other.
        return f"list({', '.join(pairs)})" if pairs else "setNames(list(), character(0))"

    def date(self, value: dt.date) -> str:
        """A Date."""
        return f'as.Date("{value.isoformat()}")'

    def datetime(self, value: dt.datetime) -> str:
        """A moment: R has no time of day without a zone, and keeps seconds as a double."""
        if value.utcoffset() != dt.timedelta(0) or value.microsecond:
            raise Unfit(value, "only a time in UTC, in whole seconds, is exact there")
        return f'as.POSIXct("{value.replace(tzinfo=None).isoformat(" ")}", tz = "UTC")'

    def duration(self, value: dt.timedelta) -> str:
        """Seconds, as R keeps them."""
        if value.microseconds:
            raise Unfit(value, "only whole seconds are exact there")
        return f'as.difftime({value.days * 86_400 + value.seconds}, units = "secs")'
