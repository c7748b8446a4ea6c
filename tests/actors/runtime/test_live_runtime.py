"""A runtime beside a live notebook: it runs what is requested there, once, in order."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.actors.runtime.live_runtime import ServeOptions, serve
from quire.core import events as e
from quire.core.events import Draft, KnownEvent, Stream
from quire.core.ids import CellId, ExecutionId, LogId
from quire.core.notebook.notebook import Notebook
from quire.core.notebook.staleness import stale_cells
from quire.core.text import source_hash
from quire.kernels.environments import find
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from ...kernels.real_kernels import until

LOG = LogId("01M7GFVPH90000000000000000")
PATIENCE = 60


class Live:
    """A notebook that runtimes serve."""

    def __init__(self, folder: Path) -> None:
        self.store = MemoryStore()
        self.owner = LocalWorkspace(self.store, MemoryBlobs())
        self._folder = folder
        self._over = asyncio.Event()
        self._runtimes: list[asyncio.Task[None]] = []

    async def say(self, *events: KnownEvent) -> None:
        await self.owner.submit(LOG, [Draft(id=new_id(), event=event) for event in events])

    async def write(self, *sources: str) -> None:
        cells = [
            e.CellAdded(cell=CellId(f"c{number}"), after=CellId(f"c{number - 1}") if number else None, source=source)
            for number, source in enumerate(sources)
        ]
        await self.say(e.NotebookCreated(name="live"), *cells)

    async def request(self, *cells: int, runtime: str | None = None) -> None:
        notebook = await self.owner.read(LOG)
        for number in cells:
            cell = CellId(f"c{number}")
            hash = source_hash(notebook.cells[cell].source)
            execution = ExecutionId(new_id())
            await self.say(e.ExecutionRequested(execution=execution, cell=cell, source_hash=hash, runtime=runtime))

    def serve(self, name: str, startup: str = "") -> None:
        variables = {each: os.environ[each] for each in ("PATH", "HOME") if each in os.environ}
        spec = find("python", None, cwd=self._folder, environ={})
        serving = ServeOptions(
            log=LOG,
            spec=spec,
            cwd=self._folder,
            variables=variables,
            name=name,
            startup=startup,
            spools=self._folder / "spool",
            look_again_seconds=0.1,
        )
        runtime = self.owner.acting_as(identities.runtime(name))
        self._runtimes.append(asyncio.ensure_future(serve(runtime, serving, self._over)))

    async def until(self, *states: str) -> Notebook:
        """Wait until the cells are in these states."""
        async with asyncio.timeout(PATIENCE):
            async for _ in self.owner.follow(LOG):
                notebook = await self.owner.read(LOG)
                if [cell.state for cell in notebook.live_cells] == list(states):
                    return notebook
                for runtime in self._runtimes:
                    assert not runtime.done(), runtime.exception()
        raise AssertionError

    async def attached(self) -> None:
        """Wait until a runtime is there."""
        async with asyncio.timeout(PATIENCE):
            async for _ in self.owner.follow(LOG):
                if (await self.owner.read(LOG)).runtimes:
                    return

    async def close(self) -> None:
        self._over.set()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*self._runtimes)


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    made = Live(tmp_path)
    yield made
    await made.close()


def printed(notebook: Notebook, cell: int) -> str:
    execution = notebook.cells[CellId(f"c{cell}")].execution
    assert execution is not None
    return "".join(each.head + each.tail for each in execution.outputs if isinstance(each, Stream))


async def test_requests_run_in_order_in_one_kernel_and_a_failure_stops_nothing(live: Live) -> None:
    await live.write("x = 20", "1 / 0", "print(x + 22)")
    live.serve("local")
    await live.request(0, 1, 2)
    notebook = await live.until("ok", "error", "ok")
    assert printed(notebook, 2) == "42\n"
    assert [cell.execution.count for cell in notebook.live_cells if cell.execution] == [1, 2, 3]
    assert notebook.runtimes["runtime:local"].kernel  # type: ignore[index]
    await live.close()
    assert (await live.owner.read(LOG)).runtimes == {}, "it says that it leaves"
    assert await live.owner.claims() == []


async def test_what_needs_a_cell_that_failed_is_skipped_and_all_else_runs(live: Live) -> None:
    await live.write("1 / 0", "print('never')", "print('never')", "print('alone')")
    ids = [ExecutionId(f"x{number}") for number in range(4)]
    needs = [None, ids[0], ids[1], None]
    sources = [cell.source for cell in (await live.owner.read(LOG)).live_cells]
    requests = [
        e.ExecutionRequested(execution=id, cell=CellId(f"c{number}"), source_hash=source_hash(source), needs=need)
        for number, (id, source, need) in enumerate(zip(ids, sources, needs, strict=True))
    ]
    await live.say(*requests)
    live.serve("local")
    notebook = await live.until("error", "skipped", "skipped", "ok")
    missed = notebook.cells[CellId("c2")].missed
    assert missed is not None and missed.why == "a cell before it did not end well"
    assert printed(notebook, 3) == "alone\n"


async def test_what_needs_a_cell_that_was_taken_back_is_skipped(live: Live) -> None:
    await live.write("1", "print('never')")
    first, second = ExecutionId("x0"), ExecutionId("x1")
    hashes = [source_hash(cell.source) for cell in (await live.owner.read(LOG)).live_cells]
    await live.say(
        e.ExecutionRequested(execution=first, cell=CellId("c0"), source_hash=hashes[0], runtime="nobody"),
        e.ExecutionRequested(execution=second, cell=CellId("c1"), source_hash=hashes[1], needs=first),
    )
    live.serve("local")
    await live.attached()
    await live.say(e.ExecutionCancelled(execution=first))
    await live.until("cancelled", "skipped")


async def test_code_without_a_cell_runs_and_is_adopted_by_none(live: Live) -> None:
    await live.write("x = 20", "print(y)")
    live.serve("local")
    await live.request(0)
    await live.say(e.ScratchRequested(execution=ExecutionId("s1"), cell=CellId("s"), source="y = x + 22"))
    await live.request(1)
    notebook = await live.until("ok", "ok")
    assert printed(notebook, 1) == "42\n"
    assert notebook.cells[CellId("s")].state == "ok"
    assert stale_cells(notebook) == {"c1"}, "the notebook alone does not define y"


async def test_a_cell_is_interrupted_and_the_kernel_keeps_what_it_knows(live: Live) -> None:
    await live.write("x = 1", "print('on', flush=True)\nwhile True: pass", "print(x)")
    live.serve("local")
    await live.request(0, 1, 2)
    notebook = await live.until("ok", "running", "queued")
    running = notebook.cells[CellId("c1")].execution
    assert running is not None
    await live.say(e.InterruptRequested(execution=running.id))
    notebook = await live.until("ok", "cancelled", "ok")
    assert printed(notebook, 2) == "1\n"


async def test_a_kernel_that_dies_is_told_and_the_next_cell_has_a_new_one(live: Live) -> None:
    await live.write("import os\nos._exit(1)", "print('anew')")
    live.serve("local")
    await live.request(0, 1)
    notebook = await live.until("dead_kernel", "ok")
    assert printed(notebook, 1) == "anew\n"
    (runtime,) = notebook.runtimes.values()
    assert runtime.restarts == 1


async def test_every_kernel_is_prepared_before_its_first_cell(live: Live) -> None:
    await live.write("print(prepared)", "import os\nos._exit(1)", "print(prepared)")
    live.serve("local", startup="__import__('builtins').__dict__.__setitem__('prepared', 7)")
    await live.request(0, 1, 2)
    notebook = await live.until("ok", "dead_kernel", "ok")
    assert (printed(notebook, 0), printed(notebook, 2)) == ("7\n", "7\n")


async def test_a_kernel_that_died_while_nothing_ran_is_told_by_the_next_cell(live: Live) -> None:
    await live.write("import os\nprint(os.getpid())", "print('anew')")
    live.serve("local")
    await live.request(0)
    pid = int(printed(await live.until("ok", "never_run"), 0))
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not Path(f"/proc/{pid}").exists())
    await live.request(1)
    await live.until("ok", "dead_kernel")
    await live.request(1)
    assert printed(await live.until("ok", "ok"), 1) == "anew\n"


async def test_two_runtimes_never_run_one_request_twice_and_one_can_be_named(live: Live) -> None:
    await live.write(*["import os\nprint(os.getpid())"] * 12)
    live.serve("one")
    live.serve("two")
    await live.request(*range(10))
    await live.request(10, 11, runtime="two")
    notebook = await live.until(*["ok"] * 12)
    kernels = {printed(notebook, number) for number in range(12)}
    assert 1 <= len(kernels) <= 2
    entries = await live.owner.entries(LOG, types=["execution_started"])
    assert len(entries) == 12
    assert printed(notebook, 10) == printed(notebook, 11)
    claims = await live.owner.entries(LOG, types=["execution_claimed"])
    assert {entry.actor for entry in claims[-2:]} <= {"runtime:one", "runtime:two"}
    named = notebook.cells[CellId("c11")].execution
    assert named is not None and named.runtime == "runtime:two"


async def test_what_somebody_was_about_to_take_and_did_not_is_run_all_the_same(live: Live) -> None:
    """Rule 10: never stuck."""
    await live.write("print('here')")
    execution = ExecutionId(new_id())
    live.serve("local")
    await live.attached()
    # A lease that nobody renews, and of which the log says nothing: its holder was killed in between.
    assert await live.store.acquire(f"execution:{LOG}:{execution}", "runtime:gone", 0.5) is not None
    hash = source_hash("print('here')")
    await live.say(e.ExecutionRequested(execution=execution, cell=CellId("c0"), source_hash=hash))
    assert printed(await live.until("ok"), 0) == "here\n"


async def test_what_was_seen_runs_though_the_cell_was_changed_while_it_waited(live: Live) -> None:
    """Rule 9."""
    await live.write("print('seen')", "print('gone')", "print('other')")
    await live.request(0, 1, 2)
    changed = e.SourceEdited(cell=CellId("c0"), text="print('changed')", base_hash=source_hash("print('seen')"))
    await live.say(changed, e.CellRemoved(cell=CellId("c1")), e.CellKindChanged(cell=CellId("c2"), kind="sql"))
    live.serve("local")
    notebook = await live.until("ok", "cancelled")
    assert printed(notebook, 0) == "seen\n"
    assert "c0" in stale_cells(notebook)
    cancelled = [entry.event for entry in await live.owner.entries(LOG, types=("execution_cancelled",))]
    assert [getattr(each, "why", "") for each in cancelled] == ["its cell was removed", "its cell is a sql cell now"]
