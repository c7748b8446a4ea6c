"""What is worth saying and not worth keeping: presence, selections, prompts, progress.

A lane is a name, `LOG/lane` for what is about a log; who listens gets what is said while they listen. Nothing is
stored, and a listener that does not keep up misses the oldest, never slows anybody down (rule 5). Lanes reach the
tasks of one process; a server carries them over its sockets to others, and to other servers of the same store
(lane_exchange.py).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

import msgspec

from ...core.ids import ActorId, LogId
from ...core.values import Json
from .presence import Presence
from .runtime_status import Board

KEPT = 1000
"""How far behind a listener may fall before it misses something."""


Carry: TypeAlias = Callable[[str, Json, ActorId, ActorId | None], None]
"""Tells others the lane, the message, by whom it is, and whom it is for if not for all."""


class LaneEntry(msgspec.Struct, frozen=True):
    """What was said, and by whom as far as a door knows; None: somebody in this process."""

    message: Json
    by: ActorId | None = None


class Lanes:
    """The lanes of one workspace."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[LaneListener]] = {}
        self.board = Board()
        """What runtimes said last."""
        self.presence = Presence()
        """Where windows are."""
        self.carries: dict[LogId | None, Carry] = {}
        """What tells other processes what is said here: of one log, or of all (None)."""

    def say(self, lane: str, message: Json, by: ActorId | None = None, *, to: ActorId | None = None) -> None:
        """Tell everybody who listens now, or one of them alone. Only a door, which knows, says by whom."""
        is_here = to is not None and self.listens(lane, to)
        self.deliver(lane, message, by, to=to)
        carry = self.carries.get(LogId(lane.partition("/")[0])) or self.carries.get(None)
        if carry is not None and by is not None and not is_here:
            carry(lane, message, by, to)

    def deliver(
        self,
        lane: str,
        message: Json,
        by: ActorId | None,
        *,
        to: ActorId | None = None,
        is_elsewhere: bool = False,
    ) -> None:
        """The same for those who listen in this process alone; `is_elsewhere`: it was said at another server."""
        heard = LaneEntry(message, by)
        for listener in self._listeners.get(lane, ()):
            if to is None or listener.who == to:
                listener.hear(heard)
        if to is None:
            self.board.note(lane, message, by, is_elsewhere=is_elsewhere)

    def listens(self, lane: str, who: ActorId) -> bool:
        """Whether somebody hears what is said on a lane."""
        return any(listener.who == who for listener in self._listeners.get(lane, ()))

    async def hear(self, lane: str, who: ActorId | None = None) -> AsyncIterator[LaneEntry]:
        """Yield what is said from the first step on, for as long as somebody asks for more."""
        woken = asyncio.Event()
        listening = self.listening(lane, woken.set, who)
        try:
            while True:
                while (heard := listening.take()) is None:
                    woken.clear()
                    await woken.wait()
                yield heard
        finally:
            listening.stop()

    def listening(self, lane: str, wake: Callable[[], None], who: ActorId | None = None) -> LaneListener:
        """Listen from now on; `wake` is called when there is something to take."""
        listener = LaneListener(self, lane, wake, who)
        self._listeners.setdefault(lane, set()).add(listener)
        return listener

    def leave(self, listener: LaneListener) -> None:
        """Listen no longer."""
        there = self._listeners.get(listener.lane, set())
        there.discard(listener)
        if not there:
            self._listeners.pop(listener.lane, None)


class LaneListener:
    """One who listens to a lane, and what they have not taken yet."""

    def __init__(self, lanes: Lanes, lane: str, wake: Callable[[], None], who: ActorId | None) -> None:
        self.lane, self.who = lane, who
        self._lanes = lanes
        self._wake = wake
        self._heard: deque[LaneEntry] = deque(maxlen=KEPT)

    @property
    def is_behind(self) -> bool:
        """Whether there is something to take."""
        return bool(self._heard)

    def hear(self, heard: LaneEntry) -> None:
        """Keep what was said until it is taken."""
        self._heard.append(heard)
        self._wake()

    def take(self) -> LaneEntry | None:
        """The next thing that was said; None when that was all."""
        return self._heard.popleft() if self._heard else None

    def stop(self) -> None:
        """Listen no longer."""
        self._lanes.leave(self)


class OwnLanes:
    """The lanes as one actor has them: says and hears under its own name."""

    def __init__(self, lanes: Lanes, who: ActorId) -> None:
        self._lanes, self._who = lanes, who

    def say(self, lane: str, message: Json) -> None:
        """Tell everybody who listens now. Nothing is kept."""
        self._lanes.say(lane, message, self._who)

    def hear(self, lane: str) -> AsyncIterator[LaneEntry]:
        """Yield what is said, and by whom, for as long as somebody asks for more."""
        return self._lanes.hear(lane, self._who)

    async def listen(self, lane: str) -> AsyncIterator[Json]:
        """Yield what is said, for as long as somebody asks for more."""
        async for heard in self.hear(lane):
            yield heard.message
