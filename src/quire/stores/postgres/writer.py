"""The one writer of a process: takes whatever is waiting and commits it as one transaction.

Servers take turns by locking one row, the counter of positions, so positions rise in the
order of commits and without gaps. What is looked up after the lock is held cannot change
before the commit. There is no timed window: under load the commit itself is the window.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import astuple

from ...core.chain import Head, Record
from ...core.errors import QuireError, Unavailable
from ...core.ids import LogId
from ..seal import COLUMNS, LINE, RepeatedRecords, SealedBatch, seal, wanted
from ..store import Append, AppendOutcome, LogSummary
from .server_connection import (
    CLOSE_SECONDS,
    CONNECT_SECONDS,
    FAULTS,
    KEEP_SECONDS,
    PAUSES,
    DatabaseSchema,
    PostgresConnection,
    connect,
    explain,
    hang_up,
    is_about_the_data,
    is_lost,
    is_unsent,
)

BATCH, BATCH_CHARACTERS = 2000, 50_000_000
"""How many records are written with one statement, and about how many are taken into one transaction."""
_HEADS = 10_000
_WAKE_BYTES = 4000
"""PostgreSQL takes less than 8000 bytes with a notification; without names, everybody is woken."""

_TEXT, _NUMBER, _FLAG = "text[]", "bigint[]", "boolean[]"
_TYPES = (_TEXT, _NUMBER, *(_TEXT,) * 10, _FLAG, _FLAG)


def arrays(types: Iterable[str]) -> str:
    """`$1::text[], $2::bigint[] …`: what `unnest` turns into rows."""
    return ", ".join(f"${number}::{kind}" for number, kind in enumerate(types, 1))


LOCK = "SELECT FROM counters WHERE name = 'position' FOR UPDATE"
_BEGIN = f"BEGIN; {LOCK}"
_USED = "-"
"""Instead of a type, in rows that tell what was used up by logs that were removed."""
# All in one answer, to save round trips while others wait: a head is a row without an id, the position one without a log.
_LOOK_UP = f"""
SELECT NULL AS log, value AS seq, NULL AS id, NULL AS key, NULL AS cause, NULL AS at, NULL AS actor, NULL AS on_behalf_of,
    NULL AS type, NULL AS payload, NULL AS digest, NULL AS hash, false AS imported, false AS redacted
    FROM counters WHERE name = 'position'
UNION ALL SELECT log, seq, NULL, NULL, NULL, at, NULL, NULL, NULL, NULL, NULL, hash, false, false FROM logs WHERE log = ANY($1::text[])
UNION ALL SELECT {COLUMNS} FROM events WHERE id = ANY($2::text[]) AND NOT imported
UNION ALL SELECT {COLUMNS} FROM events WHERE key = ANY($3::text[]) AND key IS NOT NULL AND NOT imported
UNION ALL SELECT log, 0, NULL, NULL, NULL, NULL, NULL, NULL, '{_USED}', NULL, NULL, NULL, false, false
    FROM pruned WHERE log = ANY($1::text[])
UNION ALL SELECT pruned.log, 0, used.id, NULL, NULL, NULL, NULL, NULL, '{_USED}', NULL, NULL, NULL, false, false
    FROM used JOIN pruned ON pruned.number = used.log WHERE used.id = ANY($2::text[])
UNION ALL SELECT pruned.log, 0, NULL, used.key, NULL, NULL, used.owner, NULL, '{_USED}', NULL, NULL, NULL, false, false
    FROM used_keys used JOIN pruned ON pruned.number = used.log WHERE used.key = ANY($3::text[])
"""
# Records all or, when the position is another or (unless $17) an id or key is taken, nothing; says whether it did.
# If somebody commits while this waits for the row, the position is another: so what it saw before holds after.
_RECORD = f"""
WITH record AS MATERIALIZED (
    SELECT * FROM unnest({arrays((*_TYPES, _FLAG))}) WITH ORDINALITY AS record({COLUMNS}, is_head, n)),
place AS (
    UPDATE counters SET value = value + cardinality($1::text[]) WHERE name = 'position' AND value = $16 AND ($17 OR NOT (
        EXISTS (SELECT FROM events WHERE id = ANY($3::text[]) AND NOT imported) OR
        EXISTS (SELECT FROM used WHERE id = ANY($3::text[])) OR EXISTS (SELECT FROM used_keys WHERE key = ANY($4::text[])) OR
        EXISTS (SELECT FROM events WHERE key = ANY($4::text[]) AND key IS NOT NULL AND NOT imported)))
    RETURNING true AS free),
put AS (INSERT INTO events (position, {COLUMNS}) SELECT $16 + n, {COLUMNS} FROM place, record),
grown AS (
    UPDATE logs SET seq = record.seq, hash = record.hash, at = record.at FROM place, record
    WHERE logs.log = record.log AND record.is_head)
SELECT free, pg_notify($18, $19) FROM place
"""
_NOTE = f"""
INSERT INTO logs ({LINE}) SELECT * FROM unnest({arrays((_TEXT, _TEXT, _NUMBER, *(_TEXT,) * 3, _FLAG, _TEXT, _TEXT))})
ON CONFLICT (log) DO UPDATE SET name = excluded.name, archived = excluded.archived
"""
_MASK = f"""
UPDATE events SET payload = mask.payload, redacted = true FROM unnest({arrays((_TEXT, _NUMBER, _TEXT))})
    AS mask(log, seq, payload) WHERE events.log = mask.log AND events.seq = mask.seq
"""


_Written: TypeAlias = tuple[SealedBatch, dict[LogId, Head]]


class _AppendRequest(msgspec.Struct):
    """Appends that belong together, and who waits for them."""

    future: asyncio.Future[list[AppendOutcome]]
    appends: Sequence[Append]


class _KnownHead(msgspec.Struct):
    """What we left behind with our last commit. It holds as long as the position is still the same."""

    position: int = -1
    alone: bool = True
    """Whether the position was as we had left it when we last looked."""
    heads: dict[LogId, Head] = {}

    def heads_of(self, logs: set[LogId]) -> dict[LogId, Head] | None:
        """The heads of these logs; None when a guess would be idle."""
        if not self.alone or not logs <= self.heads.keys():
            return None
        return {log: self.heads[log] for log in logs}

    def look(self, position: int) -> None:
        """Compare with the position that was found under the lock."""
        self.alone = self.position in (-1, position)
        if self.position != position:
            self.heads.clear()
        self.position = position

    def keep(self, heads: dict[LogId, Head], count: int) -> None:
        """Note what was committed."""
        if len(self.heads) > _HEADS:
            self.heads.clear()
        self.heads |= heads
        self.position += count


class PostgresWriter:
    """Records appends. Those that wait for each other's commit share the next one."""

    def __init__(
        self, place: DatabaseSchema, connection: PostgresConnection, committed: Callable[[set[LogId]], None]
    ) -> None:
        self._place = place
        self._connection: PostgresConnection | None = connection
        self._committed = committed
        self._waiting: deque[_AppendRequest] = deque()
        self._stirred = asyncio.Event()
        self._stopping = False
        self._known = _KnownHead()
        self._used_at = asyncio.get_running_loop().time()
        self.backend = connection.get_server_pid()
        """The process on the server whose notifications tell us nothing new."""
        self._task = asyncio.create_task(self._write_all(), name="quire-write")

    async def append(self, appends: Sequence[Append]) -> list[AppendOutcome]:
        """Record all of it or nothing, durably."""
        if self._stopping:
            raise Unavailable(f"{self._place.label}: this store was closed.")
        request = _AppendRequest(asyncio.get_running_loop().create_future(), appends)
        self._waiting.append(request)
        self._stirred.set()
        return await request.future

    async def close(self) -> None:
        """Finish what is waiting, unless the server does not answer."""
        self._stopping = True
        self._stirred.set()
        try:
            await asyncio.wait_for(self._task, CLOSE_SECONDS)
        except TimeoutError:
            if self._connection is not None:
                self._connection.terminate()
        await hang_up(self._connection)

    async def _write_all(self) -> None:
        while True:
            if batch := self._next_batch():
                try:
                    self._answer(batch, await self._write(batch))
                except asyncio.CancelledError:  # closed, and the server does not answer: nobody is to wait for ever
                    left = [*batch, *self._waiting]
                    self._answer(left, [self._uncertain(TimeoutError())] * len(left))
                    raise
            elif self._stopping:
                return
            else:
                self._stirred.clear()
                await self._stirred.wait()
                await asyncio.sleep(0)  # who was woken together writes together; and a lost connection gets noticed

    def _next_batch(self) -> list[_AppendRequest]:
        batch: list[_AppendRequest] = []
        count = characters = 0
        while self._waiting and count < BATCH and characters < BATCH_CHARACTERS:
            batch.append(self._waiting.popleft())
            for append in batch[-1].appends:
                count += len(append.records) + len(append.imported)
                characters += sum(len(record.payload) for record in append.records)
        return batch

    def _answer(self, batch: list[_AppendRequest], answers: Sequence[list[AppendOutcome] | Exception]) -> None:
        for request, answer in zip(batch, answers, strict=True):
            if request.future.done():
                continue  # whoever waited was cancelled; what was written stays written
            if isinstance(answer, Exception):
                request.future.set_exception(answer)
            else:
                request.future.set_result(answer)

    async def _write(self, batch: list[_AppendRequest]) -> Sequence[list[AppendOutcome] | Exception]:
        """Commit a batch, whatever happens; answer each request."""
        try:
            return await self._commit_again_if_lost([request.appends for request in batch])
        except FAULTS as error:
            await self._give_up(error)
            if is_about_the_data(error) and len(batch) > 1:
                # One of them cannot be kept. It must not take the others with it.
                return [(await self._write([request]))[0] for request in batch]
            return [explain(error, self._place.label, "Nothing was recorded.") for _ in batch]
        except Exception as error:  # a fault of ours, or an outcome that is not known: those who wait must hear of it
            await self._give_up(error)
            return [error] * len(batch)

    async def _give_up(self, error: Exception) -> None:
        """Undo what was begun. Only after a fault of the data the connection is fit for use again."""
        connection = self._connection
        self._known = _KnownHead()
        if connection is None:
            return
        if is_about_the_data(error) and not connection.is_closed():
            with contextlib.suppress(*FAULTS):
                await connection.execute("ROLLBACK")
                return
        connection.terminate()
        self._connection = None

    # ---- One transaction

    async def _commit_again_if_lost(
        self, batch: Sequence[Sequence[Append]]
    ) -> Sequence[list[AppendOutcome] | QuireError]:
        """A connection that is lost before the commit was sent takes nothing with it: what was begun is begun again, once."""
        try:
            return await self._commit(batch)
        except FAULTS as error:
            if self._connection is None or not is_lost(error):
                raise
            await self._give_up(error)
            return await self._commit(batch)

    async def _commit(self, batch: Sequence[Sequence[Append]]) -> Sequence[list[AppendOutcome] | QuireError]:
        connection = await self._connected()
        sealed, heads = await self._guess(connection, batch) or await self._look_and_record(batch)
        if sealed.appends:
            self._known.keep(heads, len(sealed.records))
            self._committed({append.log for append in sealed.appends})
        return sealed.answers

    async def _guess(self, connection: PostgresConnection, batch: Sequence[Sequence[Append]]) -> _Written | None:
        """Record without looking first: as a rule nobody else has written meanwhile, and no id is an old one.

        The one statement is its own transaction. None, and nothing recorded, when it is not that simple.
        """
        heads = self._known.heads_of({append.log for request in batch for append in request})
        if heads is None:
            return None
        sealed = seal(batch, heads, RepeatedRecords())
        if not _is_plain(sealed):
            return None
        try:
            done = await self._record(connection, sealed.records, heads, self._known.position)
        except FAULTS as error:
            if is_unsent(error):
                await self._give_up(error)
                return None
            raise self._uncertain(error) from error
        return (sealed, heads) if done else None

    async def _look_and_record(self, batch: Sequence[Sequence[Append]]) -> _Written:
        connection = await self._begin()
        position, heads, taken = await _look_up(connection, batch)
        self._known.look(position)
        sealed = seal(batch, heads, taken)
        for records in _statements(sealed.records):
            if not await self._record(connection, records, heads, position, looked=True):
                raise RuntimeError(f"{self._place.label}: the position moved while this process held its lock.")
            position += len(records)
        if lines := _lines(sealed, heads):
            await connection.execute(_NOTE, *zip(*lines, strict=True))
        if masks := [(append.log, mask.seq, mask.payload) for append in sealed.appends for mask in append.masks]:
            await connection.execute(_MASK, *zip(*masks, strict=True))
        await self._finish(connection, "COMMIT" if sealed.appends else "ROLLBACK")
        return sealed, heads

    async def _record(
        self,
        connection: PostgresConnection,
        records: list[Record],
        heads: dict[LogId, Head],
        position: int,
        *,
        looked: bool = False,
    ) -> bool:
        is_head = [record.seq == heads[record.log].seq for record in records]
        columns = zip(*map(astuple, records), strict=True)
        wake = self._place.channel, _wake({record.log for record in records})
        return bool(await connection.fetchval(_RECORD, *columns, is_head, position, looked, *wake))

    async def _begin(self) -> PostgresConnection:
        """Open a transaction that holds the lock."""
        for last in (False, True):
            try:
                connection = await self._connected()
                await connection.execute(_BEGIN)
                return connection
            except FAULTS as error:
                await self._give_up(error)
                # Nothing was sent yet: a connection that was lost since the last time is simply replaced.
                if last or not is_lost(error):
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _connected(self) -> PostgresConnection:
        """A connection that is alive, as far as one can tell."""
        clock = asyncio.get_running_loop().time
        if self._connection is not None and clock() - self._used_at > KEEP_SECONDS:
            try:
                await self._connection.execute("SELECT 1", timeout=CONNECT_SECONDS)
            except FAULTS:
                self._connection.terminate()
        if self._connection is None or self._connection.is_closed():
            self._connection = None
            self._connection = await connect(self._place, pauses=PAUSES)
            self.backend = self._connection.get_server_pid()
        self._used_at = clock()
        return self._connection

    async def _finish(self, connection: PostgresConnection, how: str) -> None:
        try:
            done = await connection.execute(how)
        except FAULTS as error:
            raise self._uncertain(error) from error
        if done != how:
            raise Unavailable(
                f"{self._place.label}: the server undid the transaction. Nothing was recorded; try again."
            )

    def _uncertain(self, error: Exception) -> Exception:
        """What to say when a commit was on its way. An ERROR is an answer: it was not made."""
        if getattr(error, "severity_en", None) == "ERROR" or is_about_the_data(error) or is_unsent(error):
            return error
        return Unavailable(
            f"{self._place.label}: the connection was lost during the commit. What was sent may or may not have been "
            "recorded; send it again with the same id: it is recorded once."
        )


def _is_plain(sealed: SealedBatch) -> bool:
    """Whether one statement records it all. A fault may turn out to be an id that was recorded before: look first."""
    return (
        len(list(_statements(sealed.records))) == 1
        and not any(append.masks or append.about for append in sealed.appends)
        and not any(isinstance(answer, QuireError) for answer in sealed.answers)
    )


def _statements(records: list[Record]) -> Iterator[list[Record]]:
    """Cut the records into what goes into one statement: PostgreSQL takes less than 1 GB."""
    start = characters = 0
    for number, record in enumerate(records):
        characters += len(record.payload)
        if number > start and (number - start == BATCH or characters > BATCH_CHARACTERS):
            yield records[start:number]
            start, characters = number, len(record.payload)
    if records:
        yield records[start:]


async def _look_up(
    connection: PostgresConnection, batch: Sequence[Sequence[Append]]
) -> tuple[int, dict[LogId, Head], RepeatedRecords]:
    position = 0
    heads: dict[LogId, Head] = {}
    taken = RepeatedRecords()
    for row in await connection.fetch(_LOOK_UP, *wanted(batch)):
        record = Record(*row)
        if row[0] is None:
            position = record.seq
        elif row[8] == _USED:
            _note_used(taken, row[0], row[2], row[3], row[6])
        elif row[2] is None:
            heads[record.log] = Head(record.seq, record.hash, record.at)
        else:
            taken.add(record)
    return position, heads, taken


def _note_used(taken: RepeatedRecords, log: LogId, id: str | None, key: str | None, owner: str) -> None:
    if id is not None:
        taken.gone_ids[id] = log
    elif key is not None:
        taken.gone_keys[key, owner] = log
    else:
        taken.gone.add(log)


def _lines(sealed: SealedBatch, heads: dict[LogId, Head]) -> list[tuple[Any, ...]]:
    """The lines of logs that begin or get another name."""
    first = {record.log: record for record in sealed.records if record.seq == 1}
    about = {append.log: append.about for append in sealed.appends if append.about is not None}
    kinds = {append.log: append.kind for append in sealed.appends if append.log in first or append.log in about}
    lines: list[tuple[Any, ...]] = []
    for log, kind in kinds.items():
        head, named, begun = heads[log], about.get(log, LogSummary(name="")), first.get(log)
        # Where the log was there before only the name is used.
        created = (begun.at, begun.actor) if begun else ("", "")
        lines.append((log, kind, head.seq, head.hash, head.at, named.name, named.archived, *created))
    return lines


def _wake(logs: set[LogId]) -> str:
    names = msgspec.json.encode(sorted(logs)).decode()
    return names if len(names.encode()) <= _WAKE_BYTES else ""
