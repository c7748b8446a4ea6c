"""Cells of a sheet as the fields of nbformat 4: as nbformat writes them, or in the manner of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from ...core.sheet.equality import same
from ...core.sheet.sheet import OURS, SheetCell, is_json
from ...core.values import Json
from .field_check import TYPES, Fields, lines_of, unmarked
from .splice import common

# What nbformat writes as a list of lines, so that a line-based diff can be read.
_SPLIT_TYPES = ("application/javascript", "image/svg+xml")


def fields_of(cell: SheetCell, *, with_id: bool) -> Fields:
    """Return a cell as nbformat's fields, each text one string.

    What nbformat has no room for is left out: outputs of a cell that is not code,
    attachments of one that is.
    """
    cell_type = TYPES[cell.kind]
    fields: Fields = {"cell_type": cell_type, **cell.extra}
    if with_id:
        fields["id"] = cell.id
    fields["metadata"] = _metadata_of(cell)
    fields["source"] = f"%%sql\n{cell.source}" if cell.kind == "sql" else cell.source
    if cell_type == "code":
        fields["execution_count"] = cell.count
        fields["outputs"] = cell.outputs
    elif cell.attachments:
        fields["attachments"] = cell.attachments
    return fields


def _metadata_of(cell: SheetCell) -> Fields:
    # A marker that came along by hand would make another kind of the cell when it is read again.
    metadata, _ = unmarked(cell.metadata)
    if cell.kind in ("sql", "prompt"):
        metadata = marked(metadata, cell.kind)
    if cell.tags:
        metadata = metadata | {"tags": list(cell.tags)}
    if cell.name:
        metadata = metadata | {"name": cell.name}
    return metadata


def marked(metadata: Fields, kind: str) -> Fields:
    """Return a cell's metadata with our marker."""
    ours: Any = metadata.get(OURS)
    section = cast("Fields", ours) if isinstance(ours, dict) else {}
    return metadata | {OURS: section | {"kind": kind}}


def split(fields: Fields) -> Fields:
    """Return fields whose texts are one string each with the lists of lines that nbformat writes."""
    fields = fields | {"source": lines_of(fields["source"])}
    if fields["cell_type"] == "code":
        fields["outputs"] = [_split_output(output) for output in fields["outputs"]]
    elif "attachments" in fields:
        fields["attachments"] = {name: _split_bundle(bundle) for name, bundle in fields["attachments"].items()}
    return fields


def _split_output(output: Json) -> Json:
    match output:
        case {"output_type": "stream", "text": str(text)}:
            return output | {"text": lines_of(text)}
        case {"output_type": "display_data" | "execute_result", "data": data}:
            return output | {"data": _split_bundle(data)}
        case _:
            return output


def _split_bundle(bundle: Json) -> Json:
    if not isinstance(bundle, dict):
        return bundle
    found = cast("Fields", bundle)
    return {
        media: lines_of(value) if isinstance(value, str) and _is_split(media) else value
        for media, value in found.items()
    }


def _is_split(media: str) -> bool:
    """Whether nbformat writes this part of a media bundle as a list of lines."""
    return media.startswith("text/") or media in _SPLIT_TYPES


def carried(raw: Fields, old: Fields, new: Fields, *, lists: bool) -> Fields:
    """Return the fields of a cell the way its file writes them.

    `raw` is what stands in the file and `old` what was understood of it; `new` is put as
    `old` is. A field that did not change stays as it stands, or stays away; a text that did
    remains one string or a list of lines. `lists` says which for a text that was not there.
    """

    def put(key: str, stands: Json, before: Json, value: Json) -> Json:
        match key:
            case "source":
                return _text(stands, value, lists)
            case "outputs" if isinstance(value, list):
                return _outputs(stands or [], before or [], cast("list[Json]", value), lists)
            case "attachments" if isinstance(value, dict):
                return _three_ways(stands or {}, before or {}, cast("Fields", value), partial(_put_attachment, lists))
            case "metadata":
                return _put_plain(key, stands, before, value)
            case _:
                return value

    return _three_ways(raw, old, new, put)


def _three_ways(raw: Fields, old: Fields, new: Fields, put: Callable[[str, Json, Json, Json], Json]) -> Fields:
    """What stands there without what went, and with what came or changed as `put` puts it."""
    fields = {key: value for key, value in raw.items() if key in new or key not in old}
    for key, value in new.items():
        if key not in old or not same(old[key], value):
            fields[key] = put(key, raw.get(key), old.get(key), value)
    return fields


def _text(stands: Json, text: str, lists: bool) -> Json:
    return lines_of(text) if (lists if stands is None else isinstance(stands, list)) else text


def _put_plain(key: str, stands: Json, before: Json, value: Json) -> Json:
    """Metadata: `before` may know less than what stands there."""
    if isinstance(stands, dict) and isinstance(before, dict) and isinstance(value, dict):
        return _three_ways(cast("Fields", stands), cast("Fields", before), cast("Fields", value), _put_plain)
    return value


def _put_attachment(lists: bool, name: str, stands: Json, before: Json, value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    return _three_ways(stands or {}, before or {}, cast("Fields", value), partial(_put_media, lists))


def _put_media(lists: bool, media: str, stands: Json, before: Json, value: Json) -> Json:
    if not isinstance(value, str) or is_json(media):
        return value
    return _text(stands, value, lists and _is_split(media))


def _outputs(raw: Sequence[Json], old: Sequence[Json], new: Sequence[Json], lists: bool) -> list[Json]:
    """Each output in the manner of the one that stood in its place."""
    start, end = common(old, new)
    rows: list[tuple[Json, Json]] = list(zip(raw, old, strict=True))[start : len(raw) - end]
    rows += [({}, {})] * len(new)
    changed = [
        _output(stands, before, output, lists)
        for (stands, before), output in zip(rows, new[start : len(new) - end], strict=False)
    ]
    return [*raw[:start], *changed, *raw[len(raw) - end :]]


def _output(raw: Json, old: Json, new: Json, lists: bool) -> Json:
    def put(key: str, stands: Json, before: Json, value: Json) -> Json:
        match new.get("output_type"), key, value:
            case "stream", "text", str(text):
                return _text(stands, text, lists)
            case (("display_data" | "execute_result"), "data", dict()):
                return _three_ways(stands or {}, before or {}, cast("Fields", value), partial(_put_media, lists))
            case _:
                return value

    return _three_ways(raw, old, cast("Fields", new), put) if isinstance(new, dict) else new
