"""What runtimes said last of how they are and of what they wait for: for whoever comes after it was said.

Kept for moments and in memory, like all that is said on lanes: a server that begins anew has heard it
again within seconds. A runtime speaks for itself only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import monotonic
from typing import Any, TypeVar

import msgspec

from ...core.errors import BadInput
from ...core.ids import ActorId, ExecutionId, LogId, RuntimeId, actor_kind
from ...core.values import Json
from . import lane_messages

HEALTH_SECONDS = 30.0
ASKED_SECONDS = 10.0
"""How long what was said counts, unless it is said again."""
MOST = 10_000
"""So much is remembered of each kind: the oldest goes first."""


class _BoardEntry(msgspec.Struct, frozen=True):
    by: ActorId
    until: float


class PendingPrompt(_BoardEntry, frozen=True):
    """A question, and the runtime that asks it."""

    asked: lane_messages.Prompt
    is_elsewhere: bool = False
    """Whether that runtime is heard by way of another server."""


class _KnownRuntime(_BoardEntry, frozen=True):
    health: lane_messages.RuntimeHealth


K = TypeVar("K")
V = TypeVar("V")
N = TypeVar("N", bound=_BoardEntry)
_ON_STDIN: Any = lane_messages.Prompt | lane_messages.PromptAnswered


class Board:
    """What was heard in one process."""

    def __init__(self) -> None:
        self._health: dict[tuple[str, RuntimeId], _KnownRuntime] = {}
        self._asked: dict[tuple[str, ExecutionId], PendingPrompt] = {}
        self._news = asyncio.Event()

    def note(self, lane: str, message: Json, by: ActorId | None, *, is_elsewhere: bool = False) -> None:
        """Keep in mind what a runtime said; whatever else is said is none of its business."""
        log, _, name = lane.partition("/")
        if by is None or name not in (lane_messages.HEALTH, lane_messages.STDIN) or actor_kind(by) != "runtime":
            return
        try:
            if name == lane_messages.HEALTH:
                self._note_health(log, lane_messages.read(message, lane_messages.RuntimeHealth), by)
            else:
                self._note_asked(log, lane_messages.read(message, _ON_STDIN), by, is_elsewhere=is_elsewhere)
        except BadInput:
            return  # whoever listens hears it as it is

    def _note_health(self, log: str, health: lane_messages.RuntimeHealth, by: ActorId) -> None:
        if health.runtime == by:
            _put(self._health, (log, health.runtime), _KnownRuntime(by, monotonic() + HEALTH_SECONDS, health))

    def _note_asked(
        self, log: str, said: lane_messages.Prompt | lane_messages.PromptAnswered, by: ActorId, *, is_elsewhere: bool
    ) -> None:
        before = self._asked.get((log, said.execution))
        if isinstance(said, lane_messages.Prompt):
            _put(self._asked, (log, said.execution), PendingPrompt(by, monotonic() + ASKED_SECONDS, said, is_elsewhere))
            self._news.set()
        elif before is not None and before.by == by:
            del self._asked[log, said.execution]

    def health(self, log: LogId) -> dict[RuntimeId, lane_messages.RuntimeHealth]:
        """How the runtimes of a log are."""
        return {runtime: each.health for runtime, each in _of(self._health, log)}

    def runtimes(self) -> list[tuple[LogId, RuntimeId]]:
        """Who said lately how it is, in all logs."""
        now = monotonic()
        return [(LogId(log), runtime) for (log, runtime), each in self._health.items() if each.until >= now]

    def waiting(self, log: LogId) -> dict[ExecutionId, PendingPrompt]:
        """What is asked in a log."""
        return dict(_of(self._asked, log))

    def questions(self) -> list[tuple[LogId, lane_messages.Prompt]]:
        """What is asked in all logs."""
        now = monotonic()
        return [(LogId(log), each.asked) for (log, _), each in self._asked.items() if each.until >= now]

    async def until_asked(self, log: LogId, execution: ExecutionId, seconds: float) -> PendingPrompt | None:
        """What an execution asks, which may be said only now; None when it asks nothing."""
        try:
            async with asyncio.timeout(seconds):
                while (found := self.waiting(log).get(execution)) is None:
                    self._news.clear()
                    await self._news.wait()
                return found
        except TimeoutError:
            return None


def _put(there: dict[K, V], key: K, value: V) -> None:
    there.pop(key, None)
    there[key] = value
    while len(there) > MOST:
        del there[next(iter(there))]


def _of(there: dict[tuple[str, K], N], log: LogId) -> Iterator[tuple[K, N]]:
    now = monotonic()
    for key, each in list(there.items()):
        if each.until < now:
            del there[key]
        elif key[0] == log:
            yield key[1], each
