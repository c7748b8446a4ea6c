"""One log that somebody watches: its end as bytes, and how far each of them has come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from ...core.chain import Record
from ...core.errors import QuireError, Unavailable
from ...core.ids import LogId
from ...stores.store import PAGE_BYTES, Store, is_full
from ..tasks import SingleFlight
from ..wire.frames import from_record

RING_ENTRIES = 4096
RING_BYTES = 4 << 20
"""How much of a log is kept for those who are behind; beyond that they are fed from the store."""
SLACK_BYTES = 64 << 10
"""How much is kept though nobody needs it: for whoever comes back after a short while."""
FRAME_BYTES = 1 << 20
"""How many bytes of entries go into one frame; a single entry may be larger."""


class EncodedPage:
    """Entries as they travel. All who are at the same number are given the same page."""

    __slots__ = ("_frame", "_id", "_tail", "body", "last", "since")

    def __init__(self, since: int, parts: list[bytes], head: int) -> None:
        self.since = since
        self.last = since + len(parts)
        self.body = b",".join(parts)
        self._tail = b'],"head":%d}' % head
        self._id: str | None = None
        self._frame = ""

    def frame(self, id: str) -> str:
        """The frame `events` for what was asked for under this id. Most clients choose the same: it is kept for the next."""
        if id != self._id:
            start = b'{"type":"events","id":%b,"entries":[' % msgspec.json.encode(id)
            self._frame = b"".join((start, self.body, self._tail)).decode()
            self._id = id
        return self._frame


class Ring:
    """The entries up to `head`, the last ones of them as bytes."""

    def __init__(self, head: int = 0) -> None:
        self.head = head
        self.size = 0
        self._parts: list[bytes] = []

    @property
    def first(self) -> int:
        """The number of the first entry that is kept."""
        return self.head - len(self._parts) + 1

    def add(self, encoded: bytes) -> None:
        """Keep the next entry."""
        self._parts.append(encoded)
        self.head += 1
        self.size += len(encoded)

    def clear(self) -> None:
        """Keep none of what there is."""
        self._parts.clear()
        self.size = 0

    def forget(self, until: int) -> None:
        """Let go of what nobody needs (up to that number), but for a little; and of the oldest beyond the bounds."""
        count, size = 0, self.size
        for number, part in enumerate(self._parts, self.first):
            is_too_much = size > RING_BYTES or len(self._parts) - count > RING_ENTRIES
            if not is_too_much and (number > until or size <= SLACK_BYTES):
                break
            count += 1
            size -= len(part)
        del self._parts[:count]
        self.size = size

    def after(self, since: int, until: int) -> list[bytes]:
        """The entries with since < number <= until, as many as fit into a frame and one at least."""
        parts: list[bytes] = []
        size = 0
        for part in self._parts[since + 1 - self.first : max(0, until + 1 - self.first)]:
            size += len(part)
            if parts and size > FRAME_BYTES:
                break
            parts.append(part)
        return parts


PAGES = 8
WARM_SECONDS = 0.1
"""How many pages are kept for others at the same number, and for how long after a tick."""
AT_ONCE = 2000
"""How many records are read when a log has grown."""
FIRST_LIMIT = 256
MOST = 5000
"""How many records are read for one page of somebody who is behind: so many at first, and so many at most."""

_encoder = msgspec.json.Encoder()


# ---- Who watches


class Cursor:
    """How far somebody has come in a log. `wake` is called when there may be more."""

    def __init__(self, channel: Channel, since: int, wake: Callable[[], None]) -> None:
        self.seq = since
        self.wake = wake
        self._channel = channel
        self._limit = FIRST_LIMIT

    @property
    def head(self) -> int:
        """The last number of the log that is known here."""
        return self._channel.ring.head

    @property
    def is_behind(self) -> bool:
        """Whether there is something to take."""
        return self.seq < self._channel.shown or self._channel.fault is not None

    async def take(self) -> EncodedPage | None:
        """Go on to what comes next: as much as fits into a frame."""
        channel = self._channel
        if channel.fault is not None:
            raise channel.fault
        if not self.is_behind:
            return None
        page = channel.kept_page(self.seq)
        if page is None:
            page = await channel.stored_page(self.seq, self._limit)
            average = len(page.body) // max(1, page.last - page.since) + 1
            # A few times more at most: the next ones may be much larger than these.
            self._limit = max(1, min(FRAME_BYTES // average + 1, self._limit * 4, MOST))
        self.seq = page.last
        return page

    def close(self) -> None:
        """Need nothing more of this log."""
        self._channel.leave(self)


class Channel:
    """One log that is watched."""

    def __init__(self, store: Store, log: LogId, left: Callable[[Channel], None]) -> None:
        self.log = log
        self.ring = Ring()
        self.shown = 0
        """As far as anybody may be given."""
        self.has_more = False
        """Whether more than was read is known to be there."""
        self.fault: QuireError | None = None
        self._store = store
        self._left = left
        self._cursors: dict[Cursor, None] = {}
        self._pages: dict[int, EncodedPage] = {}
        self._is_warm = False
        self._is_open = False
        self._open = SingleFlight(self._open_once)

    # ---- Coming and going

    @property
    def watchers(self) -> int:
        """How many watch it."""
        return len(self._cursors)

    async def enter(self, since: int, wake: Callable[[], None], start: Callable[[], Awaitable[None]]) -> Cursor:
        """Begin to watch after `since`; `start` sees to it that growth is noticed, from before the head is read."""
        cursor = Cursor(self, since, wake)
        self._cursors[cursor] = None
        try:
            await start()
            if not self._is_open:
                await self._open()
        except BaseException:
            self.leave(cursor)
            raise
        return cursor

    async def _open_once(self) -> None:
        if not self._is_open:
            info = await self._store.info(self.log)
            self.ring = Ring(info.head.seq if info is not None else 0)
            self.shown = self.ring.head
            self._is_open = True

    def leave(self, cursor: Cursor) -> None:
        """End watching. The last one puts out the light."""
        self._cursors.pop(cursor, None)
        if not self._cursors:
            self._left(self)

    # ---- What comes

    async def read_on(self) -> None:
        """Keep what was recorded since the last time."""
        if not self._is_open:
            await self._open()
        records = await self._store.read(self.log, self.ring.head, limit=AT_ONCE, most_bytes=PAGE_BYTES)
        self.has_more = len(records) == AT_ONCE or is_full(records)
        for record in records:
            self._add(record)
        self.ring.forget(min((cursor.seq for cursor in self._cursors), default=self.ring.head))

    def _add(self, record: Record) -> None:
        if record.seq != self.ring.head + 1:
            found = f"Log {self.log} has event {record.seq} after {self.ring.head}"
            raise Unavailable(f"{found}. Run `quire verify {self.log}`.")
        if record.type == "payload_redacted":
            # What was masked must not be given out from here: whoever still needs it reads it as it is now.
            self.ring.clear()
            self._pages.clear()
        self.ring.add(_encoder.encode(from_record(record)))

    def fail(self, error: QuireError) -> None:
        """Tell everybody that there will be nothing more."""
        self.fault = error
        self._pages.clear()
        self._wake()

    def show(self) -> None:
        """Let everybody have what was read."""
        self.shown = self.ring.head
        self._pages.clear()
        self._is_warm = True
        asyncio.get_running_loop().call_later(WARM_SECONDS, self._cool)
        self._wake()

    def _cool(self) -> None:
        self._pages.clear()
        self._is_warm = False

    def _wake(self) -> None:
        for cursor in list(self._cursors):
            cursor.wake()

    # ---- What is given

    def kept_page(self, since: int) -> EncodedPage | None:
        """What came after `since`, from memory; None when that goes further back."""
        if since + 1 < self.ring.first:
            return None
        page = self._pages.get(since)
        if page is None:
            page = EncodedPage(since, self.ring.after(since, self.shown), self.ring.head)
            if self._is_warm:
                if len(self._pages) >= PAGES:
                    self._pages.pop(next(iter(self._pages)))
                self._pages[since] = page
        return page

    async def stored_page(self, since: int, limit: int) -> EncodedPage:
        """The same from the store."""
        # One that is larger than a frame ends the page: it is there, too, and goes alone the next time.
        records = await self._store.read(self.log, since, self.shown, limit=limit, most_bytes=FRAME_BYTES)
        if not records:
            raise Unavailable(f"Log {self.log} has nothing after {since} any more. Run `quire verify {self.log}`.")
        parts: list[bytes] = []
        size = 0
        for record in records:
            encoded = _encoder.encode(from_record(record))
            size += len(encoded)
            if parts and size > FRAME_BYTES:
                break
            parts.append(encoded)
        return EncodedPage(since, parts, self.ring.head)

    @property
    def held_bytes(self) -> int:
        """How much memory the log takes here."""
        return self.ring.size + sum(len(page.body) for page in self._pages.values())


class OfLog:
    """A log that a connection follows, and the frames that it gives."""

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
