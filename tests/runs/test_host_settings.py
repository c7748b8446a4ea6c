"""For how long a live notebook keeps its kernel."""

from __future__ import annotations

import asyncio

import pytest

from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import LogId
from quire.runs.host.host_settings import until_quiet
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

LOG = LogId("01M7GFVPH90000000000000000")
IDLE_SECONDS = 60.0


class LoopTime:
    """The time of the test's own loop, which only the test moves on: nothing waits, and no machine is too slow."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        self._now = loop.time()
        monkeypatch.setattr(loop, "time", lambda: self._now)

    async def pass_by(self, seconds: float) -> None:
        """Let so much time pass, and everybody do what they do then."""
        self._now += seconds
        for _ in range(100):
            await asyncio.sleep(0)


async def test_who_moves_a_slider_keeps_the_kernel_and_what_the_kernel_says_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = LocalWorkspace(MemoryStore(), MemoryBlobs())
    runtime = owner.acting_as(identities.runtime("local"))
    try:
        await owner.submit(LOG, [Draft(id=new_id(), event=e.NotebookCreated(name="live"))])
        time = LoopTime(monkeypatch)
        quiet = asyncio.ensure_future(until_quiet(runtime, LOG, IDLE_SECONDS, runtime.lanes))
        for _ in range(20):
            owner.lanes.say(f"{LOG}/comms", {"kind": "message", "comm": "slider"})
            await time.pass_by(IDLE_SECONDS / 3)
        assert not quiet.done(), "for longer than that, somebody was there"
        for _ in range(5):
            runtime.lanes.say(f"{LOG}/comms", {"kind": "message", "comm": "clock"})
            await time.pass_by(IDLE_SECONDS / 3)
        assert quiet.done()
        quiet.result()
    finally:
        await owner.close()
