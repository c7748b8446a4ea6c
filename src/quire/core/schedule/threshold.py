"""A threshold of a result, such as `health_score < 0.8`: one name, one comparison, one number."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

import msgspec

from ..errors import BadInput
from ..values import Json

_THRESHOLD = re.compile(r"\s*([^\W\d][\w.-]{0,199})\s*(<=|>=|==|!=|<|>)\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Threshold(msgspec.Struct, frozen=True, kw_only=True):
    """A result, a comparison and a number."""

    name: str
    comparison: str
    number: float

    def is_crossed(self, results: Mapping[str, Json]) -> bool:
        """Whether the result is there, is a number, and compares so."""
        value = results.get(self.name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return _COMPARE[self.comparison](value, self.number)


def parse_threshold(text: str) -> Threshold:
    """Read a threshold, or say how one is written."""
    match = _THRESHOLD.fullmatch(text)
    if match is None:
        told = f"{text[:80]!r} is no threshold: write a result, a comparison and a number"
        raise BadInput(f"{told}, such as health_score < 0.8.")
    return Threshold(name=match[1], comparison=match[2], number=float(match[3]))
