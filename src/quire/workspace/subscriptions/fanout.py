"""Everybody on the same live logs: the store and its feed are followed once for all who watch something in this process.

What is recorded is read and encoded once and kept as bytes, as long as somebody needs it and no longer. Whoever
watches has a cursor, a number in the log, and takes what came after it when it is ready to: who is slow gets more at
a time, and there is no queue that could grow. A cursor that is further behind than what is kept here is fed
from the store, page by page, and nobody else waits for it.

While little happens news is read and shown at once; while much does, it is gathered for a tick first. Before it is
shown, `look` sees whether all may still read: nobody is ever given what was recorded after their right to it ended.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from typing import cast

from ...core.errors import QuireError, Unavailable
from ...core.ids import LogId
from ...stores.store import Growth, Store, merge_by_log
from ..wire.frames import TICK_MILLISECONDS, Grown, encoded_frame
from .log_channel import Channel, Cursor

TICK_SECONDS = TICK_MILLISECONDS / 1000
AT_ONCE = 6
"""So much news in a row is shown as it comes: a cell that is asked for, taken, begun, shows something and ends is five."""
MUCH = 5
"""When so many events have come together it is not quiet: more will, and they are gathered."""
FEW, OFTENER = 20, 5
"""With fewer who watch, news may be shown oftener than once a tick: so many times as often at most."""

Look = Callable[[Collection[LogId]], Awaitable[None]]
"""Sees whether all may still read what they watch; the logs are those that have just begun."""


class Fanout:
    """All logs that are watched in this process, and the feed."""

    def __init__(self, store: Store, look: Look) -> None:
        self._store = store
        self._look = look
        self._channels: dict[LogId, Channel] = {}
        self._feed: FeedChannel | None = None
        self._position = 0
        """As far as growth was noticed."""
        self._starting: asyncio.Future[None] | None = None
        self._following: asyncio.Task[None] | None = None

    async def watch(self, log: LogId, since: int, wake: Callable[[], None]) -> Cursor:
        """Begin to watch a log after a number. There need not be such a log yet."""
        channel = self._channels.get(log)
        if channel is None:
            channel = self._channels[log] = Channel(self._store, log, self._leave)
        return await channel.enter(since, wake, self._start)

    async def watch_feed(self, since: int | None, wake: Callable[[], None]) -> FeedCursor:
        """Begin to watch which logs grow, after a position or from now on."""
        if self._feed is None:
            self._feed = FeedChannel(self._store, lambda: self._position, self._leave)
        return await self._feed.enter(since, wake, self._start)

    @property
    def held_bytes(self) -> int:
        """How much memory all of it takes."""
        return sum(channel.held_bytes for channel in self._channels.values())

    @property
    def _watchers(self) -> int:
        return sum(channel.watchers for channel in self._channels.values())

    @property
    def logs(self) -> Collection[LogId]:
        """Those that somebody watches."""
        return self._channels.keys()

    def _leave(self, channel: Channel | FeedChannel) -> None:
        if channel is self._feed:
            self._feed = None
        elif isinstance(channel, Channel) and self._channels.get(channel.log) is channel:
            del self._channels[channel.log]
        if not self._channels and self._feed is None:
            self._stop()

    # ---- Following the store

    async def _start(self) -> None:
        """See to it that growth is noticed from now on."""
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._begin())
        await asyncio.shield(self._starting)

    async def _begin(self) -> None:
        try:
            self._position = await self._store.position()
        except BaseException:
            self._starting = None
            raise
        self._following = asyncio.ensure_future(self._follow())

    def _stop(self) -> None:
        for task in (self._starting, self._following):
            if task is not None:
                task.cancel()
        self._starting = self._following = None

    async def _follow(self) -> None:
        feed = cast("AsyncGenerator[list[Growth]]", self._store.feed(self._position))
        coming = _next(feed)
        grown: list[Channel] = []
        pace = _Pace()
        try:
            while True:
                if not grown:
                    await asyncio.wait([coming])
                await pace.wait(_size(coming.result()) if coming.done() and not grown else MUCH, self._watchers / FEW)
                if coming.done():
                    grown = [*{**dict.fromkeys(grown), **dict.fromkeys(self._note(coming.result()))}]
                    coming = _next(feed)
                await self._show(grown)
                pace.begin()
                grown = [channel for channel in grown if channel.has_more]
        except StopAsyncIteration:
            self._fail(_closing())
        except QuireError as error:
            self._fail(error)
        finally:
            coming.cancel()
            await asyncio.wait([coming])
            await feed.aclose()

    def _note(self, lines: list[Growth]) -> list[Channel]:
        """The watched logs among those that grew."""
        self._position = lines[-1].position
        if self._feed is not None:
            self._feed.add(lines)
        return [channel for line in lines if (channel := self._channels.get(line.log)) is not None]

    async def _show(self, grown: list[Channel]) -> None:
        """Read, look, and let everybody have it."""
        if not grown and self._feed is None:
            return
        begun = [channel.log for channel in grown if not channel.shown]
        await asyncio.gather(*(channel.read_on() for channel in grown))
        position = self._position
        await self._look(begun)
        for channel in grown:
            channel.show()
        if self._feed is not None:
            self._feed.show(position)

    def _fail(self, error: QuireError) -> None:
        """Tell everybody that there will be nothing more. Whoever asks again begins anew."""
        self._starting = self._following = None
        channels = [*self._channels.values(), *([self._feed] if self._feed is not None else [])]
        self._channels.clear()
        self._feed = None
        for channel in channels:
            channel.fail(error)

    async def close(self) -> None:
        """Let go of the store."""
        following = self._following
        self._fail(_closing())
        if following is not None:
            following.cancel()
            await asyncio.wait([following])


class _Pace:
    """A tick apart in the long run, and at once after a quiet moment."""

    def __init__(self) -> None:
        self._clock = asyncio.get_running_loop().time
        self._left, self._looked = float(AT_ONCE), self._clock()

    def begin(self) -> None:
        """Count from now: what it took to show something was no quiet moment."""
        self._looked = self._clock()

    async def wait(self, news: int, cost: float) -> None:
        """Wait until it is time to show so many events, which costs so much: 1 is a tick."""
        cost = min(max(cost, 1 / OFTENER), 1.0)
        quiet = (self._clock() - self._looked) / TICK_SECONDS
        self._left = min(self._left + quiet, AT_ONCE)
        if news >= MUCH or self._left < cost / 2:
            await asyncio.sleep(cost * TICK_SECONDS)
        else:
            self._left -= cost


def _size(lines: list[Growth]) -> int:
    return sum(line.seq - line.first + 1 for line in lines)


def _next(feed: AsyncGenerator[list[Growth]]) -> asyncio.Task[list[Growth]]:
    return asyncio.ensure_future(anext(feed))


def _closing() -> Unavailable:
    return Unavailable("Nothing is followed any more: this server is closing. Connect again.")


# ---- The feed, as long as somebody watches it


KEPT = 4096
"""How many lines are kept for those who are behind; beyond that they read the store's."""


class FeedRing:
    """The last lines of the feed, up to the position `head`."""

    def __init__(self, head: int = 0) -> None:
        self.head = head
        self.start = head
        """After this position, everything is kept."""
        self._lines: list[Growth] = []

    def add(self, lines: list[Growth]) -> None:
        """Keep the next lines, and let go of the oldest."""
        self._lines += lines
        self.head = lines[-1].position
        if len(self._lines) > KEPT:
            self.start = self._lines[-KEPT - 1].position
            del self._lines[:-KEPT]

    def after(self, since: int, until: int) -> list[Growth]:
        """The lines with since < position <= until."""
        return [line for line in self._lines if since < line.position <= until]


class FeedCursor:
    """How far somebody has come in the feed."""

    def __init__(self, channel: FeedChannel, wake: Callable[[], None]) -> None:
        self.position = 0
        self.wake = wake
        self._channel = channel

    @property
    def is_behind(self) -> bool:
        """Whether there is something to take."""
        return self.position < self._channel.shown or self._channel.fault is not None

    async def take(self) -> list[Growth]:
        """Go on: one line for each log that grew."""
        channel = self._channel
        if channel.fault is not None:
            raise channel.fault
        if not self.is_behind:
            return []
        if self.position >= channel.ring.start:
            found, self.position = channel.ring.after(self.position, channel.shown), channel.shown
        else:
            found = await channel.stored(self.position)
            self.position = found[-1].position
        return merge_by_log(found)

    def close(self) -> None:
        """Need nothing more of it."""
        self._channel.leave(self)


class FeedChannel:
    """The feed, as long as somebody watches it."""

    def __init__(self, store: Store, noticed: Callable[[], int], left: Callable[[FeedChannel], None]) -> None:
        self.ring = FeedRing()
        self.shown = 0
        self.fault: QuireError | None = None
        self._store = store
        self._noticed = noticed
        self._left = left
        self._cursors: dict[FeedCursor, None] = {}
        self._is_open = False

    async def enter(
        self, since: int | None, wake: Callable[[], None], start: Callable[[], Awaitable[None]]
    ) -> FeedCursor:
        """Begin to watch after a position, or from now on; `start` sees to it that growth is noticed."""
        cursor = FeedCursor(self, wake)
        self._cursors[cursor] = None
        try:
            await start()
            self._open()
            cursor.position = await self._store.position() if since is None else since
        except BaseException:
            self.leave(cursor)
            raise
        return cursor

    def _open(self) -> None:
        """Without waiting for anything: what is noticed next comes right behind."""
        if not self._is_open:
            self.ring = FeedRing(self._noticed())
            self.shown = self.ring.head
            self._is_open = True

    def leave(self, cursor: FeedCursor) -> None:
        """End watching."""
        self._cursors.pop(cursor, None)
        if not self._cursors:
            self._left(self)

    def add(self, lines: list[Growth]) -> None:
        """Keep what grew."""
        if self._is_open:
            self.ring.add(lines)

    async def stored(self, since: int) -> list[Growth]:
        """What grew after a position that is further back than what is kept."""
        async with contextlib.aclosing(cast("AsyncGenerator[list[Growth]]", self._store.feed(since))) as pages:
            async for lines in pages:
                return lines
        raise Unavailable("The feed is followed no longer: this server is closing. Connect again.")

    def fail(self, error: QuireError) -> None:
        """Tell everybody that there will be nothing more."""
        self.fault = error
        self._wake()

    def show(self, until: int) -> None:
        """Let everybody have what came up to there."""
        self.shown = until
        self._wake()

    def _wake(self) -> None:
        for cursor in list(self._cursors):
            cursor.wake()


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
        return encoded_frame(Grown(id=self._id, growth=growth, position=self._cursor.position))

    def stop(self) -> None:
        """Watch it no longer."""
        self._cursor.close()
