"""Whether two values say the same, as JSON has it.

Python's `==` is not enough here: to it `1`, `1.0` and `true` are one value, and NaN is
never itself.
"""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import zip_longest
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from ..errors import BadInput
from ..values import Json
from .sheet import Sheet, SheetCell

_encode = msgspec.msgpack.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def same(one: Json, other: Json) -> bool:
    """Whether two JSON values are the same; the order of an object's keys says nothing."""
    if one is other:
        return True
    return _equal_bytes(one, other) or _same_inside(one, other)


def _equal_bytes(one: Json, other: Json) -> bool:
    """A quick look that says yes to nearly all that is the same; when it says no, that means nothing."""
    try:
        return one == other and _encode(one) == _encode(other)
    except (UnicodeEncodeError, OverflowError, RecursionError):
        return False


def _same_inside(one: Json, other: Json) -> bool:
    # A stack of our own: what others wrote may be nested as deep as Python's allows.
    waiting: list[tuple[Any, Any]] = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if left is right:
            continue
        kind = cast("type[Any]", type(left))
        if kind is not type(right):
            return False
        if kind is dict:
            if not _same_keys(left, right, waiting):
                return False
        elif kind is list:
            if len(left) != len(right):
                return False
            waiting.extend(zip(left, right, strict=True))
        elif (left != right and kind is not float) or (kind is float and repr(left) != repr(right)):  # NaN, and -0.0
            return False
    return True


def _same_keys(left: dict[str, Any], right: dict[str, Any], waiting: list[tuple[Any, Any]]) -> bool:
    """Compare keys and texts here, which is nearly all there is; the rest is left in `waiting`."""
    if left.keys() != right.keys():
        return False
    for key, value in left.items():
        if type(value) is str:
            if value != right[key]:
                return False
        else:
            waiting.append((value, right[key]))
    return True


def same_cell(one: SheetCell, other: SheetCell) -> bool:
    """Whether two cells are the same in every field."""
    return one is other or (
        one.source == other.source
        and one.id == other.id
        and one.kind == other.kind
        and one.name == other.name
        and one.tags == other.tags
        and same_outputs(one, other)
        and _same_object(one.metadata, other.metadata)
        and _same_object(one.attachments, other.attachments)
        and _same_object(one.extra, other.extra)
    )


def _same_object(one: dict[str, Json], other: dict[str, Json]) -> bool:
    # Nearly all of these are empty: that is seen at once.
    return same(one, other) if one and other else not one and not other


def same_outputs(one: SheetCell, other: SheetCell) -> bool:
    """Whether two cells showed the same, and at the same count."""
    if one.count != other.count or len(one.outputs) != len(other.outputs):
        return False
    # One by one: what is compared is written out for that, and all of it together may be large.
    return one.outputs is other.outputs or all(map(same, one.outputs, other.outputs))


def sharing(sheet: Sheet, known: Sheet) -> Sheet:
    """Return the same notebook, which holds outputs that it has in common with another one only once."""
    before = {cell.id: cell for cell in known.cells}
    return replace(sheet, cells=tuple(_sharing(cell, before.get(cell.id)) for cell in sheet.cells))


def _sharing(cell: SheetCell, known: SheetCell | None) -> SheetCell:
    if known is None or not cell.outputs or not known.outputs or cell.outputs is known.outputs:
        return cell
    pairs = zip_longest(cell.outputs, known.outputs[: len(cell.outputs)])
    return replace(cell, outputs=[other if same(one, other) else one for one, other in pairs])


def same_sheet(one: Sheet, other: Sheet) -> bool:
    """Whether two notebooks are the same in every cell and field."""
    if one is other:
        return True
    if len(one.cells) != len(other.cells) or not same(one.metadata, other.metadata):
        return False
    return all(map(same_cell, one.cells, other.cells)) and same(one.extra, other.extra)


def as_text(value: Json, *, ascii: bool = True) -> str:
    """The value as JSON text: the same text for the same value."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=ascii)
    except RecursionError:
        raise BadInput("A value in this notebook is nested too deeply to be compared. Remove it.") from None


def content_hash(value: Json) -> str:
    """The hash by which an operation names the value it was made against."""
    try:
        data = _encode_sorted(value)
    except (UnicodeEncodeError, OverflowError, RecursionError):
        data = as_text(value).encode()
    return sha256(data).hexdigest()
