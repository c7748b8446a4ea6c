"""Which cells are to run, when somebody says `changed`, `stale`, `all` or names them."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.errors import BadInput
from ..core.ids import CellId
from ..core.notebook.cell_lookup import find_cell
from ..core.notebook.notebook import Cell, Notebook
from ..core.notebook.staleness import stale_cells
from ..core.python.cell_names import Names, analyse
from ..core.sheet.conversion import sheet_of
from ..core.text import source_hash
from .arguments import Cells


def chosen(notebook: Notebook, cells: Cells, changed: Iterable[CellId]) -> list[Cell]:
    """Return the cells that are meant, from top to bottom. `changed` are those that were touched just now."""
    live = [cell for cell in notebook.live_cells if cell.runs]
    if cells == "all":
        return live
    if cells == "changed":
        touched = set(changed)
        return [cell for cell in live if cell.id in touched]
    if cells == "stale":
        return _stale(notebook, live, set(changed))
    return _named(notebook, cells)


def unrun(notebook: Notebook) -> set[CellId]:
    """The cells that never ran as they are now."""
    return {cell.id for cell in notebook.live_cells if cell.runs and not _ran_so(cell)}


def _ran_so(cell: Cell) -> bool:
    """Whether a cell has begun to run with the source that it has."""
    ran = cell.execution
    return ran is not None and ran.source_hash == source_hash(cell.source)


def _named(notebook: Notebook, names: tuple[str, ...]) -> list[Cell]:
    live = list(notebook.live_cells)
    places = sorted({find_cell(live, name) for name in names})
    for cell in (live[place] for place in places):
        if not cell.runs:
            raise BadInput(
                f"Cell {cell.id!r} is a {cell.kind} cell and does not run. Leave it out, or change its kind."
            )
    return [live[place] for place in places]


def _stale(notebook: Notebook, live: list[Cell], changed: set[CellId]) -> list[Cell]:
    """What is not as the notebook says: cells that changed, failed or never ran, and all that stands on them."""
    language = sheet_of(notebook, {}).language if notebook.metadata else "python"
    names = {cell.id: _names(cell, language) for cell in live}
    wanted = changed | unrun(notebook) | stale_cells(notebook)
    wanted |= {cell.id for cell in live if cell.state != "ok"}
    _add_readers(live, names, wanted)
    _add_missing(notebook, live, names, wanted)
    return [cell for cell in live if cell.id in wanted]


def _names(cell: Cell, language: str) -> Names:
    return (analyse(cell.source, language) if cell.kind == "code" else None) or Names()


def _add_readers(live: list[Cell], names: dict[CellId, Names], wanted: set[CellId]) -> None:
    """Whoever uses what a cell above will define anew, also a name that it has not defined so far."""
    renewed: set[str] = set()
    for cell in live:
        found = names[cell.id]
        if cell.id in wanted or not renewed.isdisjoint(found.uses):
            wanted.add(cell.id)
            renewed.update(found.defines)
        else:
            renewed.difference_update(found.defines)


def _add_missing(notebook: Notebook, live: list[Cell], names: dict[CellId, Names], wanted: set[CellId]) -> None:
    """Whatever defines what they use, if the kernel that did is gone: it would be a NameError."""
    there = notebook.definers if notebook.runtimes else {}
    missing: set[str] = set()
    for cell in reversed(live):
        found = names[cell.id]
        if cell.id in wanted or not missing.isdisjoint(found.defines):
            wanted.add(cell.id)
            missing.difference_update(found.defines)
            missing.update(name for name in found.uses if name not in there)
