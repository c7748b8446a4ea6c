"""Ends what nobody works on any more, and proposals that nobody answered in time: nothing stays open for ever (rule 10).

It never runs anything again. Whoever opens a workspace calls `end_lost`, which ends only what belongs to a process that
is gone: so the log tells the true status to the first who looks. A lease that lapsed proves nothing by itself
(workspace/log/lapse_watch.py): a server's `Keeper` ends its work after it has watched for a whole lease that nobody renewed it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator

from ..core import events as e
from ..core.errors import Conflict, NotFound, Refused
from ..core.events import Draft, Fault, KnownEvent
from ..core.ids import ExecutionId, LogId, ProposalId, RuntimeId
from ..core.notebook.notebook import Notebook
from ..workspace.clock import new_id
from ..workspace.local import LocalWorkspace
from ..workspace.log.lapse_watch import LapseWatch
from ..workspace.log.locks import is_started, runtime_hold
from ..workspace.log.process_id import is_gone, is_process
from ..workspace.protocol import HeldClaim, Workspace

SERVER_GRACE_SECONDS = 60.0
"""What a server that starts gives those who could not reach it while it was away."""
MOST_OPEN = 10_000
"""So many proposals that wait are looked at in one go."""
GONE = "The process that ran it is gone, and did not say how it ended."
SHUT_OUT = "The token of the runtime that ran it was revoked, or ran out: nobody can say how it ended."
SILENT = "Its lease ran out: what ran it was not heard of in time, and did not say how it ended."


async def end_lost(
    system: LocalWorkspace,
    grace_seconds: float = 0,
    is_left: Callable[[HeldClaim], bool] = lambda held: True,
) -> list[LogId]:
    """End what was claimed by a process that is gone; return the logs that say so now. `system` acts as Quire itself.

    `is_left` says whether the kernel of a claim may live on, so that another process can go on with it. With a grace,
    whoever has fallen silent gets so much more time: they could not be heard while no server ran.
    """
    ended: list[LogId] = []
    for held in await system.claims():
        if await _is_certainly_gone(system, held, is_left if not grace_seconds else lambda held: True):
            ended += await _close(system, held)
        elif grace_seconds and held.seconds_left < grace_seconds:
            with contextlib.suppress(Conflict):  # it came to its end meanwhile
                await system.renew(held.log, held.claim, grace_seconds)
    return ended


class Keeper:
    """Looks again and again for what nobody works on, and ends it. `watch` says how long a lapse has to be watched."""

    def __init__(
        self, system: LocalWorkspace, watch: LapseWatch, is_left: Callable[[HeldClaim], bool] = lambda held: True
    ) -> None:
        self._system, self._watch, self._is_left = system, watch, is_left

    async def look(self) -> list[LogId]:
        """End what is lost; return the logs that say so now."""
        try:
            claims = await self._system.claims()
        except BaseException:
            self._watch.interrupt()  # whoever wanted to renew meanwhile could not, either
            raise
        long_lapsed = self._watch.look(_name(held) for held in claims if held.seconds_left <= 0)
        shut_out = await self._shut_out(held.claim.runtime for held in claims)
        ended: list[LogId] = []
        for held in claims:
            if held.claim.runtime in shut_out:
                ended += await _close(self._system, held, SHUT_OUT)
            elif _name(held) in long_lapsed or await _is_certainly_gone(self._system, held, self._is_left):
                ended += await _close(self._system, held)
        return ended

    async def _shut_out(self, runtimes: Iterable[RuntimeId]) -> set[RuntimeId]:
        """Which of them came with tokens, and have none any more that opens anything."""
        if not (far := {each for each in runtimes if not is_started(each) and not is_process(each)}):
            return set()
        tokens = [each for each in await self._system.tokens() if each.allows.actor in far]
        valid = {each.allows.actor for each in tokens if each.state == "valid"}
        return {RuntimeId(each.allows.actor) for each in tokens} - valid


def _name(held: HeldClaim) -> str:
    return f"{held.log} {held.claim}"


async def _is_certainly_gone(system: LocalWorkspace, held: HeldClaim, is_left: Callable[[HeldClaim], bool]) -> bool:
    """Whether it is certain that nobody will go on with what was claimed."""
    if is_gone(held.claim.runtime):
        return True
    if held.seconds_left > 0 or not is_started(held.claim.runtime) or is_left(held):
        return False
    holder = await system.holder(runtime_hold(held.log))
    return holder is not None and is_gone(holder)


async def _close(system: LocalWorkspace, held: HeldClaim, why: str | None = None) -> list[LogId]:
    ended = await _end(system, held, why)
    await system.release(held.log, held.claim)
    return [held.log] if ended else []


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


async def bury(system: Workspace, log: LogId, runtime: RuntimeId, why: str = GONE) -> None:
    """Say of a runtime in whose place another one serves what became of its work in a log, and that it left."""
    for held in await system.claims():
        if held.log == log and held.claim.runtime == runtime:
            await _end(system, held, why)
            await system.release(log, held.claim)
    with contextlib.suppress(NotFound, Refused, Conflict):
        await system.submit(log, [Draft(id=new_id(), event=e.RuntimeDetached(runtime=runtime))])


async def _end(system: Workspace, held: HeldClaim, why: str | None = None) -> bool:
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
