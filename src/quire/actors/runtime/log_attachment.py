"""A runtime's place in a log: it attaches, speaks, reads and follows there, and waits for a workspace that is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any, TypeVar

from ...core import events as e
from ...core.errors import NotFound, Refused, Unavailable
from ...core.events import Draft, Entry, Fault
from ...core.ids import ExecutionId, LogId, RuntimeId
from ...core.notebook.notebook import Cell, Execution, Notebook
from ...core.text import source_hash
from ...core.values import Json
from ...kernels.kernel_protocol import Kernel
from ...workspace.clock import new_id
from ...workspace.lanes.runtime_info import open_executions
from ...workspace.protocol import Workspace
from ...workspace.tasks import cancel_and_wait
from .queue import ASKS
from .retry import patiently, pauses

T = TypeVar("T")
LAST_SECONDS = 5.0
"""How long a workspace that is away is waited for when all is over."""
GONE = "The process that ran it is gone, and did not say how it ended."


class WorkAbandoned(Exception):
    """It is enough, and the workspace is away."""


class LogAttachment:
    """One runtime in one log, until it is over."""

    def __init__(self, runtime: Workspace, log: LogId, over: asyncio.Event) -> None:
        self.runtime, self.log, self.over = runtime, log, over
        self.me = RuntimeId(runtime.identity.actor)
        self.is_ended = False
        """Whether Quire ended it, and said so."""

    async def patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until there is an answer, or until it is enough."""
        return await self.unless_over(patiently(ask))

    async def unless_over(self, work: Coroutine[Any, Any, T], seconds: float = LAST_SECONDS) -> T:
        """Wait for something, but not for ever once it is enough."""
        task, over = asyncio.ensure_future(work), asyncio.ensure_future(self.over.wait())
        try:
            await asyncio.wait((task, over), return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait((task,), timeout=seconds)
            if not task.done():
                raise WorkAbandoned
            return task.result()
        finally:
            await cancel_and_wait(task, over)

    async def say(self, *events: e.RunEvent | e.ExecutionEvent) -> list[Entry]:
        """Record these, however long it takes."""
        # The same drafts each time: if they were recorded and the answer was lost, that is the answer.
        drafts = [Draft(id=new_id(), event=event) for event in events]
        return await self.patiently(lambda: self.runtime.submit(self.log, drafts))

    async def claim(self, execution: ExecutionId, lease_seconds: float) -> e.ExecutionClaimed:
        """Take an execution for so long, or Conflict when somebody was first."""
        drafts = [Draft(id=new_id(), event=e.ExecutionClaimed(execution=execution, runtime=self.me))]
        submit = self.runtime.submit
        (entry,) = await self.patiently(lambda: submit(self.log, drafts, lease_seconds=lease_seconds))
        assert isinstance(entry.event, e.ExecutionClaimed)  # noqa: S101 - what a claim is answered with
        return entry.event

    async def read(self) -> Notebook:
        """The notebook as it is."""
        return await self.patiently(lambda: self.runtime.read(self.log))

    async def requested(self, execution: Execution, cell: Cell) -> str:
        """The source that was seen when a cell was asked for, whatever it says by now (rule 9)."""
        if source_hash(cell.source) == execution.source_hash:
            return cell.source
        seq = await self.patiently(lambda: self._asked_at(execution.id))
        then = await self.patiently(lambda: self.runtime.read(self.log, seq))
        return then.cells[cell.id].source

    async def _asked_at(self, execution: ExecutionId) -> int:
        since = 0
        while page := await self.runtime.entries(self.log, since, types=ASKS):
            for entry in page:
                if execution in _asked_for(entry.event):
                    return entry.seq
            since = page[-1].seq
        raise NotFound(f"Log {self.log} does not tell who asked for execution {execution}. Run `quire verify`.")

    async def follow(self, since: int) -> AsyncIterator[Entry]:
        """Yield what happens after a number, whatever happens to the workspace meanwhile."""
        waits = pauses()
        while True:
            try:
                async for page in self.runtime.follow(self.log, since):
                    since, waits = page[-1].seq, pauses()
                    for entry in page:
                        yield entry
            except Unavailable:
                await asyncio.sleep(next(waits))

    async def attach(self, kernel: Kernel, name: str, language_info: Json) -> None:
        """Say that it is here, with a kernel of its own."""
        spec = kernel.spec
        environment = {"interpreter": spec.interpreter, "kernel": spec.name, "language_info": language_info}
        await self.say(
            e.RuntimeAttached(runtime=self.me, name=name, language=spec.language, environment=environment),
            e.KernelStarted(runtime=self.me, kernel=kernel.id, language=spec.language),
        )

    def unfinished(self, notebook: Notebook) -> list[Execution]:
        """Return what an earlier process of this runtime had claimed and not brought to an end."""
        return [execution for execution in open_executions(notebook) if execution.runtime == self.me]

    async def give_up(self, executions: Iterable[Execution]) -> None:
        """Record executions of an earlier process as lost: they may have run, and are never run again."""
        for lost in executions:
            fault = Fault(ename="Lost", evalue=GONE)
            await self.say(e.ExecutionFinished(execution=lost.id, epoch=lost.epoch or 0, status="lost", fault=fault))

    async def detach(self) -> None:
        """Say that it leaves, if anybody hears it, and unless somebody said so before."""
        if self.is_ended:
            return
        drafts = [Draft(id=new_id(), event=e.RuntimeDetached(runtime=self.me))]
        try:
            async with asyncio.timeout(LAST_SECONDS):
                await self.runtime.submit(self.log, drafts)
        except (Unavailable, Refused, NotFound, TimeoutError):
            pass


def _asked_for(event: e.AnyEvent) -> Iterator[ExecutionId]:
    match event:
        case e.ExecutionRequested() | e.ScratchRequested():
            yield event.execution
        case e.ProposalAccepted():
            yield from (effect.execution for effect in event.effects or ())
        case _:
            pass


async def beside(work: Coroutine[Any, Any, None], *others: Coroutine[Any, Any, None]) -> None:
    """Work until it is done, with others beside that go on for as long, or fail."""
    tasks = [asyncio.ensure_future(each) for each in (work, *others)]
    try:
        while not tasks[0].done():
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            tasks = [task for task in tasks if task is tasks[0] or not task.done()]
    finally:
        await cancel_and_wait(*tasks)
