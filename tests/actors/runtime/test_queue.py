"""What waits in a notebook, and whether a runtime has to be started here for it."""

from __future__ import annotations

from quire.actors.runtime.queue import OTHERS_SECONDS, Others, skip_waiting, waits_here
from quire.core import events as e
from quire.core.events import Draft, KnownEvent
from quire.core.ids import CellId, ExecutionId, LogId, RuntimeId
from quire.core.notebook.notebook import Notebook
from quire.core.text import source_hash
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

LOG = LogId("n")
GPU = RuntimeId("runtime:gpu")


class Clock:
    """A clock that somebody else turns."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Book:
    """A notebook in which things wait."""

    def __init__(self) -> None:
        self.owner = LocalWorkspace(MemoryStore(), MemoryBlobs())
        self.gpu = self.owner.acting_as(identities.runtime("gpu"))

    async def say(self, workspace: LocalWorkspace, *events: KnownEvent) -> None:
        await workspace.submit(LOG, [Draft(id=new_id(), event=event) for event in events])

    async def write(self, cells: int) -> None:
        added = [e.CellAdded(cell=CellId(f"c{number}"), after=None, source="1") for number in range(cells)]
        await self.say(self.owner, e.NotebookCreated(name="n"), *added)

    async def request(self, number: int, wants: str | None = None) -> ExecutionId:
        execution, cell = ExecutionId(new_id()), CellId(f"c{number}")
        hash = source_hash("1")
        wanted = e.ExecutionRequested(execution=execution, cell=cell, source_hash=hash, runtime=wants)
        await self.say(self.owner, wanted)
        return execution

    async def attach(self, language: str) -> None:
        await self.say(self.gpu, e.RuntimeAttached(runtime=GPU, name="gpu", language=language))

    async def read(self) -> Notebook:
        return await self.owner.read(LOG)


async def test_what_a_runtime_that_somebody_brought_would_take_is_left_to_it_for_a_while() -> None:
    book, clock = Book(), Clock()
    others = Others(clock)
    await book.write(3)
    await book.request(0)
    assert not others.take(LOG, await book.read()), "there is nobody"
    await book.attach("python")
    assert others.take(LOG, await book.read())
    clock.now += OTHERS_SECONDS - 1
    assert others.take(LOG, await book.read())
    clock.now += 2
    assert not others.take(LOG, await book.read()), "it is attached, and does not come"


async def test_while_it_is_at_work_what_waits_behind_that_is_its_own_however_long_it_takes() -> None:
    book, clock = Book(), Clock()
    others = Others(clock)
    await book.write(2)
    await book.attach("python")
    first = await book.request(0)
    await book.say(book.gpu, e.ExecutionClaimed(execution=first, runtime=GPU))
    await book.request(1)
    for _ in range(3):
        assert others.take(LOG, await book.read())
        clock.now += 1000


async def test_what_it_would_not_take_is_not_left_to_it() -> None:
    book = Book()
    await book.write(3)
    await book.attach("r")
    await book.request(0)
    assert not Others().take(LOG, await book.read()), "it speaks another language"
    await book.attach("python")
    assert Others().take(LOG, await book.read())
    await book.request(1, "local")
    assert not Others().take(LOG, await book.read())


async def test_what_is_for_another_runtime_does_not_wait_here_and_is_not_skipped() -> None:
    book = Book()
    await book.write(4)
    wanted = [await book.request(number, wants) for number, wants in enumerate((None, "local", "Python", "gpu"))]
    assert [execution.id for execution in waits_here(await book.read())] == wanted[:3]
    await skip_waiting(book.owner.acting_as(identities.system()), LOG, "there is none")
    states = [cell.state for cell in sorted((await book.read()).live_cells, key=lambda cell: cell.id)]
    assert states == ["skipped", "skipped", "skipped", "queued"]
    await skip_waiting(book.gpu, LOG, "it cannot begin", lambda execution: execution.wants == "gpu")
    missed = (await book.read()).cells[CellId("c3")].missed
    assert missed is not None and missed.why == "it cannot begin"
