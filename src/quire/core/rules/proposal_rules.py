"""Proposals: somebody asks, somebody else answers, and what was shown is what happens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec.structs import replace

from .. import events as e
from ..errors import BadInput, Conflict, NotFound, Refused
from ..ids import CellId, ProposalId, actor_kind, check_id, check_time
from ..notebook.executions import scratch_of
from ..notebook.notebook import Notebook, Proposal
from ..notebook.reduce import Fold
from ..text import Edit, source_hash
from .cell_rules import as_carried_over, as_entry, completed, live_cell
from .context import SubmissionContext
from .execution_rules import check_needed, check_request, check_scratch


def accept(now: Notebook, event: e.ProposalEvent, asking: SubmissionContext) -> e.ProposalEvent:
    """Return the event as it is to be recorded."""
    match event:
        case e.ProposalMade():
            return _complete_made(now, event, asking)
        case e.ProposalAccepted():
            return _complete_acceptance(now, event, asking)
        case e.ProposalDeclined():
            _open(now, event.proposal)
        case e.ProposalWithdrawn():
            if _open(now, event.proposal).by != asking.actor:
                raise Refused(f"Proposal {event.proposal!r} is not {asking.actor}'s to withdraw. Decline it instead.")
        case e.ProposalExpired():
            expires_at = _open(now, event.proposal).expires_at
            if not asking.actor.startswith("system:"):
                raise Refused(f"Proposals expire by themselves; {asking.actor} may decline {event.proposal!r}.")
            if expires_at is None or asking.at < expires_at:
                raise Refused(f"Proposal {event.proposal!r} has not expired; it does at {expires_at or 'no time'}.")
        case _:
            assert_never(event)
    return event


def _open(now: Notebook, proposal: ProposalId) -> Proposal:
    found = now.proposals.get(proposal)
    if found is None:
        raise NotFound(f"There is no proposal {proposal!r} in notebook {now.name!r}.")
    if found.state != "open":
        raise Conflict(
            f"Proposal {proposal!r} was {found.state} by {found.decided_by}. Make a new one.", state=found.state
        )
    return found


def _complete_made(now: Notebook, event: e.ProposalMade, asking: SubmissionContext) -> e.ProposalMade:
    check_id(event.proposal, "Proposal")
    if event.proposal in now.proposals:
        raise Refused(f"Proposal {event.proposal!r} exists already. Choose another id.")
    if not event.changes and not event.effects:
        raise BadInput(f"Proposal {event.proposal!r} asks for nothing: give it changes or effects.")
    if event.expires_at is not None:
        check_time(event.expires_at, "A proposal's end")
    # Tried now, so that whoever answers is not asked about what can no longer happen anyway.
    changes, then = completed(now, event.changes, asking)
    _check_effects(then, event.effects, asking)
    return replace(event, changes=tuple(map(_with_difference, event.changes, changes)))


def _with_difference(change: e.CellChange, tried: e.CellChange) -> e.CellChange:
    """A whole text is kept with its difference: what others type before the yes is carried over by that."""
    return tried if isinstance(tried, e.SourceEdited) and tried.text is not None else change


def _check_effects(then: Fold, effects: tuple[e.RunCell, ...], asking: SubmissionContext) -> None:
    """Each effect has to be possible after the changes and after the effects before it."""
    for effect in effects:
        check_needed(then.now, effect.execution, effect.needs)
        source = effect.source
        request = _request(then.now, effect) if source is None else _scratch(then.now, effect, source)
        then.add(as_entry(request, then.now.seq + 1, asking))


def _request(now: Notebook, effect: e.RunCell) -> e.ExecutionRequested:
    cell = check_request(now, effect.execution, effect.cell, effect.source_hash)
    if cell.kind != effect.cell_kind:
        raise Refused(f"Cell {effect.cell!r} is a {cell.kind} cell, not {effect.cell_kind}. Make the proposal anew.")
    return e.ExecutionRequested(
        execution=effect.execution, cell=effect.cell, source_hash=effect.source_hash, needs=effect.needs
    )


def _scratch(now: Notebook, effect: e.RunCell, source: str) -> e.ScratchRequested:
    """Code without a cell is shown with the proposal: it is what runs, or nothing does (rule 9)."""
    if source_hash(source) != effect.source_hash:
        raise Refused(
            f"Execution {effect.execution!r}: its `source_hash` is not that of its `source`. Make the proposal anew."
        )
    if effect.needs is not None:
        raise BadInput(
            f"Execution {effect.execution!r} is of code without a cell, which waits for no other: no `needs`."
        )
    check_scratch(now, request := scratch_of(effect, source))
    return request


def _complete_acceptance(now: Notebook, event: e.ProposalAccepted, asking: SubmissionContext) -> e.ProposalAccepted:
    proposal = _open(now, event.proposal)
    if proposal.by == asking.actor:
        raise Refused(f"Proposal {event.proposal!r} is {asking.actor}'s own: somebody else has to accept it.")
    if actor_kind(asking.actor) != "human":
        told = f"Only a human accepts a proposal, and {asking.actor} is none"
        raise Refused(f"{told}. Ask the person for whom {proposal.by} acts, or another who may approve.")
    if proposal.expires_at is not None and asking.at >= proposal.expires_at:
        raise Refused(f"Proposal {event.proposal!r} expired at {proposal.expires_at}. Ask for a new one.")
    changes, effects = _selected(event, proposal)
    for change in changes:
        if not isinstance(change, e.CellAdded):
            _check_still_there(now, change.cell, changes)
    applied, then = completed(now, as_carried_over(now, changes, proposal.seq), asking)
    for change, done in zip(changes, applied, strict=True):
        _check_apart(now, event.proposal, change, done)
    for effect in effects:
        if effect.source is not None:
            continue  # it stands on nothing that could have changed
        cell = live_cell(then.now, effect.cell)
        if source_hash(cell.source) != effect.source_hash or cell.kind != effect.cell_kind:
            raise Refused(
                f"Cell {effect.cell!r} is no longer what proposal {event.proposal!r} showed, so its run is void. "
                "Accept the other parts with `selection`, or decline it."
            )
    _check_effects(then, effects, asking)
    return replace(event, applied=applied, effects=effects)


def _check_apart(now: Notebook, proposal: ProposalId, change: e.CellChange, done: e.CellChange) -> None:
    """Refuse a whole text that replaces what somebody else replaced since (rule 8): both would stand side by side."""
    if not isinstance(change, e.SourceEdited) or not isinstance(done, e.SourceEdited) or done.text == change.text:
        return
    if done.applied is not None and _removed(done.applied) < _removed(done.edit):
        cell = now.cells[change.cell]
        raise Refused(
            f"Cell {change.cell!r} was changed by {cell.author} in the place that proposal {proposal!r} changes. "
            "Accept the other parts with `selection`, or decline it and ask for it anew.",
            source=cell.source,
            source_hash=source_hash(cell.source),
            changed_by=cell.edited_by,
        )


def _removed(edit: Edit) -> int:
    return sum(splice.remove for splice in edit)


def _check_still_there(now: Notebook, cell: CellId, changes: tuple[e.CellChange, ...]) -> None:
    if not any(isinstance(change, e.CellAdded) and change.cell == cell for change in changes):
        live_cell(now, cell)


def _selected(event: e.ProposalAccepted, proposal: Proposal) -> tuple[tuple[e.CellChange, ...], tuple[e.RunCell, ...]]:
    if event.selection is None:
        return proposal.changes, proposal.effects
    count = len(proposal.changes)
    wrong = [number for number in event.selection if not 0 <= number < count + len(proposal.effects)]
    if wrong or not event.selection:
        raise BadInput(
            f"Selection {list(event.selection)} does not fit: the proposal has 0 to {count + len(proposal.effects) - 1}."
        )
    chosen = set(event.selection)
    _check_builds_on(proposal, chosen)
    effects = [effect for number, effect in enumerate(proposal.effects, count) if number in chosen]
    return (
        tuple(change for number, change in enumerate(proposal.changes) if number in chosen),
        tuple(_without_need(effects)),
    )


def _without_need(effects: list[e.RunCell]) -> Iterator[e.RunCell]:
    """What waited for an effect that was not selected waits for nothing."""
    ids = {effect.execution for effect in effects}
    for effect in effects:
        yield effect if effect.needs in ids else replace(effect, needs=None)


def _check_builds_on(proposal: Proposal, chosen: set[int]) -> None:
    """A change of a cell was made on top of those before it: it cannot come without them."""
    left_out: dict[CellId, int] = {}
    for number, change in enumerate(proposal.changes):
        if number not in chosen:
            if isinstance(change, e.SourceEdited | e.CellAdded):
                left_out.setdefault(change.cell, number)
        elif change.cell in left_out and isinstance(change, e.SourceEdited):
            raise Refused(
                f"Change {number} builds on change {left_out[change.cell]} of the same cell. Select both, or neither."
            )
