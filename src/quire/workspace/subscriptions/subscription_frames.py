"""The three things that a connection can watch, and the frames that each gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import TypeAlias

import msgspec

from ...core.ids import LogId
from ..identity import identities
from ..lanes.lanes import LaneListener
from ..wire.frames import Frame, Grown, LaneFrame
from .fanout import FeedCursor
from .log_channel import Cursor, EncodedPage

_encoder = msgspec.json.Encoder(enc_hook=str)  # the details of a fault may hold anything


def encoded(frame: Frame) -> str:
    """A frame as it is sent."""
    return _encoder.encode(frame).decode()


class OfLog:
    """A log that is followed."""

    def __init__(self, id: str, log: LogId, cursor: Cursor) -> None:
        self.log = log
        self.is_ready = False
        """Whether it was seen that whoever asks may read it."""
        self._id = id
        self._cursor = cursor
        self._is_first = True

    @property
    def is_due(self) -> bool:
        """Whether there is something to send."""
        return self.is_ready and (self._is_first or self._cursor.is_behind)

    async def take(self) -> str | None:
        """The next frame. The first one comes in any case, so that whoever asked knows that it is followed."""
        page = await self._cursor.take()
        if page is None and self._is_first:
            page = EncodedPage(self._cursor.seq, [], self._cursor.head)
        self._is_first = False
        return page.frame(self._id) if page is not None else None

    def stop(self) -> None:
        """Watch it no longer."""
        self._cursor.close()


class OfFeed:
    """The feed, as far as whoever follows it may read the logs."""

    log = None

    def __init__(
        self, id: str, cursor: FeedCursor, readable: Callable[[Collection[LogId]], Awaitable[set[LogId]]]
    ) -> None:
        self.is_ready = False
        self._id = id
        self._cursor = cursor
        self._readable = readable
        self._is_first = True

    @property
    def is_due(self) -> bool:
        """Whether there is something to send."""
        return self.is_ready and (self._is_first or self._cursor.is_behind)

    async def take(self) -> str | None:
        """The next frame. The first one comes in any case: it tells the position to go on from."""
        lines = await self._cursor.take()
        mine = await self._readable([line.log for line in lines])
        growth = [line for line in lines if line.log in mine]
        if not growth and not self._is_first:
            return None
        self._is_first = False
        return encoded(Grown(id=self._id, growth=growth, position=self._cursor.position))

    def stop(self) -> None:
        """Watch it no longer."""
        self._cursor.close()


class OfLane:
    """A lane that is listened to."""

    def __init__(self, id: str, log: LogId, listening: LaneListener) -> None:
        self.log = log
        self.is_ready = False
        self._id = id
        self._listening = listening

    @property
    def is_due(self) -> bool:
        """Whether there is something to send."""
        return self.is_ready and self._listening.is_behind

    async def take(self) -> str | None:
        """The next frame."""
        heard = self._listening.take()
        if heard is None:
            return None
        return encoded(LaneFrame(id=self._id, by=heard.by or identities.SYSTEM, message=heard.message))

    def stop(self) -> None:
        """Listen no longer."""
        self._listening.stop()


Watched: TypeAlias = OfLog | OfFeed | OfLane
