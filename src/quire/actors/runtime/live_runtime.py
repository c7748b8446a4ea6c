"""A runtime for one live notebook: claims what is requested there, and runs it in one kernel.

Requests are taken in the order of the log, one at a time. Somebody else's claim is respected; a cell that fails does not
stop the next one, for each was asked for by itself. While the workspace is away what runs goes on, its words go to a
spool (spool.py), and nothing new is begun. A runtime that was killed is followed by one that adopts its kernel, and goes
on with what ran in it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from math import inf
from pathlib import Path
from typing import Any

import msgspec

from ...core import events as e
from ...core.errors import Conflict, NotFound, Refused
from ...core.events import Entry
from ...core.ids import ActorId, EventId, ExecutionId, LogId, RuntimeId
from ...core.notebook.notebook import Cell, Execution, Notebook
from ...core.values import Json
from ...kernels.cell_code import kernel_code
from ...kernels.kernel_client import KernelClient, stop
from ...kernels.kernel_protocol import AdoptedKernel, Spec, start
from ...kernels.memory_limit import keep_within
from ...kernels.relay.execution_state import DraftIds, Flight, Once, recorded
from ...outputs.recorder import Recorder
from ...outputs.secrets import Remover
from ...outputs.widgets import WidgetStates
from ...workspace.log.leases import LEASE_SECONDS
from ...workspace.protocol import LaneAccess, Workspace
from .lane_service import AnswerTimeouts, Self, Speaker
from .lease_renewal import ClaimLost, claim_of, renewed
from .log_attachment import LogAttachment, WorkAbandoned, beside
from .queue import queued
from .run_cell import GRACE_SECONDS, CellRunner, CellRunOutcome, PromptHandler, StopReason
from .spool import Spool, spools

CLOSE_SECONDS = 20.0
"""How long the last words may take to the workspace, or to disk, when all is over."""


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime is to serve, and with what kernel."""

    log: LogId
    spec: Spec
    cwd: Path
    variables: dict[str, str]
    name: str = ""
    """What a request may call it."""
    takes_any: bool = True
    """Whether it runs what was asked of no runtime in particular."""
    secrets: dict[str, str] = {}
    start_timeout: float = 60
    startup: str = ""
    """What the kernel runs, silently, before the first cell: one expression."""
    lease_seconds: float = LEASE_SECONDS
    """How long a claim holds without being renewed."""
    spools: Path | None = None
    """The folder for what cannot be sent; None: the user's."""
    memory_bytes: int | None = None
    """How much the kernel and what it started may use; it is ended above that."""
    grace_seconds: float = GRACE_SECONDS
    """How long a cell may take to end when its kernel is restarted or its runtime ends; then the kernel is killed."""
    look_again_seconds: float = 2.0
    """After how long to try again to claim what another runtime was about to claim."""
    patience: AnswerTimeouts = AnswerTimeouts()
    """How long to wait for small answers."""
    where: str = ""
    """The address of the workspace, by which the next process of this actor finds the kernel; without one, none does."""

    def takes(self, execution: Execution, me: RuntimeId) -> bool:
        """Whether a request is for this runtime."""
        if execution.wants is None:
            return self.takes_any
        return self.is_called(execution.wants, me)

    def is_called(self, wanted: str, me: RuntimeId) -> bool:
        """Whether somebody means this runtime. A language is the same however it is written: r is R."""
        return wanted in {me, self.name} or wanted.lower() == self.spec.language.lower()


async def serve(
    runtime: Workspace,
    serving: ServeOptions,
    until: asyncio.Event,
    tell: Callable[[str], None] = lambda message: None,
    lanes: LaneAccess | None = None,
    adopted: AdoptedKernel | None = None,
    is_taken: Callable[[], bool] = lambda: False,
) -> None:
    """Serve a notebook until somebody says that it is enough. What runs then is interrupted.

    `lanes` are those on which people are, where they are others than the workspace's own. `adopted` is a kernel that
    lives already and was prepared, with what cells of this notebook defined in it. `is_taken` says whether it is enough
    because another process has the notebook: what runs then was cancelled by nobody, and no more is said of it.
    """
    spool = Spool(runtime, serving.log, serving.spools or spools(), tell)
    try:
        if adopted is not None:
            client = KernelClient(adopted.kernel, adopted.flight)
        else:
            client = await _started(serving, runtime.identity.actor)
        server = _Server(LogAttachment(runtime, serving.log, until), serving, spool, client, is_taken)
        server.speaks(lanes or runtime.lanes, tell)
        try:
            await server.serve(adopted)
        finally:
            await asyncio.shield(stop(server.client.kernel, server.client))
    finally:
        await spool.close()


async def _started(serving: ServeOptions, actor: ActorId) -> KernelClient:
    outlives = bool(serving.where)
    kernel = await start(serving.spec, cwd=serving.cwd, env=serving.variables, relayed=outlives)
    if outlives:
        kernel.serves(serving.where, serving.log, actor)
    return KernelClient(kernel)


class _Server:
    """A runtime with its kernel."""

    def __init__(
        self, at: LogAttachment, serving: ServeOptions, spool: Spool, client: KernelClient, is_taken: Callable[[], bool]
    ) -> None:
        self._at, self._serving, self._spool, self.client = at, serving, spool, client
        self._is_taken = is_taken
        self._me = at.me
        self._remover = Remover(serving.secrets)
        self._widgets = WidgetStates(self._remover)
        self._running: tuple[ExecutionId, StopReason] | None = None
        self._interrupted: set[ExecutionId] = set()
        """What somebody wants to stop that has not begun."""
        self._news = asyncio.Event()
        self._is_contested = False
        """Whether something waits that somebody else was about to take."""
        self._unsent: list[Execution] = []
        """What an earlier process had claimed for this kernel and not sent to it."""
        self._restart_by: ActorId | None = None
        """Who wants another kernel."""
        self._speaker: Speaker

    def speaks(self, lanes: LaneAccess, tell: Callable[[str], None]) -> None:
        """Say, ask and answer on these lanes."""
        spec = self._serving.spec
        environment: dict[str, Json] = {"interpreter": spec.interpreter, "kernel": spec.name}
        me = Self(
            id=self._me,
            name=self._serving.name,
            language=spec.language,
            environment=environment,
            memory_limit_bytes=self._serving.memory_bytes,
        )
        self._speaker = Speaker(
            self._at.runtime, lanes, self._serving.log, me, self._remover, tell, self._serving.patience
        )

    async def serve(self, adopted: AdoptedKernel | None) -> None:
        """Attach, work, detach."""
        flight = adopted.flight if adopted is not None else None
        # A kernel that is at a cell answers nothing until that is over.
        info = await self._ready(is_prepared=adopted is not None) if flight is None else {}
        self._speaker.meets(self.client)
        try:
            since = await self._attach(info, is_here=adopted is not None, flight=flight)
            others = [self._listen(since), self._end(), self._speaker.run()]
            if self._serving.memory_bytes is not None:
                others.append(keep_within(self._serving.memory_bytes, lambda: self.client))
            await beside(self._work(flight), *others)
        except WorkAbandoned:
            pass
        finally:
            await self._at.detach()

    async def _ready(self, *, is_prepared: bool = False) -> dict[str, Any]:
        """Wait until the kernel answers, and prepare it."""
        info = await self.client.ready(self._serving.start_timeout)
        if self._serving.startup and not is_prepared:
            async for _ in self.client.execute("", silent=True, expressions={"startup": self._serving.startup}):
                pass  # without it the cells run all the same
        self.client.forget()
        return info

    async def _attach(self, info: dict[str, Any], *, is_here: bool, flight: Flight | None) -> int:
        """Say that it is here, and what became of what it was at before. Returns the number to listen from."""
        await self._at.unless_over(self._spool.drained())
        notebook = await self._at.read()
        if not is_here or self._me not in notebook.runtimes:
            await self._at.attach(self.client.kernel, self._serving.name, info.get("language_info"))
            notebook = await self._at.read()
        self._speaker.begins(list(notebook.runtimes))
        await self._sort_out(notebook, flight, is_here=is_here)
        return notebook.seq

    async def _sort_out(self, notebook: Notebook, flight: Flight | None, *, is_here: bool) -> None:
        """Decide what becomes of each execution that an earlier process had claimed: go on, begin, or give up.

        The relay of an adopted kernel knows what it was sent. What was claimed and never sent has not run, so it is
        begun now; of everything else nobody can tell how far it came.
        """
        under_way = flight.started.execution if flight is not None else None
        left = [execution for execution in self._at.unfinished(notebook) if execution.id != under_way]
        self._unsent = [execution for execution in left if is_here and execution.state == "claimed"]
        await self._at.give_up(execution for execution in left if execution not in self._unsent)

    async def _begin_anew(self, why: str) -> None:
        """Another kernel in place of the one that died, or that somebody wants no more."""
        why, self._restart_by = f"asked by {self._restart_by}" if self._restart_by else why, None
        self._speaker.meets(None)
        await stop(self.client.kernel, self.client)
        self.client, self._widgets = await _started(self._serving, ActorId(self._me)), WidgetStates(self._remover)
        await self._ready()
        self._speaker.meets(self.client)
        await self._at.say(e.KernelRestarted(runtime=self._me, kernel=self.client.kernel.id, why=why))

    # ---- What others want

    async def _listen(self, since: int) -> None:
        """Hear of requests and interrupts, on a way that no output can block."""
        async for entry in self._at.follow(since):
            self._hear(entry)

    def _hear(self, entry: Entry) -> None:
        self._speaker.hear(entry)
        match entry.event:
            case e.ExecutionRequested() | e.ScratchRequested() | e.ProposalAccepted():
                self._news.set()
            case e.ExecutionFinished() | e.ExecutionCancelled() | e.ExecutionSkipped():
                self._news.set()  # what needed it may begin, or never will
            case e.InterruptRequested(execution=execution):
                self._interrupt(execution)
            case e.RuntimeDetached(runtime=runtime, why=why) if runtime == self._me and why:
                self._make_room()
            case e.RestartRequested(runtime=wanted):
                if wanted is None or self._serving.is_called(wanted, self._me):
                    self._restart(entry.by)
            case _:
                pass

    async def _end(self) -> None:
        await self._at.over.wait()
        if self._running is not None:
            # Whoever ends a runtime wants it to end: a cell that does not listen is ended with its kernel.
            self._running[1].grace_seconds = self._serving.grace_seconds
            if self._is_taken():
                self._spool.drop(self._running[0], "another runtime serves the notebook")
            self._running[1].ask("cancelled")
        self._news.set()

    def _restart(self, by: ActorId) -> None:
        """Stop what runs, whether it listens or not; the kernel is another one before anything else runs."""
        self._restart_by = by
        if self._running is not None:
            self._running[1].grace_seconds = self._serving.grace_seconds
            self._running[1].ask("cancelled")
        self._news.set()

    def _make_room(self) -> None:
        """Another notebook needs the place: the log says so, and said that nothing was to be done here."""
        self._at.is_ended = True
        self._at.over.set()

    def _interrupt(self, execution: ExecutionId) -> None:
        if self._running is not None and self._running[0] == execution:
            self._running[1].ask("cancelled")
        else:
            self._interrupted.add(execution)

    # ---- One execution after the other

    async def _work(self, flight: Flight | None) -> None:
        if flight is not None:
            await self._go_on(flight)
        await self._begin_unsent()
        while not self._at.over.is_set():
            self._news.clear()
            if self._restart_by is not None:
                await self._begin_anew("")
            if not await self._run_next():
                await self._wait_for_news()

    async def _wait_for_news(self) -> None:
        # Of somebody who took a claim and was gone before the log told of it nobody hears.
        seconds = self._serving.look_again_seconds if self._is_contested else None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()

    async def _run_next(self) -> bool:
        """Run what was requested first; False when nothing is."""
        self._is_contested = False
        notebook = await self._at.read()
        if self._me not in notebook.runtimes:
            return False  # it was ended: what is asked for since then is for whoever comes next
        for execution, cell in _can_run(notebook):
            if not self._serving.takes(execution, self._me):
                continue
            try:
                await self._run(execution, cell)
            except (Conflict, NotFound, Refused):
                self._is_contested = True
                continue  # somebody else took it, or took it back
            except ClaimLost:
                pass  # the spool has told why
            self._interrupted.clear()
            return True
        return False

    async def _run(self, execution: Execution, cell: Cell) -> None:
        if execution.blocked:
            why = "a cell before it did not end well"
            await self._at.say(e.ExecutionSkipped(execution=execution.id, cell=cell.id, why=why))
            return
        is_gone = cell.removed and not cell.scratch
        if is_gone or cell.kind != execution.cell_kind:
            now = "was removed" if is_gone else f"is a {cell.kind} cell now"
            await self._at.say(e.ExecutionCancelled(execution=execution.id, why=f"its cell {now}"))
            return
        source = await self._at.requested(execution, cell)
        claim = await self._at.claim(execution.id, self._serving.lease_seconds)
        await self._send(execution, cell, source, claim)

    async def _begin_unsent(self) -> None:
        """Run what an earlier process had claimed and never sent to this kernel, under the claim that it took."""
        for execution in self._unsent:
            notebook = await self._at.read()
            cell = notebook.cells[execution.cell]
            source = await self._at.requested(execution, cell)
            claim = e.ExecutionClaimed(execution=execution.id, runtime=self._me, epoch=execution.epoch)
            with contextlib.suppress(ClaimLost):  # the spool has told why
                await self._send(execution, cell, source, claim, at_once=True)

    async def _send(
        self, execution: Execution, cell: Cell, source: str, claim: e.ExecutionClaimed, *, at_once: bool = False
    ) -> None:
        """Run the source of a cell in the kernel. `at_once`: the claim is an earlier one, and has to be renewed."""
        language = self._serving.spec.language
        code = kernel_code(cell.kind, source, cell.name, cell.metadata, language)
        await self._under(
            claim,
            execution,
            lambda runner, stopping: runner.run(execution.id, cell.id, source, code, stopping, None),
            at_once=at_once,
        )

    async def _go_on(self, flight: Flight) -> None:
        """Go on with what an earlier process had under way, if it is still ours."""
        id, epoch = flight.started.execution, flight.started.epoch
        execution = (await self._at.read()).execution(id)
        if execution is None or (execution.runtime, execution.epoch) != (self._me, epoch):
            await self._abandon(id, epoch)
            return
        claim = claim_of(flight, self._me)
        self._speaker.goes_on(id, flight.answered)
        log = await self._at.patiently(lambda: recorded(self._at.runtime, self._serving.log, id))
        with contextlib.suppress(ClaimLost):  # the spool has told why
            await self._under(
                claim, execution, lambda runner, stopping: runner.go_on(flight, stopping), log, at_once=True
            )

    async def _abandon(self, execution: ExecutionId, epoch: int) -> None:
        self._spool.drop(execution, "it is over, or another runtime's: its own was gone for too long")
        recorder = Recorder(self._spool.of(execution, lambda: None))
        ran = await self._runner(recorder, epoch).abandon()
        await recorder.close()
        self._spool.forget(execution)
        self.client.forget()
        if not ran.lives:
            await self._begin_anew("it did not end what was nobody's any more")

    async def _under(
        self,
        claim: e.ExecutionClaimed,
        execution: Execution,
        work: Callable[[CellRunner, StopReason], Coroutine[Any, Any, CellRunOutcome]],
        before: set[EventId] | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        """Work on what was claimed, for as long as it is ours. `before` is what the log says of it already."""
        # Nobody kills a kernel that others work in because a cell does not listen: they can restart it.
        stopping = StopReason(inf)

        def lost() -> None:
            self._spool.drop(execution.id, "its claim was lost")

        self._running = execution.id, stopping
        if self._at.over.is_set() or execution.interrupted_by is not None or execution.id in self._interrupted:
            stopping.ask("cancelled")
        try:
            seconds = self._serving.lease_seconds
            async with renewed(self._at.runtime, self._serving.log, claim, lost, seconds, at_once=at_once):
                ran = await self._record(claim, stopping, work, before)
        finally:
            self._running = None
        if not ran.lives:
            await self._begin_anew(ran.fault.evalue if ran.fault is not None else "")

    async def _record(
        self,
        claim: e.ExecutionClaimed,
        stopping: StopReason,
        work: Callable[[CellRunner, StopReason], Coroutine[Any, Any, CellRunOutcome]],
        before: set[EventId] | None,
    ) -> CellRunOutcome:
        id, epoch = claim.execution, claim.epoch or 0
        outlet = self._spool.of(id, lambda: stopping.ask("cancelled"))
        # Somebody waits for what a cell shows: nothing waits here to be sent together.
        recorder = Recorder(
            Once(outlet, before) if before is not None else outlet,
            self._remover,
            pause_seconds=0,
            ids=DraftIds(self.client.kernel, id, epoch),
        )
        try:
            async with self._speaker.running(id) as asked:
                ran = await work(self._runner(recorder, epoch, asked), stopping)
        finally:
            # It waits for a full disk; when all is over, not for ever.
            await self._at.unless_over(recorder.close(), CLOSE_SECONDS)
        # Who saw the end has everything; and nothing else begins before somebody could see it.
        await self._at.unless_over(self._spool.drained())
        self._spool.forget(id)
        self.client.forget()
        if self._spool.has_dropped(id):
            if not ran.lives:
                await self._begin_anew("it was ended with a cell that was somebody else's")
            raise ClaimLost
        return ran

    def _runner(self, recorder: Recorder, epoch: int, asked: PromptHandler | None = None) -> CellRunner:
        return CellRunner(
            self.client,
            recorder,
            epoch,
            self._serving.spec.language,
            remover=self._remover,
            widgets=self._widgets,
            asked=asked,
            records_answers=False,
        )


def _can_run(notebook: Notebook) -> Iterator[tuple[Execution, Cell]]:
    """What waits for nothing but a runtime, in the order in which it was asked for."""
    for execution in queued(notebook):
        cell = notebook.cells[execution.cell]
        runs = cell.execution is not None and cell.execution.is_open
        if not runs and execution.needs not in notebook.executions:
            yield execution, cell
