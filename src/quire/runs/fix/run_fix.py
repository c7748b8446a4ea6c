"""What was changed in a run's notebook, in terms of the source that it was a run of.

Three notebooks meet: the one that the run left, what people and agents made of it since, and
the source as it is now. A cell that was changed in the run, and that the source has changed
as well, is for nobody but a person to decide: nobody has run what a merge would make of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import NamedTuple

from msgspec.structs import replace

from ...core.diff.align import align
from ...core.diff.merge import merge
from ...core.errors import Refused
from ...core.ids import CellId, new_cell_ids
from ...core.notebook.notebook import Notebook
from ...core.sheet.conversion import sheet_of
from ...core.sheet.equality import same_sheet
from ...core.sheet.sheet import Sheet, SheetCell
from ...formats.papermill import TAG as INJECTED
from ...outputs.secrets import has_mark


class Fix(NamedTuple):
    """A notebook as its run left it, and as it is now: as far as somebody wrote it."""

    before: Sheet
    after: Sheet

    @property
    def is_empty(self) -> bool:
        """Whether the one says what the other does."""
        return same_sheet(self.before, self.after)


class FixConflict(NamedTuple):
    """A cell that the run's notebook and its source both changed; None: removed."""

    cell: CellId
    ran: str
    source: str | None

    @property
    def difference(self) -> str:
        """From what ran to what the source says, line by line."""
        old, new = self.ran.splitlines(), (self.source or "").splitlines()
        names = f"{self.cell}, as it ran", f"{self.cell}, in the source"
        return "\n".join(unified_diff(old, new, *names, lineterm="", n=2))


def fix_of(left: Notebook, now: Notebook) -> Fix:
    """Return what was done since a run ended, without the parameters that were put in for it."""
    return Fix(*(_without_injected(written(each)) for each in (left, now)))


def written(notebook: Notebook) -> Sheet:
    """A notebook as far as somebody wrote it: cells, and nothing that they showed."""
    return as_written(sheet_of(notebook, {}))


def as_written(sheet: Sheet) -> Sheet:
    """The same of what a file holds."""
    return Sheet(cells=tuple(replace(cell, outputs=[], count=None) for cell in sheet.cells))


def _without_injected(sheet: Sheet) -> Sheet:
    return replace(sheet, cells=tuple(cell for cell in sheet.cells if INJECTED not in cell.tags))


def fixed(fix: Fix, source: Sheet, taken: frozenset[CellId], name: str) -> Sheet:
    """Return the source, which messages call `name`, with the fix in it; Refused where it is no longer what ran.

    `taken` are ids that no new cell may have, for somebody has or had them.
    """
    _check_whole(fix, name)
    partners = {fix.before.cells[i].id: source.cells[j] for i, j in align(fix.before, source).pairs}
    if clashes := list(_clashes(fix, partners)):
        raise _refused(clashes, name)
    ids = _ids(fix, partners, taken | {cell.id for cell in source.cells})
    merged = merge(_renamed(fix.before, ids), source, _renamed(fix.after, ids))
    if merged.unresolved:
        raise _refused(
            [FixConflict(each.cell or CellId(""), each.base or "", each.ours) for each in merged.unresolved], name
        )
    return merged.sheet


def _check_whole(fix: Fix, name: str) -> None:
    """Refuse to write the mark of a secret over the secret: in a run's log it stands for what the source says."""
    before = {cell.id: cell for cell in fix.before.cells}
    for cell in fix.after.cells:
        if has_mark(cell.source) and cell != before.get(cell.id):
            told = f"Cell {cell.id!r} of the run has a mark where a secret was removed, so it cannot go into {name}."
            raise Refused(f"{told} Make this change there by hand.", cell=cell.id)


def _clashes(fix: Fix, partners: Mapping[CellId, SheetCell]) -> Iterator[FixConflict]:
    now = {cell.id: _text(cell) for cell in fix.after.cells}
    for cell in fix.before.cells:
        ran, wanted = _text(cell), now.get(cell.id)
        there = partners.get(cell.id)
        found = _text(there) if there is not None else None
        if wanted != ran and found not in (ran, wanted):
            yield FixConflict(there.id if there is not None else cell.id, cell.source, there.source if there else None)


def _text(cell: SheetCell) -> tuple[str, str]:
    return cell.kind, cell.source


def _refused(clashes: list[FixConflict], name: str) -> Refused:
    cells = ", ".join(clash.cell for clash in clashes)
    difference = "\n".join(clash.difference for clash in clashes)
    told = (
        f"{name} was changed in the same cells since the run began ({cells}), so the fix is none of what it says now."
    )
    return Refused(
        f"{told} Make it there by hand, or run {name} again and fix that run.\n{difference}",
        cells=[clash.cell for clash in clashes],
        difference=difference,
    )


# ---- Ids: a source without any gives its cells others than the run of an earlier version has


def _ids(fix: Fix, partners: Mapping[CellId, SheetCell], taken: frozenset[CellId]) -> dict[CellId, CellId]:
    """What the cells of a run are called in its source."""
    all_of_it = dict.fromkeys(cell.id for sheet in fix for cell in sheet.cells)
    known = {id: partners[id].id for id in all_of_it if id in partners}
    ran = {cell.id for cell in fix.before.cells}
    # A cell that the source has no more must not pass for another that has its id there.
    keep = {id: id for id in all_of_it if id not in ran and id not in taken and id not in known.values()}
    new = [id for id in all_of_it if id not in known and id not in keep]
    fresh = new_cell_ids(len(new), {*taken, *known.values(), *keep}, os.urandom)
    return known | keep | dict(zip(new, fresh, strict=True))


def _renamed(sheet: Sheet, ids: Mapping[CellId, CellId]) -> Sheet:
    return replace(sheet, cells=tuple(replace(cell, id=ids[cell.id]) for cell in sheet.cells))
