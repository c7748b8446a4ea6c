"""A claim holds for as long as was asked for, from its beginning on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from math import inf

import pytest

from quire.actors.runtime import lease_renewal
from quire.actors.runtime.lease_renewal import held, renew_adopted, renewed
from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import CellId, ExecutionId, LogId, RuntimeId
from quire.core.text import source_hash
from quire.kernels.relay.execution_state import Flight
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import MAX_LEASE_SECONDS, LocalWorkspace
from quire.workspace.log.leases import LEASE_SECONDS

LOG, CELL, EXECUTION = LogId("n"), CellId("a"), ExecutionId("x")
CLAIM = e.ExecutionClaimed(execution=EXECUTION, runtime=RuntimeId("runtime:gpu"))


@pytest.fixture
async def owner() -> AsyncIterator[LocalWorkspace]:
    """A workspace with a cell that waits for a runtime."""
    made = LocalWorkspace(MemoryStore(), MemoryBlobs())
    asked = e.ExecutionRequested(execution=EXECUTION, cell=CELL, source_hash=source_hash("1"))
    events = [e.NotebookCreated(name="n"), e.CellAdded(cell=CELL, after=None, source="1"), asked]
    await made.submit(LOG, [Draft(id=new_id(), event=event) for event in events])
    yield made
    await made.close()


@pytest.mark.parametrize("seconds", [LEASE_SECONDS / 2, LEASE_SECONDS * 6])
async def test_one_that_is_to_hold_another_time_than_usual_does_so_at_once(
    owner: LocalWorkspace, seconds: float
) -> None:
    """Rule 10: whoever is killed right after a claim is not waited for any longer than that."""
    runtime = owner.acting_as(identities.runtime("gpu"))
    async with held(runtime, LOG, CLAIM, lambda: None, seconds):
        (claimed,) = await owner.claims()
        assert LEASE_SECONDS < claimed.seconds_left <= seconds or claimed.seconds_left <= seconds < LEASE_SECONDS


async def lapsed(runtime: LocalWorkspace) -> e.ExecutionClaimed:
    """A claim of a process that was killed, and whose lease is over."""
    (entry,) = await runtime.submit(LOG, [Draft(id=new_id(), event=CLAIM)])
    assert isinstance(entry.event, e.ExecutionClaimed)
    await runtime.renew(LOG, entry.event, 0)
    assert (await runtime.claims())[0].seconds_left <= 0
    return entry.event


async def test_an_adopted_kernel_has_its_claim_renewed_before_anything_else(owner: LocalWorkspace) -> None:
    """Rules 10 and 11: the one that adopts it may be killed before it comes to anything else."""
    runtime = owner.acting_as(identities.runtime("gpu"))
    claim = await lapsed(runtime)
    started = e.ExecutionStarted(execution=EXECUTION, cell=CELL, source_hash=source_hash("1"), epoch=claim.epoch or 0)
    await renew_adopted(runtime, LOG, Flight(request="r", started=started), LEASE_SECONDS)
    (held_again,) = await owner.claims()
    assert held_again.seconds_left > 0


async def test_a_claim_that_was_not_taken_just_now_is_renewed_as_soon_as_the_work_goes_on(
    owner: LocalWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rule 10: not only when the next renewal is due, which here is in minutes."""
    monkeypatch.setattr(lease_renewal, "RENEW_SECONDS", inf)
    runtime = owner.acting_as(identities.runtime("gpu"))
    claim = await lapsed(runtime)
    async with renewed(runtime, LOG, claim, lambda: None, MAX_LEASE_SECONDS, at_once=True), asyncio.timeout(20):
        while (await owner.claims())[0].seconds_left <= 0:  # noqa: ASYNC110 - a lease tells nobody that it was renewed
            await asyncio.sleep(0)
