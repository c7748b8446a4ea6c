"""For how long a live notebook keeps its kernel."""

from __future__ import annotations

import asyncio

from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import LogId
from quire.runs.surroundings import until_quiet
from quire.stores.blobs_memory import MemoryBlobs
from quire.stores.memory import MemoryStore
from quire.workspace import access
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

LOG = LogId("01M7GFVPH90000000000000000")
PATIENCE = 60


async def test_who_moves_a_slider_keeps_the_kernel_and_what_the_kernel_says_does_not() -> None:
    owner = LocalWorkspace(MemoryStore(), MemoryBlobs())
    runtime = owner.acting_as(access.runtime("local"))
    try:
        await owner.submit(LOG, [Draft(id=new_id(), event=e.NotebookCreated(name="live"))])
        quiet = asyncio.ensure_future(until_quiet(runtime, LOG, 4.0, runtime.lanes))
        for _ in range(120):
            owner.lanes.say(f"{LOG}/comms", {"kind": "message", "comm": "slider"})
            await asyncio.wait({quiet}, timeout=0.05)
        assert not quiet.done(), "for longer than that, somebody was there"
        async with asyncio.timeout(PATIENCE):
            while not quiet.done():
                runtime.lanes.say(f"{LOG}/comms", {"kind": "message", "comm": "clock"})
                await asyncio.wait({quiet}, timeout=0.05)
        quiet.result()
    finally:
        await owner.close()
