"""A claim holds for as long as was asked for, from its beginning on."""

from __future__ import annotations

import pytest

from quire.actors.runtime.lease_renewal import held
from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import CellId, ExecutionId, LogId, RuntimeId
from quire.core.text import source_hash
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.log.leases import LEASE_SECONDS

LOG, CELL, EXECUTION = LogId("n"), CellId("a"), ExecutionId("x")


@pytest.mark.parametrize("seconds", [LEASE_SECONDS / 2, LEASE_SECONDS * 6])
async def test_one_that_is_to_hold_another_time_than_usual_does_so_at_once(seconds: float) -> None:
    """Rule 10: whoever is killed right after a claim is not waited for any longer than that."""
    owner = LocalWorkspace(MemoryStore(), MemoryBlobs())
    runtime = owner.acting_as(identities.runtime("gpu"))
    asked = e.ExecutionRequested(execution=EXECUTION, cell=CELL, source_hash=source_hash("1"))
    events = [e.NotebookCreated(name="n"), e.CellAdded(cell=CELL, after=None, source="1"), asked]
    await owner.submit(LOG, [Draft(id=new_id(), event=event) for event in events])
    claim = e.ExecutionClaimed(execution=EXECUTION, runtime=RuntimeId("runtime:gpu"))
    async with held(runtime, LOG, claim, lambda: None, seconds):
        (claimed,) = await owner.claims()
        assert LEASE_SECONDS < claimed.seconds_left <= seconds or claimed.seconds_left <= seconds < LEASE_SECONDS
    await owner.close()
