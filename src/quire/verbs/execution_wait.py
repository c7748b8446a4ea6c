"""Waiting for executions: until they are over, or for as long as an answer may take. The work goes on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Literal, TypeAlias

import msgspec

from ..core import events as e
from ..core.events import Entry
from ..core.ids import CellId, ExecutionId, LogId
from ..core.notebook.notebook import Execution, Notebook
from ..workspace.tasks import alongside, cancel_and_wait
from .answers.answer import Here

Tell: TypeAlias = Callable[[str, float | None], Awaitable[None]]
"""Takes what goes on, and how much of it is done, from 0 to 1."""
State: TypeAlias = Literal["done", "running", "queued", "error"]
PATIENCE_SECONDS = 2.0
"""After so long without anybody who takes it, it is said who could."""


class ExecutionResults(msgspec.Struct, frozen=True, kw_only=True):
    """What became of executions, as far as they are."""

    notebook: Notebook
    """As it is now."""
    executions: tuple[Execution, ...]
    """As they ended, or as they are; in the order in which they were given."""
    waiting_for: str | None = None
    """Who has to come before anything goes on."""

    @property
    def state(self) -> State:
        """How it stands with all of them."""
        states = {each.state for each in self.executions}
        if "running" in states:
            return "running"
        if states & {"queued", "claimed"}:
            return "queued" if states <= {"queued", "claimed"} else "running"
        return "done" if states <= {"ok"} else "error"

    @property
    def ran(self) -> tuple[CellId, ...]:
        """The cells that have begun."""
        return tuple(each.cell for each in self.executions if each.started_seq is not None)

    @property
    def missed(self) -> tuple[Execution, ...]:
        """What ended without having begun."""
        return tuple(each for each in self.executions if not each.is_open and each.started_seq is None)


async def ended(
    here: Here,
    log: LogId,
    executions: Collection[ExecutionId],
    since: int,
    seconds: float | None,
    tell: Tell | None = None,
    unless: Awaitable[object] | None = None,
) -> ExecutionResults:
    """Wait for the end of executions that were open at `since`, at most so long (None: for ever), or until `unless`."""
    following = _LogFollower(here, log, list(executions), tell)
    await first_of(seconds, following.until_over(since), unless)
    return await following.found()


async def first_of(seconds: float | None, *waits: Awaitable[object] | None) -> None:
    """Wait until one of them is over, at most so long; cancel the others, and raise what the first one raised."""
    tasks = [asyncio.ensure_future(each) for each in waits if each is not None]
    try:
        done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancel_and_wait(*tasks)
    for task in done:
        task.result()


class _LogFollower:
    """Follows a log for the sake of some executions."""

    def __init__(self, here: Here, log: LogId, executions: list[ExecutionId], tell: Tell | None) -> None:
        self._here, self._log, self._tell = here, log, tell
        self._wanted = executions
        self._ends: dict[ExecutionId, int] = {}
        self._was_taken = False

    async def until_over(self, since: int) -> None:
        if not self._wanted:
            return
        async with alongside(self._tell_if_nobody_comes()):
            async for page in self._here.workspace.follow(self._log, since):
                for entry in page:
                    await self._hear(entry)
                if len(self._ends) == len(self._wanted):
                    return

    async def _hear(self, entry: Entry) -> None:
        execution = ExecutionId(getattr(entry.event, "execution", ""))
        if execution not in self._wanted:
            return
        match entry.event:
            case e.ExecutionFinished() | e.ExecutionSkipped() | e.ExecutionCancelled():
                self._ends[execution] = entry.seq
            case e.ExecutionStarted(cell=cell):
                await self._say(f"running {cell}: {len(self._ends) + 1} of {len(self._wanted)}")
            case e.ExecutionRequested() | e.ScratchRequested():
                return  # that is only the asking
            case _:
                pass
        self._was_taken = True

    async def _say(self, message: str) -> None:
        if self._tell is not None:
            await self._tell(message, len(self._ends) / len(self._wanted))

    async def _tell_if_nobody_comes(self) -> None:
        await asyncio.sleep(PATIENCE_SECONDS)
        if not self._was_taken and (waits := await self._waiting_for()) is not None:
            await self._say(waits)

    async def _waiting_for(self) -> str | None:
        """Who could run it, while nobody does."""
        if (why := await self._here.workspace.why_waiting(self._log)) is not None:
            return why
        now = await self._here.workspace.read(self._log)
        return None if self._here.may_start else nobody_serves(self._log, now)

    async def found(self) -> ExecutionResults:
        workspace = self._here.workspace
        now = await workspace.read(self._log)
        found: list[Execution] = []
        for id in self._wanted:
            # Another one may have run in its cell since: how this one ended is in the log.
            execution = execution_in(now, id)
            if execution is None and id in self._ends:
                execution = execution_in(await workspace.read(self._log, self._ends[id]), id)
            found += [execution] if execution is not None else []
        waits = any(each.state == "queued" for each in found)
        return ExecutionResults(
            notebook=now, executions=tuple(found), waiting_for=await self._waiting_for() if waits else None
        )


def nobody_serves(log: LogId, notebook: Notebook) -> str | None:
    """What to say while nobody is there who would run anything."""
    is_at_work = any(execution_in(notebook, id, "claimed", "running") for id in notebook.executions)
    if is_at_work or notebook.runtimes:
        return None
    return f"nobody serves it: `quire serve`, or `quire runtime --for {log}`, runs it"


def execution_in(notebook: Notebook, id: ExecutionId, *states: str) -> Execution | None:
    """The execution of that id, if the notebook still tells of it, and if it is in one of these states."""
    known = notebook.executions.get(id)
    cells = [notebook.cells[known]] if known is not None else notebook.cells.values()
    for cell in cells:
        for each in (cell.execution, cell.queued, cell.missed):
            if each is not None and each.id == id:
                return each if not states or each.state in states else None
    return None
