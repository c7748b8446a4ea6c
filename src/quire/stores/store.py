"""What every store does, and the values it takes and gives.

A store keeps records: it does not know what they mean. It gives them their numbers and
hashes, one log after the other and without gaps, and never changes them but for a mask.
tests/contracts/test_store.py is the protocol in full; every store passes all of it.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from ..core.chain import Head, Record
from ..core.events import BlobRef
from ..core.ids import ActorId, EventId, LogId
from .index import IndexRows

LogKind: TypeAlias = Literal["notebook", "run", "review", "workspace"]
PAGE = 2000
"""How many records `read` gives at most in one go, unless told otherwise."""
PAGE_BYTES = 4_000_000
"""How large a page is for who reads a log to its end, whatever its records hold: memory has a bound, a payload has 16 MiB."""


class UnsealedRecord(msgspec.Struct, frozen=True):
    """A record without its place: the store adds log, number and hash."""

    id: EventId
    key: str | None
    cause: EventId | None
    at: str
    actor: ActorId
    on_behalf_of: ActorId | None
    type: str
    payload: str
    digest: str


class LogSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What lists show of a log, so that listing folds nothing. Derived from the log."""

    name: str
    archived: bool = False


class Mask(msgspec.Struct, frozen=True):
    """The payload that a redaction puts in place of the one of `seq`."""

    seq: int
    payload: str


class Append(msgspec.Struct, frozen=True, kw_only=True):
    """Records for the end of one log, which is at `expected` when they come in."""

    log: LogId
    kind: LogKind
    expected: int
    previous: str | None = None
    """The hash at `expected`, where the sender knows it: a number alone may be somebody else's by now."""
    records: tuple[UnsealedRecord, ...]
    about: LogSummary | None = None
    masks: tuple[Mask, ...] = ()
    imported: tuple[Record, ...] = ()
    """Records that were sealed elsewhere, verified by the caller; they come before `records`."""


class AppendOutcome(msgspec.Struct, frozen=True):
    """What became of an Append. `repeated`: the ids or keys were there before; these are the first."""

    records: tuple[Record, ...]
    repeated: bool = False


class Prune(msgspec.Struct, frozen=True, kw_only=True):
    """A log to be removed whole, and what is recorded of that at the end of the workspace's log: both, or nothing."""

    log: LogId
    head: Head
    """Where the log has to be: one that has grown is not removed."""
    note: UnsealedRecord
    since: int
    """The position up to which it was looked whether anything refers to the log."""
    refers: Callable[[Record], bool]
    """Whether a record, of those that came after `since`, does. Asked while nobody can write."""


class PrunedLog(msgspec.Struct, frozen=True, kw_only=True):
    """A log that was here, as it was when it was removed."""

    log: LogId
    kind: LogKind
    head: Head
    name: str
    created_at: str
    pruned_at: str


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much a store holds."""

    notebooks: int
    runs: int
    pruned: int
    """Logs that were here."""
    events: int
    event_bytes: int
    """What events say, without what the database needs to find them."""
    database_bytes: int
    free_bytes: int = 0
    """What the database has on disk and does not use: `compact` gives it back."""
    old_runs: int = 0
    """Runs of which nothing was heard since the time that was asked for, whatever keeps them."""
    old_bytes: int = 0


class CompactionOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What the database took on disk before and after, and why it was not compacted, if so."""

    before: int
    after: int
    skipped: str = ""


class BlobFound(msgspec.Struct, frozen=True):
    """A blob as a list shows it. `seconds_old`: since it was put there, or put there again."""

    hash: str
    size: int
    seconds_old: float


class LogInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A line in a list of logs."""

    log: LogId
    kind: LogKind
    head: Head
    name: str
    archived: bool
    created_at: str
    created_by: ActorId


class Growth(msgspec.Struct, frozen=True):
    """A log has grown by the records `first` to `seq`. Positions rise through the whole store, in the order of commits."""

    position: int
    log: LogId
    seq: int
    first: int


def merge_by_log(grown: Iterable[Growth]) -> list[Growth]:
    """Merge the growth of each log into one line, from its first new record to its last; ordered by the last."""
    lines: dict[LogId, Growth] = {}
    for growth in grown:
        before = lines.pop(growth.log, growth)
        lines[growth.log] = msgspec.structs.replace(growth, first=before.first)
    return list(lines.values())


class Snapshot(msgspec.Struct, frozen=True):
    """A folded log, as the bytes that somebody wrote for that reducer's version."""

    log: LogId
    seq: int
    version: int
    data: bytes


class Lease(msgspec.Struct, frozen=True):
    """The right to be the only one, until it runs out. A later lease has a higher epoch, always."""

    name: str
    holder: str
    epoch: int
    seconds_left: float


class ReadMark(msgspec.Struct, frozen=True):
    """How far an actor has seen a log, and when they last looked. No fact of the log: nobody else is told."""

    log: LogId
    actor: ActorId
    seq: int
    at: str


class Table(msgspec.Struct, frozen=True):
    """The answer to a query."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False


class Outage(msgspec.Struct, frozen=True):
    """A store that is known to be away for the moment."""

    store: str
    """How messages call it."""
    fault: str
    """Why, as a part of a sentence."""


def cut_page(records: Iterable[Record], most_bytes: int) -> list[Record]:
    """The first records, until they have so many bytes together: one at least, if there is any."""
    page: list[Record] = []
    size = 0
    for record in records:
        page.append(record)
        size += len(record.payload)  # as good as bytes, and quicker to learn
        if size >= most_bytes:
            break
    return page


def is_full(page: Sequence[Record]) -> bool:
    """Whether there may be more after a page that was read with PAGE and PAGE_BYTES."""
    return len(page) == PAGE or sum(len(record.payload) for record in page) >= PAGE_BYTES


class Blobs(Protocol):
    """Where blobs are kept. Safe to use by many tasks, and the same place by many processes."""

    async def put(
        self, chunks: AsyncIterable[bytes] | bytes, media: str | None = None, *, limit: int | None = None
    ) -> BlobRef:
        """Keep these bytes, durably. BadInput, and nothing kept, when there are more than `limit`."""
        ...

    def open(self, hash: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` up to, not including, `end`; a range past the end is cut there.

        NotFound, once it is read, when there is no such blob.
        """
        ...

    async def size(self, hash: str) -> int | None:
        """Return how many bytes a blob has; None when there is no such blob."""
        ...

    async def delete(self, hash: str) -> None:
        """Remove a blob. Does nothing if there is none."""
        ...

    async def delete_old(self, hash: str, seconds: float) -> bool:
        """Remove a blob that nobody has put there for so long; say whether that was done.

        Who puts the same bytes at this moment finds them kept, or keeps them anew.
        """
        ...

    async def verify(self, hash: str) -> bool:
        """Say whether a blob's bytes still are what its name says. NotFound if there is no such blob."""
        ...

    def list(self) -> AsyncIterator[str]:
        """Yield the hash of every blob, in no order that could be relied on."""
        ...

    def scan(self) -> AsyncIterator[BlobFound]:
        """Yield every blob with its size and age."""
        ...

    async def close(self) -> None:
        """Let go of everything. What was acknowledged is kept already."""
        ...


class Carrier(Protocol):
    """A way to the other processes that have the same store open. Nothing is kept, and nobody waits for it."""

    def send(self, message: bytes, replaces: Hashable | None = None, topic: str | None = None) -> None:
        """Send a message soon, in place of one that waits under the same name. Dropped where that is not possible.

        Those who hear all get it, and with a topic those who hear that.
        """
        ...

    async def carry(self, take: Callable[[str, bytes], None], leave: Callable[[], None]) -> None:
        """Send, and give `take` what others send, each with the name of its process: until cancelled.

        `leave` is called at the end: what it sends is the last.
        """
        ...


class Store(Protocol):
    """Where logs are kept. One per process and place; safe to use by many tasks of one loop."""

    @property
    def outage(self) -> Outage | None:
        """Return why the store is away, where that is known without asking it; None while it is not."""
        ...

    def carrier(self, topic: str | None = None) -> Carrier | None:
        """Return a way to other processes; None where one process is all that has anything to say.

        Without a topic it brings all that is sent; with one, what was sent about that.
        """
        ...

    def append(self, appends: Sequence[Append]) -> Awaitable[list[AppendOutcome]]:
        """Record all of it or nothing, durably. Conflict when a log is not at `expected`.

        What is called first is tried first, whether or not the caller awaits in between.
        """
        ...

    async def prune(self, prune: Prune) -> Record:
        """Remove a log with its snapshots and its rows in the index, durably, and return the record that says so.

        Conflict, and nothing done, when the log is not at that head, or something that was recorded since refers to it.
        Its id, and the ids and keys that were used in it, stay used: an append with one of them is refused.
        """
        ...

    async def pruned(self, log: LogId | None = None) -> list[PrunedLog]:
        """Return the logs that were removed, the last one first, or the one of this id."""
        ...

    async def while_still(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something short while nobody, in whatever process, can record anything."""
        ...

    async def sizes(self, before: str = "") -> Sizes:
        """Return how much there is, and how much of it runs that ended their log before a time."""
        ...

    async def compact(self, *, fully: bool = True) -> CompactionOutcome:
        """Give the room of what was removed back to the disk; without `fully`, only as far as it keeps nobody waiting."""
        ...

    async def read(
        self,
        log: LogId,
        since: int = 0,
        until: int | None = None,
        *,
        limit: int = PAGE,
        types: Collection[str] | None = None,
        newest_first: bool = False,
        most_bytes: int | None = None,
    ) -> list[Record]:
        """Return the records with since < seq <= until, in order or the last ones first, at most `limit`.

        With `most_bytes`, no more once so many bytes of payloads are there: less than `limit` is then not the end.
        """
        ...

    async def info(self, log: LogId) -> LogInfo | None:
        """Return the line of a log, with its head; None when there is no such log."""
        ...

    async def logs(self, kind: LogKind | None = None) -> list[LogInfo]:
        """Return every log, the one begun last first."""
        ...

    async def find(self, id: EventId) -> Record | None:
        """Return the record that was sent here with this id."""
        ...

    async def find_key(self, key: str, actor: ActorId) -> Record | None:
        """Return the record that this actor sent here with this key; of a key of the house, that of any actor."""
        ...

    def follow(self, log: LogId, since: int = 0) -> AsyncIterator[list[Record]]:
        """Yield what there is after `since` and then whatever comes, from any process, for ever."""
        ...

    def feed(self, since: int = 0) -> AsyncIterator[list[Growth]]:
        """Yield which logs grew after position `since`, and then whenever one grows, for ever."""
        ...

    async def position(self) -> int:
        """Return the position that a feed of only what is new starts from."""
        ...

    async def save_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot. Old ones are thinned out."""
        ...

    async def snapshot(self, log: LogId, version: int, until: int | None = None) -> Snapshot | None:
        """Return the latest snapshot of that version at or before `until`."""
        ...

    async def drop_snapshots(self, log: LogId, since: int = 0) -> None:
        """Forget the snapshots of a log from number `since` on."""
        ...

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take the lease, or return None while somebody holds it."""
        ...

    async def renew(self, lease: Lease, seconds: float) -> Lease | None:
        """Hold on to a lease; None when it is lost."""
        ...

    async def revive(self, lease: Lease, seconds: float) -> Lease | None:
        """Give a lease more time even if it ran out; None when it was given back, or taken since."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give a lease back. Does nothing if it is lost already."""
        ...

    async def lease(self, name: str) -> Lease | None:
        """Return the lease that is held under this name now."""
        ...

    async def leases(self) -> list[Lease]:
        """Return the leases that were not given back. Those that ran out have no seconds left."""
        ...

    async def save_token(self, digest: str, token: str) -> None:
        """Keep the hash of a token's secret beside the token's id."""
        ...

    async def token(self, digest: str) -> str | None:
        """Return the id of the token whose secret has this hash."""
        ...

    async def save_seen(self, seen: ReadMark) -> ReadMark:
        """Keep how far an actor has seen a log, and return what is kept: a smaller number never replaces a larger one."""
        ...

    async def seen(self, log: LogId, actor: ActorId) -> ReadMark | None:
        """Return how far an actor has seen a log; None when they never said."""
        ...

    async def indexed(self) -> int:
        """Return the position up to which the index was made; 0 or less when there is none.

        Every index that was forgotten leaves another number, so that whoever was making rows
        from before that cannot save them after it.
        """
        ...

    async def save_index(self, rows: IndexRows, since: int, position: int) -> bool:
        """Bring the index from `since` to `position`; False, and nothing done, when it is no longer at `since`."""
        ...

    async def forget_index(self) -> None:
        """Throw the index away, because what it was made from was masked."""
        ...

    async def index_rows(self, log: LogId) -> IndexRows:
        """Return the rows that the index has of a log, as they are."""
        ...

    async def check_index(self, log: LogId) -> str | None:
        """Compare the index with rows made anew from a log; return the first table that differs."""
        ...

    async def save_line(self, line: LogInfo) -> None:
        """Correct what lists show of a log: name, whether it is put away, when and by whom it was begun. Not its head."""
        ...

    async def query(self, sql: str, *, limit: int, seconds: float) -> Table:
        """Bring the index up to date and answer a question about it, read-only for real.

        Queries take no connection or thread that anything else waits for; only the question itself counts towards
        `seconds`, not the work on the index.
        """
        ...

    async def close(self) -> None:
        """Let go of everything. What was acknowledged is on disk already."""
        ...
