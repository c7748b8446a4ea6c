"""A batch of edits becomes events: all of them, or none and all that speaks against it.

Cells are named as they were read: by id or its beginning, by name, or by number; a number says
which cell only together with the hash of what was read there. What goes to one place stands
there in the order of the batch. Several patches of a cell become one edit of its text, made
against the source as it is now: whoever is first with that text makes ours be refused (rule 8).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, assert_never

import msgspec

from .. import events as e
from ..errors import BadInput, NotFound, QuireError
from ..events import CellChange
from ..ids import CellId, check_name
from ..notebook.cell_lookup import find_cell
from ..notebook.logbook_record import logbook_of
from ..notebook.notebook import Cell, Notebook
from ..python.parse import fault_in
from ..sheet.sheet import Sheet
from ..text import source_hash
from .edit_errors import Past, contradiction, gathered, not_once, not_python, stale, was_removed
from .operations import (
    END,
    MOST_BATCH,
    MOST_EDITS,
    TOP,
    CellDraft,
    Claims,
    Delete,
    Hash,
    Insert,
    Label,
    Move,
    Operation,
    Patch,
    Places,
    Replace,
    Step,
    check_source,
    checked_tags,
    draft_of,
)
from .step_answer import answered_mark

__all__ = ["EditPlan", "Past", "plan", "stale_bases"]

_OfCell: TypeAlias = Replace | Patch | Delete | Move | Label | Step


class EditPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a batch comes to."""

    changes: tuple[CellChange, ...]
    touched: tuple[CellId, ...]
    """The cells that are there afterwards and that the batch names, in its order."""
    changed: tuple[CellId, ...]
    """Those of them that say or are something else now: what a run of what changed runs."""
    removed: tuple[CellId, ...]
    inserted: dict[int, CellId]
    """The number of an edit, from 1, to the cell that it made."""
    unread: tuple[CellId, ...] = ()
    """The cells that were patched without a hash: whoever did that may not know all that they say."""


def plan(
    notebook: Notebook,
    operations: Sequence[Operation],
    ids: Iterator[CellId],
    past: Past | None = None,
    *,
    check: bool = True,
) -> EditPlan:
    """Return what a batch comes to in a notebook as it is now; or say everything that is wrong with it.

    `ids` gives the ids of new cells; `past` has what `stale_bases` names, as the log knows it; `check`: whether
    Python that no kernel could read is a fault.
    """
    _check_size(operations)
    batch = _Batch(notebook, operations, ids, past or {})
    faults: list[tuple[int, QuireError]] = []
    for number, operation in enumerate(operations, 1):
        try:
            batch.take(number, operation)
        except QuireError as error:
            faults.append((number, error))
            batch.give_up(operation)
    faults += batch.same_names()
    if check and Sheet(metadata=notebook.metadata).language in ("python", "ipython"):
        faults += batch.not_python()
    if faults:
        raise gathered(sorted(faults, key=lambda fault: fault[0]), len(operations))
    return batch.planned()


def stale_bases(notebook: Notebook, operations: Iterable[Operation]) -> set[tuple[CellId, str]]:
    """Cells with hashes that are given for them and are not theirs: what the log may know and the notebook does not."""
    cells = list(notebook.live_cells)
    found: set[tuple[CellId, str]] = set()
    for operation in operations:
        base: Hash | None = getattr(operation, "base", None)
        if base is not None and (cell := _cell_or_none(cells, operation)) is not None and not _is_of(base, cell):
            found.add((cell.id, _bare(base)))
    return found


def _cell_or_none(cells: Sequence[Cell], operation: Operation) -> Cell | None:
    if isinstance(operation, Insert):
        return None
    try:
        return cells[find_cell(cells, operation.cell)]
    except QuireError:
        return None


def _bare(base: Hash) -> str:
    return base.removeprefix("#")


def _is_of(base: Hash, cell: Cell) -> bool:
    return source_hash(cell.source).startswith(_bare(base))


def _is_number(cell: Cell, name: str) -> bool:
    """Whether a cell was found by its number, and by nothing that stays with it."""
    return name not in (cell.id, cell.name) and not cell.id.startswith(name)


def _check_size(operations: Sequence[Operation]) -> None:
    if not 0 < len(operations) <= MOST_EDITS:
        raise BadInput(f"A batch has 1 to {MOST_EDITS} edits, not {len(operations)}. Send them in parts.")
    texts = (getattr(operation, name, "") for operation in operations for name in ("source", "old", "new"))
    length = sum(map(len, texts))
    if length > MOST_BATCH:
        raise BadInput(
            f"The batch has {length:,} characters, and {MOST_BATCH:,} are the most. Nothing was changed. Put data into a "
            "file and read it from there; send edits in parts."
        )


class _Batch:
    """A notebook on its way through a batch."""

    def __init__(self, notebook: Notebook, operations: Sequence[Operation], ids: Iterator[CellId], past: Past) -> None:
        self._notebook, self._ids, self._past = notebook, ids, past
        self._cells = list(notebook.live_cells)
        self._drafts: dict[CellId, CellDraft] = {}
        self._places = Places(cell.id for cell in self._cells)
        self._placed: list[e.CellAdded | e.CellMoved] = []
        self._claims = Claims()
        self._news: dict[str, tuple[int, CellId]] = {}
        """The cells that it makes, by their names, with the edit that does."""
        self._inserted: dict[int, CellId] = {}
        self._removed: list[CellId] = []
        self._read: set[CellId] = set()
        """The cells for which a hash was given, and is theirs."""
        self._broken: set[CellId] = set()
        self._deletes = dict(self._deleting(operations))

    def _deleting(self, operations: Sequence[Operation]) -> Iterator[tuple[CellId, int]]:
        for number, operation in enumerate(operations, 1):
            if isinstance(operation, Delete) and (cell := _cell_or_none(self._cells, operation)) is not None:
                yield cell.id, number

    # ---- One edit

    def take(self, number: int, operation: Operation) -> None:
        """Take the next edit."""
        if isinstance(operation, Insert):
            self._insert(number, operation)
            return
        cell = self._found(number, operation)
        if cell.id in self._broken:
            return  # an edit before it has been refused: what would be said of this one may not be so
        draft = self._drafts.setdefault(cell.id, draft_of(cell))
        match operation:
            case Replace():
                self._replace(number, draft, operation)
            case Patch():
                self._patch(number, cell, draft, operation)
            case Delete():
                self._removed.append(cell.id)
            case Move():
                self._move(number, cell.id, operation)
            case Label():
                self._label(number, draft, operation)
            case Step():
                self._step(number, cell, draft, operation)
            case _:
                assert_never(operation)

    def give_up(self, operation: Operation) -> None:
        """Say nothing more of a cell of which one thing is wrong already."""
        if (cell := _cell_or_none(self._cells, operation)) is not None:
            self._broken.add(cell.id)

    def _found(self, number: int, operation: _OfCell) -> Cell:
        cell = self._cell(operation.cell)
        base: Hash | None = getattr(operation, "base", None)
        if base is not None and not _is_of(base, cell):
            raise stale(cell, _bare(base), self._past)
        if base is None and _is_number(cell, operation.cell):
            hint = ", or send `base`, the hash of what you read there" if isinstance(operation, Patch) else ""
            told = f"Cells move: number {operation.cell} is cell {cell.id!r} now."
            raise BadInput(f"{told} Name it by its id{hint}.", cell=cell.id)
        self._read.update([cell.id] if base is not None else [])
        deleted = self._deletes.get(cell.id)
        if deleted is not None and deleted != number:
            what = "both delete" if isinstance(operation, Delete) else "one deletes and the other changes"
            raise contradiction(deleted, number, f"{what} cell {cell.id!r}")
        return cell

    def _cell(self, name: str) -> Cell:
        """The cell of that name, as the notebook was read."""
        try:
            return self._cells[find_cell(self._cells, name)]
        except NotFound as error:
            if name in self._news:
                number, _ = self._news[name]
                raise BadInput(f"Cell {name!r} is made by edit {number}: say there what it is to be.") from None
            raise was_removed(self._notebook, name) or error from None

    # ---- Text

    def _replace(self, number: int, draft: CellDraft, operation: Replace) -> None:
        self._claims.claim(number, draft.id, "source", "replace")
        self._claims.keep_clear(
            number, draft.id, "patch", f"the source that replaces cell {draft.id!r} would undo the patch"
        )
        check_source(operation.source)
        draft.source, draft.by = operation.source, number

    def _patch(self, number: int, cell: Cell, draft: CellDraft, operation: Patch) -> None:
        at = draft.source.find(operation.old)
        if at < 0 or draft.source.find(operation.old, at + 1) >= 0:
            raise not_once(cell, draft.source, operation.old)
        text = draft.source[:at] + operation.new + draft.source[at + len(operation.old) :]
        check_source(text)
        self._claims.note(number, draft.id, "patch")
        draft.source, draft.by = text, number

    # ---- Places

    def _insert(self, number: int, operation: Insert) -> None:
        id = self._inserted[number] = next(self._ids)
        name = operation.name or None
        if name is not None:
            # Known before anything is looked at: what goes after it has nothing to do with what is wrong with it.
            self._news.setdefault(name, (number, id))
            check_name(name, "A cell's name")
        check_source(operation.source)
        tags, kind, source = checked_tags(operation.tags), operation.kind, operation.source
        draft = CellDraft(id=id, was=None, source=source, name=name, tags=tags, kind=kind, by=number, named_by=number)
        after = self._places.add(id, self._anchor(number, operation.after))
        self._drafts[id] = draft
        self._placed.append(e.CellAdded(cell=id, after=after, kind=kind, source=source, name=name, tags=tags))

    def _move(self, number: int, cell: CellId, operation: Move) -> None:
        self._claims.claim(number, cell, "place", "move")
        anchor = self._anchor(number, operation.after)
        if anchor == cell:
            raise BadInput(f"Cell {cell!r} cannot go after itself.")
        self._places.take_out(cell)
        self._placed.append(e.CellMoved(cell=cell, after=self._places.add(cell, anchor)))

    def _anchor(self, number: int, after: str) -> CellId | str:
        if after in (TOP, END):
            return after
        if after in self._news:
            return self._news[after][1]
        cell = self._cell(after)
        if _is_number(cell, after):
            raise BadInput(f"Cells move: number {after} is cell {cell.id!r} now. Say `after` by its id or name.")
        if cell.id in self._deletes:
            raise contradiction(
                self._deletes[cell.id], number, f"one deletes cell {cell.id!r}, and the other goes after it"
            )
        return cell.id

    # ---- Labels

    def _label(self, number: int, draft: CellDraft, operation: Label) -> None:
        if not (operation.add or operation.remove or operation.kind) and operation.name is None:
            raise BadInput("It asks for nothing: give `add`, `remove`, `name` or `kind`.")
        if operation.kind is not None:
            self._claims.claim(number, draft.id, "kind", "set the kind of")
            draft.kind, draft.by = operation.kind, draft.by or number
        if operation.name is not None:
            self._claims.claim(number, draft.id, "name", "name")
            if operation.name:
                check_name(operation.name, "A cell's name")
            draft.name, draft.named_by = operation.name or None, number
        self._claim_tags(number, draft.id, operation)
        kept = tuple(tag for tag in draft.tags if tag not in operation.remove)
        draft.tags = checked_tags((*kept, *operation.add))

    def _claim_tags(self, number: int, cell: CellId, operation: Label) -> None:
        for tag in operation.remove:
            self._claims.note(number, cell, f"remove {tag}")
        for tag in operation.add:
            self._claims.note(number, cell, f"add {tag}")
        for mine, other in (("add", "remove"), ("remove", "add")):
            for tag in getattr(operation, mine):
                told = f"tag {tag!r} of cell {cell!r} is both added and removed"
                self._claims.keep_clear(number, cell, f"{other} {tag}", told)

    # ---- Steps of a logbook

    def _step(self, number: int, cell: Cell, draft: CellDraft, operation: Step) -> None:
        if logbook_of(self._notebook) is None:
            told = f"{self._notebook.name!r} is no logbook that is done step by step, so it has no steps to answer"
            raise BadInput(f"{told}. `run` with `request` begins one.")
        self._claims.claim(number, cell.id, "answer", "answer")
        draft.mark = answered_mark(cell, operation.answer, operation.why, operation.did, operation.evidence)

    # ---- All of it

    def same_names(self) -> Iterator[tuple[int, QuireError]]:
        """A name is how a cell is found: what the batch names like another cell would not be."""
        owners: dict[str, CellDraft] = {}
        untouched = (draft_of(cell) for cell in self._cells if cell.id not in self._drafts)
        for draft in (*untouched, *sorted(self._drafts.values(), key=lambda each: each.named_by)):
            if draft.name is None or draft.id in self._removed:
                continue
            other = owners.setdefault(draft.name, draft)
            if other is not draft and draft.named_by:
                yield draft.named_by, _same_name(draft, other)

    def not_python(self) -> Iterator[tuple[int, QuireError]]:
        """The cells that the batch wrote and that no kernel could read."""
        for draft in self._changed():
            if draft.kind == "code" and draft.id not in self._broken and (fault := fault_in(draft.source)) is not None:
                cell = draft.id if draft.was is not None else None
                yield draft.by, not_python(cell, draft.source, fault, ", or with check=false")

    def _changed(self) -> Iterator[CellDraft]:
        return (each for each in self._drafts.values() if each.is_changed and each.id not in self._removed)

    def planned(self) -> EditPlan:
        """What the batch comes to."""
        return EditPlan(
            changes=tuple(self._changes()),
            touched=tuple(id for id in self._drafts if id not in self._removed),
            changed=tuple(draft.id for draft in self._changed()),
            removed=tuple(self._removed),
            inserted=self._inserted,
            unread=tuple(each.id for each in self._changed() if each.was is not None and each.id not in self._read),
        )

    def _changes(self) -> Iterator[CellChange]:
        yield from self._placed
        for draft in self._drafts.values():
            if draft.id not in self._removed:
                yield from draft.differences()
        for cell in self._removed:
            yield e.CellRemoved(cell=cell, base_hash=source_hash(self._drafts[cell].source))


def _same_name(draft: CellDraft, other: CellDraft) -> BadInput:
    if other.named_by:
        return contradiction(other.named_by, draft.named_by, f"both name a cell {draft.name!r}")
    return BadInput(f"Cell {other.id!r} is named {draft.name!r} already. Choose another name.", cell=other.id)
