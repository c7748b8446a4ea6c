"""The end of a log as bytes, and the pages that are cut from it.

Nothing here waits or asks anybody: numbers, bytes and how many of them are kept.
"""

from __future__ import annotations

import msgspec

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
