"""Undo of what one actor did to a notebook: planned from its log, and submitted as new events of whoever asks."""

from __future__ import annotations

import msgspec

from ..core.edits.undo_plan import CELL_CHANGES, READ_TYPES, UndoPlan, author_of, plan_undo
from ..core.errors import BadInput
from ..core.events import Draft, Entry, ProposalMade
from ..core.ids import ActorId, LogId, ProposalId
from ..core.notebook.notebook import Notebook
from .clock import new_id
from .protocol import Workspace

ATTEMPTS = 5
"""How often a plan is made again when cells were changed before it was submitted."""


class Editor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody who changed cells of a notebook, or proposed to."""

    actor: ActorId
    on_behalf_of: ActorId | None = None
    """For whom they acted last."""
    has_edited: bool = False
    """Whether a change of theirs was recorded: by themselves, or by a proposal that was accepted."""


async def plan(workspace: Workspace, log: LogId, by: ActorId, since: int = 0) -> UndoPlan:
    """Plan the undo of what `by` did to the cells of a notebook after event `since`."""
    now = await workspace.read(log)
    if since > now.seq:
        raise BadInput(f"{now.name!r} has the events 1 to {now.seq}, so nothing was done after {since}.")
    before = await workspace.read(log, since) if since else Notebook()
    entries: list[Entry] = []
    last = since
    while page := await workspace.entries(log, last, now.seq, types=READ_TYPES):
        entries += page
        last = page[-1].seq
    return plan_undo(before, entries, now, by)


async def editors(workspace: Workspace, log: LogId) -> list[Editor]:
    """Return everyone who ever changed a cell of a notebook, or proposed to: also those whose edits are all overwritten."""
    found: dict[ActorId, Editor] = {}
    proposers: dict[ProposalId, ActorId] = {}
    last = 0
    while page := await workspace.entries(log, last, types=(*CELL_CHANGES, "proposal_made")):
        for entry in page:
            if isinstance(entry.event, ProposalMade):
                proposers[entry.event.proposal] = entry.by
            _note_editor(found, author_of(entry, proposers), entry)
        last = page[-1].seq
    return list(found.values())


def _note_editor(found: dict[ActorId, Editor], actor: ActorId, entry: Entry) -> None:
    """Note that an entry is by `actor`. A proposal is no change before it is accepted."""
    behalf = entry.on_behalf_of if actor == entry.by else None
    known = found.get(actor, Editor(actor=actor))
    found[actor] = Editor(
        actor=actor,
        on_behalf_of=behalf or known.on_behalf_of,
        has_edited=known.has_edited or not isinstance(entry.event, ProposalMade),
    )


def drafts_of(made: UndoPlan) -> list[Draft]:
    """Return the events of a plan, to be submitted together."""
    return [Draft(id=new_id(), event=change) for change in made.changes]


def reason(made: UndoPlan) -> str:
    """Say what a proposal of this undo is for."""
    since = f" since event {made.since}" if made.since else ""
    return f"Undo of all edits of {made.actor}{since}"


async def seq_at(workspace: Workspace, log: LogId, at: str) -> int:
    """Return the number of the last event before a time (ISO 8601, in UTC); 0 when there is none."""
    low, high = 0, (await workspace.read(log)).seq
    while low < high:
        middle = (low + high + 1) // 2
        (entry,) = await workspace.entries(log, middle - 1, middle)
        low, high = (middle, high) if entry.at < at else (low, middle - 1)
    return low
