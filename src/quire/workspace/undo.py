"""Undo of what one actor did to a notebook: planned from its log, and submitted as new events of whoever asks."""

from __future__ import annotations

from ..core.errors import BadInput
from ..core.events import Draft, Entry
from ..core.ids import ActorId, LogId
from ..core.notebook import Notebook
from ..core.undo import READ_TYPES, UndoPlan, plan_undo
from .clock import new_id
from .workspace import Workspace

ATTEMPTS = 5
"""How often a plan is made again when cells were changed before it was submitted."""


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
