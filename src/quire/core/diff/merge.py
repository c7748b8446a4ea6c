"""Three-way merge of notebooks: by cell, and by line inside a cell.

- an unchanged side yields the other; changes of different cells both arrive
- it does not matter which side is called ours: only the labels in a conflict change places
- two runs of the same source never conflict; outputs follow the source they came from
- a cell that both changed in the same lines holds both between markers, and its metadata
  says so; the notebook stays valid. So does a cell that one removed and the other edited
- of metadata that both changed the greater value stays, and the merge tells

docs/reference/diff.md says it for people.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias, cast

import msgspec

from ..errors import BadInput
from ..ids import CellId
from ..sheet.equality import as_text, same, same_cell, same_outputs, same_sheet
from ..sheet.sheet import OURS, Sheet, SheetCell, with_ids
from ..values import Json
from .cell_order import Three, weave
from .text_merge import (
    MARKER,
    KeyConflict,
    Labels,
    MergedText,
    conflict_sides,
    merge_keys,
    merge_tags,
    merge_text,
    pick,
    whole_conflict,
)

CONFLICT = "conflict"
"""Under `quire` in a cell's metadata, while the cell holds both sides of a conflict."""
RUN_KEYS = frozenset(("ExecuteTime", "collapsed", "execution", "papermill", "scrolled"))
"""Cell metadata that a run or a click writes: nobody wants to be asked about it."""
RUN_KEYS_OF_NOTEBOOK = frozenset(("language_info", "papermill", "widgets"))
"""The same, of the notebook."""

_Outputs: TypeAlias = tuple[list[Json], int | None]


class MergeConflict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that both sides changed, each in its own way.

    `field` is `source` or a path such as `metadata.kernelspec.name`. A side that removed the
    cell or the key has null. Once `settled`, a value was chosen and nothing is left to do.
    """

    cell: CellId | None
    field: str
    base: Json
    ours: Json
    theirs: Json
    settled: bool = False


class MergeResult(msgspec.Struct, frozen=True, kw_only=True):
    """The merged notebook, and what both sides changed."""

    sheet: Sheet
    conflicts: tuple[MergeConflict, ...] = ()

    @property
    def unresolved(self) -> tuple[MergeConflict, ...]:
        """What somebody has to decide."""
        return tuple(conflict for conflict in self.conflicts if not conflict.settled)


def merge(base: Sheet, ours: Sheet, theirs: Sheet, *, labels: Labels = Labels(), marker: int = MARKER) -> MergeResult:  # noqa: B008 - a tuple
    """Merge what became of `base` on two sides.

    Markers carry the `labels` and have at least `marker` signs.
    """
    if same_sheet(ours, theirs) or same_sheet(theirs, base):
        return MergeResult(sheet=ours)
    if same_sheet(ours, base):
        return MergeResult(sheet=theirs)
    return _Merge(labels, marker).run(base, ours, theirs)


class UnresolvedConflict(msgspec.Struct, frozen=True, kw_only=True):
    """A conflict that waits in a notebook: the cell, its number from 1, and what each side says."""

    cell: CellId
    number: int
    ours: str
    theirs: str


def unresolved(sheet: Sheet) -> list[UnresolvedConflict]:
    """Return the conflicts of an earlier merge that nobody has resolved yet."""
    found = ((number, cell, _sides(cell)) for number, cell in enumerate(sheet.cells, 1))
    return [
        UnresolvedConflict(cell=cell.id, number=number, ours=sides[0], theirs=sides[1])
        for number, cell, sides in found
        if sides is not None
    ]


def without_resolved(sheet: Sheet) -> Sheet:
    """Return the notebook without the notes about conflicts whose markers are gone: somebody resolved them."""
    if not any(_note(cell) is not None for cell in sheet.cells):
        return sheet
    cells = tuple(
        _with_note(cell, None) if _note(cell) is not None and _sides(cell) is None else cell for cell in sheet.cells
    )
    return msgspec.structs.replace(sheet, cells=cells)


def _note(cell: SheetCell) -> dict[str, Json] | None:
    """What a cell's metadata says about a conflict."""
    section: Any = cell.metadata.get(OURS)
    note: Any = cast("dict[str, Any]", section).get(CONFLICT) if isinstance(section, dict) else None
    return cast("dict[str, Json]", note) if isinstance(note, dict) else None


def _sides(cell: SheetCell) -> tuple[str, str] | None:
    note = _note(cell)
    marker = note.get("marker") if note is not None else None
    return conflict_sides(cell.source, marker) if isinstance(marker, int) and marker >= MARKER else None


def _with_note(cell: SheetCell, note: dict[str, Json] | None) -> SheetCell:
    section: Any = cell.metadata.get(OURS)
    ours = {**cast("dict[str, Json]", section)} if isinstance(section, dict) else {}
    ours.pop(CONFLICT, None)
    if note is not None:
        ours[CONFLICT] = note
    rest = {key: value for key, value in cell.metadata.items() if key != OURS}
    return msgspec.structs.replace(cell, metadata={**rest, OURS: ours} if ours else rest)


class _Merge:
    """One merge: collects the conflicts on the way."""

    def __init__(self, labels: Labels, marker: int) -> None:
        self._labels, self._marker = labels, marker
        self._conflicts: list[MergeConflict] = []

    def run(self, base: Sheet, ours: Sheet, theirs: Sheet) -> MergeResult:
        threes = weave(base, ours, theirs, _goes)
        cells = tuple(map(self._cell, threes, _ids(threes)))
        metadata, clashes = merge_keys(base.metadata, ours.metadata, theirs.metadata, whole=RUN_KEYS_OF_NOTEBOOK)
        self._tell(None, "metadata", clashes, RUN_KEYS_OF_NOTEBOOK)
        extra, clashes = merge_keys(base.extra, ours.extra, theirs.extra)
        self._tell(None, "extra", clashes)
        sheet = Sheet(cells=cells, metadata=metadata, extra=extra)
        return MergeResult(sheet=sheet, conflicts=tuple(self._conflicts))

    def _cell(self, three: Three, id: CellId) -> SheetCell:
        base, ours, theirs = three
        if ours is None or theirs is None:
            cell = _either(three)
            cell = cell if base is None else self._removed_and_edited(three, id)
        elif same_cell(ours, theirs) or (base is not None and same_cell(theirs, base)):
            cell = ours
        elif base is not None and same_cell(ours, base):
            cell = theirs
        else:
            return self._both_changed(base, ours, theirs, id)
        return cell if cell.id == id else msgspec.structs.replace(cell, id=id)

    def _both_changed(self, base: SheetCell | None, ours: SheetCell, theirs: SheetCell, id: CellId) -> SheetCell:
        start = base or SheetCell(id=id)
        text = merge_text(start.source, ours.source, theirs.source, self._labels, self._marker)
        if text.marker:
            self._conflict(id, start.source if base else None, ours.source, theirs.source)
        outputs, count = _outputs(start, ours, theirs, text.text)
        cell = SheetCell(
            id=id,
            kind=self._pick(id, "kind", start.kind, ours.kind, theirs.kind),
            source=text.text,
            name=self._pick(id, "name", start.name, ours.name, theirs.name),
            tags=merge_tags(start.tags, ours.tags, theirs.tags),
            metadata=self._keys(id, "metadata", start.metadata, ours.metadata, theirs.metadata),
            outputs=outputs,
            count=count,
            attachments=self._keys(id, "attachments", start.attachments, ours.attachments, theirs.attachments),
            extra=self._keys(id, "extra", start.extra, ours.extra, theirs.extra),
        )
        cell = self._of_its_kind(cell, ours, theirs)
        return self._noted(cell, text, (ours, theirs)) if text.marker else cell

    def _of_its_kind(self, cell: SheetCell, ours: SheetCell, theirs: SheetCell) -> SheetCell:
        """Text shows nothing, and code has no attachments: where one side made the one of the other, that goes, and is told."""
        if ours.kind == theirs.kind:
            return cell
        if cell.kind not in ("code", "sql"):
            return msgspec.structs.replace(cell, outputs=[], count=None)
        if cell.attachments:
            self._tell(cell.id, "attachments", [KeyConflict((), {}, ours.attachments, theirs.attachments)])
            return msgspec.structs.replace(cell, attachments={})
        return cell

    def _removed_and_edited(self, three: Three, id: CellId) -> SheetCell:
        base, ours, theirs = (cell.source if cell is not None else None for cell in three)
        self._conflict(id, base, ours, theirs)
        text = whole_conflict(ours, theirs, self._labels, self._marker)
        cell = _either(three)
        return self._noted(msgspec.structs.replace(cell, source=text.text), text, (cell,))

    def _noted(self, cell: SheetCell, text: MergedText, sides: Iterable[SheetCell]) -> SheetCell:
        if any(_sides(side) is not None for side in sides):
            raise BadInput(
                f"Cell {cell.id} holds a conflict of an earlier merge, and would get another inside it. Resolve that one first.",
                cell=cell.id,
            )
        return _with_note(cell, {"marker": text.marker, **self._labels._asdict()})

    def _pick(self, cell: CellId, field: str, base: Any, ours: Any, theirs: Any) -> Any:
        value, clash = pick(base, ours, theirs)
        if clash:
            self._tell(cell, field, [KeyConflict((), base, ours, theirs)])
        return value

    def _keys(
        self, cell: CellId, field: str, base: dict[str, Json], ours: dict[str, Json], theirs: dict[str, Json]
    ) -> dict[str, Json]:
        merged, clashes = merge_keys(base, ours, theirs, whole=RUN_KEYS)
        self._tell(cell, field, clashes, RUN_KEYS)
        return merged

    def _conflict(self, cell: CellId, base: Json, ours: Json, theirs: Json) -> None:
        self._conflicts.append(MergeConflict(cell=cell, field="source", base=base, ours=ours, theirs=theirs))

    def _tell(
        self, cell: CellId | None, field: str, clashes: list[KeyConflict], hushed: frozenset[str] = frozenset()
    ) -> None:
        for path, base, ours, theirs in clashes:
            if not path or path[0] not in hushed:
                name = ".".join((field, *path))
                self._conflicts.append(
                    MergeConflict(cell=cell, field=name, base=base, ours=ours, theirs=theirs, settled=True)
                )


def _either(three: Three) -> SheetCell:
    cell = three.ours or three.theirs
    assert cell is not None  # noqa: S101 - a cell that neither has is not woven in
    return cell


def _ids(threes: list[Three]) -> list[CellId]:
    """The id of each cell; where both sides added one by themselves they may have chosen the same."""
    cells: list[SheetCell] = []
    for base, ours, theirs in threes:
        cell = _either(Three(base, ours, theirs))
        if ours is not None and theirs is not None and ours.id != theirs.id:
            chosen = pick(base.id if base is not None else CellId(""), ours.id, theirs.id)[0]
            cell = msgspec.structs.replace(cell, id=chosen)
        cells.append(cell)
    return [cell.id for cell in with_ids(cells)]


def _goes(three: Three) -> bool:
    """Whether a cell was removed for good: by both, or by one while the other did not touch what is written."""
    base, ours, theirs = three
    if base is None or (ours is not None and theirs is not None):
        return False
    left = ours or theirs
    return left is None or (
        (left.source, left.kind, left.name, left.tags) == (base.source, base.kind, base.name, base.tags)
        and same(left.attachments, base.attachments)
    )


def _outputs(base: SheetCell, ours: SheetCell, theirs: SheetCell, source: str) -> _Outputs:
    """What the cell shows: what came from the source that it has now, else nothing."""
    if source == ours.source == theirs.source:
        if same_outputs(ours, theirs) or same_outputs(theirs, base):
            return ours.outputs, ours.count
        if same_outputs(ours, base):
            return theirs.outputs, theirs.count
        return _later(ours, theirs)
    for side in (ours, theirs):
        if side.source == source:
            return side.outputs, side.count
    return [], None


def _later(one: SheetCell, other: SheetCell) -> _Outputs:
    """Of two runs the one with the higher count; the same of the two, whatever their order."""
    cell = max(one, other, key=lambda cell: (-1 if cell.count is None else cell.count, as_text(cell.outputs)))
    return cell.outputs, cell.count
