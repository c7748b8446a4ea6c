"""Which cells show outputs that their notebook no longer stands for.

A cell is stale when its source changed since it ran; when a name it uses was defined by a
cell that changed since, or that stands itself on one that did; or, where a language could
not be analysed, when any code cell above changed since.
"""

from __future__ import annotations

from ..ids import CellId
from ..text import source_hash
from .notebook import Execution, Notebook


def stale_cells(notebook: Notebook) -> frozenset[CellId]:
    """Return the ids of the stale cells. Linear in the cells and in the names they use."""
    stale: set[CellId] = set()
    readers: dict[CellId, list[CellId]] = {}
    changed_above = 0
    for cell in map(notebook.cells.__getitem__, notebook.order):
        changed_above = max(changed_above, cell.gap_seq)
        if not cell.runs:
            continue
        execution = cell.execution
        if execution is not None and execution.started_seq is not None and not cell.removed:
            for definer in execution.reads or ():
                readers.setdefault(definer, []).append(cell.id)
            if execution.source_hash != source_hash(cell.source) or _stands_on_changed(
                notebook, execution, execution.started_seq, changed_above
            ):
                stale.add(cell.id)
        changed_above = max(changed_above, cell.changed_seq)
    return frozenset(_spread(stale, readers))


def _stands_on_changed(notebook: Notebook, execution: Execution, started_seq: int, changed_above: int) -> bool:
    if execution.reads is None:
        return changed_above > started_seq
    return any(_differs(notebook, definer, seen) for definer, seen in execution.reads.items())


def _differs(notebook: Notebook, definer: CellId, seen: str) -> bool:
    cell = notebook.cells.get(definer)
    if cell is None or cell.removed or not cell.runs or cell.execution is None:
        return True
    return cell.execution.fingerprint != seen or cell.execution.source_hash != source_hash(cell.source)


def _spread(stale: set[CellId], readers: dict[CellId, list[CellId]]) -> set[CellId]:
    """Add the cells that use what a stale cell defined, and those that use theirs …"""
    waiting = list(stale)
    while waiting:
        for reader in readers.get(waiting.pop(), ()):
            if reader not in stale:
                stale.add(reader)
                waiting.append(reader)
    return stale
