"""Whether a recorded result is in the range that a notebook or a cell says."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from ...core.errors import BadInput
from ...core.results import RecordedResult
from ...core.values import untag
from .markers import Expectation

_COMPARED = re.compile(r"(?P<sign>[<>]=?|==|!=)\s*(?P<value>\S.*?)\s*")
_BETWEEN = re.compile(r"between\s+(?P<low>\S+)\s+and\s+(?P<high>\S+)\s*")
_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def check_range(said: str, what: str) -> None:
    """Refuse what says no range."""
    _conditions(said, what)


def out_of_range(expected: Iterable[Expectation], results: Mapping[str, RecordedResult]) -> list[str]:
    """Return, a sentence each, what is not as expected."""
    return [fault for each in expected if (fault := _fault(each, results)) is not None]


def _fault(expected: Expectation, results: Mapping[str, RecordedResult]) -> str | None:
    result = results.get(expected.name)
    if result is None:
        return f"Result {expected.name!r} is expected to be {expected.range}, and nothing recorded it."
    if isinstance(result.value, msgspec.UnsetType):
        return f"Result {expected.name!r} is a {result.kind}, which has no order: only values can be in a range."
    value: Any = untag(result.value)
    for sign, limit in _conditions(expected.range, expected.name):
        if not _holds(value, sign, limit):
            return f"Result {expected.name!r} is {value!r}, and expected to be {expected.range}."
    return None


def _holds(value: Any, sign: str, limit: float | str) -> bool:
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(limit, str) != isinstance(value, str):
        return sign == "!="
    try:
        return _SIGNS[sign](value, limit)
    except TypeError:
        return False


def _conditions(said: str, what: str) -> list[tuple[str, float | str]]:
    if (between := _BETWEEN.fullmatch(said.strip())) is not None:
        return [(">=", _limit(between["low"])), ("<=", _limit(between["high"]))]
    found = [_COMPARED.fullmatch(part) for part in re.split(r"\s*,\s*|\s+and\s+", said.strip())]
    if not said.strip() or any(each is None for each in found):
        raise BadInput(
            f"{what}: {said!r} says no range. Write `>= 0.9`, `> 0 and < 1`, `== done` or `between 0.1 and 0.2`."
        )
    return [(each["sign"], _limit(each["value"])) for each in found if each is not None]


def _limit(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text.strip("'\"").lower() if text.lower() in ("true", "false") else text.strip("'\"")
