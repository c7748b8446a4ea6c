"""Logs in one SQLite file, for one machine and as many processes as it has.

WAL and synchronous=FULL: what was acknowledged survives a power cut. One thread writes
(sqlite_writer), a few read. Followers in this process are woken after the commit; those in
others by sqlite_news.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from ...core.chain import Head, Record
from ...core.errors import Unavailable
from ...core.ids import ActorId, EventId, LogId, key_owner
from ...disk import in_thread
from ..index import INDEX, REPLACED, TABLES, IndexRows, table_of
from ..index_refresh import compare_index, refresh_index
from ..seal import COLUMNS, KEY_OWNER, LINE, record_from
from ..store import (
    PAGE,
    PAGE_BYTES,
    Append,
    AppendOutcome,
    CompactionOutcome,
    Growth,
    Lease,
    LogInfo,
    LogKind,
    Prune,
    PrunedLog,
    ReadMark,
    Sizes,
    Snapshot,
    Table,
    cut_page,
    is_full,
    merge_by_log,
)
from ..wakeups import Wakes
from .change_notifier import SqliteNews
from .database_file import connect, explain, index_schema, let_go, prepare
from .prune import compact, pruned, pruned_of, sizes
from .query import ask
from .writer import SqliteWriter, WriteRequest

READERS = 4
QUERIES = 32
"""How many questions are answered at once, on threads and connections that nothing else waits for."""
SNAPSHOT_SPACING = 10_000
"""Of the older snapshots of a log, one in so many numbers is kept, for reading the past."""

_POSITION = "SELECT coalesce(max(position), 0) FROM events"

T = TypeVar("T")


class SqliteStore:
    """Logs in one SQLite file."""

    outage = None
    """A file that cannot be used is found out by using it."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._wakes = Wakes()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="quire-read")
        self._queries = ThreadPoolExecutor(QUERIES, thread_name_prefix="quire-query")
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._glancing: sqlite3.Connection | None = None
        self._stopping = threading.Event()
        self._inode = prepare(path)
        self._writer = SqliteWriter(path, self._loop, self._wakes.wake)
        self._news = SqliteNews(path, lambda: self._writer.told, self._wake_soon)

    def carrier(self, topic: str | None = None) -> None:
        """Return nothing: the one server of a file has all sockets."""

    # ---- Writing

    def append(self, appends: Sequence[Append]) -> asyncio.Future[list[AppendOutcome]]:
        """Record all of it or nothing, durably."""
        return self._writer.ask(WriteRequest(self._loop.create_future(), appends))

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        return self._writer.ask(WriteRequest(self._loop.create_future(), work=work))

    # ---- Removing

    async def prune(self, prune: Prune) -> Record:
        """Remove a log, and record that it was removed."""
        return await self._writer.ask(WriteRequest(self._loop.create_future(), prune=prune))

    async def pruned(self, log: LogId | None = None) -> list[PrunedLog]:
        """Return the logs that were removed."""
        return await self._read(lambda db: pruned(db, log))

    async def while_still(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something while nobody can record anything."""

        def begin() -> sqlite3.Connection:
            connection = connect(self._path)
            try:
                connection.execute("BEGIN IMMEDIATE")
            except BaseException:
                connection.close()
                raise
            return connection

        try:
            connection = await in_thread(begin)
        except sqlite3.Error as error:
            raise explain(error, self._path) from error
        try:
            await work()
        finally:
            connection.close()

    async def sizes(self, before: str = "") -> Sizes:
        """Return how much there is."""
        return await self._read(lambda db: sizes(db, before))

    async def compact(self, *, fully: bool = True) -> CompactionOutcome:
        """Give the room of what was removed back to the disk."""
        try:
            return await in_thread(lambda: compact(self._path, fully=fully))
        except sqlite3.Error as error:
            raise explain(error, self._path) from error

    # ---- Reading

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._stopping.is_set():
            raise Unavailable(f"{self._path}: this store was closed.")

        def run() -> T:
            connection = cast("sqlite3.Connection | None", getattr(self._local, "connection", None))
            if connection is None:
                connection = self._local.connection = connect(self._path, read_only=True)
                self._open.append(connection)
            try:
                return work(connection)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                raise explain(error, self._path) from error

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    async def _glance(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read a little that was just written. A thread would take many times as long, most of it to be woken."""
        if not self._stopping.is_set():
            with contextlib.suppress(sqlite3.Error, Unavailable):
                if self._glancing is None:
                    self._glancing = connect(self._path, read_only=True)
                    self._open.append(self._glancing)
                    self._glancing.execute("PRAGMA busy_timeout = 0")  # who would have to wait leaves it to a thread
                return work(self._glancing)
        return await self._read(work)

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
        """Return the records with since < seq <= until, in order or the last ones first, at most `limit`."""
        where = "log = ? AND seq > ? AND seq <= ?"
        values: list[str | int] = [log, since, 2**62 if until is None else until]
        if types is not None:
            where += f" AND type IN ({', '.join('?' * len(types))})"
            values.extend(types)
        sql = f"SELECT {COLUMNS} FROM events WHERE {where} ORDER BY seq {'DESC' if newest_first else 'ASC'} LIMIT ?"

        def work(db: sqlite3.Connection) -> list[Record]:
            rows = map(record_from, db.execute(sql, (*values, limit)))
            return list(rows) if most_bytes is None else cut_page(rows, most_bytes)

        return await self._read(work)

    async def info(self, log: LogId) -> LogInfo | None:
        """Return the line of a log, with its head."""
        sql = f"SELECT {LINE} FROM logs WHERE log = ?"
        row = await self._glance(lambda db: db.execute(sql, (log,)).fetchone())
        return _info(row) if row else None

    async def logs(self, kind: LogKind | None = None) -> list[LogInfo]:
        """Return every log, the one begun last first."""
        sql = f"SELECT {LINE} FROM logs WHERE ? IS NULL OR kind = ? ORDER BY created_at DESC, log DESC"
        return await self._read(lambda db: [_info(row) for row in db.execute(sql, (kind, kind))])

    async def find(self, id: EventId) -> Record | None:
        """Return the record that was sent here with this id."""
        sql = f"SELECT {COLUMNS} FROM events WHERE id = ? AND imported = 0"
        row = await self._read(lambda db: db.execute(sql, (id,)).fetchone())
        return record_from(row) if row else None

    async def find_key(self, key: str, actor: ActorId) -> Record | None:
        """Return the record that this actor sent here with this key; of a key of the house, that of any actor."""
        sql = f"SELECT {COLUMNS} FROM events WHERE key = ? AND {KEY_OWNER} = ? AND key IS NOT NULL AND imported = 0"
        row = await self._read(lambda db: db.execute(sql, (key, key_owner(key, actor))).fetchone())
        return record_from(row) if row else None

    # ---- Following

    def follow(self, log: LogId, since: int = 0) -> AsyncIterator[list[Record]]:
        """Yield what there is after `since` and then whatever comes, from any process."""
        cursor = since

        async def read() -> tuple[list[Record], bool]:
            nonlocal cursor
            page = await self.read(log, cursor, most_bytes=PAGE_BYTES)
            cursor = page[-1].seq if page else cursor
            return page, is_full(page)

        return self._wakes.pages(log, read, lambda: self._news.follow(log))

    def feed(self, since: int = 0) -> AsyncIterator[list[Growth]]:
        """Yield which logs grew after position `since`, and then whenever one grows."""
        cursor, is_behind = since, True

        async def read() -> tuple[list[Growth], bool]:
            nonlocal cursor, is_behind
            how = self._read if is_behind else self._glance
            page = await how(lambda db: _growth(db, cursor))
            cursor, is_behind = page[-1].position if page else cursor, len(page) == PAGE
            return merge_by_log(page), is_behind

        return self._wakes.pages(None, read, lambda: self._news.follow(None))

    async def position(self) -> int:
        """Return the position of the last record."""
        (position,) = await self._read(lambda db: db.execute(_POSITION).fetchone())
        return position

    def _wake_soon(self, logs: list[LogId] | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._wakes.wake, logs)

    # ---- Snapshots

    async def save_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, unless something in it was masked meanwhile; thin out the older ones."""

        def work(db: sqlite3.Connection) -> None:
            masked = "SELECT 1 FROM events WHERE log = ? AND seq > ? AND type = 'payload_redacted' LIMIT 1"
            if db.execute(masked, (snapshot.log, snapshot.seq)).fetchone():
                return
            if pruned_of(db, [snapshot.log]):
                return
            key = (snapshot.log, snapshot.version)
            db.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", (*key, snapshot.seq, snapshot.data))
            db.execute("DELETE FROM snapshots WHERE log = ? AND version < ?", key)
            db.execute(
                "DELETE FROM snapshots WHERE log = ?1 AND version = ?2 AND seq < ?3 AND EXISTS (SELECT 1 FROM snapshots o"
                " WHERE o.log = ?1 AND o.version = ?2 AND o.seq < snapshots.seq AND o.seq / ?4 = snapshots.seq / ?4)",
                (*key, snapshot.seq, SNAPSHOT_SPACING),
            )

        await self._write(work)

    async def snapshot(self, log: LogId, version: int, until: int | None = None) -> Snapshot | None:
        """Return the latest snapshot of that version at or before `until`."""
        sql = "SELECT log, seq, version, data FROM snapshots WHERE log = ? AND version = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"
        values = (log, version, 2**62 if until is None else until)
        row = await self._read(lambda db: db.execute(sql, values).fetchone())
        return Snapshot(*row) if row else None

    async def drop_snapshots(self, log: LogId, since: int = 0) -> None:
        """Forget the snapshots of a log from number `since` on."""
        await self._write(
            lambda db: db.execute("DELETE FROM snapshots WHERE log = ? AND seq >= ?", (log, since)).rowcount
        )

    # ---- Leases. Their clock is the machine's, which all processes on one file share.

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take the lease, or return None while somebody holds it."""

        def work(db: sqlite3.Connection) -> Lease | None:
            if _held(db, name, self._clock()) is not None:
                return None
            (epoch,) = db.execute(
                "UPDATE counters SET value = value + 1 WHERE name = 'epoch' RETURNING value"
            ).fetchone()
            db.execute(
                "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", (name, holder, epoch, self._clock() + seconds)
            )
            return Lease(name, holder, epoch, seconds)

        return await self._write(work)

    async def renew(self, lease: Lease, seconds: float) -> Lease | None:
        """Hold on to a lease; None when it is lost."""

        def work(db: sqlite3.Connection) -> Lease | None:
            held = _held(db, lease.name, self._clock())
            if held is None or (held.epoch, held.holder) != (lease.epoch, lease.holder):
                return None
            db.execute("UPDATE leases SET ends = ? WHERE name = ?", (self._clock() + seconds, lease.name))
            return msgspec.structs.replace(lease, seconds_left=seconds)

        return await self._write(work)

    async def revive(self, lease: Lease, seconds: float) -> Lease | None:
        """Give a lease more time even if it ran out; None when it was given back, or taken since."""
        sql = "UPDATE leases SET ends = ? WHERE name = ? AND epoch = ? AND holder = ?"
        fields = (self._clock() + seconds, lease.name, lease.epoch, lease.holder)
        changed = await self._write(lambda db: db.execute(sql, fields).rowcount)
        return msgspec.structs.replace(lease, seconds_left=seconds) if changed else None

    async def release(self, lease: Lease) -> None:
        """Give a lease back."""
        sql = "DELETE FROM leases WHERE name = ? AND epoch = ? AND holder = ?"
        await self._write(lambda db: db.execute(sql, (lease.name, lease.epoch, lease.holder)).rowcount)

    async def lease(self, name: str) -> Lease | None:
        """Return the lease that is held under this name now."""
        return await self._read(lambda db: _held(db, name, self._clock()))

    async def leases(self) -> list[Lease]:
        """Return the leases that were not given back."""
        sql = "SELECT name, holder, epoch, ends - ? FROM leases ORDER BY epoch"
        return [Lease(*row) for row in await self._read(lambda db: db.execute(sql, (self._clock(),)).fetchall())]

    # ---- Tokens

    async def save_token(self, digest: str, token: str) -> None:
        """Keep the hash of a token's secret beside the token's id."""
        await self._write(lambda db: db.execute("INSERT INTO tokens VALUES (?, ?)", (digest, token)).rowcount)

    async def token(self, digest: str) -> str | None:
        """Return the id of the token whose secret has this hash."""
        row = await self._read(lambda db: db.execute("SELECT token FROM tokens WHERE digest = ?", (digest,)).fetchone())
        return row[0] if row else None

    # ---- How far actors have seen logs

    async def save_seen(self, seen: ReadMark) -> ReadMark:
        """Keep how far an actor has seen a log: only forwards."""
        fields = (seen.log, seen.actor, seen.seq, seen.at)

        def work(db: sqlite3.Connection) -> ReadMark:
            db.execute(
                "INSERT INTO seen VALUES (?, ?, ?, ?) ON CONFLICT (log, actor)"
                " DO UPDATE SET seq = excluded.seq, at = excluded.at WHERE excluded.seq >= seen.seq",
                fields,
            )
            return _seen(db, seen.log, seen.actor) or seen

        return await self._write(work)

    async def seen(self, log: LogId, actor: ActorId) -> ReadMark | None:
        """Return how far an actor has seen a log."""
        return await self._read(lambda db: _seen(db, log, actor))

    # ---- The index

    async def indexed(self) -> int:
        """Return the position up to which the index was made; 0 when it was made by another version."""
        return await self._read(_indexed)

    async def save_index(self, rows: IndexRows, since: int, position: int) -> bool:
        """Bring the index from `since` to `position`, if it still is at `since`."""

        def work(db: sqlite3.Connection) -> bool:
            if _indexed(db) != since:
                return False
            # Rows may have been made of a log that was removed before they came here.
            _save_rows(db, rows.without(pruned_of(db, rows.logs)), anew=since <= 0)
            db.executemany("UPDATE counters SET value = ? WHERE name = ?", [(position, "indexed"), (INDEX, "index")])
            return True

        return await self._write(work)

    async def forget_index(self) -> None:
        """Throw the index away, because what it was made from was masked."""

        def work(db: sqlite3.Connection) -> None:
            _save_rows(db, IndexRows(), anew=True)
            db.execute("UPDATE counters SET value = -1 - abs(random() % 1000000000000000) WHERE name = 'indexed'")
            db.execute("UPDATE counters SET value = ? WHERE name = 'index'", (INDEX,))

        await self._writer.ask(WriteRequest(self._loop.create_future(), work=work, checkpoint=True))

    async def index_rows(self, log: LogId) -> IndexRows:
        """Return the rows that the index has of a log, as they are."""

        def work(db: sqlite3.Connection) -> IndexRows:
            found = IndexRows()
            for name, column in table_of(log).items():
                where, values = (f"WHERE {column} = ?", (log,)) if column else ("", ())
                setattr(found, name, db.execute(f"SELECT * FROM index_{name} {where}", values).fetchall())
            return found

        return await self._read(work)

    async def check_index(self, log: LogId) -> str | None:
        """Compare the index with rows made anew from a log; return the first table that differs."""
        return await compare_index(self, log)

    async def save_line(self, line: LogInfo) -> None:
        """Correct what lists show of a log."""
        sql = "UPDATE logs SET name = ?, archived = ?, created_at = ?, created_by = ? WHERE log = ?"
        fields = (line.name, line.archived, line.created_at, line.created_by, line.log)
        await self._write(lambda db: db.execute(sql, fields).rowcount)

    async def query(self, sql: str, *, limit: int, seconds: float) -> Table:
        """Answer a question about the index, read-only for real."""
        await refresh_index(self)

        stopped = threading.Event()

        def run() -> Table:
            with contextlib.closing(connect(self._path, read_only=True)) as connection:
                return ask(connection, sql, limit=limit, seconds=seconds, stopped=stopped.is_set)

        answer = asyncio.get_running_loop().run_in_executor(self._queries, run)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            stopped.set()  # whoever asked is gone: the thread is not to go on without them
            await asyncio.wait((answer,))
            raise

    async def close(self) -> None:
        """Finish what is waiting and let go of the file."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._news.stop()
        self._writer.close()
        self._wakes.close()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._join)

    def _join(self) -> None:
        # Whoever only reads goes first: the last to leave folds the write-ahead log into the file.
        self._news.join()
        self._queries.shutdown()
        self._readers.shutdown()
        for connection in self._open:
            connection.close()
        self._writer.join()
        let_go(self._inode)


# ---- Rows


def _info(row: Sequence[Any]) -> LogInfo:
    log, kind, seq, hash, at, name, archived, created_at, created_by = row
    return LogInfo(
        log=log,
        kind=kind,
        head=Head(seq, hash, at),
        name=name,
        archived=bool(archived),
        created_at=created_at,
        created_by=created_by,
    )


def _growth(connection: sqlite3.Connection, since: int) -> list[Growth]:
    sql = "SELECT position, log, seq FROM events WHERE position > ? ORDER BY position LIMIT ?"
    return [Growth(position, log, seq, seq) for position, log, seq in connection.execute(sql, (since, PAGE))]


def _held(connection: sqlite3.Connection, name: str, now: float) -> Lease | None:
    row = connection.execute(
        "SELECT holder, epoch, ends FROM leases WHERE name = ? AND ends > ?", (name, now)
    ).fetchone()
    return Lease(name, row[0], row[1], row[2] - now) if row else None


def _seen(connection: sqlite3.Connection, log: LogId, actor: ActorId) -> ReadMark | None:
    sql = "SELECT log, actor, seq, at FROM seen WHERE log = ? AND actor = ?"
    row = connection.execute(sql, (log, actor)).fetchone()
    return ReadMark(*row) if row else None


def _indexed(connection: sqlite3.Connection) -> int:
    values = dict(connection.execute("SELECT name, value FROM counters WHERE name IN ('indexed', 'index')"))
    return values["indexed"] if values["index"] == INDEX else 0


def _save_rows(connection: sqlite3.Connection, rows: IndexRows, *, anew: bool) -> None:
    if anew:
        for name in TABLES:
            connection.execute(f"DROP TABLE IF EXISTS index_{name}")
        for statement in index_schema().split(";"):
            connection.execute(statement)
    for name in REPLACED:
        connection.executemany(f"DELETE FROM index_{name} WHERE log = ?", [(log,) for log in rows.logs])
    connection.executemany("DELETE FROM index_outputs WHERE log = ? AND execution = ?", rows.shown)
    for name, columns in TABLES.items():
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT OR REPLACE INTO index_{name} VALUES ({marks})", rows.table(name))
