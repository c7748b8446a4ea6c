"""The feed, followed once for all who watch it in this process."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import cast

from ...core.errors import QuireError, Unavailable
from ...stores.store import Growth, Store, merge_by_log

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
