"""Ends what lost its lease, and proposals that nobody answered in time: nothing stays open for ever (rule 10).

Whoever opens a workspace ends what is lost, so that the log tells the true status to the first
who looks; a server also looks now and then, and expires proposals. It never runs anything again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..core import events as e
from ..core.errors import Conflict, NotFound, Refused
from ..core.events import Draft, Fault, KnownEvent
from ..core.ids import ExecutionId, LogId, ProposalId, RuntimeId
from ..core.notebook import Notebook
from ..workspace.clock import new_id
from ..workspace.holders import is_gone
from ..workspace.workspace import Held, Workspace

SERVER_GRACE_SECONDS = 60.0
"""What a server that starts gives those who could not reach it while it was away."""
MOST_OPEN = 10_000
"""So many proposals that wait are looked at in one go."""
GONE = "The process that ran it is gone, and did not say how it ended."
SILENT = "Its lease ran out: what ran it was not heard of in time, and did not say how it ended."


async def end_lost(system: Workspace, grace_seconds: float = 0) -> list[LogId]:
    """End what was claimed by somebody who is gone; return the logs that say so now. `system` acts as Quire itself.

    With a grace, whoever has only fallen silent gets so much more time: they could not be heard while no server ran.
    """
    ended: list[LogId] = []
    for held in await system.claims():
        if not is_gone(held.claim.runtime):
            if grace_seconds and held.seconds_left < grace_seconds:
                with contextlib.suppress(Conflict):  # it came to its end meanwhile
                    await system.renew(held.log, held.claim, grace_seconds)
                continue
            if held.seconds_left > 0:
                continue
        if await _end(system, held):
            ended.append(held.log)
        await system.release(held.log, held.claim)
    return ended


async def expire_proposals(system: Workspace, at: str) -> list[ProposalId]:
    """Record as expired each proposal whose `expires_at` has passed; return them. `system` acts as Quire itself."""
    found = await system.query(
        "SELECT log, proposal, expires_at FROM proposals WHERE state = 'open' AND expires_at IS NOT NULL",
        limit=MOST_OPEN,
    )
    expired: list[ProposalId] = []
    for log, proposal, expires_at in found.rows:
        if str(expires_at) > at:
            continue
        event = e.ProposalExpired(proposal=ProposalId(str(proposal)))
        with contextlib.suppress(NotFound, Refused, Conflict):  # it was answered meanwhile
            await system.submit(LogId(str(log)), [Draft(id=new_id(), event=event)])
            expired.append(event.proposal)
    return expired


async def bury(system: Workspace, log: LogId, runtime: RuntimeId) -> None:
    """Say of a runtime that is certainly gone what became of its work in a log, and that it left."""
    for held in await system.claims():
        if held.log == log and held.claim.runtime == runtime:
            await _end(system, held, GONE)
            await system.release(log, held.claim)
    with contextlib.suppress(NotFound, Refused, Conflict):
        await system.submit(log, [Draft(id=new_id(), event=e.RuntimeDetached(runtime=runtime))])


async def _end(system: Workspace, held: Held, why: str | None = None) -> bool:
    """`why` is known by whoever knows more than can be seen from here."""
    why = why or (GONE if is_gone(held.claim.runtime) else SILENT)
    with contextlib.suppress(NotFound, Refused, Conflict):  # it came to its end meanwhile
        notebook = await system.read(held.log)
        drafts = [Draft(id=new_id(), event=event) for event in _last_words(notebook, held.claim, why)]
        if drafts:
            await system.submit(held.log, drafts)
            return True
    return False


def _last_words(notebook: Notebook, claim: e.RunClaimed | e.ExecutionClaimed, why: str) -> Iterator[KnownEvent]:
    """What is to be said of work that nobody goes on with. The epochs are those of the log: a lease may be newer."""
    if isinstance(claim, e.RunClaimed):
        yield from _end_of_run(notebook, why)
        return
    execution = notebook.execution(claim.execution)
    if execution is not None and execution.epoch is not None:
        fault = Fault(ename="Lost", evalue=why)
        yield e.ExecutionFinished(execution=execution.id, epoch=execution.epoch, status="lost", fault=fault)


def _end_of_run(notebook: Notebook, why: str) -> Iterator[KnownEvent]:
    run = notebook.run
    if run is None or not run.is_open:
        return
    epoch, failed, fault = run.epoch or 0, None, Fault(ename="Lost", evalue=why)
    for cell in notebook.live_cells:
        if cell.execution is not None and cell.execution.is_open:
            failed = cell.id
            yield e.ExecutionFinished(execution=cell.execution.id, epoch=epoch, status="lost", fault=fault)
        elif cell.runs and cell.execution is None and cell.missed is None:
            failed = failed or cell.id
            yield e.ExecutionSkipped(execution=ExecutionId(new_id()), cell=cell.id, why="the run was lost before it")
    yield e.RunFinished(epoch=epoch, status="lost", failed_cell=failed, fault=fault)
