"""Operations applied to a notebook: all of them, or none.

A notebook that has changed since the operations were made may still take them, as long as
the cells they name say what they expect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

import msgspec

from ..errors import BadInput, Conflict
from ..ids import CellId
from ..sheet.equality import content_hash, same
from ..sheet.sheet import Sheet, SheetCell
from ..text import apply, check_edit, source_hash
from ..values import Json
from . import diff as d


def patch(sheet: Sheet, operations: Iterable[d.AnyOperation]) -> Sheet:
    """Return the notebook after `operations`, or say which cell is not as they expect."""
    patched = _PatchedNotebook(sheet)
    for operation in operations:
        patched.apply(operation)
    return patched.sheet()


class _PatchedNotebook:
    """A notebook on its way. Its order is a chain, so that a cell is put in place at once."""

    def __init__(self, sheet: Sheet) -> None:
        self._metadata, self._extra = sheet.metadata, sheet.extra
        self._cells = {cell.id: cell for cell in sheet.cells}
        if len(self._cells) < len(sheet.cells):
            raise BadInput("Two cells have one id, so a diff cannot name them. Give every cell an id of its own.")
        self._link([cell.id for cell in sheet.cells])

    def _link(self, ids: list[CellId]) -> None:
        self._next: dict[CellId | None, CellId | None] = dict(zip((None, *ids), (*ids, None), strict=True))
        self._before: dict[CellId, CellId | None] = dict(zip(ids, (None, *ids), strict=False))

    def sheet(self) -> Sheet:
        """The notebook as it is now."""
        return Sheet(
            cells=tuple(self._cells[id] for id in self._in_order()), metadata=self._metadata, extra=self._extra
        )

    def _in_order(self) -> Iterator[CellId]:
        id = self._next[None]
        while id is not None:
            yield id
            id = self._next[id]

    def apply(self, operation: d.AnyOperation) -> None:
        """Take one step."""
        match operation:
            case d.MetadataSetOp():
                self._metadata = _with_keys(self._metadata, operation, "The notebook", "metadata")
            case d.ExtraSet():
                self._extra = _with_keys(self._extra, operation, "The notebook", "fields")
            case d.CellRemovedOp():
                self._remove(operation)
            case d.CellAddedOp():
                self._add(operation)
            case d.CellMovedOp():
                self._cell(operation.cell)
                self._take_out(operation.cell)
                self._put(operation.cell, operation.after)
            case d.IdsChanged():
                self._rename(operation.ids)
            case _:
                self._cells[operation.cell] = _changed(self._cell(operation.cell), operation)

    def _cell(self, id: CellId) -> SheetCell:
        if id not in self._cells:
            raise Conflict(f"Cell {id} is not in this notebook, and the diff changes it. {_AGAIN}", cell=id)
        return self._cells[id]

    def _remove(self, operation: d.CellRemovedOp) -> None:
        cell, content = self._cell(operation.cell), operation.content
        # What it showed may have changed by a run; what somebody wrote must not go unseen.
        _expect(cell.id, "kind", cell.kind, content.kind)
        _expect(cell.id, "source", cell.source, content.source)
        self._take_out(cell.id)
        del self._next[cell.id], self._before[cell.id], self._cells[cell.id]

    def _add(self, operation: d.CellAddedOp) -> None:
        if operation.cell in self._cells:
            raise Conflict(f"Cell {operation.cell} is in this notebook already. {_AGAIN}", cell=operation.cell)
        if operation.content.id != operation.cell:
            raise BadInput(f"The diff adds cell {operation.cell}, but its content says {operation.content.id}.")
        self._cells[operation.cell] = operation.content
        self._put(operation.cell, operation.after)

    def _take_out(self, id: CellId) -> None:
        before, following = self._before[id], self._next[id]
        self._next[before] = following
        if following is not None:
            self._before[following] = before

    def _put(self, id: CellId, after: CellId | None) -> None:
        if after == id or after not in self._next:
            raise Conflict(f"Cell {id} goes after cell {after}, which is not in this notebook. {_AGAIN}", cell=id)
        following = self._next[after]
        self._next[after], self._next[id], self._before[id] = id, following, after
        if following is not None:
            self._before[following] = id

    def _rename(self, ids: dict[CellId, CellId]) -> None:
        for id in ids:
            self._cell(id)
        order = [ids.get(id, id) for id in self._in_order()]
        if len(set(order)) < len(order):
            raise Conflict(f"A cell would get an id that another cell has. {_AGAIN}")
        cells = (msgspec.structs.replace(cell, id=ids[id]) if id in ids else cell for id, cell in self._cells.items())
        self._cells = {cell.id: cell for cell in cells}
        self._link(order)


_AGAIN = "Make the diff again against this notebook, or merge."


def _changed(
    cell: SheetCell,
    operation: d.CellKindChangedOp
    | d.SourceEditedOp
    | d.CellNamedOp
    | d.CellTaggedOp
    | d.CellMetadataSetOp
    | d.AttachmentsSet
    | d.CellExtraSet
    | d.OutputsChanged
    | d.CountChanged,
) -> SheetCell:
    match operation:
        case d.CellKindChangedOp():
            _expect(cell.id, "kind", cell.kind, operation.was)
            return msgspec.structs.replace(cell, kind=operation.kind)
        case d.SourceEditedOp():
            return msgspec.structs.replace(cell, source=_edited(cell, operation))
        case d.CellNamedOp():
            _expect(cell.id, "name", cell.name, operation.was)
            return msgspec.structs.replace(cell, name=operation.name)
        case d.CellTaggedOp():
            _expect(cell.id, "tags", list(cell.tags), list(operation.was))
            return msgspec.structs.replace(cell, tags=operation.tags)
        case d.CellMetadataSetOp():
            metadata = _with_keys(cell.metadata, operation, f"Cell {cell.id}", "metadata", cell.id)
            return msgspec.structs.replace(cell, metadata=metadata)
        case d.AttachmentsSet():
            attachments = _with_keys(cell.attachments, operation, f"Cell {cell.id}", "attachments", cell.id)
            return msgspec.structs.replace(cell, attachments=attachments)
        case d.CellExtraSet():
            extra = _with_keys(cell.extra, operation, f"Cell {cell.id}", "fields", cell.id)
            return msgspec.structs.replace(cell, extra=extra)
        case d.OutputsChanged():
            return msgspec.structs.replace(cell, outputs=_outputs(cell, operation))
        case d.CountChanged():
            _expect(cell.id, "count", cell.count, operation.was)
            return msgspec.structs.replace(cell, count=operation.count)
        case _:
            assert_never(operation)


def _edited(cell: SheetCell, operation: d.SourceEditedOp) -> str:
    if source_hash(cell.source) != operation.base_hash:
        raise _other(cell.id, "source")
    check_edit(operation.edit, len(cell.source))
    return apply(cell.source, operation.edit)


def _outputs(cell: SheetCell, operation: d.OutputsChanged) -> list[Json]:
    if content_hash(cell.outputs) != operation.base_hash:
        raise _other(cell.id, "outputs")
    end = operation.at + operation.remove
    if operation.at < 0 or operation.remove < 0 or end > len(cell.outputs):
        raise BadInput(
            f"The diff replaces outputs {operation.at} to {end} of cell {cell.id}: it has {len(cell.outputs)}."
        )
    return [*cell.outputs[: operation.at], *operation.insert, *cell.outputs[end:]]


def _with_keys(
    values: dict[str, Json], operation: d.KeysSet, whose: str, field: str, cell: CellId | None = None
) -> dict[str, Json]:
    for key in (*operation.values, *operation.removed):
        was_there = key in operation.was
        if (key in values) != was_there or (was_there and not same(values[key], operation.was[key])):
            told = f"{whose}: {field} key {key!r} is not what the diff expects. {_AGAIN}"
            raise Conflict(told, cell=cell, field=field)
    kept = {key: value for key, value in values.items() if key not in operation.removed}
    return {**kept, **operation.values}


def _expect(cell: CellId, field: str, found: Any, expected: Any) -> None:
    if not same(found, expected):
        raise _other(cell, field)


def _other(cell: CellId, field: str) -> Conflict:
    return Conflict(f"Cell {cell}: its {field} is not what the diff expects. {_AGAIN}", cell=cell, field=field)
