"""One cell in one kernel: from the request to the last word, whatever happens between."""

from __future__ import annotations

import asyncio
import tempfile
from collections import deque
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Literal, Protocol, TypeAlias, cast

import msgspec

from ...core import events as e
from ...core.events import ExecutionStatus, Fault
from ...core.ids import CellId, ExecutionId
from ...core.python.cell_names import analyse
from ...core.text import source_hash
from ...formats.terminal_safe import one_line
from ...kernels.kernel_client import KernelClient, KernelDied, KernelRequest
from ...kernels.relay.execution_state import Flight, FlushNote, StopNote
from ...outputs.display_events import ExecutionDisplays, KernelMessage
from ...outputs.media import fault_in
from ...outputs.recorder import Recorder
from ...outputs.secrets import Remover
from ...outputs.streams import SpoolFile
from ...outputs.widgets import WidgetStates
from ...workspace.tasks import cancel_and_wait

GRACE_SECONDS = 5.0
"""How long a cell may take to end after it was interrupted; then its kernel is killed."""
AGAIN_SECONDS = 0.8
"""A signal that comes so long after the first is a second one."""
ABANDON_SECONDS = 60.0
"""How long a cell that is nobody's any more may take to end; then its kernel is killed."""

TICK_SECONDS = 0.05
"""How often what a running cell shows goes into the log."""
MOST_UNFLUSHED = 2_000_000

Stop: TypeAlias = Literal["cancelled", "timeout"]


class PromptHandler(Protocol):
    """How somebody is asked for what a cell wants to know."""

    async def __call__(self, prompt: str, *, password: bool) -> str:
        """Return the answer; EOFError when nobody answers any more."""
        ...


class CellRunOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How an execution ended."""

    status: ExecutionStatus
    count: int | None = None
    fault: Fault | None = None
    lives: bool = True
    """Whether the kernel is still there."""
    notes: tuple[str, ...] = ()


class StopReason:
    """Whether, and why, what runs is to stop. The first who asks says why.

    Its kernel is killed when it does not end within the grace; with none, it is asked once and waited for.
    """

    def __init__(self, grace_seconds: float = GRACE_SECONDS) -> None:
        self.why: Stop | None = None
        self.grace_seconds = grace_seconds
        self._asked = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._first_signal = inf

    def ask(self, why: Stop) -> None:
        """Have it stop: at once, or as soon as it begins. From any thread."""
        self.why = self.why or why
        if (loop := self._loop) is not None:
            loop.call_soon_threadsafe(self._asked.set)

    def signal(self) -> None:
        """Somebody pressed Ctrl-C, or sent a signal. Whoever does it again wants no more grace given."""
        # One press may arrive twice: from the terminal, and from whoever started this process.
        if monotonic() - self._first_signal >= AGAIN_SECONDS:
            self.grace_seconds = 0
        self._first_signal = min(self._first_signal, monotonic())
        self.ask("cancelled")

    async def wait(self) -> Stop:
        """Wait until somebody asks."""
        self._loop = asyncio.get_running_loop()
        try:
            while self.why is None:
                await self._asked.wait()
        finally:
            self._loop = None
        return self.why


class CellRunner:
    """Runs the cells of one run, one after the other."""

    def __init__(
        self,
        client: KernelClient,
        recorder: Recorder,
        epoch: int,
        language: str,
        *,
        remover: Remover,
        widgets: WidgetStates,
        heard: Callable[[KernelMessage], None] = lambda message: None,
        asked: PromptHandler | None = None,
        records_answers: bool = True,
    ) -> None:
        self._client, self._recorder, self._epoch, self._language = client, recorder, epoch, language
        self._remover, self._widgets, self._heard = remover, widgets, heard
        self._asked, self._records_answers = asked, records_answers

    async def run(
        self, execution: ExecutionId, cell: CellId, source: str, code: str, stopping: StopReason, seconds: float | None
    ) -> CellRunOutcome:
        """Run `code`, the way a kernel takes the `source` of a cell, and record all of it."""
        allow_stdin = self._asked is not None
        if self._client.remembers:
            # Whoever goes on with it has to know what it is as soon as the kernel does.
            started = self._started(execution, cell, source, code)
            request = self._client.execute(code, allow_stdin=allow_stdin, flight=msgspec.json.encode(started))
        else:
            request = self._client.execute(code, allow_stdin=allow_stdin)
            # While the kernel is at it: nothing it says is heard before this is said.
            started = self._started(execution, cell, source, code)
        return await self._record(started, request, None, stopping, seconds)

    async def go_on(self, flight: Flight, stopping: StopReason) -> CellRunOutcome:
        """Go on with what an earlier runtime began, as if it had never gone. The client was given the same flight."""
        request = self._client.running
        assert request is not None  # noqa: S101 - the flight's
        if not flight.is_whole:
            self._finish(
                flight.started.execution, CellRunOutcome(status="lost", fault=Fault(ename="Lost", evalue=_CUT))
            )
            return await self.abandon()
        if flight.stopped is not None:
            stopping.ask("timeout" if flight.stopped == "timeout" else "cancelled")
        return await self._record(flight.started, request, flight, stopping, None)

    async def abandon(self) -> CellRunOutcome:
        """End in the kernel what is nobody's any more, and record none of it. The kernel keeps what it knows, if it listens."""
        request = self._client.running
        try:
            if request is not None:
                await _drain(request, self._client)
        except KernelDied:
            return CellRunOutcome(status="lost", lives=False)
        return CellRunOutcome(status="lost")

    async def _record(
        self,
        started: e.ExecutionStarted,
        request: KernelRequest,
        flight: Flight | None,
        stopping: StopReason,
        seconds: float | None,
    ) -> CellRunOutcome:
        execution = started.execution
        with tempfile.SpooledTemporaryFile(max_size=4_000_000) as spool:
            showing = ExecutionDisplays(execution, self._epoch, cast("SpoolFile", spool), self._remover)
            self._recorder.say(started)
            flushing = FlushPolicy(self._client, self._recorder, showing, flight)
            recorder = self._recorder if self._records_answers else None
            answered = flight.answered if flight is not None else 0
            async with _Answers(self._client, recorder, execution, self._asked, answered) as answers:
                ran = await self._converse(flushing, request, answers, stopping, seconds)
            await flushing.catch_up()
            await self._recorder.show(showing.finish())
        self._finish(execution, ran)
        return ran

    def _started(self, execution: ExecutionId, cell: CellId, source: str, code: str) -> e.ExecutionStarted:
        # What the kernel is given in another form is in another language: what looks like a name there is none.
        names = analyse(source, self._language) if code == source else None
        return e.ExecutionStarted(
            execution=execution,
            cell=cell,
            source_hash=source_hash(source),
            epoch=self._epoch,
            defines=names.defines if names is not None else None,
            uses=names.uses if names is not None else None,
        )

    def _finish(self, execution: ExecutionId, ran: CellRunOutcome) -> None:
        self._recorder.say(
            e.ExecutionFinished(
                execution=execution, epoch=self._epoch, status=ran.status, count=ran.count, fault=ran.fault
            )
        )

    async def _converse(
        self,
        flushing: FlushPolicy,
        request: KernelRequest,
        answers: _Answers,
        stopping: StopReason,
        seconds: float | None,
    ) -> CellRunOutcome:
        showing = flushing.showing
        clock = asyncio.get_running_loop().time
        deadline = inf if seconds is None else clock() + seconds
        # One that was stopped before its runtime was gone was told to.
        told, was_early = clock() if flushing.was_stopped else inf, False
        has_begun = False  # whether the kernel is inside the cell: an interrupt before that goes nowhere
        try:
            while True:
                message = await _next(request, min(flushing.at, deadline, told + stopping.grace_seconds))
                now = clock()
                if message is not None:
                    if flushing.is_again:
                        await flushing.catch_up(self._client.taken)
                    if message.type == "execute_reply" and message.parent_id == request.id:
                        return _ended(showing, message, stopping.why if told < inf else None, answers, self._remover)
                    has_begun |= message.parent_id == request.id and message.type != "status"
                    if message.type == "input_request":
                        await self._recorder.show(showing.flush())
                        answers.ask(message)
                    self._take(message, showing)
                if now >= flushing.at or showing.size > MOST_UNFLUSHED:
                    await flushing.flush(has_more=message is not None)
                if now >= deadline:
                    stopping.ask("timeout")
                    deadline = inf
                # What is gone through again has happened: nothing can be stopped in it.
                if stopping.why is not None and told == inf and not flushing.is_again:
                    await self._stop(stopping.why)
                    told, was_early = now, not has_begun
                elif was_early and has_begun:
                    await self._client.interrupt()
                    was_early = False
                elif now >= told + stopping.grace_seconds:
                    await self._client.kernel.kill()
                    told = now
        except KernelDied as died:
            fault = Fault(ename="DeadKernel", evalue=str(died))
            status: ExecutionStatus = stopping.why or "dead_kernel"
            return CellRunOutcome(
                status=status, count=showing.count, fault=fault, notes=tuple(showing.notes), lives=False
            )

    async def _stop(self, why: Stop) -> None:
        await self._client.interrupt()
        await self._client.mark(msgspec.json.encode(StopNote(why)))

    def _take(self, message: KernelMessage, showing: ExecutionDisplays) -> None:
        self._widgets.take(message)
        showing.take(message)
        self._heard(message)


class _Answers:
    """Asks whoever is there for what a cell wants to know, while the cell may still be stopped."""

    def __init__(
        self,
        client: KernelClient,
        recorder: Recorder | None,
        execution: ExecutionId,
        asked: PromptHandler | None,
        answered: int = 0,
    ) -> None:
        # Without a recorder whoever answers has recorded it, under their own name.
        self._client, self._recorder, self._execution, self._asked = client, recorder, execution, asked
        self._task: asyncio.Task[None] | None = None
        self._answered = answered
        """So many questions come again that were answered."""
        self.unanswered: str | None = None
        """What it asked though nobody is there."""

    async def __aenter__(self) -> _Answers:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            await cancel_and_wait(self._task)

    def ask(self, question: KernelMessage) -> None:
        """Ask, and give the kernel the answer when it comes. Of a password only that it was asked for is kept."""
        if self._answered > 0:
            self._answered -= 1
            return
        prompt, password = str(question.content.get("prompt", "")), bool(question.content.get("password"))
        if self._asked is None:
            # It was told that nobody is there. Some kernels ask all the same, and would wait for ever.
            self.unanswered = prompt
            self._task = asyncio.ensure_future(self._client.interrupt())
            return
        self._task = asyncio.ensure_future(self._answer(self._asked, prompt, password))

    async def _answer(self, asked: PromptHandler, prompt: str, password: bool) -> None:
        try:
            text = await asked(prompt, password=password)
        except EOFError:
            # Nobody answers any more: the cell is told so, as a program at the end of its input is.
            await self._client.interrupt()
            return
        if self._recorder is not None:
            answer = None if password else text
            self._recorder.say(e.InputAnswered(execution=self._execution, prompt=prompt, answer=answer))
        self._client.answer_input(text)


async def _next(request: KernelRequest, until: float) -> KernelMessage | None:
    """The next message, or None when the time has come."""
    if request.has_come:
        # A timer for each of a million lines would cost more than the lines.
        return await anext(request)
    try:
        async with asyncio.timeout_at(until):
            return await anext(request)
    except TimeoutError:
        return None


async def _drain(request: KernelRequest, client: KernelClient) -> None:
    """Take all that comes of a request; stop it if it is not at its end, and its kernel if that does not listen."""
    loop = asyncio.get_running_loop()
    until, is_told = loop.time(), False
    while not request.done:
        message = await _next(request, until)
        # Its end may be among what an earlier runtime has heard.
        if message is not None and (client.goes_through_again or loop.time() < until):
            continue
        if is_told:
            await client.kernel.kill()
        elif not request.done:
            await client.interrupt()
        until, is_told = loop.time() + ABANDON_SECONDS, True


def _ended(
    showing: ExecutionDisplays, reply: KernelMessage, stopped: Stop | None, answers: _Answers, remover: Remover
) -> CellRunOutcome:
    """How it ended, by what the kernel says. An error after somebody stopped it is their doing."""
    content = reply.content
    number = content.get("execution_count")
    count = number if isinstance(number, int) else showing.count
    notes = tuple(showing.notes)
    if content.get("status") == "ok":
        if stopped != "timeout":
            return CellRunOutcome(status="ok", count=count, notes=notes)
        # It had its time. That it took the interrupt in its stride does not make it a success.
        return CellRunOutcome(status="timeout", count=count, fault=Fault(ename="Timeout", evalue=_LATE), notes=notes)
    fault = showing.fault or fault_in(content, remover)
    if not fault.ename:
        fault = _unsaid(answers.unanswered, remover)
    return CellRunOutcome(status=stopped or "error", count=count, fault=fault, notes=notes)


_CUT = (
    "What ran it was gone for a while, and it showed more than was kept meanwhile: how it ended is not known. "
    "What its cells had defined is still there."
)
_LATE = "It took too long, and came to its end only when it was interrupted."


def _unsaid(question: str | None, remover: Remover) -> Fault:
    """Why a cell ended, where its kernel does not say."""
    if question is None:
        return Fault(ename="Aborted", evalue="The kernel gave it up and did not say why.")
    asked = f"It asks for input, {one_line(remover.clean_text(question), 100)!r}, and nobody is there to answer."
    return Fault(ename="NoInput", evalue=asked)


# ---- When what a cell shows goes into the log


class FlushPolicy:
    """At every tick; or, where an execution is gone through again, as it was before."""

    def __init__(
        self, client: KernelClient, recorder: Recorder, showing: ExecutionDisplays, flight: Flight | None
    ) -> None:
        self._client, self._recorder, self.showing = client, recorder, showing
        self._loop = asyncio.get_running_loop()
        self.is_again = flight is not None
        self.was_stopped = flight is not None and flight.stopped is not None
        self._before = deque(flight.flushes if flight is not None else ())
        self._last = flight.last if flight is not None else 0
        self._marked = 0
        self.at = self._loop.time() + (0 if self.is_again else TICK_SECONDS)

    async def catch_up(self, number: float = inf) -> None:
        """Flush what had been flushed before this message came."""
        while self._before and self._before[0] < number:
            self._before.popleft()
            await self._recorder.show(self.showing.flush())
        self.is_again &= number <= self._last

    async def flush(self, *, has_more: bool) -> None:
        """Flush, and have it known before it is recorded: whoever goes through it again has to do it here, too."""
        if self.is_again and has_more and self.showing.size <= MOST_UNFLUSHED:
            return
        if not has_more:
            await self.catch_up()
        shown = self.showing.flush()
        if self._client.taken > self._marked and not self.is_again:
            self._marked = self._client.taken
            await self._client.mark(msgspec.json.encode(FlushNote(self._marked)))
        await self._recorder.show(shown)
        self.at = self._loop.time() + (0 if self.is_again else TICK_SECONDS)
