"""Changing cells.

Cells that were removed can still be edited, moved and named as anchors: who does that has
not seen the removal yet, and nothing they typed may be lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from .. import events as e
from ..errors import BadInput, NotFound, Refused
from ..ids import CellId, EventId, LogId, check_cell_id, check_name, nearest
from ..notebook.notebook import Cell, Notebook
from ..notebook.reduce import Fold
from ..text import Edit, check_edit, difference, rebase, source_hash
from .context import SubmissionContext


def accept(now: Notebook, event: e.CellChange, asking: SubmissionContext) -> e.CellChange:
    """Return the change as it is to be recorded."""
    match event:
        case e.CellAdded():
            _check_added(now, event)
        case e.CellMoved():
            known_cell(now, event.cell)
            _check_anchor(now, event.after)
            if event.after == event.cell:
                raise BadInput(f"Cell {event.cell!r} cannot go after itself.")
        case e.CellNamed():
            known_cell(now, event.cell)
            if event.name is not None:
                check_name(event.name, "A cell's name")
        case e.CellTagged():
            known_cell(now, event.cell)
            _check_tags(event.tags)
        case e.CellRemoved():
            _check_removed(now, event)
        case e.CellKindChanged() | e.CellMetadataSet():
            known_cell(now, event.cell)
        case e.SourceEdited():
            return _complete_edit(now, event, asking)
    return event


def _check_added(now: Notebook, event: e.CellAdded) -> None:
    check_cell_id(event.cell)
    _check_anchor(now, event.after)
    _check_tags(event.tags)
    if event.name is not None:
        check_name(event.name, "A cell's name")
    before = known_cell(now, event.cell) if event.cell in now.cells else None
    if event.after == event.cell:
        raise BadInput(f"Cell {event.cell!r} cannot go after itself.")
    if before is not None and not before.removed:
        raise Refused(f"Cell {event.cell!r} exists already in notebook {now.name!r}. Choose another id.")


def _check_removed(now: Notebook, event: e.CellRemoved) -> None:
    known_cell(now, event.cell)
    if event.base_hash is not None:
        _check_base(live_cell(now, event.cell), event.base_hash, "remove it")


def _check_anchor(now: Notebook, after: CellId | None) -> None:
    if after is not None:
        known_cell(now, after)


def _check_tags(tags: Iterable[str]) -> None:
    for tag in tags:
        check_name(tag, "A tag")


# ---- Text


def _complete_edit(now: Notebook, event: e.SourceEdited, asking: SubmissionContext) -> e.SourceEdited:
    whole = event.text is not None
    if whole == (event.base is not None) or whole != (event.base_hash is not None) or (whole and event.edit):
        raise BadInput(
            f"An edit of cell {event.cell!r} is either `edit` with `base`, or `text` with `base_hash`. Send one of the two."
        )
    return _complete_text(now, event) if event.base is None else _complete_splices(now, event, event.base, asking)


def _complete_text(now: Notebook, event: e.SourceEdited) -> e.SourceEdited:
    cell = live_cell(now, event.cell)
    _check_base(cell, event.base_hash, "send the edit again")
    return replace(event, applied=difference(cell.source, event.text or ""))


def _check_base(cell: Cell, base_hash: str | None, next_step: str) -> None:
    """Refuse what was made against a source that has moved on (rule 8), and say what it is now."""
    current = source_hash(cell.source)
    if base_hash != current:
        raise Refused(
            f"Cell {cell.id!r} was changed by {cell.author} since you read it. "
            f"Its text now is in `source`; {next_step} with base_hash={current}.",
            source=cell.source,
            source_hash=current,
            changed_by=cell.edited_by,
        )


def _complete_splices(now: Notebook, event: e.SourceEdited, base: int, asking: SubmissionContext) -> e.SourceEdited:
    cell = known_cell(now, event.cell)
    if not 0 < base <= asking.seq:
        raise BadInput(
            f"An edit of cell {event.cell!r} is against number {base}; the log has 1 to {asking.seq}. Read it again."
        )
    if asking.bases.setdefault(event.cell, base) != base:
        raise BadInput(
            f"Edits of cell {event.cell!r} in one submission are against {asking.bases[event.cell]} and {base}. "
            "Make all of them against one number, each on top of the one before."
        )
    check_edit(event.edit)
    earlier = asking.earlier.get((event.cell, base), [])
    edit, asking.earlier[event.cell, base] = rebase(event.edit, earlier)
    check_edit(edit, len(cell.source))
    return event if edit == event.edit else replace(event, applied=edit)


def bases(event: e.KnownEvent, now: Notebook) -> Iterator[tuple[CellId, int]]:
    """The cells and numbers whose later edits `accept` wants to know for this event."""
    match event:
        case e.SourceEdited(base=int(base)):
            yield event.cell, base
        case e.FileMerged() | e.ProposalMade():
            for change in event.changes:
                yield from bases(change, now)
        case e.ProposalAccepted() if event.proposal in now.proposals:
            proposal = now.proposals[event.proposal]
            chosen = range(len(proposal.changes)) if event.selection is None else set(event.selection)
            changes = tuple(change for number, change in enumerate(proposal.changes) if number in chosen)
            for change in as_carried_over(now, changes, proposal.seq):
                yield from bases(change, now)
        case _:
            pass


def edits_of(entry: e.Entry, cell: CellId) -> Iterator[Edit]:
    """What an entry did to the text of a cell. A cell that it brought in has no text before."""
    for change in changes_in(entry.event):
        match change:
            case e.SourceEdited() if change.cell == cell:
                yield change.edit if change.applied is None else change.applied
            case e.CellAdded() if change.cell == cell:
                raise BadInput(
                    f"An edit of cell {cell!r} is against a number before {entry.seq}, when it was added. Read it again."
                )
            case _:
                pass


def changes_in(event: e.AnyEvent) -> tuple[e.CellChange, ...]:
    """What an event did to the text of cells, one thing after the other."""
    match event:
        case e.FileMerged():
            return event.changes
        case e.ProposalAccepted():
            return event.applied or ()
        case e.SourceEdited() | e.CellAdded():
            return (event,)
        case _:
            return ()


# ---- Several changes as one


def as_carried_over(now: Notebook, changes: tuple[e.CellChange, ...], proposed: int) -> tuple[e.CellChange, ...]:
    """Return the changes of a proposal with whole texts as edits against its number, where the cell changed since."""
    moved = set(_moved_on(now, changes))
    return tuple(
        e.SourceEdited(cell=change.cell, edit=change.applied, base=proposed)
        if isinstance(change, e.SourceEdited) and change.applied is not None and change.cell in moved
        else change
        for change in changes
    )


def _moved_on(now: Notebook, changes: tuple[e.CellChange, ...]) -> Iterator[CellId]:
    """The cells whose text is not the one that the first edit of it, a whole text, was made against."""
    seen: set[CellId] = set()
    for change in changes:
        if isinstance(change, e.SourceEdited | e.CellAdded) and change.cell not in seen:
            seen.add(change.cell)
            cell = now.cells.get(change.cell)
            if cell is None or isinstance(change, e.CellAdded) or change.text is None:
                continue
            if source_hash(cell.source) != change.base_hash:
                yield change.cell


def completed(
    now: Notebook, changes: Iterable[e.CellChange], asking: SubmissionContext
) -> tuple[tuple[e.CellChange, ...], Fold]:
    """Complete changes that are made one on top of the other; also return what they lead to."""
    folding = Fold(now)
    done: list[e.CellChange] = []
    for change in changes:
        recorded = accept(folding.now, change, asking)
        folding.add(as_entry(recorded, folding.now.seq + 1, asking))
        done.append(recorded)
    return tuple(done), folding


def completed_file(now: Notebook, event: e.FileMerged, asking: SubmissionContext) -> e.FileMerged:
    """The same for the merge of a file."""
    return replace(event, changes=completed(now, event.changes, asking)[0])


def as_entry(
    change: e.CellChange | e.ExecutionRequested | e.ScratchRequested, seq: int, asking: SubmissionContext
) -> e.Entry:
    """An entry for trying out what an event leads to."""
    return e.Entry(log=LogId(""), seq=seq, id=EventId(""), at=asking.at, actor=asking.actor, event=change)


# ---- The cell that an event names


def known_cell(now: Notebook, cell: CellId) -> Cell:
    """The cell of that id, also a removed one, or NotFound with the nearest ids. What was executed without one is none."""
    found = found_cell(now, cell)
    if found.scratch:
        raise Refused(f"{cell!r} is code that was executed without a cell; insert a cell with it instead.")
    return found


def found_cell(now: Notebook, cell: CellId) -> Cell:
    """The same, or code that was executed without a cell."""
    found = now.cells.get(cell)
    if found is None:
        live = [each.id for each in now.live_cells]
        close = nearest(cell, live) or live[:3]
        hint = f" Nearest: {', '.join(close)}." if close else " It has no cells yet."
        raise NotFound(f"There is no cell {cell!r} in notebook {now.name!r}.{hint}", nearest=close)
    return found


def running_cell(now: Notebook, cell: CellId) -> Cell:
    """A cell that is there, or code without one: what a runtime may run."""
    found = found_cell(now, cell)
    return found if found.scratch else live_cell(now, cell)


def live_cell(now: Notebook, cell: CellId) -> Cell:
    """The same, but a removed cell is not there either."""
    found = known_cell(now, cell)
    if found.removed:
        raise NotFound(f"Cell {cell!r} of notebook {now.name!r} was removed. Add it again to bring it back.")
    return found
