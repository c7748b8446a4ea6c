"""Runtimes in processes of their own that tests kill: one notebook in an embedded workspace, one runtime after the other."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

from quire.connection import connect_store
from quire.core import events as e
from quire.core.events import Draft, KnownEvent, Stream
from quire.core.ids import CellId, ExecutionId, LogId
from quire.core.notebook.notebook import Execution, Notebook
from quire.core.text import source_hash
from quire.kernels.process.connection_dir import all_folders
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from ..fork_server import Talking
from .real_kernels import ENV, PATIENCE, until

CHUNKED = (e.StreamAppended, e.OutputAdded, e.DisplayUpdated, e.OutputsCleared)
LOG = LogId("01M7GFVPH90000000000000000")


class Process:
    """A runtime that says what it does."""

    def __init__(self, folder: Path, orphan_seconds: float, language: str, env: dict[str, str]) -> None:
        self._process = Talking(
            "tests.kernels.use_relay",
            *(str(folder), LOG, str(orphan_seconds), language),
            env=ENV | {"XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"]} | env,
        )
        self.pid = self._process.pid
        self.kernel = self.relay = 0

    async def said(self, word: str) -> list[str]:
        """Wait until it says a line that begins with a word; the rest of it."""
        async with asyncio.timeout(PATIENCE):
            while True:
                line = await asyncio.to_thread(self._process.line)
                assert line, f"it ended with {self._process.wait(PATIENCE)} before it said {word!r}"
                first, *rest = line.split()
                if first in ("started", "adopted"):
                    self.kernel = int(rest[1])
                    self.relay = relay_of(self.kernel)
                if first == word:
                    return rest

    def answer(self, text: str) -> None:
        """Answer what it asked."""
        self._process.tell(text)

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()


class House:
    """A notebook, and the runtime that serves it now."""

    def __init__(self, folder: Path, workspace: LocalWorkspace) -> None:
        self.folder, self.workspace = folder, workspace
        self.runtimes: list[Process] = []

    @classmethod
    async def made(cls, folder: Path) -> House:
        """A notebook without cells."""
        house = cls(folder, await connect_store(folder))
        await house.say(e.NotebookCreated(name="killed"))
        return house

    async def say(self, *events: KnownEvent) -> None:
        """As its owner."""
        await self.workspace.submit(LOG, [Draft(id=new_id(), event=event) for event in events])

    async def request(self, source: str) -> ExecutionId:
        """Ask for a new cell to be run."""
        execution = ExecutionId(new_id())
        cell = CellId(f"c{execution[-8:]}")
        await self.say(
            e.CellAdded(cell=cell, after=None, source=source),
            e.ExecutionRequested(execution=execution, cell=cell, source_hash=source_hash(source)),
        )
        return execution

    async def start(
        self, orphan_seconds: float = 600, language: str = "python", env: dict[str, str] | None = None
    ) -> Process:
        """The next runtime; it has adopted the kernel of the one before, if there was one."""
        word = "adopted" if self.runtimes else "started"
        self.runtimes.append(Process(self.folder, orphan_seconds, language, env or {}))
        await self.runtimes[-1].said(word)
        return self.runtimes[-1]

    async def until(self, execution: ExecutionId, holds: Callable[[Execution], bool]) -> Execution:
        """Wait until something holds of an execution, by the log."""
        async with asyncio.timeout(PATIENCE):
            async for _ in self.workspace.follow(LOG):
                found = find(await self.workspace.read(LOG), execution)
                if found is not None and holds(found):
                    return found
        raise AssertionError

    async def over(self, execution: ExecutionId) -> Execution:
        """Wait for its end."""
        return await self.until(execution, lambda found: not found.is_open)

    async def check(self) -> None:
        """The log is sound, and says nothing twice."""
        async for verified in self.workspace.verify([LOG]):
            assert verified.flaw is None
        entries = await self.workspace.entries(LOG, limit=100_000)
        events = [entry.event for entry in entries]
        chunks = [(each.execution, each.chunk) for each in events if isinstance(each, CHUNKED)]
        assert len(set(chunks)) == len(chunks)

    async def close(self) -> None:
        """End all of it: the last runtime, and what it leaves."""
        for runtime in self.runtimes:
            runtime.kill()
            for pid in {runtime.kernel, runtime.relay} - {0}:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, signal.SIGKILL)
        await until(lambda: not folders())
        await self.workspace.close()


def find(notebook: Notebook, execution: ExecutionId) -> Execution | None:
    """An execution, open or the last of its cell."""
    if (found := notebook.execution(execution)) is not None:
        return found
    return next(
        (cell.execution for cell in notebook.live_cells if cell.execution and cell.execution.id == execution), None
    )


def printed(execution: Execution) -> str:
    """What it printed."""
    return "".join(output.head + output.tail for output in execution.outputs if isinstance(output, Stream))


def relay_of(kernel: int | None) -> int:
    """The process of the relay beside a kernel."""
    # One that has just been started shows no words for a moment.
    for _ in range(100):
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = file.read_bytes().split(b"\0")
                if any(b"kernels.relay.relay import" in word for word in words) and str(kernel).encode() in words:
                    return int(file.parent.name)
    raise AssertionError(f"kernel {kernel} has no relay")


def folders() -> list[str]:
    """The kernels that have left something."""
    return [each.name for each in all_folders().iterdir()] if all_folders().is_dir() else []


def waiting(ready: Path, go: Path) -> str:
    """Code that says that it is there, and waits for a word."""
    return f"""
import pathlib, time
pathlib.Path({str(ready)!r}).touch()
while not pathlib.Path({str(go)!r}).exists():
    time.sleep(0.01)
"""
