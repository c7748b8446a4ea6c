"""Several processes that write to one log: what it costs that each keeps the state of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from quire.core import events as e
from quire.core.errors import Conflict
from quire.core.events import Draft
from quire.core.ids import LogId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.stores.store import Append, AppendOutcome
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace
from quire.workspace.log.open_log import WARY

LOG = LogId("shared")


class CountedStore(MemoryStore):
    """Counts the appends that came too late."""

    def __init__(self) -> None:
        super().__init__()
        self.conflicts = 0

    async def append(self, appends: Sequence[Append]) -> list[AppendOutcome]:
        try:
            return await super().append(appends)
        except Conflict:
            self.conflicts += 1
            raise


async def say(workspace: LocalWorkspace, *events: e.KnownEvent) -> None:
    await workspace.submit(LOG, [Draft(id=new_id(), event=event) for event in events])


async def test_who_writes_by_turns_with_others_looks_before_it_writes() -> None:
    """A server and a runtime do, with every cell that runs."""
    store = CountedStore()
    here, there = (LocalWorkspace(store, MemoryBlobs()) for _ in range(2))
    await say(here, e.NotebookCreated(name="shared"))
    for number in range(50):
        for workspace in (here, there):
            await say(workspace, e.MetadataSet(values={"turn": number}))
    assert store.conflicts <= 1
    assert (await here.read(LOG)).seq == (await there.read(LOG)).seq == 101


async def test_who_was_alone_for_long_learns_from_a_conflict_and_nothing_is_lost() -> None:
    store = CountedStore()
    here, there = (LocalWorkspace(store, MemoryBlobs()) for _ in range(2))
    await say(here, e.NotebookCreated(name="shared"))
    for number in range(WARY + 5):
        await say(here, e.MetadataSet(values={"alone": number}))
    await say(there, e.MetadataSet(values={"there": True}))
    await asyncio.gather(*(say(here, e.MetadataSet(values={f"here {number}": True})) for number in range(10)))
    assert store.conflicts >= 1
    notebook = await there.read(LOG)
    assert notebook.metadata == {"alone": WARY + 4, "there": True} | {f"here {number}": True for number in range(10)}
