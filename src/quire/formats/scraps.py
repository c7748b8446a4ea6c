"""Results read out of a notebook's outputs: ours, scrapbook's, and papermill's older records.

Ours is exact, and counts before what else a display says of the same name. How a display
carries a result is in kernel.py. Nothing here raises for what a file says: a result that
makes no sense is passed over, and its display stays among the outputs.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from ..core.errors import BadInput
from ..core.ids import CellId, check_name
from ..core.results import RecordedResult, kind_of
from ..core.sheet.sheet import Sheet
from ..core.values import Json, tag, untag
from ..kernel import CarriedResult, found_in

_LONGEST_KIND = 100


def results_of(sheet: Sheet) -> dict[str, RecordedResult]:
    """Return what the cells of a notebook recorded, by name; of one name, the last."""
    results: dict[str, RecordedResult] = {}
    for cell in sheet.cells:
        for output in cell.outputs:
            fields = _fields(output)
            for result, is_shown in recorded_in(fields.get("data"), fields.get("metadata"), cell.id):
                # A picture of a value that is there does not take its place.
                if _is_name(result.name) and not (is_shown and result.name in results):
                    results[result.name] = result
    return results


def recorded_in(data: Json, metadata: Json, cell: CellId | None = None) -> Iterator[tuple[RecordedResult, bool]]:
    """Yield the results of one display, each with whether it is only shown. Their names may be any text."""
    for found in found_in(_fields(data), _fields(metadata)):
        try:
            yield _recorded(found, cell), found.is_shown
        except (BadInput, RecursionError, ValueError):
            continue


def _is_name(text: str) -> bool:
    try:
        check_name(text, "A result's name")
    except BadInput:
        return False
    return True


def _fields(value: Json) -> dict[str, Json]:
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {}


def _recorded(found: CarriedResult, cell: CellId | None) -> RecordedResult:
    kind = found.kind[:_LONGEST_KIND]
    if found.data is not None:
        data = _from_base64(found.data)
        if data is None:
            return RecordedResult(name=found.name, kind="text", value=found.data, cell=cell)
        return _with_bytes(found, kind, found.media, data, cell)
    if found.is_shown and (picture := _picture(cast("dict[str, Any]", found.value))) is not None:
        return _with_bytes(found, kind, *picture, cell)
    return RecordedResult(name=found.name, kind=kind, value=_value(found), cell=cell)


def _with_bytes(found: CarriedResult, kind: str, media: str | None, data: bytes, cell: CellId | None) -> RecordedResult:
    return RecordedResult(
        name=found.name,
        kind=kind_of(kind, media),
        data=data,
        media=media,
        size=len(data),
        file=found.file,
        cell=cell,
    )


def _picture(media: Mapping[str, Any]) -> tuple[str, bytes] | None:
    """The picture among what a display shows, if there is one."""
    for name, value in media.items():
        if name.startswith("image/") and isinstance(value, str):
            data = value.encode("utf-8", "replace") if name == "image/svg+xml" else _from_base64(value)
            if data is not None:
                return name, data
    return None


def _value(found: CarriedResult) -> Json:
    """The value, tagged. One that says it is tagged and cannot be read is a value of its own."""
    if not found.is_exact:
        return tag(_from_scrap(found))
    try:
        untag(found.value)
    except BadInput:
        return tag(found.value)
    return found.value


def _from_scrap(found: CarriedResult) -> Json:
    """What scrapbook would read: text under its json is the JSON in it, if there is some."""
    if found.kind != "json" or not isinstance(found.value, str):
        return found.value
    try:
        return json.loads(found.value)
    except (ValueError, RecursionError):
        return found.value


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
