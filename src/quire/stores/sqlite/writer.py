"""The one thread that writes to a SQLite file.

It takes whatever is waiting, commits it as one transaction, and takes what came meanwhile
(natural group commit; a timed window would be slower on both counts). An append that
expects the number of one still waiting before it is checked inside the same transaction,
so appends to one log can be sent without waiting for each other.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...core.chain import Head, Record
from ...core.errors import QuireError, Unavailable
from ...core.ids import WORKSPACE_LOG, LogId
from ..seal import COLUMNS, LINE, RepeatedRecords, SealedBatch, record_from, seal, wanted
from ..store import Append, LogSummary, Prune
from .change_notifier import folder_of, notify
from .database_file import BUSY_SECONDS, connect, explain, is_frozen
from .prune import prune_log, used_before

# OR ROLLBACK: so SQLite keeps no copy of every page it touches, to undo just this statement.
_INSERT = f"INSERT OR ROLLBACK INTO events ({COLUMNS}) VALUES {{}}"
_UPDATE = """WITH new (log, seq, hash, at) AS (VALUES {})
    UPDATE OR ROLLBACK logs SET seq = new.seq, hash = new.hash, at = new.at FROM new WHERE logs.log = new.log"""
MOST_TOLD = 1000
"""Of so many logs it is known how far their followers were woken."""


class WriteRequest(msgspec.Struct):
    """Something for the writing thread to do, and who waits for it."""

    future: asyncio.Future[Any]
    appends: Sequence[Append] | None = None
    work: Callable[[sqlite3.Connection], Any] | None = None
    prune: Prune | None = None
    checkpoint: bool = False
    """Whether the write-ahead log is to be folded into the file afterwards: something in it was masked."""


class SqliteWriter:
    """Writes for one event loop, until it is closed. `wake` is called there with the logs that grew."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop, wake: Callable[[set[LogId]], None]) -> None:
        self._path = path
        self._loop = loop
        self._wake = wake
        self._waiting: list[WriteRequest] = []
        self._requests: queue.SimpleQueue[list[WriteRequest] | None] = queue.SimpleQueue()
        self._heads: dict[LogId, Head] = {}
        self.told: dict[LogId, int] = {}
        """How far each of the logs that were written last goes for those who are woken from here."""
        self._data_version: int | None = None
        self._has_pruned: bool | None = None
        self._wake_folder = folder_of(path)
        self._closed = False
        self._is_frozen = is_frozen(path)
        self._connection = connect(path, read_only=self._is_frozen)
        self._thread = threading.Thread(target=self._write_all, name="quire-write", daemon=True)
        self._thread.start()

    def ask(self, request: WriteRequest) -> asyncio.Future[Any]:
        """Do this after what was asked for before."""
        if self._closed:
            request.future.set_exception(Unavailable(f"{self._path}: this store was closed."))
        elif self._is_frozen:
            told = f"{self._path} cannot be written: its disk or folder is read-only"
            request.future.set_exception(Unavailable(f"{told}. Nothing was recorded; it can still be read."))
        else:
            self._waiting.append(request)
            if len(self._waiting) == 1:
                # Handed over once all who were woken together have asked: they share one commit.
                self._loop.call_soon(self._hand_over)
        return request.future

    def _hand_over(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._requests.put(waiting)

    def close(self) -> None:
        """Take no more; what is waiting is still done."""
        self._closed = True
        self._hand_over()
        self._requests.put(None)

    def join(self) -> None:
        """Wait until the last of it is done, and let go of the file."""
        self._thread.join()
        self._connection.close()

    def _write_all(self) -> None:
        connection = self._connection
        while (batch := self._next_batch()) is not None:
            try:
                answers, logs = self._commit(connection, batch)
            except Exception as error:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                self._heads.clear()
                answers, logs = [explain(error, self._path)] * len(batch), set[LogId]()
            self._note_told(logs)
            notify(self._wake_folder, logs)
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._answer, batch, answers, logs)

    def _note_told(self, logs: set[LogId]) -> None:
        if len(self.told) > MOST_TOLD:
            self.told = {}  # then somebody is woken once too often
        self.told |= {log: self._heads[log].seq for log in logs}

    def _next_batch(self) -> list[WriteRequest] | None:
        """Wait for requests, then take all that are waiting. None: no more will come."""
        batch = self._requests.get()
        while batch is not None and not self._requests.empty():
            more = self._requests.get()
            if more is None:
                self._requests.put(None)  # seen too early: finish this batch first
                break
            batch = batch + more
        return batch

    def _commit(self, connection: sqlite3.Connection, batch: list[WriteRequest]) -> tuple[list[Any], set[LogId]]:
        connection.execute("BEGIN IMMEDIATE")
        self._forget_stale_heads(connection)
        appending = [request.appends for request in batch if request.appends is not None]
        sealed = self._record(connection, appending) if appending else SealedBatch()
        waiting = iter(sealed.answers)
        answers = [
            next(waiting) if request.appends is not None else _apart(connection, self._work_of(request))
            for request in batch
        ]
        connection.execute("COMMIT")
        if any(request.checkpoint for request in batch):
            self._checkpoint(connection)
        grown = {append.log for append in sealed.appends if append.log in self._heads}
        return answers, grown | {WORKSPACE_LOG for request in batch if request.prune is not None} & self._heads.keys()

    def _work_of(self, request: WriteRequest) -> Callable[[sqlite3.Connection], Any]:
        prune = request.prune
        if prune is None:
            return request.work or (lambda _: None)

        def work(connection: sqlite3.Connection) -> Record:
            record = prune_log(connection, prune)
            self._heads.pop(prune.log, None)
            self._heads[WORKSPACE_LOG] = Head(record.seq, record.hash, record.at)
            self._has_pruned = True
            return record

        return work

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        """Fold the write-ahead log into the file, if no reader is in the way for long."""
        connection.execute("PRAGMA busy_timeout = 1000")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")

    def _forget_stale_heads(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version != self._data_version:  # another process wrote
            self._heads.clear()
            self._data_version, self._has_pruned = version, None

    def _record(self, connection: sqlite3.Connection, batch: list[Sequence[Append]]) -> SealedBatch:
        # Ids and keys are almost always new: let the unique indexes tell, and look only when they do.
        heads = self._heads_of(connection, batch)
        sealed = seal(batch, heads, self._used(connection, batch))
        settled = not any(isinstance(answer, QuireError) for answer in sealed.answers)
        try:
            if settled:
                many(connection, _INSERT, map(msgspec.structs.astuple, sealed.records))
        except sqlite3.IntegrityError:  # the transaction was rolled back: others may have written before the next
            settled = False
            connection.execute("BEGIN IMMEDIATE")
            self._forget_stale_heads(connection)
        if not settled:
            heads = self._heads_of(connection, batch)
            sealed = seal(batch, heads, taken_before(connection, batch, self._used(connection, batch)))
            many(connection, _INSERT, map(msgspec.structs.astuple, sealed.records))
        note(connection, sealed, heads)
        self._heads |= heads
        return sealed

    def _used(self, connection: sqlite3.Connection, batch: list[Sequence[Append]]) -> RepeatedRecords:
        """What was used up by logs that were removed: where none ever was, nothing is looked up."""
        if self._has_pruned is None:
            self._has_pruned = has_pruned(connection)
        return used_before(connection, batch) if self._has_pruned else RepeatedRecords()

    def _heads_of(self, connection: sqlite3.Connection, batch: list[Sequence[Append]]) -> dict[LogId, Head]:
        logs = {append.log for request in batch for append in request}
        for log in logs:
            if log not in self._heads:
                row = connection.execute("SELECT seq, hash, at FROM logs WHERE log = ?", (log,)).fetchone()
                self._heads[log] = Head(*row) if row else Head()
        return {log: self._heads[log] for log in logs}

    def _answer(self, batch: list[WriteRequest], answers: list[Any], logs: set[LogId]) -> None:
        for request, answer in zip(batch, answers, strict=True):
            if request.future.done():
                continue  # whoever waited was cancelled; what was written stays written
            if isinstance(answer, Exception):
                request.future.set_exception(answer)
            else:
                request.future.set_result(answer)
        if logs:
            self._wake(logs)


def _apart(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], Any]) -> Any:
    """Do something whose fault is its own: the others of the batch go through."""
    connection.execute("SAVEPOINT work")
    try:
        return work(connection)
    except (
        sqlite3.IntegrityError,
        sqlite3.ProgrammingError,
        ValueError,
        OverflowError,
        TypeError,
        QuireError,
    ) as error:
        connection.execute("ROLLBACK TO work")
        return error


def taken_before(
    connection: sqlite3.Connection, batch: list[Sequence[Append]], taken: RepeatedRecords
) -> RepeatedRecords:
    """What was recorded under one of the ids and keys of a batch, added to what is known of them."""
    _, ids, keys = wanted(batch)
    sql = f"SELECT {COLUMNS} FROM events WHERE {{}} IN (SELECT value FROM json_each(?)) AND imported = 0"
    for column, values in (("id", ids), ("key", keys)):
        if values:
            for row in connection.execute(sql.format(column), (msgspec.json.encode(values).decode(),)):
                taken.add(record_from(row))
    return taken


def has_pruned(connection: sqlite3.Connection) -> bool:
    """Whether any log was ever removed."""
    return connection.execute("SELECT EXISTS (SELECT 1 FROM pruned)").fetchone()[0] == 1


def many(connection: sqlite3.Connection, sql: str, rows: Iterable[Sequence[Any]]) -> None:
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


def note(connection: sqlite3.Connection, sealed: SealedBatch, heads: dict[LogId, Head]) -> None:
    """Bring the lines of the logs up to date, and mask what redactions mask."""
    grown = {append.log: heads[append.log] for append in sealed.appends if append.expected}
    many(connection, _UPDATE, [(log, head.seq, head.hash, head.at) for log, head in grown.items()])
    for append in sealed.appends:
        if not append.expected:
            _begin(connection, append, heads[append.log])
        elif append.about is not None:
            line = (append.about.name, append.about.archived, append.log)
            connection.execute("UPDATE logs SET name = ?, archived = ? WHERE log = ?", line)
        for mask in append.masks:
            line = (mask.payload, append.log, mask.seq)
            connection.execute("UPDATE events SET payload = ?, redacted = 1 WHERE log = ? AND seq = ?", line)


def _begin(connection: sqlite3.Connection, append: Append, head: Head) -> None:
    about = append.about or LogSummary(name="")
    first = "SELECT at, actor FROM events WHERE log = ? AND seq = 1"
    at, actor = connection.execute(first, (append.log,)).fetchone()
    line = (append.log, append.kind, head.seq, head.hash, head.at, about.name, about.archived, at, actor)
    connection.execute(f"INSERT INTO logs ({LINE}) VALUES ({', '.join('?' * 9)})", line)
