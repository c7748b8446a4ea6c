"""Jupyter's own format: nbformat 4 read and written, nbformat 3 brought up to date.

What did not change keeps its bytes: a file is spliced, not written anew, so that a diff
shows what somebody did and nothing else. The parts: `field_check` knows the fields of a
cell, `valid_metadata` what nbformat takes as metadata, `cell_fields` how they are written, `version_3`
those of old, `splice` how JSON text is changed in place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple, cast

import msgspec

from ...core.errors import BadInput
from ...core.sheet.equality import same, same_cell, same_sheet
from ...core.sheet.sheet import Sheet, SheetCell, with_ids
from ...core.values import Json
from .cell_fields import carried, fields_of, marked, split
from .field_check import FieldError, Fields, cell_from, kind_of, lines_of, shown, text_of, unmarked
from .splice import JsonPart, Style, changed_members, dumps, joined, loads, opened, parts_of, style_of, with_members
from .valid_metadata import NOTEBOOK, holds_kept, restored, schema_of, valid

__all__ = ["lines_of", "read", "text_of", "write"]

_KNOWN = ("cells", "metadata", "nbformat", "nbformat_minor")
_CONFLICT = re.compile(r"^<{7}(?:\s|$)", re.MULTILINE)
# Nbformat says that these never belong into a file.
_TRANSIENT = ("orig_nbformat", "orig_nbformat_minor", "signature")


def read(text: str, path: str) -> Sheet:
    """Return the notebook that the text of an .ipynb file holds."""
    return _sheet(*_parsed(text, path), path)


def _sheet(fields: Fields, version: tuple[int, int], path: str) -> Sheet:
    for name, kind, wanted in (("cells", list, "a list"), ("metadata", dict, "an object")):
        if not isinstance(fields.get(name, {}), kind):
            raise BadInput(f"{path}: '{name}' {_wants(fields, name, wanted)}")
    return Sheet(
        cells=with_ids(_cells(fields["cells"], version[1], path)),
        metadata=restored(fields.get("metadata", {}), NOTEBOOK),
        extra={key: value for key, value in fields.items() if key not in _KNOWN},
    )


def _cells(cells: list[Json], minor: int, path: str) -> list[SheetCell]:
    made: list[SheetCell] = []
    for number, fields in enumerate(cells, 1):
        try:
            made.append(cell_from(fields, minor))
        except FieldError as fault:
            found: Any = cast("Fields", fields).get("id") if isinstance(fields, dict) else None
            named = f" ({found})" if isinstance(found, str) and found.isprintable() and len(found) <= 64 else ""
            raise BadInput(f"{path}: cell {number}{named}: {fault}") from None
    return made


def _parsed(text: str, path: str) -> tuple[Fields, tuple[int, int]]:
    """The fields as nbformat 4 has them, and the version that they had."""
    fields: Any = _json(text, path)
    if not isinstance(fields, dict):
        raise BadInput(
            f"{path} is JSON, but no notebook: it holds {shown(fields)}. A notebook is an object with cells."
        )
    found = cast("Fields", fields)
    version = _version(found, path)
    if version[0] == 3:
        # Few files are that old.
        from .version_3 import upgraded

        found = upgraded(found, path)
    return found, version


def _version(fields: Fields, path: str) -> tuple[int, int]:
    for name in ("nbformat", "nbformat_minor"):
        value: Any = fields.get(name, 0 if name == "nbformat_minor" and fields.get("nbformat") == 3 else None)
        if type(value) is not int or value < 0:
            raise BadInput(f"{path}: '{name}' {_wants(fields, name, 'a whole number')} Is it a notebook?")
    major: int = fields["nbformat"]
    if major > 4:
        told = "Quire reads nbformat 3 and 4. Save it as nbformat 4 where it was made, or update Quire."
        raise BadInput(f"{path} is nbformat {major}, which is newer. {told}")
    if major < 3:
        told = f"Quire reads nbformat 3 and 4. Run `jupyter nbconvert --to notebook --inplace {path}` first."
        raise BadInput(f"{path} is nbformat {major}, which is too old. {told}")
    return major, fields.get("nbformat_minor", 0)


def _wants(fields: Fields, name: str, wanted: str) -> str:
    return f"is missing: it wants {wanted}." if name not in fields else f"wants {wanted}, got {shown(fields[name])}."


def _json(text: str, path: str) -> Json:
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{path} {_not_json(text, error)}") from None
    except RecursionError:
        raise BadInput(f"{path} is nested too deeply to be a notebook.") from None
    except ValueError:
        # All that is left is Python's own limit.
        raise BadInput(
            f"{path} holds a number of more than 4,300 digits. Write it as text where it comes from."
        ) from None


def _not_json(text: str, error: json.JSONDecodeError) -> str:
    if not text.strip():
        return "is empty: it holds no notebook. Remove it, or restore it from an older version."
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        return f"has an unresolved merge at line {line} (<<<<<<<). Resolve it, or take one side: git checkout --ours or --theirs."
    place = f"line {error.lineno}, column {error.colno}"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"ends too early, at {place}: it may have been cut off. Restore it from an older version."
    return f"is not JSON: {error.msg} at {place}. Is it a notebook?"


def write(sheet: Sheet, path: str, like: str | None, was: Sheet | None = None) -> str:
    """Return the notebook as the text of an .ipynb file; `like` is that file as it was, and `was` what it said."""
    sheet = msgspec.structs.replace(sheet, cells=with_ids(sheet.cells))
    try:
        return _written(sheet, Style()) + "\n" if like is None else _spliced(sheet, path, like, was)
    except RecursionError:
        raise BadInput(f"{path} cannot be written: its metadata or outputs are nested too deeply.") from None


def _written(sheet: Sheet, style: Style) -> str:
    cells = [split(_lasting(_valid_fields(cell, with_id=True))) for cell in sheet.cells]
    metadata = valid({key: value for key, value in sheet.metadata.items() if key not in _TRANSIENT}, NOTEBOOK)
    return dumps(sheet.extra | {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, style)


def _valid_fields(cell: SheetCell, *, with_id: bool) -> Fields:
    fields = fields_of(cell, with_id=with_id)
    fields["metadata"] = valid(fields["metadata"], schema_of(fields["cell_type"]))
    return fields


def _lasting(fields: Fields) -> Fields:
    if "trusted" not in fields["metadata"]:
        return fields
    return fields | {"metadata": {key: value for key, value in fields["metadata"].items() if key != "trusted"}}


def _spliced(sheet: Sheet, path: str, like: str, was: Sheet | None) -> str:
    old = was or read(like, path)
    if _unchanged(sheet, old):
        return like
    parts = parts_of(like)
    style = style_of(like, parts)
    # The last of several members with one key is the one that counts.
    last = {part.key: part.body for part in parts.parts}
    fields: Fields = {key: loads(body) for key, body in last.items() if key != "cells"}
    major, minor = _version(fields, path)
    if major == 3:
        return _renewed(sheet, old, like)
    parts, indent = opened(parts, "", style)
    bodies = changed_members(parts, _around(old, old, fields), _around(sheet, old, fields), style, indent)
    bodies["cells"] = _spliced_cells(last["cells"], old, sheet, _Manner(style, indent, minor))
    return with_members(parts, bodies, style)


def _renewed(sheet: Sheet, old: Sheet, like: str) -> str:
    """An older version is kept as it is, or written as nbformat 4."""
    if same(msgspec.to_builtins(sheet), msgspec.to_builtins(old)):
        return like
    return _written(sheet, style_of(like, parts_of(like))) + like[len(like.rstrip()) :]


def _around(sheet: Sheet, old: Sheet, fields: Fields) -> Fields:
    """What stands beside the cells: metadata that did not change as the file has it, valid or not."""
    if same(sheet.metadata, old.metadata):
        return sheet.extra | ({"metadata": fields["metadata"]} if "metadata" in fields else {})
    return sheet.extra | {"metadata": valid(sheet.metadata, NOTEBOOK)}


def _writes_lists(cells: Iterable[JsonPart]) -> bool:
    """Whether a file writes texts as lists of lines: most do."""
    sources = (cast("Fields", loads(cell.body)).get("source") for cell in cells)
    return next((isinstance(source, list) for source in sources if source), True)


class _Manner(NamedTuple):
    """How the cells of a file are written."""

    style: Style
    indent: str | None
    minor: int
    lists: bool = True
    """Whether texts are lists of lines."""


def _spliced_cells(text: str, old: Sheet, new: Sheet, manner: _Manner) -> str:
    parts, indent = opened(parts_of(text), manner.indent, manner.style)
    manner = manner._replace(indent=indent, lists=_writes_lists(parts.parts))
    known = {cell.id: (cell, part) for cell, part in zip(old.cells, parts.parts, strict=True)}
    chosen: list[tuple[JsonPart | None, str]] = []
    for cell in new.cells:
        if cell.id in known:
            before, part = known[cell.id]
            chosen.append((part, _spliced_cell(part.body, before, cell, manner)))
        else:
            chosen.append((None, _plain_cell(cell, manner)))
    return joined(parts, chosen, manner.style)


def _plain_cell(cell: SheetCell, manner: _Manner) -> str:
    # Before nbformat 4.5 a cell had no id, and was not valid with one.
    fields = _valid_fields(cell, with_id=manner.minor >= 5)
    return dumps(split(fields) if manner.lists else fields, manner.style, manner.indent)


def _spliced_cell(text: str, old: SheetCell, new: SheetCell, manner: _Manner) -> str:
    if _unchanged(new, old):
        return text
    before, after = fields_of(old, with_id=False), fields_of(new, with_id=False)
    if before["cell_type"] != after["cell_type"]:
        # An empty one is nothing to a sheet, but not every type of cell may have it.
        before.setdefault("attachments", {})
    changed = {key for key in before.keys() | after.keys() if not same(before.get(key, ...), after.get(key, ...))}
    if not changed:
        return text
    if text == _plain_cell(old, manner):
        # Just as we would write it, as nearly all are: written anew, which is much faster and the same.
        return _plain_cell(new, manner)
    changed.add("metadata")
    if manner.minor >= 5:
        # Also where it was missing or another's: read again, the cell is the same.
        after["id"] = new.id
        changed.add("id")
    parts, indent = opened(parts_of(text), manner.indent, manner.style)
    raw: Fields = {part.key: loads(part.body) for part in parts.parts if part.key in changed}
    _, marker = unmarked(raw.get("metadata", {}))
    if marker and kind_of(after["cell_type"], marker, after["source"]) != new.kind:
        # The cell did not live up to its marker, and now it would: the marker goes.
        before["metadata"] = marked(before["metadata"], marker)
    if before["cell_type"] != after["cell_type"] or not same(before["metadata"], after["metadata"]):
        after["metadata"] = valid(after["metadata"], schema_of(after["cell_type"]))
        if holds_kept(raw.get("metadata")):
            # There a key stands elsewhere than where it was read: nothing of it is left over.
            before["metadata"] = raw["metadata"]
    fields = carried(raw, _only(before, changed), _only(after, changed), lists=manner.lists)
    bodies = changed_members(parts, raw, fields, manner.style, indent)
    return with_members(parts, bodies, manner.style)


def _only(fields: Fields, keys: Collection[str]) -> Fields:
    return {key: value for key, value in fields.items() if key in keys}


def _unchanged(new: Sheet | SheetCell, old: Sheet | SheetCell) -> bool:
    """A quick look; when it says no, there may still be nothing to write."""
    if isinstance(new, Sheet):
        return isinstance(old, Sheet) and same_sheet(new, old)
    return isinstance(old, SheetCell) and same_cell(new, old)
