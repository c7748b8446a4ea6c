"""A runtime on the lanes of its notebook: what it says of itself, asks, and answers.

Nothing of this is kept, and nothing of the work waits for it: without lanes cells run all the same. Whoever speaks here may
run, says the server; what they say is taken for nothing but what it is, and what makes no sense is told where it was said.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import msgspec

from ...core.errors import BadInput, QuireError
from ...core.events import Entry, RuntimeAttached, RuntimeDetached
from ...core.ids import ExecutionId, LogId, RuntimeId, actor_kind
from ...core.values import Json
from ...kernels.kernel_client import KernelClient
from ...kernels.resource_usage import Meter
from ...outputs.media import fields_in, valid
from ...outputs.secrets import Remover
from ...workspace.clock import now
from ...workspace.lanes import lane_messages
from ...workspace.lanes.lanes import LaneEntry
from ...workspace.protocol import LaneAccess, Workspace
from . import comms
from .comms import MOST_SAID, Comms
from .run_cell import PromptHandler
from .stdin import Questions

MOST_ASKED = 8
"""So many small questions wait at once, and so many reach a kernel that runs a cell: they stand in its way afterwards."""
HEALTH_SECONDS = 2.0
QUIET_SECONDS = 10.0
"""How often it says how it is: while it works or somebody talked to it, and else."""
LATELY_SECONDS = 60.0
LEAST_SECONDS = 0.5
"""What changes faster than this is said once."""
AGAIN_SECONDS = 5.0


class Self(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime is called."""

    id: RuntimeId
    name: str = ""
    language: str = ""
    environment: dict[str, Json] = {}
    memory_limit_bytes: int | None = None

    @property
    def names(self) -> set[str]:
        """By what somebody may mean it."""
        return {self.id, self.name, self.language} - {""}


class AnswerTimeouts(msgspec.Struct, frozen=True, kw_only=True):
    """How long a runtime waits for an answer."""

    kernel_seconds: float = 2.0
    """How long a kernel may take to answer a completion or an inspection; then it is busy."""
    secret_seconds: float = 5.0
    """How long to wait for a password that the log says was given; then it is asked for again."""


_NORMAL = AnswerTimeouts()


class Speaker:
    """Says, asks and answers for one runtime in one notebook."""

    def __init__(
        self,
        runtime: Workspace,
        lanes: LaneAccess,
        log: LogId,
        me: Self,
        remover: Remover,
        tell: Callable[[str], None] = lambda message: None,
        patience: AnswerTimeouts = _NORMAL,
    ) -> None:
        self._patience = patience
        self._lanes, self._log, self._me, self._remover, self._tell = lanes, log, me, remover, tell
        self._loop = asyncio.get_running_loop()
        self._questions = Questions(
            runtime, log, lambda message: self._say(lane_messages.STDIN, message), remover, patience.secret_seconds
        )
        self._client: KernelClient | None = None
        self._comms: Comms | None = None
        self._meter: Meter | None = None
        self._running: ExecutionId | None = None
        self._attached: list[RuntimeId] = []
        self._asking: set[asyncio.Task[None]] = set()
        self._forwarded = 0
        """How many small questions the kernel got since the cell began."""
        self._state: tuple[lane_messages.State, str] = ("starting", now())
        self._change = asyncio.Event()
        self._last_word = -LATELY_SECONDS

    # ---- What the runtime tells

    def meets(self, client: KernelClient | None) -> None:
        """There is a kernel, or none for the moment."""
        self._client = client
        self._comms = None
        self._meter = None
        if client is not None:
            self._comms = Comms(client, self._remover, lambda message: self._say(lane_messages.COMMS, message))
            self._meter = Meter(client.kernel.pid) if client.kernel.pid is not None else None
        self._look()

    @asynccontextmanager
    async def running(self, execution: ExecutionId) -> AsyncGenerator[PromptHandler]:
        """An execution runs for as long as this takes; gives how its cell asks."""
        self._running, self._forwarded = execution, 0
        self._look()
        try:
            yield self._questions.of(execution)
        finally:
            self._running = None
            self._look()

    def goes_on(self, execution: ExecutionId, answered: int) -> None:
        """An execution of an earlier process goes on; the kernel had so many answers."""
        self._questions.goes_on(execution, answered)

    def begins(self, attached: list[RuntimeId]) -> None:
        """These runtimes are attached, in this order."""
        self._attached = attached

    def hear(self, entry: Entry) -> None:
        """The log has grown."""
        match entry.event:
            case RuntimeAttached(runtime=runtime):
                self._attached = [*(each for each in self._attached if each != runtime), runtime]
            case RuntimeDetached(runtime=runtime):
                self._attached = [each for each in self._attached if each != runtime]
            case _:
                self._questions.recorded(entry)

    # ---- Lanes

    async def run(self) -> None:
        """Listen, and say how it is, until cancelled."""
        while True:
            try:
                await self._run()
            except Exception as error:  # whatever it is, cells run on
                self._tell(f"Speaking on the lanes failed, and begins again: {error}")
                await asyncio.sleep(AGAIN_SECONDS)

    async def _run(self) -> None:
        lanes: dict[str, Callable[[LaneEntry], None]] = {
            lane_messages.STDIN: self._on_stdin,
            lane_messages.COMPLETION: lambda heard: self._on_small(lane_messages.COMPLETION, heard),
            lane_messages.INSPECTION: lambda heard: self._on_small(lane_messages.INSPECTION, heard),
            lane_messages.COMMS: self._on_comms,
        }
        try:
            async with asyncio.TaskGroup() as group:
                for lane, take in lanes.items():
                    group.create_task(self._listen(lane, take))
                group.create_task(self._report())
        finally:
            for task in self._asking:
                task.cancel()

    async def _listen(self, lane: str, take: Callable[[LaneEntry], None]) -> None:
        while True:
            with contextlib.suppress(QuireError):
                async for heard in self._lanes.hear(f"{self._log}/{lane}"):
                    self._take(lane, heard, take)
            await asyncio.sleep(AGAIN_SECONDS)

    def _take(self, lane: str, heard: LaneEntry, take: Callable[[LaneEntry], None]) -> None:
        # What other runtimes say is not for this one; nor is its own word, which comes back to it.
        if heard.by is None or actor_kind(heard.by) == "runtime":
            return
        self._last_word = self._loop.time()
        try:
            take(heard)
        except BadInput as error:
            self._refuse(lane, heard.message, str(error))

    def _refuse(self, lane: str, message: Json, why: str) -> None:
        fields = cast("dict[str, Any]", message) if isinstance(message, dict) else {}
        id, execution = (_short(fields.get(name)) for name in ("id", "execution"))
        self._say(lane, lane_messages.ReplyFailed(why=self._remover.clean_text(why[:1000]), id=id, execution=execution))

    def _say(self, lane: str, message: lane_messages.LaneMessage) -> None:
        self._lanes.say(f"{self._log}/{lane}", lane_messages.said(message))

    def _is_meant(self, wanted: str | None) -> bool:
        """Whether this runtime is the one to answer; without a name that is the first that is attached."""
        if wanted is not None:
            return wanted in self._me.names
        return self._me.id in (self._attached or [self._me.id])[:1]

    # ---- stdin

    def _on_stdin(self, heard: LaneEntry) -> None:
        answer = lane_messages.read(heard.message, lane_messages.SecretAnswer)
        if heard.by is not None and not self._questions.told(answer, heard.by):
            raise BadInput(f"Execution {answer.execution[:80]!r} does not ask that. Listen for what it asks.")

    # ---- Small questions

    def _on_small(self, lane: str, heard: LaneEntry) -> None:
        ask = lane_messages.read(heard.message, lane_messages.Ask)
        if not self._is_meant(ask.runtime):
            return
        if ask.position > len(ask.code):
            raise BadInput(f"Position {ask.position:,} is past the end of the code, which has {len(ask.code):,}.")
        # A cell that runs is not to be followed by a thousand questions that nobody waits for any more.
        if len(self._asking) >= MOST_ASKED or (self._running is not None and self._forwarded >= MOST_ASKED):
            self._say(lane, lane_messages.Busy(id=ask.id))
            return
        self._forwarded += 1
        task = asyncio.ensure_future(self._answer(lane, ask))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _answer(self, lane: str, ask: lane_messages.Ask) -> None:
        client = self._client
        if client is None or not client.lives:
            self._say(lane, lane_messages.ReplyFailed(id=ask.id, why="There is no kernel at the moment."))
            return
        asked: Awaitable[dict[str, Json]] = (
            client.complete(ask.code, ask.position)
            if lane == lane_messages.COMPLETION
            else client.inspect(ask.code, ask.position, ask.detail)
        )
        try:
            async with asyncio.timeout(self._patience.kernel_seconds):
                content = await asked
        except TimeoutError:
            self._say(lane, lane_messages.Busy(id=ask.id))
        except QuireError as error:
            self._say(lane, lane_messages.ReplyFailed(id=ask.id, why=str(error)[:1000]))
        else:
            self._say(lane, _fitting(ask.id, content, self._remover))

    # ---- comms

    def _on_comms(self, heard: LaneEntry) -> None:
        said = cast("comms.Said", lane_messages.read(heard.message, comms.SAID))
        wanted = said.runtime if isinstance(said, lane_messages.CommOpen) else None
        if self._comms is not None and (self._comms.knows(said.comm) or self._is_meant(wanted)):
            self._comms.send(said)

    # ---- Health

    def _look(self) -> None:
        """See in which state it is; what changed is said soon."""
        state: lane_messages.State = "busy" if self._running is not None else "idle"
        if self._client is None:
            state = "starting"
        elif not self._client.lives:
            state = "dead"
        if state != self._state[0]:
            self._state = (state, now())
            self._change.set()

    async def _report(self) -> None:
        while True:
            self._look()
            self._change.clear()
            self._say(lane_messages.HEALTH, self.health())
            await asyncio.sleep(LEAST_SECONDS)
            is_lively = self._running is not None or self._last_word + LATELY_SECONDS > self._loop.time()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout((HEALTH_SECONDS if is_lively else QUIET_SECONDS) - LEAST_SECONDS):
                    await self._change.wait()

    def health(self) -> lane_messages.RuntimeHealth:
        """How it is now."""
        usage = self._meter.look() if self._meter is not None else None
        kernel = self._client.kernel if self._client is not None else None
        return lane_messages.RuntimeHealth(
            runtime=self._me.id,
            name=self._me.name,
            language=self._me.language,
            state=self._state[0],
            execution=self._running,
            kernel=kernel.id if kernel is not None else None,
            pid=kernel.pid if kernel is not None else None,
            memory_bytes=usage.memory_bytes if usage is not None else None,
            memory_limit_bytes=self._me.memory_limit_bytes,
            cpu_percent=usage.cpu_percent if usage is not None else None,
            environment=self._me.environment,
            since=self._state[1],
        )


def _short(value: Any) -> str | None:
    return value if isinstance(value, str) and len(value) <= 200 else None


def _fitting(id: str, content: dict[str, Json], remover: Remover) -> lane_messages.KernelReply:
    """An answer that a lane carries: of too many matches the first, of too long a text its beginning."""
    try:
        clean = fields_in(remover.clean(valid(content)))
        made = lane_messages.KernelReply(id=id, content=clean)
        if len(msgspec.json.encode(made)) <= MOST_SAID:
            return made
    except (RecursionError, ValueError):
        return lane_messages.KernelReply(id=id, content={"status": "error"}, cut=True)
    return lane_messages.KernelReply(id=id, content=_cut(clean), cut=True)


def _cut(content: dict[str, Json]) -> dict[str, Json]:
    kept = {name: content[name] for name in ("status", "found", "cursor_start", "cursor_end") if name in content}
    room, matches = MOST_SAID // 2, content.get("matches")
    if isinstance(matches, list):
        fitting: list[Json] = []
        for match in cast("list[Json]", matches):
            room -= len(msgspec.json.encode(match)) + 1
            if room < 0:
                break
            fitting.append(match)
        return {**kept, "matches": fitting, "metadata": {}}
    data = content.get("data")
    plain = cast("dict[str, Json]", data).get("text/plain") if isinstance(data, dict) else None
    text = plain[: room // 6] if isinstance(plain, str) else ""
    return {**kept, "data": {"text/plain": text}, "metadata": {}}
