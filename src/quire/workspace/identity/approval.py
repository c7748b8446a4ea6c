"""Asking first: what a bearer who has to ask submits becomes a proposal (rule 3).

Changes of cells and requests to run them can be proposed; talking (comments, reviews, proposals of
their own) needs no asking; anything else is refused, for nobody could be asked about it.
A submission is proposed as a whole: what was sent together is accepted or declined together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...core import codec
from ...core import events as e
from ...core.errors import BadInput, Refused
from ...core.events import CellKind, Draft, Entry, KnownEvent, ProposalMade, RunCell
from ...core.ids import CellId, ProposalId
from ...core.notebook.notebook import Notebook
from ...core.text import source_hash
from .identities import Identity, scopes_of

_TALK = e.CommentEvent | e.ProposalEvent | e.ReviewEvent


def has_to_ask(identity: Identity, drafts: Iterable[Draft]) -> bool:
    """Whether any of it needs somebody's yes first."""
    return any(
        scopes_of(each.event, identity.actor) & identity.asks and not isinstance(each.event, _TALK) for each in drafts
    )


def as_proposal(identity: Identity, drafts: Sequence[Draft], now: Notebook, why: str = "") -> Draft:
    """One proposal for all of the drafts. It has the id, key and cause of the first: sent again, it is answered.

    Without `why`, the proposal has no reason: what is shown in its place is up to each door.
    """
    changes: list[e.CellChange] = []
    effects: list[RunCell] = []
    for draft in drafts:
        event = draft.event
        if isinstance(event, e.CellChange):
            changes.append(event)
        elif isinstance(event, e.ExecutionRequested):
            effects.append(_effect(event, _kind(now, changes, event.cell)))
        elif isinstance(event, e.ScratchRequested):
            effects.append(_scratch(event))
        else:
            _refuse(identity, event)
    first = drafts[0]
    made = ProposalMade(
        proposal=ProposalId(first.id),
        why=why,
        changes=tuple(changes),
        effects=tuple(effects),
    )
    return Draft(id=first.id, key=first.key, cause=first.cause, event=made)


def proposed(drafts: Sequence[Draft], entries: Sequence[Entry]) -> ProposalMade | None:
    """The proposal that `submit` made of the drafts; None when it recorded them as they are."""
    made = entries[0].event
    return made if isinstance(made, ProposalMade) and not isinstance(drafts[0].event, ProposalMade) else None


def _effect(request: e.ExecutionRequested, kind: CellKind) -> RunCell:
    _check_runtime(request)
    return RunCell(
        execution=request.execution,
        cell=request.cell,
        source_hash=request.source_hash,
        cell_kind=kind,
        needs=request.needs,
    )


def _scratch(request: e.ScratchRequested) -> RunCell:
    _check_runtime(request)
    return RunCell(
        execution=request.execution,
        cell=request.cell,
        source_hash=source_hash(request.source),
        cell_kind=request.kind,
        source=request.source,
    )


def _check_runtime(request: e.ExecutionRequested | e.ScratchRequested) -> None:
    if request.runtime is not None:
        raise BadInput(f"A run of cell {request.cell!r} on one runtime cannot be proposed. Leave `runtime` out.")


def _kind(now: Notebook, changes: list[e.CellChange], cell: CellId) -> CellKind:
    """The kind that a cell has after the changes. One that is not there is the rules' business."""
    kind: CellKind = now.cells[cell].kind if cell in now.cells else "code"
    for change in changes:
        if isinstance(change, e.CellAdded | e.CellKindChanged) and change.cell == cell:
            kind = change.kind
    return kind


def _refuse(identity: Identity, event: KnownEvent) -> None:
    if isinstance(event, _TALK):
        raise BadInput(f"{codec.type_of(event)} is sent apart from what {identity.actor} has to ask for.")
    asked = " and ".join(sorted(identity.asks))
    raise Refused(
        f"{identity.actor} has to ask before it may {asked}, and {codec.type_of(event)} cannot be proposed: only changes of "
        "cells and runs of single cells can. Ask somebody whose token allows it."
    )
