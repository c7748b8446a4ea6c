"""Logs in one SQLite file, for one machine and as many processes as it has.

WAL and synchronous=FULL: what was acknowledged survives a power cut. One thread writes: it
takes whatever is waiting, commits it as one transaction, and takes what came meanwhile
(natural group commit; a timed window would be slower on both counts). An append that
expects the number of one still waiting before it is checked inside the same transaction,
so appends to one log can be sent without waiting for each other. Followers in this process
are woken after the commit; those in others by a poll of `PRAGMA data_version`.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from ..core.chain import Head, Record
from ..core.errors import QuireError, Refused, Unavailable
from ..core.ids import EventId, LogId
from .ask import ask, create_views, index_schema
from .index import INDEX, TABLES, IndexRows
from .indexing import refresh_index
from .sealing import Sealed, Taken, seal, wanted
from .store import PAGE, About, Append, Appended, Growth, Lease, LogInfo, LogKind, Snapshot, Table
from .wakes import Wakes, by_log

APPLICATION_ID = 0x51756972  # "Quir"
SCHEMA = 1
BUSY_SECONDS = 30.0
POLL_SECONDS = 0.01
READERS = 4
SNAPSHOT_SPACING = 10_000
"""Of the older snapshots of a log, one in so many numbers is kept, for reading the past."""

_TABLES = """
CREATE TABLE logs (
    log TEXT PRIMARY KEY, kind TEXT NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL, at TEXT NOT NULL,
    name TEXT NOT NULL, archived INTEGER NOT NULL, created_at TEXT NOT NULL, created_by TEXT NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE events (
    position INTEGER PRIMARY KEY, log TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, key TEXT, cause TEXT,
    at TEXT NOT NULL, actor TEXT NOT NULL, on_behalf_of TEXT, type TEXT NOT NULL, payload TEXT NOT NULL,
    digest TEXT NOT NULL, hash TEXT NOT NULL, imported INTEGER NOT NULL DEFAULT 0, redacted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX events_seq ON events (log, seq);
CREATE UNIQUE INDEX events_id ON events (id) WHERE imported = 0;
CREATE UNIQUE INDEX events_key ON events (key) WHERE key IS NOT NULL AND imported = 0;
CREATE TABLE snapshots (
    log TEXT NOT NULL, version INTEGER NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (log, version, seq)
) STRICT;
CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, epoch INTEGER NOT NULL, ends REAL NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE tokens (digest TEXT PRIMARY KEY, token TEXT NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT;
INSERT INTO counters VALUES ('epoch', 0), ('indexed', 0), ('index', 0);
"""

COLUMNS = "log, seq, id, key, cause, at, actor, on_behalf_of, type, payload, digest, hash, imported, redacted"
_INSERT = f"INSERT INTO events ({COLUMNS}) VALUES {{}}"
_UPDATE = """WITH new (log, seq, hash, at) AS (VALUES {})
    UPDATE logs SET seq = new.seq, hash = new.hash, at = new.at FROM new WHERE logs.log = new.log"""
_ONE_LOG = "log, kind, seq, hash, at, name, archived, created_at, created_by"

T = TypeVar("T")


class _Request(msgspec.Struct):
    """Something for the writing thread to do, and who waits for it."""

    future: asyncio.Future[Any]
    appends: Sequence[Append] | None = None
    work: Callable[[sqlite3.Connection], Any] | None = None


class SqliteStore:
    """Logs in one SQLite file."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._wakes = Wakes()
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="quire-read")
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._heads: dict[LogId, Head] = {}
        self._stopping = threading.Event()
        self._poller: threading.Thread | None = None
        prepare(path)
        self._writer = threading.Thread(target=self._write_all, name="quire-write", daemon=True)
        self._writer.start()

    # ---- Writing

    def append(self, appends: Sequence[Append]) -> asyncio.Future[list[Appended]]:
        """Record all of it or nothing, durably."""
        return self._ask_writer(_Request(self._loop.create_future(), appends))

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        return self._ask_writer(_Request(self._loop.create_future(), work=work))

    def _ask_writer(self, request: _Request) -> asyncio.Future[Any]:
        if self._stopping.is_set():
            request.future.set_exception(Unavailable(f"{self._path}: this store was closed."))
        else:
            self._requests.put(request)
        return request.future

    def _write_all(self) -> None:
        connection = _connect(self._path)
        while (batch := self._next_batch()) is not None:
            try:
                answers, logs = self._commit(connection, batch)
            except Exception as error:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                self._heads.clear()
                answers, logs = [_explain(error, self._path)] * len(batch), set[LogId]()
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._answer, batch, answers, logs)
        connection.close()

    def _next_batch(self) -> list[_Request] | None:
        """Wait for a request, then take all that are waiting. None: no more will come."""
        first = self._requests.get()
        if first is None:
            return None
        batch = [first]
        with contextlib.suppress(queue.Empty):
            while (request := self._requests.get_nowait()) is not None:
                batch.append(request)
            self._requests.put(None)  # seen too early: finish this batch first
        return batch

    def _commit(self, connection: sqlite3.Connection, batch: list[_Request]) -> tuple[list[Any], set[LogId]]:
        connection.execute("BEGIN IMMEDIATE")
        self._forget_stale_heads(connection)
        appending = [request.appends for request in batch if request.appends is not None]
        sealed = self._record(connection, appending) if appending else Sealed()
        waiting = iter(sealed.answers)
        answers = [request.work(connection) if request.work is not None else next(waiting) for request in batch]
        connection.execute("COMMIT")
        if any(append.masks for append in sealed.appends):
            # What was masked must not survive in the write-ahead log.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return answers, {append.log for append in sealed.appends}

    def _forget_stale_heads(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version != getattr(self, "_data_version", None):  # another process wrote
            self._heads.clear()
            self._data_version = version

    def _record(self, connection: sqlite3.Connection, batch: list[Sequence[Append]]) -> Sealed:
        logs, ids, keys = wanted(batch)
        for log in logs:
            if log not in self._heads:
                row = connection.execute("SELECT seq, hash, at FROM logs WHERE log = ?", (log,)).fetchone()
                self._heads[log] = Head(*row) if row else Head()
        # Ids and keys are almost always new: let the unique indexes tell, and look only when they do.
        connection.execute("SAVEPOINT batch")
        try:
            sealed, heads = self._insert(connection, batch, logs, Taken())
            settled = not any(isinstance(answer, QuireError) for answer in sealed.answers)
        except sqlite3.IntegrityError:
            sealed, heads, settled = Sealed(), {}, False
        if not settled:
            connection.execute("ROLLBACK TO batch")
            sealed, heads = self._insert(connection, batch, logs, _taken(connection, ids, keys))
        _note(connection, sealed, heads)
        self._heads |= heads
        return sealed

    def _insert(
        self, connection: sqlite3.Connection, batch: list[Sequence[Append]], logs: list[LogId], taken: Taken
    ) -> tuple[Sealed, dict[LogId, Head]]:
        heads = {log: self._heads[log] for log in logs}
        sealed = seal(batch, heads, taken)
        _many(connection, _INSERT, map(msgspec.structs.astuple, sealed.records))
        return sealed, heads

    def _answer(self, batch: list[_Request], answers: list[Any], logs: set[LogId]) -> None:
        for request, answer in zip(batch, answers, strict=True):
            if request.future.done():
                continue  # whoever waited was cancelled; what was written stays written
            if isinstance(answer, QuireError):
                request.future.set_exception(answer)
            else:
                request.future.set_result(answer)
        if logs:
            self._wakes.wake(logs)

    # ---- Reading

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._stopping.is_set():
            raise Unavailable(f"{self._path}: this store was closed.")

        def run() -> T:
            connection = cast("sqlite3.Connection | None", getattr(self._local, "connection", None))
            if connection is None:
                connection = self._local.connection = _connect(self._path, read_only=True)
                self._open.append(connection)
            try:
                return work(connection)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                raise _explain(error, self._path) from error

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    async def read(
        self,
        log: LogId,
        since: int = 0,
        until: int | None = None,
        *,
        limit: int = PAGE,
        types: Collection[str] | None = None,
    ) -> list[Record]:
        """Return the records with since < seq <= until, in order, at most `limit`."""
        where = "log = ? AND seq > ? AND seq <= ?"
        values: list[str | int] = [log, since, 2**62 if until is None else until]
        if types is not None:
            where += f" AND type IN ({', '.join('?' * len(types))})"
            values.extend(types)
        sql = f"SELECT {COLUMNS} FROM events WHERE {where} ORDER BY seq LIMIT ?"
        return await self._read(lambda db: [_record(row) for row in db.execute(sql, (*values, limit))])

    async def info(self, log: LogId) -> LogInfo | None:
        """Return the line of a log, with its head."""
        sql = f"SELECT {_ONE_LOG} FROM logs WHERE log = ?"
        row = await self._read(lambda db: db.execute(sql, (log,)).fetchone())
        return _info(row) if row else None

    async def logs(self, kind: LogKind | None = None) -> list[LogInfo]:
        """Return every log, the one begun last first."""
        sql = f"SELECT {_ONE_LOG} FROM logs WHERE ? IS NULL OR kind = ? ORDER BY created_at DESC, log DESC"
        return await self._read(lambda db: [_info(row) for row in db.execute(sql, (kind, kind))])

    async def find(self, *, id: EventId | None = None, key: str | None = None) -> Record | None:
        """Return the record that was sent here with this id or this key."""
        column, value = ("id", id) if id is not None else ("key", key)
        sql = f"SELECT {COLUMNS} FROM events WHERE {column} = ? AND imported = 0"
        row = await self._read(lambda db: db.execute(sql, (value,)).fetchone())
        return _record(row) if row else None

    # ---- Following

    def follow(self, log: LogId, since: int = 0) -> AsyncIterator[list[Record]]:
        """Yield what there is after `since` and then whatever comes, from any process."""
        cursor = since

        async def read() -> list[Record]:
            nonlocal cursor
            page = await self.read(log, cursor)
            cursor = page[-1].seq if page else cursor
            return page

        return self._wakes.pages(log, read, self._poll)

    def feed(self, since: int = 0) -> AsyncIterator[list[Growth]]:
        """Yield which logs grew after position `since`, and then whenever one grows."""
        cursor = since

        async def read() -> list[Growth]:
            nonlocal cursor
            page, cursor = await self._read(lambda db: _growth(db, cursor))
            return page

        return self._wakes.pages(None, read, self._poll)

    async def position(self) -> int:
        """Return the position of the last record."""
        (position,) = await self._read(
            lambda db: db.execute("SELECT coalesce(max(position), 0) FROM events").fetchone()
        )
        return position

    def _poll(self) -> None:
        """See to it that this process notices what others write, from the first follower on."""
        if self._poller is None:
            self._poller = threading.Thread(target=self._poll_all, name="quire-poll", daemon=True)
            self._poller.start()

    def _poll_all(self) -> None:
        connection = _connect(self._path, read_only=True)
        seen: int | None = None
        while not self._stopping.wait(POLL_SECONDS):
            with contextlib.suppress(sqlite3.Error):
                (version,) = connection.execute("PRAGMA data_version").fetchone()
                if version != seen:
                    seen = version
                    with contextlib.suppress(RuntimeError):
                        self._loop.call_soon_threadsafe(self._wakes.wake)
        connection.close()

    # ---- Snapshots

    async def save_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot; thin out the older ones."""

        def work(db: sqlite3.Connection) -> None:
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
            if held is None or held.epoch != lease.epoch:
                return None
            db.execute("UPDATE leases SET ends = ? WHERE name = ?", (self._clock() + seconds, lease.name))
            return msgspec.structs.replace(lease, seconds_left=seconds)

        return await self._write(work)

    async def release(self, lease: Lease) -> None:
        """Give a lease back."""
        sql = "DELETE FROM leases WHERE name = ? AND epoch = ?"
        await self._write(lambda db: db.execute(sql, (lease.name, lease.epoch)).rowcount)

    async def lease(self, name: str) -> Lease | None:
        """Return the lease that is held under this name now."""
        return await self._read(lambda db: _held(db, name, self._clock()))

    # ---- Tokens

    async def save_token(self, digest: str, token: str) -> None:
        """Keep the hash of a token's secret beside the token's id."""
        await self._write(lambda db: db.execute("INSERT INTO tokens VALUES (?, ?)", (digest, token)).rowcount)

    async def token(self, digest: str) -> str | None:
        """Return the id of the token whose secret has this hash."""
        row = await self._read(lambda db: db.execute("SELECT token FROM tokens WHERE digest = ?", (digest,)).fetchone())
        return row[0] if row else None

    # ---- The index

    async def indexed(self) -> int:
        """Return the position up to which the index was made; 0 when it was made by another version."""
        return await self._read(_indexed)

    async def save_index(self, rows: IndexRows, since: int, position: int) -> bool:
        """Bring the index from `since` to `position`, if it still is at `since`."""

        def work(db: sqlite3.Connection) -> bool:
            if _indexed(db) != since:
                return False
            _save_rows(db, rows, anew=since == 0)
            db.executemany("UPDATE counters SET value = ? WHERE name = ?", [(position, "indexed"), (INDEX, "index")])
            return True

        return await self._write(work)

    async def forget_index(self) -> None:
        """Throw the index away, because what it was made from was masked."""

        def work(db: sqlite3.Connection) -> None:
            for name in TABLES:
                db.execute(f"DELETE FROM index_{name}")
            db.execute("UPDATE counters SET value = 0 WHERE name = 'indexed'")

        await self._write(work)

    async def query(self, sql: str, *, limit: int, seconds: float) -> Table:
        """Answer a question about the index, read-only for real."""
        await refresh_index(self)

        def run() -> Table:
            with contextlib.closing(_connect(self._path, read_only=True)) as connection:
                create_views(connection)
                return ask(connection, sql, limit=limit, seconds=seconds)

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    async def close(self) -> None:
        """Finish what is waiting and let go of the file."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._requests.put(None)
        self._wakes.close()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._join)

    def _join(self) -> None:
        self._writer.join()
        if self._poller is not None:
            self._poller.join()
        self._readers.shutdown()
        for connection in self._open:
            connection.close()


# ---- Opening


def prepare(path: Path) -> None:
    """Make the file, or see that it is one of ours. A file that is not is left untouched."""
    try:
        if path.exists() and path.stat().st_size:
            _check_file(path)
        connection = _connect(path)
    except (sqlite3.Error, OSError) as error:
        raise _explain(error, path) from error
    with contextlib.closing(connection):
        try:
            connection.execute("BEGIN IMMEDIATE")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in (_TABLES + index_schema()).split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise _explain(error, path) from error


def _check_file(path: Path) -> None:
    """Refuse a file that is damaged, somebody else's, or newer than this Quire."""
    with path.open("rb") as file:
        header = file.read(100)
    size = path.stat().st_size
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    wal = path.with_name(path.name + "-wal")
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        raise Unavailable(f"{path} is not a database. It was left as it is: move it away, or restore a backup.")
    if size < pages * (page if page > 1 else 65536) and not (wal.exists() and wal.stat().st_size):
        raise Unavailable(
            f"{path} is cut off: {size:,} bytes of {pages * page:,}. It was left as it is: restore a backup."
        )
    application, version = int.from_bytes(header[68:72], "big"), int.from_bytes(header[60:64], "big")
    if application != APPLICATION_ID and (application or version or pages > 1):
        raise Unavailable(f"{path} is a database of another program. Point --at or QUIRE_URL somewhere else.")
    if version > SCHEMA:
        raise Refused(
            f"{path} was written by a newer Quire (format {version}; this one knows {SCHEMA}). Upgrade Quire to open it."
        )


def _connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    mode = "ro" if read_only else "rwc"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    connection.execute("PRAGMA synchronous = FULL")
    if not read_only:
        _switch_to_wal(connection)
        connection.execute("PRAGMA secure_delete = ON")
    return connection


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Several processes may open a new file at once; the switch does not wait for its lock by itself."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _explain(error: Exception, path: Path) -> QuireError:
    """Say what a fault of the database means for whoever waits."""
    told = str(error)
    if isinstance(error, QuireError):
        return error
    if "full" in told:
        return Unavailable(f"{path}: the disk is full. Nothing was recorded; make room and try again.")
    if "locked" in told or "busy" in told:
        return Unavailable(
            f"{path} was locked by another process for {BUSY_SECONDS:g} s. Nothing was recorded; try again."
        )
    if "malformed" in told or "not a database" in told or "decode" in told:
        return Unavailable(
            f"{path} is damaged ({told}). It was left as it is: restore a backup, or see `quire verify`."
        )
    if isinstance(error, sqlite3.Error | OSError):
        return Unavailable(f"{path} cannot be used: {told}. Nothing was recorded.")
    raise error


# ---- Rows


def _record(row: Sequence[Any]) -> Record:
    *fields, imported, redacted = row
    return Record(*fields, bool(imported), bool(redacted))  # pyright: ignore[reportCallIssue] - the columns are Record's


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


def _taken(connection: sqlite3.Connection, ids: list[str], keys: list[str]) -> Taken:
    taken = Taken()
    sql = f"SELECT {COLUMNS} FROM events WHERE {{}} IN (SELECT value FROM json_each(?)) AND imported = 0"
    for column, values in (("id", ids), ("key", keys)):
        if values:
            for row in connection.execute(sql.format(column), (msgspec.json.encode(values).decode(),)):
                taken.add(_record(row))
    return taken


def _many(connection: sqlite3.Connection, sql: str, rows: Iterable[Sequence[Any]]) -> None:
    """Run `sql` with as many rows at once as there are.

    One statement, because sqlite3 gives up and takes back Python's lock for each: with many
    small ones this thread would wait more for the lock than for the disk.
    """
    left = list(rows)
    while left:
        count = 1 << min(len(left).bit_length() - 1, 8)  # powers of two: few statements to prepare
        now, left = left[:count], left[count:]
        marks = f"({', '.join('?' * len(now[0]))})"
        connection.execute(sql.format(", ".join([marks] * count)), [value for row in now for value in row])


def _note(connection: sqlite3.Connection, sealed: Sealed, heads: dict[LogId, Head]) -> None:
    """Bring the lines of the logs up to date, and mask what redactions mask."""
    grown = {append.log: heads[append.log] for append in sealed.appends if append.expected}
    for append in sealed.appends:
        if append.about is not None or append.masks or not append.expected:
            _note_one(connection, append, heads[append.log])
    _many(connection, _UPDATE, [(log, head.seq, head.hash, head.at) for log, head in grown.items()])


def _note_one(connection: sqlite3.Connection, append: Append, head: Head) -> None:
    about = append.about
    if append.expected:
        if about is not None:
            connection.execute(
                "UPDATE logs SET name = ?, archived = ? WHERE log = ?", (about.name, about.archived, append.log)
            )
    else:
        about = about or About(name="")
        (at, actor) = connection.execute(
            "SELECT at, actor FROM events WHERE log = ? AND seq = 1", (append.log,)
        ).fetchone()
        line = (append.log, append.kind, head.seq, head.hash, head.at, about.name, about.archived, at, actor)
        connection.execute(f"INSERT INTO logs ({_ONE_LOG}) VALUES ({', '.join('?' * 9)})", line)
    for mask in append.masks:
        connection.execute(
            "UPDATE events SET payload = ?, redacted = 1 WHERE log = ? AND seq = ?",
            (mask.payload, append.log, mask.seq),
        )


def _growth(connection: sqlite3.Connection, since: int) -> tuple[list[Growth], int]:
    rows = connection.execute(
        "SELECT position, log, seq FROM events WHERE position > ? ORDER BY position LIMIT ?", (since, PAGE)
    ).fetchall()
    return by_log(Growth(position, log, seq, seq) for position, log, seq in rows), rows[-1][0] if rows else since


def _held(connection: sqlite3.Connection, name: str, now: float) -> Lease | None:
    row = connection.execute(
        "SELECT holder, epoch, ends FROM leases WHERE name = ? AND ends > ?", (name, now)
    ).fetchone()
    return Lease(name, row[0], row[1], row[2] - now) if row else None


def _indexed(connection: sqlite3.Connection) -> int:
    values = dict(connection.execute("SELECT name, value FROM counters WHERE name IN ('indexed', 'index')"))
    return values["indexed"] if values["index"] == INDEX else 0


def _save_rows(connection: sqlite3.Connection, rows: IndexRows, *, anew: bool) -> None:
    if anew:
        for name in TABLES:
            connection.execute(f"DROP TABLE IF EXISTS index_{name}")
        for statement in index_schema().split(";"):
            connection.execute(statement)
    connection.executemany("DELETE FROM index_cells WHERE log = ?", [(log,) for log in rows.logs])
    connection.executemany("DELETE FROM index_results WHERE log = ?", [(log,) for log in rows.logs])
    connection.executemany("DELETE FROM index_outputs WHERE log = ? AND execution = ?", rows.shown)
    for name, columns in TABLES.items():
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT OR REPLACE INTO index_{name} VALUES ({marks})", rows.table(name))
