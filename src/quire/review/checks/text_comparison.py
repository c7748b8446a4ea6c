"""Two texts compared by what they say: numbers within a tolerance, moments of this run, paths of this machine.

Texts are cut into tokens. A pair of tokens is the same when it reads the same, or when both are floats close to each
other, both are moments and the new one lies within the run, or both are paths that end alike. Nothing else may differ;
so a date that is data is compared like any other text.
"""

from __future__ import annotations

import datetime as dt
import re
import tempfile
from functools import cache
from math import isclose
from typing import TypeAlias

import msgspec

_PIECES = r"""
      (?P<moment>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:\ ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?(?![\w-])
        | \b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\ (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ [\ \d]?\d
          \ \d\d:\d\d:\d\d(?:\ [A-Z]{3,5})?\ \d{4}\b
        | (?<![\d:.])\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?![\d:]))
    | (?P<path>(?<![\w<:/.~)\]])(?:/|~/|[A-Za-z]:\\)(?:[^\s/\\"'<>:;,|()\[\]{}]+[/\\])+[^\s/\\"'<>:;,|()\[\]{}]*)
    | (?P<word>[^\W\d]\w*)
    | (?P<number>(?:(?<![\w.)\]])[-+])?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)
    | (?P<space>[ \t]+)
    | (?P<rule>-{3,}|─{2,}|={3,})
    | (?P<other>.|\n)
    """
_SLACK = dt.timedelta(seconds=5)
_CTIME = "%a %b %d %H:%M:%S %Y"

Token: TypeAlias = tuple[str, str]
"""Kind and text."""


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """When the notebook ran, in UTC."""

    start: dt.datetime
    end: dt.datetime

    def has(self, text: str) -> bool:
        """Whether a text is a moment within it, be it in UTC or in the time of this machine."""
        return any(self._is_within(text, zone) for zone in (dt.UTC, self.start.astimezone().tzinfo or dt.UTC))

    def _is_within(self, text: str, zone: dt.tzinfo) -> bool:
        start, end = (moment.astimezone(zone).replace(tzinfo=None) for moment in (self.start, self.end))
        if len(text) == 10 and text[4] == "-":
            return start.date().isoformat() <= text <= end.date().isoformat()
        found = _moment(text, start.date())
        if found is None:
            return False
        if found.tzinfo is not None:
            found = found.astimezone(zone).replace(tzinfo=None)
        return start - _SLACK <= found <= end + _SLACK

    def has_seconds(self, text: str) -> bool:
        """Whether a number is a moment within it, in seconds since 1970."""
        value = float(text.replace(",", ""))
        return self.start.timestamp() - 5 <= value <= self.end.timestamp() + 5


def _moment(text: str, today: dt.date) -> dt.datetime | None:
    text = text.replace(",", ".").replace(" UTC", "+00:00").replace(" +", "+")
    try:
        if text[2] == ":":
            return dt.datetime.combine(today, dt.time.fromisoformat(_microseconds(text)))
        if text[0].isalpha():
            return dt.datetime.strptime(re.sub(r" [A-Z]{3,5}(?= \d{4}$)", "", text), _CTIME)
        return dt.datetime.fromisoformat(_microseconds(text))
    except ValueError:
        return None


def _microseconds(text: str) -> str:
    return re.sub(r"\.(\d{1,9})", lambda found: "." + found[1][:6].ljust(6, "0"), text)


class TextRules(msgspec.Struct, frozen=True, kw_only=True):
    """What may differ in a text."""

    tolerance: float = 0.0
    """How far apart two floats may be, as a share of the larger; 0: not at all."""
    times: Interval | None = None
    paths: bool = False


def alike(expected: str, actual: str, rules: TextRules) -> bool:
    """Whether two texts say the same."""
    if expected == actual:
        return True
    left, right = tokens(expected), tokens(actual)
    if len(left) != len(right):
        # A number of another length may have moved the columns of a table, or the line below its head.
        left, right = _without_edges(left), _without_edges(right)
    if len(left) != len(right):
        return False
    has_moved, layout_differs = False, False
    for one, other in zip(left, right, strict=True):
        if one == other:
            continue
        if one[0] == other[0] and one[0] in ("space", "rule"):
            layout_differs = True
        elif _pair_alike(one, other, rules):
            has_moved = True
        else:
            return False
    return has_moved or not layout_differs


def tokens(text: str) -> list[Token]:
    """Cut a text into what is compared one by one."""
    return [(found.lastgroup or "", found[0]) for found in _pattern().finditer(text)]


@cache
def _pattern() -> re.Pattern[str]:
    # Compiled when the first two texts differ: that takes longer than most notebooks need for all else.
    return re.compile(_PIECES, re.VERBOSE)


def _without_edges(found: list[Token]) -> list[Token]:
    """Leave out the blanks at the beginning and the end of lines."""
    kept: list[Token] = []
    for number, token in enumerate(found):
        if token[0] == "space":
            after = found[number + 1][1] if number + 1 < len(found) else "\n"
            if not kept or kept[-1][1] == "\n" or after == "\n":
                continue
        kept.append(token)
    return kept


def _pair_alike(one: Token, other: Token, rules: TextRules) -> bool:
    kind = one[0]
    if kind != other[0]:
        return False
    if kind == "number":
        return _numbers_alike(one[1], other[1], rules)
    if kind == "moment":
        return rules.times is not None and rules.times.has(other[1])
    return kind == "path" and rules.paths and _paths_alike(one[1], other[1])


def _numbers_alike(one: str, other: str, rules: TextRules) -> bool:
    if not (_is_float(one) and _is_float(other)):
        return False
    if floats_alike(float(one.replace(",", "")), float(other.replace(",", "")), rules.tolerance):
        return True
    return rules.times is not None and rules.times.has_seconds(other)


def _is_float(text: str) -> bool:
    return "." in text or "e" in text or "E" in text


def floats_alike(one: float, other: float, tolerance: float) -> bool:
    """Whether two floats are as close as they have to be: what is nearly 0 counts as 0."""
    return isclose(one, other, rel_tol=tolerance, abs_tol=1e-12 if tolerance else 0.0)


def _paths_alike(one: str, other: str) -> bool:
    temporary = ("/tmp/", "/var/folders/", tempfile.gettempdir() + "/")  # noqa: S108 - read, never written
    if one.startswith(temporary) and other.startswith(temporary):
        return True
    return one.replace("\\", "/").rpartition("/")[2] == other.replace("\\", "/").rpartition("/")[2]
