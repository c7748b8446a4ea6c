"""Parameters and results as values of a column: what they sort by and compare with.

A column may hold values of several types, for every run has its own. Numbers, booleans and durations compare as numbers,
dates and texts by their text, in which dates are written so that they sort. What has neither order nor length of its own
(lists, objects, bytes) is only searched.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from typing import Any, Literal, TypeAlias

import msgspec

from .errors import BadInput
from .values import FilePath, Json, untag

ColumnType: TypeAlias = Literal["number", "boolean", "duration", "date", "text", "other", "none"]

LARGEST = 1.7976931348623157e308
"""Stands for what no double holds: the infinities, and integers beyond them."""
MOST_TEXT = 1000
"""Characters of a text that are compared and searched."""


class ColumnValue(msgspec.Struct, frozen=True):
    """One value as an index keeps it."""

    type: ColumnType
    number: float | None
    """What numbers, booleans and durations (in seconds) sort by; None for NaN."""
    text: str
    """The value in short. Of integers all digits, since two of them may be one double."""


def column_value(value: Json) -> ColumnValue:
    """Return what a tagged value sorts by."""
    try:
        plain = untag(value)
    except BadInput:  # of a newer Quire, or an object of somebody's own
        return ColumnValue("other", None, _short(value))
    match plain:
        case None:
            return ColumnValue("none", None, "")
        case bool():
            return ColumnValue("boolean", float(plain), "true" if plain else "false")
        case int() | float():
            return ColumnValue("number", as_double(plain), str(plain)[:MOST_TEXT])
        case dt.timedelta():
            return ColumnValue("duration", plain.total_seconds(), str(plain))
        case dt.date():
            return ColumnValue("date", None, sortable(plain))
        case dt.time():
            return ColumnValue("text", None, plain.isoformat())
        case str() | FilePath():
            return ColumnValue("text", None, plain[:MOST_TEXT])
        case _:
            return ColumnValue("other", None, _short(value))


def as_double(number: float) -> float | None:
    """Return the nearest finite double; None for NaN."""
    try:
        double = float(number)
    except OverflowError:
        double = math.inf if number > 0 else -math.inf
    if math.isnan(double):
        return None
    return max(-LARGEST, min(LARGEST, double))


def sortable(moment: dt.date) -> str:
    """Write a date or a time so that its text sorts; one with a zone as it is in UTC."""
    if isinstance(moment, dt.datetime) and moment.tzinfo is not None:
        return moment.astimezone(dt.UTC).isoformat()
    return moment.isoformat()


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))[:MOST_TEXT]
