"""The cells of a notebook, run for a check: all of them, also after one that raised, and no record stays.

It is a run like any other, in a workspace that is gone afterwards; what a cell showed is read from its log.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Literal, TypeAlias, cast

import msgspec

from ...actors.runtime.run_cell import CellRunOutcome, StopReason
from ...actors.runtime.run_notebook import RunObserver, RunObservers, RunPlan
from ...connection import memory_workspace
from ...core import events as e
from ...core.events import Fault
from ...core.ids import CellId, ExecutionId
from ...core.notebook.notebook import Notebook
from ...core.notebook.reduce import Fold
from ...core.results import RecordedResult, recorded
from ...core.sheet.conversion import blobs_of_cell, outputs_of
from ...core.sheet.sheet import SheetCell
from ...core.values import Json
from ...runs.run_file import run_file
from ...workspace.local import LocalWorkspace
from ...workspace.tasks import cancel_and_wait

CellStatus: TypeAlias = Literal["ok", "error", "timeout", "dead_kernel", "cancelled", "not_run"]


class CellRun(msgspec.Struct, frozen=True, kw_only=True):
    """What running a cell came to."""

    cell: CellId
    status: CellStatus
    outputs: list[Json] = []
    count: int | None = None
    fault: Fault | None = None
    seconds: float = 0.0


class NotebookRun(msgspec.Struct, frozen=True, kw_only=True):
    """What running a notebook came to. Outputs are as the last cell left them: a display may be updated later."""

    cells: dict[CellId, CellRun]
    results: dict[str, RecordedResult]
    widgets: bool = False


async def run_cells(
    plan: RunPlan,
    stopping: StopReason,
    observer: RunObserver | None = None,
    ended: Callable[[CellRun], None] | None = None,
) -> NotebookRun:
    """Run what was planned. `ended` is told of each cell as soon as all that it showed is recorded."""
    workspace, times = memory_workspace(), _Times()
    try:
        async with _told(workspace, plan, times, ended):
            await run_file(workspace, plan, stopping, RunObservers([times, *([observer] if observer else [])]))
        notebook = await workspace.read(plan.log)
        cells = {id: await _cell_run(workspace, notebook, id, times) for id in notebook.cells}
        return NotebookRun(cells=cells, results={name: recorded(each) for name, each in notebook.results.items()})
    finally:
        await workspace.close()


class _Times(RunObserver):
    """How long each cell took, and when the run has a log."""

    def __init__(self) -> None:
        self.has_log = asyncio.Event()
        self.seconds: dict[CellId, float] = {}
        self._began = 0.0

    async def began(self) -> None:
        """The run has a log."""
        self.has_log.set()

    def cell_began(self, index: int, cell: SheetCell) -> None:
        """A cell starts."""
        self._began = time.monotonic()

    async def cell_ended(self, index: int, cell: SheetCell, ran: CellRunOutcome) -> None:
        """A cell has ended."""
        self.seconds[cell.id] = time.monotonic() - self._began


# ---- While it runs


@asynccontextmanager
async def _told(
    workspace: LocalWorkspace, plan: RunPlan, times: _Times, ended: Callable[[CellRun], None] | None
) -> AsyncGenerator[None]:
    """Tell of each cell as it is recorded. What is recorded last is told before this ends."""
    if ended is None:
        yield
        return
    done = asyncio.Event()
    following = asyncio.ensure_future(_follow(workspace, plan, times, ended, done))
    try:
        yield
        waiting = asyncio.ensure_future(done.wait())
        await asyncio.wait({following, waiting}, return_when=asyncio.FIRST_COMPLETED)
        await cancel_and_wait(waiting)
    finally:
        await cancel_and_wait(following)


async def _follow(
    workspace: LocalWorkspace, plan: RunPlan, times: _Times, ended: Callable[[CellRun], None], done: asyncio.Event
) -> None:
    await times.has_log.wait()
    # A fold of its own: the workspace would begin anew for each cell, with more entries each time.
    folding = Fold()
    running: dict[ExecutionId, CellId] = {}
    async with contextlib.aclosing(cast("AsyncGenerator[list[e.Entry]]", workspace.follow(plan.log))) as pages:
        async for page in pages:
            for entry in page:
                folding.add(entry)
                match entry.event:
                    case e.ExecutionRequested(execution=execution, cell=cell):
                        running[execution] = cell
                    case e.ExecutionStarted(execution=execution, cell=cell):
                        running[execution] = cell
                    case e.ExecutionFinished(execution=execution) if execution in running:
                        ended(await _cell_run(workspace, folding.now, running.pop(execution), times))
                    case e.RunFinished():
                        done.set()
                        return
                    case _:
                        pass


# ---- What a cell came to


async def _cell_run(workspace: LocalWorkspace, notebook: Notebook, id: CellId, times: _Times) -> CellRun:
    cell = notebook.cells[id]
    execution = cell.execution
    if execution is None or cell.state in ("never_run", "skipped"):
        return CellRun(cell=id, status="not_run")
    blobs = {ref.hash: await workspace.read_blob(ref.hash) for ref in blobs_of_cell(cell)}
    return CellRun(
        cell=id,
        status=_status(execution.state),
        outputs=list(outputs_of(cell, blobs.get)),
        count=execution.count,
        fault=execution.fault,
        seconds=round(times.seconds.get(id, 0.0), 3),
    )


def _status(state: str) -> CellStatus:
    match state:
        case "ok" | "error" | "timeout" | "dead_kernel":
            return state
        case _:
            return "cancelled"
