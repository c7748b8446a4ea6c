"""Conflicts between a notebook and its file: what ends them (rule 13).

The log's text stands while one is open, and both sides are kept in it. It ends with
`conflict_resolved`; the text that was chosen arrives as an edit before that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from ..errors import NotFound
from ..events import CellAdded, CellChange, CellRemoved, ConflictResolved, SourceEdited
from ..ids import ConflictId
from ..notebook.notebook import Cell, FileConflict, Notebook
from ..text import source_hash

Side: TypeAlias = Literal["log", "file"]


def decided(now: Notebook) -> list[ConflictResolved]:
    """The conflicts that somebody ended by what they did: the cell says what the file wanted, or is gone.

    Any other text may be of somebody who knew nothing of the conflict: that one stays, until a person says so.
    """
    return [ConflictResolved(conflict=id) for id, conflict in now.conflicts.items() if _is_decided(now, conflict)]


def _is_decided(now: Notebook, conflict: FileConflict) -> bool:
    cell = now.cells[conflict.cell]
    # Where the log had removed the cell, the file's text stands from the beginning.
    return cell.removed or (cell.source == conflict.theirs and conflict.ours != "")


def taking(now: Notebook, conflict: ConflictId, side: Side | None) -> list[CellChange]:
    """What makes a cell as one side of a conflict has it; nothing when it is to stay as it is now."""
    found = now.conflicts.get(conflict)
    if found is None:
        raise NotFound(f"There is no open conflict {conflict!r}. It may have been resolved already.")
    if side is None:
        return []
    return list(_changes(now, now.cells[found.cell], found.ours if side == "log" else found.theirs))


def _changes(now: Notebook, cell: Cell, text: str) -> Iterator[CellChange]:
    if not text:  # a side without text had removed the cell
        if not cell.removed:
            yield CellRemoved(cell=cell.id)
    elif cell.removed:
        place = now.order.index(cell.id)
        after = now.order[place - 1] if place else None
        yield CellAdded(
            cell=cell.id,
            after=after,
            kind=cell.kind,
            source=text,
            name=cell.name,
            tags=cell.tags,
            metadata=cell.metadata,
        )
    elif cell.source != text:
        yield SourceEdited(cell=cell.id, text=text, base_hash=source_hash(cell.source))
