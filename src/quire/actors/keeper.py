"""Ends what lost its lease: nothing stays open that nobody works on (rule 10).

Whoever opens a workspace calls it, so that the log tells the true status to the first who
looks. It never runs anything again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..core import events as e
from ..core.errors import Conflict, NotFound, Refused
from ..core.events import Draft, Fault, KnownEvent
from ..core.ids import ExecutionId, LogId
from ..core.notebook import Notebook
from ..workspace.clock import new_id
from ..workspace.holders import is_gone
from ..workspace.workspace import Held, Workspace

GONE = "The process that ran it is gone, and did not say how it ended."
SILENT = "Its lease ran out: what ran it was not heard of in time, and did not say how it ended."


async def end_lost(system: Workspace) -> list[LogId]:
    """End what was claimed by somebody who is gone; return the logs that say so now. `system` acts as Quire itself."""
    ended: list[LogId] = []
    for held in await system.claims():
        if held.seconds_left > 0 and not is_gone(held.claim.runtime):
            continue
        if await _end(system, held):
            ended.append(held.log)
        await system.release(held.log, held.claim)
    return ended


async def _end(system: Workspace, held: Held) -> bool:
    with contextlib.suppress(NotFound, Refused, Conflict):  # it came to its end meanwhile
        notebook = await system.read(held.log)
        drafts = [Draft(id=new_id(), event=event) for event in _last_words(notebook, held.claim)]
        if drafts:
            await system.submit(held.log, drafts)
            return True
    return False


def _last_words(notebook: Notebook, claim: e.RunClaimed | e.ExecutionClaimed) -> Iterator[KnownEvent]:
    """What is to be said of work that nobody goes on with. The epochs are those of the log: a lease may be newer."""
    if isinstance(claim, e.RunClaimed):
        yield from _end_of_run(notebook)
        return
    execution = notebook.execution(claim.execution)
    if execution is not None and execution.epoch is not None:
        yield e.ExecutionFinished(
            execution=execution.id, epoch=execution.epoch, status="lost", fault=_fault(execution.runtime)
        )


def _end_of_run(notebook: Notebook) -> Iterator[KnownEvent]:
    run = notebook.run
    if run is None or not run.is_open:
        return
    epoch, failed, fault = run.epoch or 0, None, _fault(run.runtime)
    for cell in notebook.live_cells:
        if cell.execution is not None and cell.execution.is_open:
            failed = cell.id
            yield e.ExecutionFinished(execution=cell.execution.id, epoch=epoch, status="lost", fault=fault)
        elif cell.runs and cell.execution is None and cell.missed is None:
            failed = failed or cell.id
            yield e.ExecutionSkipped(execution=ExecutionId(new_id()), cell=cell.id, why="the run was lost before it")
    yield e.RunFinished(epoch=epoch, status="lost", failed_cell=failed, fault=fault)


def _fault(runtime: str | None) -> Fault:
    """What is known of how it ended: of a process elsewhere, only that it fell silent."""
    return Fault(ename="Lost", evalue=GONE if runtime is not None and is_gone(runtime) else SILENT)
