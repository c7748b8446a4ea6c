"""What is asked for over a socket, and how far it got: enough to ask for the rest over another one.

A stream keeps what came until somebody takes it. One whose taker falls behind is stopped at the server, and asked
for again from where it is when all of it was taken: nobody else on the socket waits, and nothing piles up.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from typing import Generic, TypeVar

from ...core.errors import QuireError
from ...core.events import Entry
from ...core.ids import LogId
from ...stores.store import Growth
from ..lanes.lanes import KEPT, LaneEntry
from ..wire import frames
from ..wire.frames import Events, FromServer, Grown, LaneFrame, ToServer

T = TypeVar("T")
MOST_BYTES = 8 << 20
"""How much may wait for one taker."""


class OutOfStep(Exception):
    """A server sent something that does not follow on what it sent before."""


class RemoteStream(ABC, Generic[T]):
    """Something that a server goes on sending."""

    id = ""
    """The name under which it is asked for now: another one over each connection."""
    paused = False

    def __init__(self) -> None:
        self._pages: deque[T] = deque()
        self._bytes = 0
        self._fault: QuireError | None = None
        self._news = asyncio.Event()

    @abstractmethod
    def request(self) -> ToServer:
        """How to ask for what is still to come."""

    @abstractmethod
    def _read(self, frame: FromServer) -> T | None:
        """What a frame brings; None when there is nothing in it."""

    def take(self, frame: FromServer, size: int) -> None:
        """Keep what came."""
        page = self._read(frame)
        if page is not None:
            self._pages.append(page)
            self._bytes += size
            self._news.set()

    @property
    def is_full(self) -> bool:
        """Whether so much is waiting that no more should come."""
        return self._bytes > MOST_BYTES

    @property
    def is_empty(self) -> bool:
        """Whether all that came was taken."""
        return not self._pages

    def fail(self, fault: QuireError) -> None:
        """There will be no more, and why."""
        self._fault = fault
        self._news.set()

    async def next(self) -> T:
        """Wait for what comes next. What came before a fault is taken before it is raised."""
        while not self._pages:
            if self._fault is not None:
                raise self._fault
            self._news.clear()
            await self._news.wait()
        page = self._pages.popleft()
        if not self._pages:
            self._bytes = 0
        return page


class LogStream(RemoteStream[list[Entry]]):
    """The entries of a log."""

    def __init__(self, log: LogId, since: int) -> None:
        super().__init__()
        self._log, self._seen = log, since

    def request(self) -> ToServer:
        """Go on after the last number."""
        return frames.Follow(id=self.id, log=self._log, since=self._seen)

    def _read(self, frame: FromServer) -> list[Entry] | None:
        if not isinstance(frame, Events):
            return None
        for entry in frame.entries:
            if entry.log != self._log or entry.seq != self._seen + 1:
                raise OutOfStep(f"Event {self._seen + 1} of log {self._log} was due, and {entry.seq} came")
            self._seen = entry.seq
        return [frames.to_entry(entry) for entry in frame.entries] or None


class FeedStream(RemoteStream[list[Growth]]):
    """Which logs grow."""

    def __init__(self, since: int) -> None:
        super().__init__()
        self._seen = since

    def request(self) -> ToServer:
        """Go on after the last position."""
        return frames.FollowFeed(id=self.id, since=self._seen)

    def _read(self, frame: FromServer) -> list[Growth] | None:
        if not isinstance(frame, Grown):
            return None
        positions = [growth.position for growth in frame.growth]
        if positions and min(positions) <= self._seen:
            raise OutOfStep(f"A position after {self._seen} was due, and {min(positions)} came")
        self._seen = max(positions, default=self._seen)
        return frame.growth or None


class LaneStream(RemoteStream[LaneEntry]):
    """What is said on a lane. Of what nobody takes the oldest is missed, as on every lane."""

    def __init__(self, log: LogId, lane: str) -> None:
        super().__init__()
        self._pages = deque(maxlen=KEPT)
        self._log, self._lane = log, lane

    def request(self) -> ToServer:
        """Whatever is said from now on."""
        return frames.Listen(id=self.id, log=self._log, lane=self._lane)

    def _read(self, frame: FromServer) -> LaneEntry | None:
        return LaneEntry(frame.message, frame.by) if isinstance(frame, LaneFrame) else None
