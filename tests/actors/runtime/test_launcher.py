"""A runtime is started where something waits, as a process of its own; one for each notebook."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest

from quire.actors.runtime.start.launcher import StartOptions, start_runtimes
from quire.connection import connect_store
from quire.core import events as e
from quire.core.errors import Conflict
from quire.core.events import Draft, KnownEvent, Stream
from quire.core.ids import ActorId, CellId, ExecutionId, LogId
from quire.core.notebook.notebook import Notebook
from quire.core.text import source_hash
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire import frames

from ...command import QUIRE, clean_environ
from ...doors.http.sockets import connected
from ...http_server import served
from ...journeys.live_runtimes import end_runtimes, holders
from ...kernels.real_kernels import until

PATIENCE = 90
COMMAND = (sys.executable, "-m", "quire.runs.host.host_process")


class Folder:
    """A workspace in a folder, with a server's eye on it whenever a test says so."""

    def __init__(self, folder: Path, workspace: LocalWorkspace) -> None:
        self.folder, self.workspace = folder, workspace
        self.told: list[str] = []

    @contextlib.asynccontextmanager
    async def watched(
        self,
        *,
        idle_seconds: float = 600,
        command: tuple[str, ...] = COMMAND,
        most: int = 10,
        room_seconds: float = 300,
    ) -> AsyncGenerator[asyncio.Task[None]]:
        starting = StartOptions(
            command=command,
            where=str(self.folder),
            folder=self.folder,
            logs=self.folder / ".quire" / "runtimes",
            idle_seconds=idle_seconds,
            most=most,
            room_seconds=room_seconds,
            look_seconds=0.1,
        )
        system = self.workspace.acting_as(identities.system())
        task = asyncio.ensure_future(start_runtimes(system, starting, tell=self.told.append))
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def say(self, log: LogId, *events: KnownEvent) -> None:
        await self.workspace.submit(log, [Draft(id=new_id(), event=event) for event in events])

    async def write(self, *sources: str, path: str | None = None) -> LogId:
        log = LogId(new_id())
        cells = [
            e.CellAdded(cell=CellId(f"c{number}"), after=CellId(f"c{number - 1}") if number else None, source=source)
            for number, source in enumerate(sources)
        ]
        bound = [e.FileBound(path=path, format="percent")] if path is not None else []
        await self.say(log, e.NotebookCreated(name="live"), *cells, *bound)
        return log

    async def request(self, log: LogId, *cells: int, runtime: str | None = None) -> None:
        notebook = await self.workspace.read(log)
        for number in cells:
            cell = CellId(f"c{number}")
            hash = source_hash(notebook.cells[cell].source)
            execution = ExecutionId(new_id())
            await self.say(log, e.ExecutionRequested(execution=execution, cell=cell, source_hash=hash, runtime=runtime))

    async def until(self, log: LogId, *states: str) -> Notebook:
        async with asyncio.timeout(PATIENCE):
            async for _ in self.workspace.follow(log):
                notebook = await self.workspace.read(log)
                if [cell.state for cell in notebook.live_cells] == list(states):
                    return notebook
        raise AssertionError

    def runtimes(self) -> set[int]:
        """The processes that serve a notebook here. Whoever starts them holds it for an instant, to see whether it may."""
        return set(holders(self.folder).values()) - {os.getpid()}


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[Folder]:
    workspace = await connect_store(tmp_path)
    yield Folder(tmp_path, workspace)
    await asyncio.to_thread(end_runtimes, tmp_path)
    await workspace.close()


def printed(notebook: Notebook, cell: int) -> str:
    execution = notebook.cells[CellId(f"c{cell}")].execution
    assert execution is not None
    return "".join(each.head + each.tail for each in execution.outputs if isinstance(each, Stream))


async def test_a_request_starts_one_runtime_which_outlives_whoever_started_it(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rule 11."""
    for name in ("QUIRE_TOKEN", "QUIRE_URL"):
        monkeypatch.setenv(name, "not for cells")
    code = "import os\nprint([name for name, value in os.environ.items() if value == 'not for cells'])"
    log = await folder.write(f"x = 41\n{code}", "print(x + 1)")
    async with folder.watched():
        await folder.request(log, 0)
        notebook = await folder.until(log, "ok", "never_run")
        assert printed(notebook, 0) == "[]\n"
        (pid,) = folder.runtimes()
        assert os.getsid(pid) == pid, "a session of its own: no Ctrl-C reaches it"
    async with folder.watched(), folder.watched():
        await folder.request(log, 1)
        notebook = await folder.until(log, "ok", "ok")
    assert printed(notebook, 1) == "42\n", "it is the same kernel"
    assert folder.runtimes() == {pid}


async def test_what_was_asked_for_while_nobody_looked_is_run_and_each_notebook_has_its_own(folder: Folder) -> None:
    logs = [await folder.write("import os\nprint(os.getpid())") for _ in range(2)]
    for log in logs:
        await folder.request(log, 0)
    async with folder.watched(), folder.watched():
        kernels = {printed(await folder.until(log, "ok"), 0) for log in logs}
    assert len(kernels) == 2
    assert len(folder.runtimes()) == 2


async def test_it_works_beside_the_file_and_with_what_stands_there(folder: Folder) -> None:
    (folder.folder / "deep").mkdir()
    (folder.folder / "deep" / ".env").write_text("CITY=Chur\n")
    log = await folder.write("import os\nprint(os.getcwd(), os.environ['CITY'])", path="deep/n.py")
    async with folder.watched():
        await folder.request(log, 0)
        notebook = await folder.until(log, "ok")
    assert printed(notebook, 0) == f"{folder.folder / 'deep'} Chur\n"


async def test_a_path_that_leads_out_of_the_workspace_leads_nowhere(folder: Folder) -> None:
    (folder.folder / "out").mkdir()
    log = await folder.write("import os\nprint(os.getcwd())", path="out/n.py")
    (folder.folder / "out").rmdir()
    (folder.folder / "out").symlink_to("/tmp")  # as it was bound, it did not lead there
    async with folder.watched():
        await folder.request(log, 0)
        notebook = await folder.until(log, "ok")
    assert printed(notebook, 0) == f"{folder.folder}\n"


async def test_one_that_has_nothing_to_do_ends_and_the_next_request_starts_another(folder: Folder) -> None:
    log = await folder.write("print(1)")
    async with folder.watched(idle_seconds=0.5):
        await folder.request(log, 0)
        await folder.until(log, "ok")
        await until(lambda: not folder.runtimes())
        assert (await folder.workspace.read(log)).runtimes == {}, "it said that it leaves"
        await folder.request(log, 0)
        seen = 0
        async with asyncio.timeout(PATIENCE):
            async for page in folder.workspace.follow(log):
                seen += sum(isinstance(entry.event, e.ExecutionFinished) for entry in page)
                if seen == 2:
                    break
    assert len(await folder.workspace.entries(log, types=["runtime_attached"])) == 2


async def test_a_runtime_that_was_killed_is_followed_by_one_that_goes_on_with_what_ran(folder: Folder) -> None:
    """Rule 11."""
    counting = "import time\nfor number in range(100):\n    print(number, flush=True)\n    time.sleep(0.02)"
    log = await folder.write(counting, "print('next', number)")
    async with folder.watched():
        await folder.request(log, 0, 1)
        await folder.until(log, "running", "queued")
        (pid,) = folder.runtimes()
        os.kill(pid, signal.SIGKILL)
        notebook = await folder.until(log, "ok", "ok")
        assert printed(notebook, 0) == "".join(f"{number}\n" for number in range(100))
        assert printed(notebook, 1) == "next 99\n", "in the same kernel"
        assert len(notebook.runtimes) == 1
        (again,) = folder.runtimes()
        assert again != pid


def relay_of(kernel: int) -> int:
    """The process beside a kernel that keeps what it says."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().decode().split("\0")
            if "-c" in words and str(kernel) in words:
                return int(folder.name)
    raise AssertionError("there is no relay")


async def test_what_ran_when_runtime_and_kernel_were_killed_is_lost_and_the_next_has_another(folder: Folder) -> None:
    """Rule 10."""
    log = await folder.write("import os\nprint(os.getpid(), flush=True)\nwhile True: pass", "print('next')")
    async with folder.watched():
        await folder.request(log, 0, 1)
        notebook = await folder.until(log, "running", "queued")
        async with asyncio.timeout(PATIENCE):
            async for _ in folder.workspace.follow(log):
                if printed(notebook := await folder.workspace.read(log), 0).endswith("\n"):
                    break
        (pid,) = folder.runtimes()
        kernel = int(printed(notebook, 0))
        for each in (pid, relay_of(kernel), kernel):
            os.kill(each, signal.SIGKILL)
        notebook = await folder.until(log, "lost", "ok")
    assert printed(notebook, 1) == "next\n"
    assert len(notebook.runtimes) == 1, "the one that is gone is not attached any more"


async def test_what_keeps_it_from_starting_is_told_in_the_cells_that_wait(folder: Folder) -> None:
    log = await folder.write('# /// script\n# [tool.quire]\n# secrets = ["API_KEY"]\n# ///\nprint(1)')
    async with folder.watched():
        await folder.request(log, 0)
        notebook = await folder.until(log, "skipped")
    missed = notebook.cells[CellId("c0")].missed
    assert missed is not None and "API_KEY" in missed.why


async def test_one_that_cannot_even_begin_is_given_up_and_nothing_waits_for_ever(folder: Folder) -> None:
    log = await folder.write("print(1)")
    code = "import sys; sys.exit('no such luck')"
    async with folder.watched(command=(sys.executable, "-c", code)):
        await folder.request(log, 0)
        notebook = await folder.until(log, "skipped")
    missed = notebook.cells[CellId("c0")].missed
    file = folder.folder / ".quire" / "runtimes" / f"{log}.log"
    assert missed is not None and str(file) in missed.why
    assert "no such luck" in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


async def test_one_that_cannot_be_started_at_all_is_given_up_too(folder: Folder) -> None:
    log = await folder.write("print(1)")
    (folder.folder / ".quire" / "runtimes").write_text("a file is in the way")
    async with folder.watched():
        await folder.request(log, 0)
        await folder.until(log, "skipped")
    assert any("runtimes" in told for told in folder.told)


async def test_a_cell_that_takes_long_and_says_nothing_is_something_to_do(folder: Folder) -> None:
    log = await folder.write("import time\ntime.sleep(1.5)\nprint('done')")
    async with folder.watched(idle_seconds=0.3):
        await folder.request(log, 0)
        assert printed(await folder.until(log, "ok"), 0) == "done\n"


async def test_no_more_live_at_once_than_may_and_the_next_waits_until_one_ends(folder: Folder) -> None:
    logs = [await folder.write("print(1)") for _ in range(3)]
    async with folder.watched(idle_seconds=0.5, most=1):
        for log in logs:
            await folder.request(log, 0)
        for log in logs:
            await folder.until(log, "ok")
            assert len(folder.runtimes()) <= 1
    assert sum("most_runtimes" in told for told in folder.told) >= 1
    attached = [await folder.workspace.entries(log, types=["runtime_attached"]) for log in logs]
    assert len({entries[0].actor for entries in attached}) == 3


async def ended_for_room(folder: Folder, log: LogId) -> list[str]:
    """Why Quire ended runtimes of a notebook."""
    entries = await folder.workspace.entries(log, types=["runtime_detached"])
    return [entry.event.why for entry in entries if isinstance(entry.event, e.RuntimeDetached) and entry.event.why]


async def test_one_of_an_earlier_server_counts_and_is_ended_for_who_waits_once_it_was_idle_for_long(
    folder: Folder,
) -> None:
    first, second = [await folder.write("print(1)") for _ in range(2)]
    async with folder.watched(most=1):
        await folder.request(first, 0)
        await folder.until(first, "ok")
    (earlier,) = folder.runtimes()
    told = "waits: 1 runtime is running, the most that this workspace allows (most_runtimes under [serve]); idle ones"
    async with folder.watched(most=1, room_seconds=3600):
        await folder.request(second, 0)
        async with asyncio.timeout(PATIENCE):
            while (why := await folder.workspace.why_waiting(second)) is None:  # noqa: ASYNC110 - a lease, of which nobody is told
                await asyncio.sleep(0.02)
        assert why == f"{told} end after 60 minutes"
        assert await folder.workspace.why_waiting(first) is None
    assert folder.runtimes() == {earlier} and not await ended_for_room(folder, first)
    async with folder.watched(most=1, room_seconds=0):
        await folder.until(second, "ok")
    assert earlier not in folder.runtimes()
    (why,) = await ended_for_room(folder, first)
    assert why.startswith("idle for ") and "most_runtimes" in why
    assert not (await folder.workspace.read(first)).runtimes


async def test_one_that_somebody_brought_counts_too_and_makes_room(folder: Folder) -> None:
    brought, waits = [await folder.write("print(1)") for _ in range(2)]
    words = [QUIRE, "runtime", "--for", brought, "--name", "mine"]
    process = await asyncio.create_subprocess_exec(*words, cwd=folder.folder, env=clean_environ(), stderr=DEVNULL)
    try:
        await folder.request(brought, 0)
        await folder.until(brought, "ok")
        async with folder.watched(most=1, room_seconds=0):
            await folder.request(waits, 0)
            await folder.until(waits, "ok")
        assert len(await ended_for_room(folder, brought)) == 1
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def test_two_who_need_the_same_place_end_one_which_was_idle_longest_and_has_nobody_in_it(folder: Folder) -> None:
    visited, oldest, newer, waits = [await folder.write("print(1)") for _ in range(4)]
    async with folder.watched(most=3):
        for log in (visited, oldest, newer):
            await folder.request(log, 0)
            await folder.until(log, "ok")
    ada = (await folder.workspace.create_token(ActorId("human:ada"), ("read",))).secret
    async with served(folder.workspace) as server, connected(server, ada) as client:
        await client.send(frames.Say(log=visited, lane="presence", message={"kind": "here", "window": "w"}))
        await client.in_order()
        async with folder.watched(most=3, room_seconds=0), folder.watched(most=3, room_seconds=0):
            await folder.request(waits, 0)
            await folder.until(waits, "ok")
    assert [len(await ended_for_room(folder, log)) for log in (visited, oldest, newer, waits)] == [0, 1, 0, 0]


async def test_what_is_asked_for_first_keeps_a_runtime_and_what_is_asked_for_after_its_end_gets_another(
    folder: Folder,
) -> None:
    waits = "import pathlib, time\nwhile not pathlib.Path('go').exists():\n    time.sleep(0.01)"
    log = await folder.write("x = 1", waits, "print('x' in globals())")
    system = folder.workspace.acting_as(identities.system())
    async with folder.watched():
        await folder.request(log, 0)
        (runtime,) = (await folder.until(log, "ok", "never_run", "never_run")).runtimes
        ending = Draft(id=new_id(), event=e.RuntimeDetached(runtime=runtime, why="room"))
        await folder.request(log, 1)
        with pytest.raises(Conflict, match="something runs or waits"):
            await system.submit(log, [ending])
        (folder.folder / "go").touch()
        hash = source_hash((await folder.until(log, "ok", "ok", "never_run")).cells[CellId("c2")].source)
        asked = e.ExecutionRequested(execution=ExecutionId(new_id()), cell=CellId("c2"), source_hash=hash)
        # All or none of it: the runtime cannot have left before it is asked.
        await system.submit(log, [ending, Draft(id=new_id(), event=asked)])
        with pytest.raises(Conflict, match="not attached"):
            await system.submit(log, [Draft(id=new_id(), event=ending.event)])
        notebook = await folder.until(log, "ok", "ok", "ok")
    execution = notebook.cells[CellId("c2")].execution
    assert execution is not None and execution.runtime != runtime and printed(notebook, 2) == "False\n"


async def test_a_request_for_another_runtime_waits_for_that_one(folder: Folder) -> None:
    log = await folder.write("print(1)", "print(2)")
    async with folder.watched():
        await folder.request(log, 0, runtime="cluster")
        await folder.request(log, 1, runtime="local")
        await folder.until(log, "queued", "ok")
    assert len(folder.runtimes()) == 1
