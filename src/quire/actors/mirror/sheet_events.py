"""From a notebook and what it should say to the events that lead there."""

from __future__ import annotations

from collections.abc import Iterator

from ...core import events as e
from ...core.diff.line_diff import increasing
from ...core.diff.merge import MergeConflict
from ...core.ids import CellId, ConflictId, ExecutionId
from ...core.notebook.notebook import Notebook
from ...core.sheet.conversion import Blobs, added, events_of, metadata_of
from ...core.sheet.equality import same, same_cell
from ...core.sheet.sheet import Sheet, SheetCell
from ...core.text import source_hash
from ...core.values import Json
from ...workspace.clock import new_id


def changes(now: Notebook, ours: Sheet, wanted: Sheet) -> tuple[e.CellChange, ...]:
    """What turns the notebook, which `ours` is the sheet of, into `wanted`."""
    before = {cell.id: cell for cell in ours.cells}
    return (
        *(e.CellRemoved(cell=id) for id in before if id not in {cell.id for cell in wanted.cells}),
        *_places(before, wanted),
        *(
            change
            for cell in wanted.cells
            if cell.id in before and not same_cell(cell, before[cell.id])
            for change in _inside(now, cell)
        ),
    )


def _places(before: dict[CellId, SheetCell], wanted: Sheet) -> Iterator[e.CellChange]:
    """New and moved cells, from the top down: what comes before one is at its place already."""
    numbers = {id: number for number, id in enumerate(before)}
    kept = [cell.id for cell in wanted.cells if cell.id in before]
    staying = {kept[index] for index in increasing([numbers[id] for id in kept])}
    after: CellId | None = None
    for cell in wanted.cells:
        if cell.id not in before:
            yield added(cell, after)
        elif cell.id not in staying:
            yield e.CellMoved(cell=cell.id, after=after)
        after = cell.id


def _inside(now: Notebook, wanted: SheetCell) -> Iterator[e.CellChange]:
    cell, made = now.cells[wanted.id], added(wanted, None)
    if made.kind != cell.kind:
        yield e.CellKindChanged(cell=cell.id, kind=made.kind)
    if made.source != cell.source:
        yield e.SourceEdited(cell=cell.id, text=made.source, base_hash=source_hash(cell.source))
    if made.name != cell.name:
        yield e.CellNamed(cell=cell.id, name=made.name)
    if made.tags != cell.tags:
        yield e.CellTagged(cell=cell.id, tags=made.tags)
    values, removed = _keys(cell.metadata, made.metadata)
    if values or removed:
        yield e.CellMetadataSet(cell=cell.id, values=values, removed=removed)


def metadata_change(now: Notebook, ours: Sheet, wanted: Sheet) -> e.MetadataSet | None:
    """What turns the notebook's own metadata into what is wanted."""
    if same(ours.metadata, wanted.metadata) and same(ours.extra, wanted.extra):
        return None
    values, removed = _keys(now.metadata, metadata_of(wanted))
    return e.MetadataSet(values=values, removed=removed) if values or removed else None


def _keys(old: dict[str, Json], new: dict[str, Json]) -> tuple[dict[str, Json], tuple[str, ...]]:
    values = {key: value for key, value in new.items() if key not in old or not same(old[key], value)}
    return values, tuple(key for key in old if key not in new)


def conflict_raised(now: Notebook, conflict: MergeConflict) -> e.ConflictRaised | None:
    """A conflict for the log; None when the same one waits there already."""
    cell = conflict.cell or CellId("")
    base, ours, theirs = (side or "" for side in (conflict.base, conflict.ours, conflict.theirs))
    if any((each.cell, each.ours, each.theirs) == (cell, ours, theirs) for each in now.conflicts.values()):
        return None
    return e.ConflictRaised(conflict=ConflictId(new_id()), cell=cell, base=base, ours=ours, theirs=theirs)


def outputs_imported(now: Notebook, cell: SheetCell, blobs: Blobs) -> e.OutputsImported | None:
    """What a file shows of a cell, for the log; None while the cell waits or runs. Adds to `blobs`."""
    known = now.cells.get(cell.id)
    if known is not None and (known.queued is not None or (known.execution is not None and known.execution.is_open)):
        return None
    made, found = events_of(Sheet(cells=(cell,)), "file", new_id)
    blobs.update(found)
    for event in made:
        if isinstance(event, e.OutputsImported):
            return event
    return e.OutputsImported(execution=ExecutionId(new_id()), cell=cell.id, source_hash=source_hash(cell.source))
