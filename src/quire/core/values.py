"""Values that JSON cannot carry, as JSON that both Python and JavaScript read alike.

A tagged value is an object with one key that begins with `$`. Integers past 2^53, NaN,
the infinities, bytes, dates, times, paths, tuples and sets are tagged; so is an object of
the user's that could be mistaken for one (a key beginning with `$`, or keys that are not
text). `untag(tag(value)) == value`, with NaN for NaN and a `FilePath` for any path.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeAlias, cast

import msgspec

from .errors import BadInput

Json: TypeAlias = Any
"""What `json.loads` returns: None, bool, int, float, str, list or dict of these."""

Content: TypeAlias = Annotated[str, msgspec.Meta(extra={"content": True})]
"""Text that somebody wrote or a kernel printed: what a redaction masks."""
Data: TypeAlias = Annotated[dict[str, Json], msgspec.Meta(extra={"content": True})]
"""The same, as an object."""


class FilePath(str):
    """A path as a value: core touches no disk, so it is text that says what it is."""

    def __fspath__(self) -> str:
        return str(self)


_SAFE_INTEGER = 2**53
_DIGITS = re.compile(r"-?[0-9]{1,4000}")
_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def tag(value: Any) -> Json:
    """Return `value` as JSON, with tags where JSON alone would change it."""
    match value:
        case FilePath():
            return {"$path": str(value)}
        case None | bool() | str():
            return value
        case int():
            return value if -_SAFE_INTEGER <= value <= _SAFE_INTEGER else _tag_int(value)
        case float():
            # Not itself: numpy's is a float too, and no encoder knows it.
            return float(value) if math.isfinite(value) else {"$float": str(float(value))}
        case list():
            return [tag(each) for each in cast("list[Any]", value)]
        case Mapping():
            return _tag_mapping(cast("Mapping[Any, Any]", value))
        case _:
            return _tag_special(value)


def _tag_int(value: int) -> Json:
    if value.bit_length() > 13_000:
        raise BadInput("An integer of more than 4,000 digits cannot be kept. Keep it as text or as a blob.")
    return {"$int": str(value)}


def _tag_mapping(value: Mapping[Any, Any]) -> Json:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: tag(each) for key, each in value.items()}
    return {"$dict": [[tag(key), tag(each)] for key, each in value.items()]}


def _tag_special(value: Any) -> Json:
    match value:
        case tuple():
            return {"$tuple": [tag(each) for each in cast("tuple[Any, ...]", value)]}
        case set() | frozenset():
            name = "$set" if isinstance(value, set) else "$frozenset"
            # Sorted by repr: a set has no order, and equal values must give equal bytes.
            return {name: [tag(each) for each in sorted(cast("set[Any]", value), key=repr)]}
        case bytes() | bytearray():
            return {"$bytes": base64.b64encode(value).decode()}
        case dt.datetime():
            return {"$datetime": value.isoformat()}
        case dt.date():
            return {"$date": value.isoformat()}
        case dt.time():
            return {"$time": value.isoformat()}
        case dt.timedelta():
            return {"$duration": [value.days, value.seconds, value.microseconds]}
        case _ if hasattr(value, "__fspath__"):
            return {"$path": value.__fspath__()}
        case _:
            kind = cast("type[Any]", type(value)).__name__
            raise BadInput(f"A value of type {kind} cannot be kept: use numbers, text, dates, bytes, lists or dicts.")


def _pairs(value: Any) -> dict[Any, Any]:
    return {untag(key): untag(each) for key, each in value}


def _untag_int(value: Any) -> int:
    if not isinstance(value, str) or not _DIGITS.fullmatch(value):
        raise ValueError("write its digits as text")
    return int(value)


_UNTAG: dict[str, Callable[[Any], Any]] = {
    "$int": _untag_int,
    "$float": lambda value: _SPECIAL[value],
    "$dict": _pairs,
    "$tuple": lambda value: tuple(untag(each) for each in value),
    "$set": lambda value: {untag(each) for each in value},
    "$frozenset": lambda value: frozenset(untag(each) for each in value),
    "$bytes": lambda value: base64.b64decode(value, validate=True),
    "$datetime": dt.datetime.fromisoformat,
    "$date": dt.date.fromisoformat,
    "$time": dt.time.fromisoformat,
    "$duration": lambda value: dt.timedelta(*value),
    "$path": FilePath,
}


def untag(value: Json) -> Any:
    """Return the value that `tag` was given."""
    if isinstance(value, list):
        return [untag(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if len(fields) == 1:
        ((name, inner),) = fields.items()
        if isinstance(name, str) and name.startswith("$"):  # pyright: ignore[reportUnnecessaryIsInstance] - callers in Python
            return _untag_one(name, inner)
    return {name: untag(each) for name, each in fields.items()}


def _untag_one(name: str, inner: Any) -> Any:
    read = _UNTAG.get(name)
    if read is None:
        raise BadInput(f"Tagged value {name!r} is not known here: it may come from a newer Quire.")
    try:
        return read(inner)
    except (ValueError, TypeError, KeyError, OverflowError, binascii.Error) as error:
        raise BadInput(f"Tagged value {name!r} cannot be read: {error}.") from error
