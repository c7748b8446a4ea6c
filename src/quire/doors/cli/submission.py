"""What a verb says when its bearer has to ask, and what it submitted became a proposal (rule 3)."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ...core.events import Draft, Entry, KnownEvent
from ...core.ids import LogId
from ...workspace.clock import new_id
from ...workspace.identity.approval import proposed
from ...workspace.protocol import Workspace
from .printer import print_json


async def submit(
    workspace: Workspace, log: LogId, events: Sequence[KnownEvent], *, as_json: bool
) -> list[Entry] | None:
    """Record the events; None when they wait for somebody's yes, which is said."""
    drafts = [Draft(id=new_id(), event=event) for event in events]
    entries = await workspace.submit(log, drafts)
    made = proposed(drafts, entries)
    if made is None:
        return entries
    if as_json:
        print_json({"log": log, "proposal": made.proposal, "state": "open", "seq": entries[0].seq})
    else:
        told = f"Proposed as {made.proposal}: somebody has to say yes"
        click.echo(f"{told} (`quire proposals show {made.proposal}`)", err=True)
    return None
