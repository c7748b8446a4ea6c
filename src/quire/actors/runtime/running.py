"""A whole notebook, run from top to bottom in a kernel of its own, with a log of its own.

The kernel starts while the run is requested and claimed; what it shows is recorded behind
it. However it ends, the log says how: which cell was running, and which never ran.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from ...core import events as e
from ...core.errors import QuireError, Unavailable
from ...core.events import Draft, Fault, KnownEvent, RunSource, RunStatus
from ...core.ids import CellId, ExecutionId, LogId, RuntimeId
from ...core.sheet import Sheet, SheetCell
from ...core.values import Json
from ...workspace.clock import new_id
from ...workspace.workspace import Workspace
from .client import KernelClient, stop
from .execution import CellRunner, Ran, Stopping
from .kernels import Spec, start
from .messages import Message
from .recorder import Recorder
from .secrets import Remover
from .sql import as_code
from .widgets import WidgetStates

PAGE = 5000
RENEW_SECONDS = 10.0
"""A third of a lease: two renewals may be late before it is lost."""
RUNS = ("code", "sql")
MAY_RAISE = "raises-exception"
"""Jupyter's tag for a cell whose error is no failure."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run, decided in full before it begins (rule 14)."""

    log: LogId
    """Where it is to be recorded: a log that is not there yet."""
    name: str
    source: RunSource
    sheet: Sheet
    """With its parameters put in."""
    spec: Spec
    variables: dict[str, str]
    cwd: Path
    parameters: dict[str, Json] = {}
    metadata: dict[str, Json] = {}
    secrets: dict[str, str] = {}
    start_timeout: float = 60
    execution_timeout: float | None = None
    timeout: float | None = None
    only: frozenset[CellId] | None = None
    """The cells to run; None: all of them."""


class Watching:
    """Whoever wants to know how far a run is. These do nothing: override some."""

    async def began(self) -> None:
        """The run has a log, and its kernel starts."""

    def cell_began(self, index: int, cell: SheetCell) -> None:
        """A cell starts."""

    def heard(self, message: Message) -> None:
        """The kernel said something."""

    async def cell_ended(self, index: int, cell: SheetCell, ran: Ran) -> None:
        """A cell has ended."""


async def run(owner: Workspace, runtime: Workspace, order: Order, stopping: Stopping, watching: Watching) -> None:
    """Run a notebook to its end, whatever that is; its log tells of it.

    Raises when the log could not be written, or when the kernel could not start: the log says
    so, too.
    """
    log = order.log
    kernel = await start(order.spec, cwd=order.cwd, env=order.variables)
    client = KernelClient(kernel)
    try:
        await _request(owner, log, order, RuntimeId(runtime.identity.actor))
        await watching.began()
        async with _claimed(runtime, log, stopping) as epoch:
            await _Run(runtime, log, order, epoch, client, stopping, watching).run()
    finally:
        await asyncio.shield(stop(kernel, client))


async def _request(owner: Workspace, log: LogId, order: Order, runtime: RuntimeId) -> None:
    wanted: dict[str, Json] = {"kernel": order.spec.name, "language": order.spec.language, "cwd": str(order.cwd)}
    first = e.RunRequested(
        name=order.name,
        source=order.source,
        parameters=order.parameters,
        environment=wanted,
        runtime=runtime,
        metadata=order.metadata,
    )
    events: list[KnownEvent] = [first]
    after: CellId | None = None
    for cell in order.sheet.cells:
        added = e.CellAdded(
            cell=cell.id,
            after=after,
            kind=cell.kind,
            source=cell.source,
            name=cell.name,
            tags=cell.tags,
            metadata=cell.metadata,
        )
        events.append(added)
        after = cell.id
    for at in range(0, len(events), PAGE):
        await owner.submit(log, [Draft(id=new_id(), event=event) for event in events[at : at + PAGE]])


@asynccontextmanager
async def _claimed(runtime: Workspace, log: LogId, stopping: Stopping) -> AsyncGenerator[int]:
    """Hold the run, renew the lease, and listen for whoever wants it to stop."""
    claim = e.RunClaimed(runtime=RuntimeId(runtime.identity.actor))
    (entry,) = await runtime.submit(log, [Draft(id=new_id(), event=claim)])
    held = entry.event
    if not isinstance(held, e.RunClaimed) or held.epoch is None:
        raise Unavailable(f"Run {log} could not be claimed. Run `quire verify {log}`.")

    async def renew() -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            await runtime.renew(log, held)

    async def listen() -> None:
        async for page in runtime.follow(log, entry.seq):
            if any(isinstance(each.event, e.RunCancelRequested) for each in page):
                stopping.ask("cancelled")

    tasks = [asyncio.ensure_future(renew()), asyncio.ensure_future(listen())]
    try:
        yield held.epoch
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(QuireError):
            await runtime.release(log, held)


class _Run:
    """A run that was claimed."""

    def __init__(
        self,
        runtime: Workspace,
        log: LogId,
        order: Order,
        epoch: int,
        client: KernelClient,
        stopping: Stopping,
        watching: Watching,
    ) -> None:
        self._order, self._epoch, self._client = order, epoch, client
        self._stopping, self._watching = stopping, watching
        self._recorder = Recorder(runtime, log)
        self._widgets = WidgetStates()
        self._cells = CellRunner(
            client,
            self._recorder,
            epoch,
            order.spec.language,
            remover=Remover(order.secrets),
            widgets=self._widgets,
            heard=watching.heard,
        )

    async def run(self) -> None:
        """Wait for the kernel, run the cells, and say how it ended."""
        try:
            info = await self._start()
            self._recorder.say(e.RunStarted(epoch=self._epoch, environment=info))
            timer = self._start_timer()
            try:
                status, failed, fault = await self._run_cells()
            finally:
                if timer is not None:
                    timer.cancel()
            self._recorder.say(e.RunFinished(epoch=self._epoch, status=status, failed_cell=failed, fault=fault))
        finally:
            await self._recorder.close()

    async def _start(self) -> dict[str, Json]:
        try:
            told = await self._client.ready(self._order.start_timeout)
        except Unavailable as error:
            self._skip(self._order.sheet.cells, "the kernel could not start")
            fault = Fault(ename="KernelNotStarted", evalue=str(error))
            self._recorder.say(e.RunFinished(epoch=self._epoch, status="error", fault=fault))
            await self._recorder.settle()
            raise
        language = told.get("language_info")
        spec = self._order.spec
        return {"interpreter": spec.interpreter, "kernel": spec.name, "language_info": language}

    def _start_timer(self) -> asyncio.TimerHandle | None:
        seconds = self._order.timeout
        if seconds is None:
            return None
        return asyncio.get_running_loop().call_later(seconds, self._stopping.ask, "timeout")

    async def _run_cells(self) -> tuple[RunStatus, CellId | None, Fault | None]:
        cells = self._order.sheet.cells
        for index, cell in enumerate(cells):
            if cell.kind not in RUNS:
                continue
            if self._order.only is not None and cell.id not in self._order.only:
                self._skip((cell,), "a partial run left it out")
                continue
            if self._stopping.why is not None:
                self._skip(cells[index:], f"the run was stopped before it: {self._stopping.why}")
                return self._stopping.why, cell.id, None
            ran = await self._run_cell(index, cell)
            if (status := _failure(cell, ran)) is not None:
                self._skip(cells[index + 1 :], f"cell {cell.id} {_words(ran)}")
                return ("success", None, None) if status == "success" else (status, cell.id, ran.fault)
        return "success", None, None

    async def _run_cell(self, index: int, cell: SheetCell) -> Ran:
        self._watching.cell_began(index, cell)
        code = as_code(cell.source, self._order.spec.language) if cell.kind == "sql" else cell.source
        execution, seconds = ExecutionId(new_id()), self._order.execution_timeout
        ran = await self._cells.run(execution, cell.id, cell.source, code, self._stopping, seconds)
        await self._watching.cell_ended(index, cell, ran)
        return ran

    def _skip(self, cells: Sequence[SheetCell], why: str) -> None:
        left = [cell for cell in cells if cell.kind in RUNS]
        self._recorder.say(
            *(e.ExecutionSkipped(execution=ExecutionId(new_id()), cell=cell.id, why=why) for cell in left)
        )


def _failure(cell: SheetCell, ran: Ran) -> RunStatus | None:
    """How the run ends with this cell; None: it goes on."""
    match ran.status:
        case "ok":
            return None
        case "error" if _is_exit(ran.fault):
            return "success"
        case "error" if MAY_RAISE in cell.tags:
            return None
        case status:
            return status


def _is_exit(fault: Fault | None) -> bool:
    """Whether a cell left by `sys.exit(0)`: to papermill, and so here, the run ends there and is fine."""
    return fault is not None and fault.ename == "SystemExit" and fault.evalue in ("", "0", "None")


def _words(ran: Ran) -> str:
    return {"error": "raised", "timeout": "took too long", "dead_kernel": "lost its kernel"}.get(ran.status, ran.status)
