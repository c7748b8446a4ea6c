"""What each side says, in terms of the other: a file as a whole notebook, and the merge of both.

A `.py` or `.md` has no ids and says little of metadata: what it does not say stays as it
was in the version that both sides had last. Of a text that both changed in the same lines
the log's stays, and the conflict keeps the file's beside it: a log is never rewritten by
an accident, and markers in the middle of a cell would stop everybody who runs it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from ...core.diff.align import align, carry, is_derived
from ...core.diff.merge import MergeConflict, merge, without_resolved
from ...core.event_fields import MASK
from ...core.ids import CellId
from ...core.sheet.equality import same_cell, same_sheet
from ...core.sheet.sheet import Sheet, SheetCell, with_ids
from ...core.values import Json
from ...formats import registry
from ...formats.convert import as_told, carried

_MARKERS = ("<" * 7, "=" * 7, ">" * 7)


class Sides(NamedTuple):
    """The merged notebook, and the texts that both sides changed."""

    merged: Sheet
    conflicts: tuple[MergeConflict, ...]


def has_outputs(path: str) -> bool:
    """Whether a file of this ending carries what cells showed."""
    return registry.format_of(path) == "ipynb"


def in_full(base: Sheet, told: Sheet | None, said: Sheet, path: str) -> Sheet:
    """Return what a file says as a whole notebook.

    `base` is the notebook that both sides had last, `told` what the file said then.
    """
    if has_outputs(path):
        return _with_known_ids(base, said)
    if told is None or len(told.cells) != len(base.cells):
        told = as_told(base, path)
    full = carried(base, said, told)
    before = {cell.id: cell for cell in base.cells}
    # Such a file tells nothing of outputs: it changes none.
    cells = tuple(_showing(cell, before.get(cell.id)) for cell in full.cells)
    return replace(full, cells=cells)


def _showing(cell: SheetCell, before: SheetCell | None) -> SheetCell:
    outputs, count = (before.outputs, before.count) if before is not None else ([], None)
    return replace(cell, outputs=outputs, count=count)


def _with_known_ids(base: Sheet, said: Sheet) -> Sheet:
    """A cell that was given another id, or has none in its file, keeps the one it had."""
    if all(is_derived((cell.kind, cell.source), cell.id) for cell in said.cells):
        return carry(base, said)
    cells = list(said.cells)
    for i, j in align(base, said).pairs:
        cells[j] = replace(cells[j], id=base.cells[i].id)
    return replace(said, cells=with_ids(cells))


def is_unmerged(sheet: Sheet) -> bool:
    """Whether a merge that nobody has resolved stands in it: both sides, between markers."""
    waiting = list(_MARKERS)
    for line in (line for cell in sheet.cells for line in cell.source.splitlines()):
        # Git writes a name behind the first and the last.
        if line.startswith(waiting[0]) and line.partition(" ")[0].strip(waiting[0][0]) == "":
            waiting.pop(0)
            if not waiting:
                return True
    return False


def with_ids_of(said: Sheet, full: Sheet) -> Sheet:
    """What a file says, cell by cell as it is there, with the ids that the cells have in the log."""
    cells = tuple(replace(cell, id=known.id) for cell, known in zip(said.cells, full.cells, strict=True))
    return replace(said, cells=cells)


def without_outputs(sheet: Sheet) -> Sheet:
    """The notebook as far as somebody wrote it."""
    return replace(sheet, cells=tuple(replace(cell, outputs=[], count=None) for cell in sheet.cells))


def says_same(full: Sheet, other: Sheet) -> bool:
    """Whether two notebooks are the same but for what cells showed."""
    return same_sheet(without_outputs(full), without_outputs(other))


def merged(base: Sheet, ours: Sheet, theirs: Sheet) -> Sides:
    """Merge what became of a notebook in the log (ours) and in the file (theirs)."""
    found = merge(base, ours, theirs)
    texts = {each.cell: each for each in found.unresolved if each.cell is not None}
    cells = tuple(_chosen(cell, texts.get(cell.id)) for cell in found.sheet.cells)
    sheet = without_resolved(replace(found.sheet, cells=cells)) if texts else found.sheet
    return Sides(_last_wins(sheet, theirs, found.conflicts), tuple(texts.values()))


def _chosen(cell: SheetCell, conflict: MergeConflict | None) -> SheetCell:
    """The log's text; where the log removed the cell, the one that was edited: an edit outlives a removal."""
    if conflict is None:
        return cell
    return replace(cell, source=conflict.theirs if conflict.ours is None else conflict.ours)


def _last_wins(sheet: Sheet, theirs: Sheet, conflicts: tuple[MergeConflict, ...]) -> Sheet:
    """Of what else both changed the last event wins (rule 2), and that is the file's: the log remembers its own."""
    known = {cell.id: cell for cell in theirs.cells}
    cells = {cell.id: cell for cell in sheet.cells}
    metadata = sheet.metadata
    for conflict in conflicts:
        if not conflict.settled:
            continue
        if conflict.cell is None:
            metadata = _taken(metadata, theirs.metadata, conflict.field)
        elif conflict.cell in known and conflict.cell in cells:
            cells[conflict.cell] = _of_theirs(cells[conflict.cell], known[conflict.cell], conflict.field)
    return replace(sheet, cells=tuple(cells[cell.id] for cell in sheet.cells), metadata=metadata)


def _of_theirs(cell: SheetCell, theirs: SheetCell, field: str) -> SheetCell:
    if field == "kind":
        return replace(cell, kind=theirs.kind)
    if field == "name":
        return replace(cell, name=theirs.name)
    return replace(cell, metadata=_taken(cell.metadata, theirs.metadata, field))


def _taken(metadata: dict[str, Json], theirs: dict[str, Json], field: str) -> dict[str, Json]:
    section, _, path = field.partition(".")
    key = next((key for key in (*metadata, *theirs) if path == key or path.startswith(f"{key}.")), None)
    if section != "metadata" or key is None:
        return metadata
    rest = {name: value for name, value in metadata.items() if name != key}
    return {**rest, key: theirs[key]} if key in theirs else rest


def newly_shown(base: Sheet, ours: Sheet, theirs: Sheet, merged: Sheet) -> list[SheetCell]:
    """The cells of a file that show something else, where nobody executed them meanwhile."""
    before, now = ({cell.id: cell for cell in sheet.cells} for sheet in (base, ours))
    after: dict[CellId, SheetCell] = {cell.id: cell for cell in merged.cells}
    return [cell for cell in theirs.cells if _is_newly_shown(cell, before, now, after)]


def _is_newly_shown(
    cell: SheetCell,
    before: dict[CellId, SheetCell],
    now: dict[CellId, SheetCell],
    after: dict[CellId, SheetCell],
) -> bool:
    if cell.kind not in ("code", "sql") or cell.id not in after or after[cell.id].source != cell.source:
        return False
    shown, here = _shown(before.get(cell.id)), _shown(now.get(cell.id))
    return same_cell(shown, here) and not same_cell(shown, _shown(cell))


def _shown(cell: SheetCell | None) -> SheetCell:
    """Only what a cell showed."""
    nothing = SheetCell(id=CellId(""))
    return nothing if cell is None else replace(nothing, outputs=cell.outputs, count=cell.count)


# ---- Masks


def with_masks(base: Sheet, full: Sheet) -> Sheet:
    """Return what a file says, masked where `base`, the version that it was made from, is; itself if that is nowhere.

    What was masked in the log, and still stands in the file, is no change of the file's: it does not come back.
    """
    before = {cell.id: cell for cell in base.cells}
    cells = tuple(_with_mask(cell, before.get(cell.id)) for cell in full.cells)
    return full if cells == full.cells else replace(full, cells=cells)


def _with_mask(cell: SheetCell, before: SheetCell | None) -> SheetCell:
    if before is None:
        return cell
    source = before.source if _is_behind(before.source, cell.source) else cell.source
    outputs = before.outputs if _is_behind(before.outputs, cell.outputs) else cell.outputs
    same = source is cell.source and outputs is cell.outputs
    return cell if same else replace(cell, source=source, outputs=outputs)


def _is_behind(masked: Any, said: Any) -> bool:
    """Whether this is what a mask hides: the same where nothing is masked, and something is."""
    return masked != said and _fits(masked, said)


def _fits(masked: Any, said: Any) -> bool:
    match masked, said:
        case str(), str():
            return len(masked) == len(said) and all(one in (MASK, two) for one, two in zip(masked, said, strict=True))
        case list(), list():
            ours, theirs = cast("list[Any]", masked), cast("list[Any]", said)
            return len(ours) == len(theirs) and all(map(_fits, ours, theirs))
        case dict(), dict():
            one, two = cast("dict[str, Any]", masked), cast("dict[str, Any]", said)
            return one.keys() == two.keys() and all(_fits(one[key], two[key]) for key in one)
        case _:
            return bool(masked == said)
