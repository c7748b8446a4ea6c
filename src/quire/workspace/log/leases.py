"""Claims and leases: how one becomes the other, under which name, and what a lease is held for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import events as e
from ...core.errors import Conflict
from ...core.events import Draft, Entry
from ...core.ids import ExecutionId, LogId, RuntimeId
from ...core.notebook.notebook import Notebook
from ...stores.store import Lease, Store
from ..identity.identities import Identity
from ..protocol import Claim, HeldClaim
from .open_log import Live

LEASE_SECONDS = 30.0
"""How long a claim holds without being renewed."""
LONG_LEASE_SECONDS = 180.0
"""The same over a network, which may be cut for a minute or two."""


async def take(
    store: Store, live: Live[Any], name: str, drafts: Sequence[Draft], identity: Identity, seconds: float
) -> list[Entry]:
    """Take the lease, then record the claim with its epoch."""
    _check_open(await live.read(), name, drafts[0].event)
    lease = await store.acquire(name, identity.actor, seconds)
    if lease is None:
        held = await store.lease(name)
        raise Conflict(f"{name} is held by {held.holder if held else 'somebody'}. Take another one.")
    recorded: int | None = None
    try:
        entries = await live.submit(drafts, identity, epoch=lease.epoch)
        recorded = getattr(entries[0].event, "epoch", None)
        return entries
    finally:
        if recorded != lease.epoch:
            # Refused, or answered with an earlier claim. It runs out and is not given back: it may stand
            # where the lease of somebody stood who is gone, and `claims` still has to tell of that.
            await store.renew(lease, 0)


def _check_open(notebook: Notebook, name: str, claim: e.KnownEvent) -> None:
    """Refuse what the log says is claimed: a lease that lapsed there may be renewed, and nobody is to break it in vain."""
    taken = None
    if isinstance(claim, e.ExecutionClaimed):
        execution = notebook.execution(claim.execution)
        taken = execution.runtime if execution is not None else None
    elif notebook.run is not None and notebook.run.status != "queued":
        taken = notebook.run.runtime
    if taken is not None:
        raise Conflict(f"{name} is held by {taken}. Take another one.", runtime=taken)


def lease_name(log: LogId, event: Claim) -> str:
    """Under which name a claim is leased."""
    return f"execution:{log}:{event.execution}" if isinstance(event, e.ExecutionClaimed) else f"run:{log}"


def held_for(lease: Lease) -> HeldClaim | None:
    """What a lease is held for, if it is for a claim."""
    runtime, epoch = RuntimeId(lease.holder), lease.epoch
    match lease.name.split(":"):
        case ["run", log]:
            claim: Claim = e.RunClaimed(runtime=runtime, epoch=epoch)
        case ["execution", log, execution]:
            claim = e.ExecutionClaimed(execution=ExecutionId(execution), runtime=runtime, epoch=epoch)
        case _:
            return None
    return HeldClaim(log=LogId(log), claim=claim, seconds_left=lease.seconds_left)
