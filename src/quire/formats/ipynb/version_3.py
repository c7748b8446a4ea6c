"""Nbformat 3, of IPython 1 and 2, brought up to date: the fields of then as the fields of nbformat 4.

Only what is there is renamed and moved; whether it makes sense is looked at afterwards, as
with any other notebook.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, cast

from ...core.errors import BadInput
from ...core.values import Json
from .field_check import Fields, shown, text_of

_MEDIA = {
    "text": "text/plain",
    "html": "text/html",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "latex": "text/latex",
    "json": "application/json",
    "javascript": "application/javascript",
}
_TEXTS = ("text", "html", "svg", "latex", "javascript", "json")


def upgraded(fields: Fields, path: str) -> Fields:
    """Return a notebook's fields as nbformat 4 has them; all worksheets become one."""
    gone = ("worksheets", "orig_nbformat", "orig_nbformat_minor")
    new = {key: value for key, value in fields.items() if key not in gone}
    metadata: Any = new.get("metadata")
    if isinstance(metadata, dict):
        kept = cast("Fields", metadata)
        new["metadata"] = {key: value for key, value in kept.items() if key not in ("name", "signature")}
    sheets: Any = fields.get("worksheets", [])
    if not isinstance(sheets, list):
        raise BadInput(f"{path}: 'worksheets' wants a list, got {shown(sheets)}.")
    new["cells"] = [
        _cell(cell)
        for number, sheet in enumerate(cast("list[Json]", sheets), 1)
        for cell in _cells_of(sheet, number, path)
    ]
    return new


def _cells_of(sheet: Json, number: int, path: str) -> list[Json]:
    cells: Any = cast("Fields", sheet).get("cells") if isinstance(sheet, dict) else None
    if not isinstance(cells, list):
        raise BadInput(f"{path}: worksheet {number}: 'cells' wants a list. Restore the file from an older version.")
    return cast("list[Json]", cells)


def _cell(cell: Json) -> Json:
    if not isinstance(cell, dict):
        return cell
    fields = {key: value for key, value in cast("Fields", cell).items() if key != "trusted"}
    metadata: Any = fields.setdefault("metadata", {})
    if isinstance(metadata, dict):
        cast("Fields", metadata).pop("trusted", None)
    match fields.get("cell_type"):
        case "code":
            _upgrade_code(fields)
        case "heading":
            _upgrade_heading(fields)
        case "html":
            fields["cell_type"] = "markdown"
        case _:
            pass
    for key in ("source", "rendered"):
        if key in fields:
            fields[key] = _text(fields[key])
    return fields


def _upgrade_code(fields: Fields) -> None:
    fields.pop("language", None)
    if "collapsed" in fields and isinstance(fields["metadata"], dict):
        fields["metadata"]["collapsed"] = fields.pop("collapsed")
    fields["source"] = fields.pop("input", "")
    fields["execution_count"] = _count(fields.pop("prompt_number", None))
    outputs: Any = fields.get("outputs")
    if isinstance(outputs, list):
        fields["outputs"] = [_output(output) for output in cast("list[Json]", outputs)]


def _upgrade_heading(fields: Fields) -> None:
    fields["cell_type"] = "markdown"
    level: Any = fields.pop("level", 1)
    text = _text(fields.get("source", ""))
    if isinstance(text, str):
        hashes = "#" * (level if type(level) is int else 1)
        fields["source"] = f"{hashes} {' '.join(text.splitlines())}"


def _output(output: Json) -> Json:
    if not isinstance(output, dict):
        return output
    fields = dict(cast("Fields", output))
    for key in _TEXTS:
        if key in fields:
            fields[key] = _text(fields[key])
    match fields.get("output_type"):
        case "pyout" | "display_data":
            return _display(fields)
        case "pyerr":
            fields["output_type"] = "error"
        case "stream":
            fields["name"] = fields.pop("stream", "stdout")
        case _:
            pass
    return fields


def _display(fields: Fields) -> Fields:
    new: Fields = {"output_type": fields.pop("output_type"), "metadata": _media(fields.pop("metadata", {}))}
    if new["output_type"] == "pyout":
        new["output_type"] = "execute_result"
        new["execution_count"] = _count(fields.pop("prompt_number", None))
    new["data"] = data = _media(fields)
    if isinstance(data.get("application/json"), str):
        with suppress(ValueError, RecursionError):  # When it is not JSON after all, it stays the text it was.
            data["application/json"] = json.loads(data["application/json"])
    return new


def _media(named: Json) -> Json:
    """Data by the short names of then, by media type."""
    if not isinstance(named, dict):
        return named
    return {_MEDIA.get(name, name): value for name, value in cast("Fields", named).items()}


def _count(number: Json) -> int | None:
    # Then a cell that was running had `*`.
    return number if type(number) is int else None


def _text(value: Json) -> Json:
    """Lines of then, some of which were written without their line ends."""
    text = text_of(value)
    if text is None or isinstance(value, str):
        return value
    lines = cast("list[str]", value)
    return text if lines and lines[0].endswith(("\n", "\r")) else "\n".join(lines)
