"""What a cell prints on one stream, on its way into the log.

A short text is sent as it changes. Of a long one the log has head and tail, and a blob has
the whole (rule 5): what is finished goes to a tape, a file that only grows, so that a
gigabyte takes no memory. Each blob holds all that was printed so far, so a long text is only
sent again once it has grown by half, a very long one fourfold: what is kept of a text in the
end is a small multiple of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Protocol, TypeAlias

from ..core.events import BlobRef, StreamName
from ..core.notebook.notebook import INLINE_TEXT
from ..core.text import common_prefix
from .terminal import Terminal

HALF = INLINE_TEXT // 2
VERY_LONG = 10_000_000
"""A text of more code points than this nobody follows line by line."""
GROWTH, GROWTH_OF_VERY_LONG = 1.5, 4
"""By how much a text grows before it is sent again, unless it is over."""
_PIECE = 1024 * 1024

Texts: TypeAlias = list[tuple[int, str, BlobRef | None]]
"""From an offset on the stream reads a text; with the blob of the whole if it is long."""


class SpoolFile(Protocol):
    """A file of bytes that is open to be read and written: a temporary one, or one in memory."""

    def seek(self, offset: int, /) -> int:
        """Go to a place, counted from the beginning."""
        ...

    def write(self, data: bytes, /) -> int:
        """Write at the place."""
        ...

    def read(self, size: int, /) -> bytes:
        """Read from the place on."""
        ...


class Tape:
    """A spool to which bytes are added at its end; those that a blob refers to stay as they are."""

    def __init__(self, spool: SpoolFile) -> None:
        self._spool = spool
        self.end = 0
        self._given = 0

    def add(self, data: bytes) -> None:
        """Put bytes at the end."""
        self._spool.seek(self.end)
        self._spool.write(data)
        self.end += len(data)

    def give(self, end: int) -> None:
        """A blob refers to what stands before `end`."""
        self._given = max(self._given, end)

    def drop(self) -> None:
        """Take back what no blob refers to: it was cleared."""
        self.end = self._given

    def read(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes of a stretch."""
        while start < end:
            self._spool.seek(start)
            data = self._spool.read(min(_PIECE, end - start))
            if not data:
                raise EOFError(f"The spool ends at {start}, before {end}: somebody else has cut it.")
            yield data
            start += len(data)


class Blob:
    """Bytes to be kept before the events that name them are submitted: a stretch of a tape, and some more."""

    def __init__(self, ref: BlobRef, rest: bytes, tape: Tape | None = None, start: int = 0, end: int = 0) -> None:
        self.ref = ref
        self._rest = rest
        self._tape, self._start, self._end = tape, start, end

    @property
    def is_at_hand(self) -> bool:
        """Whether it is all in memory, so that it can be kept later."""
        return self._tape is None

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes. Read them where messages are taken, not in another thread: the spool is one file."""
        if self._tape is not None:
            yield from self._tape.read(self._start, self._end)
        yield self._rest


def kept(data: bytes, media: str) -> Blob:
    """Make a blob of bytes that are at hand."""
    return Blob(BlobRef(hash=sha256(data).hexdigest(), size=len(data), media=media), data)


class StreamOutput:
    """One stream of an execution, up to the next output of another kind."""

    def __init__(self, name: StreamName, tape: Tape, masked: Callable[[str], str] = lambda text: text) -> None:
        self.name: StreamName = name
        self._masked = masked
        self.waits = False
        """Whether it is among what will be sent."""
        self._terminal = Terminal()
        self._recent = ""
        """The folded text from `_recent_at` on: all that may change, and what a tail needs before it."""
        self._recent_at = 0
        self._head = ""
        self._same = 0
        """Up to here the log has the text as it is."""
        self._sent_length = 0
        self._tape = tape
        self._start = self._end = tape.end
        self._taped = 0
        self._hash = sha256()
        self._long = False

    @property
    def length(self) -> int:
        """How many code points the folded text has."""
        return self._recent_at + len(self._recent)

    @property
    def is_sent(self) -> bool:
        """Whether the log has all of it."""
        return self._same == self._sent_length == self.length

    @property
    def is_due(self) -> bool:
        """Whether to send it although more is to come."""
        if self.is_sent:
            return False
        growth = GROWTH if self._sent_length < VERY_LONG else GROWTH_OF_VERY_LONG
        return not self._long or self._sent_length <= INLINE_TEXT or self.length >= self._sent_length * growth

    def feed(self, text: str) -> None:
        """Print more."""
        change = self._terminal.feed(text)
        if change is None:
            return
        offset, new = change
        unchanged = self._recent[: offset - self._recent_at]
        recent = unchanged + new
        # A secret may be put together by writing over what stood there.
        if (masked := self._masked(recent)) is not recent:
            offset, new, unchanged, recent = self._recent_at, masked, "", masked
        self._same = min(self._same, offset + common_prefix(self._recent[len(unchanged) :], new))
        self._recent = recent
        if offset < HALF:
            self._head = self._head[:offset] + new[: HALF - offset]
        if self._long or self.length > INLINE_TEXT:
            self._long = True
            self._tape_finished()

    def _tape_finished(self) -> None:
        finished = self._terminal.finished
        data = self._recent[self._taped - self._recent_at : finished - self._recent_at].encode()
        if data:
            self._tape.add(data)
            self._end += len(data)
            self._hash.update(data)
        self._taped = finished
        # However much of the rest is erased, the last HALF code points are at hand.
        cut = max(self._recent_at, finished - HALF)
        self._recent = self._recent[cut - self._recent_at :]
        self._recent_at = cut

    def send(self) -> tuple[Texts, Blob | None]:
        """Return what the log needs to have the text as it is now, and the blob of a long one."""
        texts: Texts = [(self._same, self._recent[self._same :], None)]
        blob: Blob | None = None
        if self._long:
            texts, blob = self._long_texts()
        self._same = self._sent_length = self.length
        return texts, blob

    def _long_texts(self) -> tuple[Texts, Blob]:
        blob = self._blob()
        offset = max(0, self.length - HALF)
        texts: Texts = [(offset, self._recent[offset - self._recent_at :], blob.ref)]
        if self._same < HALF:
            texts.insert(0, (self._same, self._head[self._same :], None))
        return texts, blob

    def _blob(self) -> Blob:
        rest = self._recent[self._taped - self._recent_at :].encode()
        whole = self._hash.copy()
        whole.update(rest)
        self._tape.give(self._end)
        size = self._end - self._start + len(rest)
        ref = BlobRef(hash=whole.hexdigest(), size=size, media="text/plain")
        return Blob(ref, rest, self._tape, self._start, self._end)
