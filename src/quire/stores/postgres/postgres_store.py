"""Logs in PostgreSQL, for as many machines as you like.

Several servers may use one schema at once. The parts: writer.py appends,
listener.py wakes followers, query.py answers queries, schema.py makes
the tables, server_connection.py connects and explains. Followers in this process are woken after
a commit; those in others by NOTIFY. The clock of leases is the database's, which all share.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from ...core.chain import Head, Record
from ...core.errors import Unavailable
from ...core.ids import WORKSPACE_LOG, ActorId, EventId, LogId, key_owner
from ..index import IndexRows, table_of
from ..index_refresh import compare_index, refresh_index
from ..seal import COLUMNS, KEY_OWNER, LINE
from ..store import (
    PAGE,
    PAGE_BYTES,
    Append,
    AppendOutcome,
    Carrier,
    CompactionOutcome,
    Growth,
    Lease,
    LogInfo,
    LogKind,
    Outage,
    Prune,
    PrunedLog,
    ReadMark,
    Sizes,
    Snapshot,
    Table,
    is_full,
    merge_by_log,
)
from ..wakeups import Wakes
from . import index_rows
from . import prune as postgres_prune
from .listener import POSITION, PostgresListener
from .notify_lanes import PostgresCarrier
from .query import Asker
from .reachability import AWAY_SECONDS, Reach, waited_for
from .schema import prepare
from .server_connection import DatabaseSchema, Links, PostgresConnection, connect
from .writer import PostgresWriter

FOLLOW_TRIES = 6
"""How often a follower tries to read from a server that is away before it gives up, each time with all PAUSES."""
SNAPSHOT_SPACING = 10_000
"""Of the older snapshots of a log, one in so many numbers is kept, for reading the past."""
LEASE_DAYS = 1
"""How long the line of an ended lease is kept: see `acquire`."""

T = TypeVar("T")


class PostgresStore:
    """Logs in one schema of a PostgreSQL database. Made by `open`."""

    def __init__(
        self, place: DatabaseSchema, connection: PostgresConnection, links: Links, reach: Reach, reader_url: str | None
    ) -> None:
        self._wakes = Wakes()
        self._links = links
        self._reach = reach
        self._writer = PostgresWriter(place, connection, self._wakes.wake)
        self._listener = PostgresListener(place, self._wakes, self._writer, reach)
        self._asker = Asker(place, links, reader_url)
        self._place = place
        self._closed = False

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        schema: str = "quire",
        reader_url: str | None = None,
        wait_seconds: float = 0,
        tell: Callable[[str], None] = lambda message: None,
        away_seconds: float = AWAY_SECONDS,
    ) -> PostgresStore:
        """Connect, and make the tables if they are not there. `reader_url`: the role for queries, if not ours to make.

        A server that is not there yet is waited for, `wait_seconds` at most; `tell` gets a line then, and whenever it
        is away later. Requests end after `away_seconds` then.
        """
        place = DatabaseSchema.parse(url, schema)
        reach = Reach(place, tell, away_seconds)
        return await waited_for(lambda: cls._open(place, reach, reader_url), place, wait_seconds, tell)

    @classmethod
    async def _open(cls, place: DatabaseSchema, reach: Reach, reader_url: str | None) -> PostgresStore:
        connection = await connect(place)
        try:
            await prepare(connection, place)
            return cls(place, connection, await Links.open(place, reach), reach, reader_url)
        except BaseException:
            connection.terminate()
            raise

    @property
    def outage(self) -> Outage | None:
        """Return why the server is away; None while it answers."""
        return self._reach.outage

    def carrier(self, topic: str | None = None) -> Carrier:
        """Return a way to other processes, for all that is said or for what is said about a topic."""
        return PostgresCarrier(self._place, self._links, self._listener, topic)

    async def append(self, appends: Sequence[Append]) -> list[AppendOutcome]:
        """Record all of it or nothing, durably."""
        return await self._writer.append(appends)

    # ---- Removing

    async def prune(self, prune: Prune) -> Record:
        """Remove a log, and record that it was removed."""
        record = await self._links.run(lambda db: postgres_prune.prune_log(db, self._place, prune), repeat=False)
        self._wakes.wake({WORKSPACE_LOG})
        return record

    async def pruned(self, log: LogId | None = None) -> list[PrunedLog]:
        """Return the logs that were removed."""
        return await self._links.run(lambda db: postgres_prune.pruned(db, log))

    async def while_still(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something while nobody can record anything."""
        await self._links.run(lambda db: postgres_prune.while_still(db, work), repeat=False)

    async def sizes(self, before: str = "") -> Sizes:
        """Return how much there is."""
        return await self._links.run(lambda db: postgres_prune.sizes(db, before))

    async def compact(self, *, fully: bool = True) -> CompactionOutcome:
        """Make the room of what was removed free. Nobody waits for it, so it is always done in full."""
        return await self._links.run(postgres_prune.compact)

    # ---- Reading

    async def _fetch(self, sql: str, *values: Any) -> list[Any]:
        return await self._links.run(lambda db: db.fetch(sql, *values))

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
        sql = f"SELECT {COLUMNS} FROM events WHERE log = $1 AND seq > $2 AND seq <= $3"
        values: list[Any] = [log, since, 2**62 if until is None else until, limit]
        if types is not None:
            sql += " AND type = ANY($5::text[])"
            values.append(list(types))
        order = "DESC" if newest_first else "ASC"
        sql = f"{sql} ORDER BY seq {order} LIMIT $4"
        if most_bytes is not None:
            # What is not wanted is never sent here.
            values.append(most_bytes)
            before = f"sum(length(payload)) OVER (ORDER BY seq {order}) - length(payload)"
            sql = f"SELECT {COLUMNS} FROM (SELECT {COLUMNS}, {before} AS before FROM ({sql}) AS found) AS page"
            sql += f" WHERE before < ${len(values)} ORDER BY seq {order}"
        return [Record(*row) for row in await self._fetch(sql, *values)]

    async def info(self, log: LogId) -> LogInfo | None:
        """Return the line of a log, with its head."""
        rows = await self._fetch(f"SELECT {LINE} FROM logs WHERE log = $1", log)
        return _info(rows[0]) if rows else None

    async def logs(self, kind: LogKind | None = None) -> list[LogInfo]:
        """Return every log, the one begun last first."""
        sql = f"SELECT {LINE} FROM logs WHERE $1::text IS NULL OR kind = $1 ORDER BY created_at DESC, log DESC"
        return [_info(row) for row in await self._fetch(sql, kind)]

    async def find(self, id: EventId) -> Record | None:
        """Return the record that was sent here with this id."""
        rows = await self._fetch(f"SELECT {COLUMNS} FROM events WHERE id = $1 AND NOT imported", id)
        return Record(*rows[0]) if rows else None

    async def find_key(self, key: str, actor: ActorId) -> Record | None:
        """Return the record that this actor sent here with this key; of a key of the house, that of any actor."""
        where = f"key = $1 AND {KEY_OWNER} = $2 AND key IS NOT NULL AND NOT imported"
        rows = await self._fetch(f"SELECT {COLUMNS} FROM events WHERE {where}", key, key_owner(key, actor))
        return Record(*rows[0]) if rows else None

    # ---- Following

    def follow(self, log: LogId, since: int = 0) -> AsyncIterator[list[Record]]:
        """Yield what there is after `since` and then whatever comes, from any process."""
        cursor = since

        async def read() -> tuple[list[Record], bool]:
            nonlocal cursor
            page: list[Record] = await self._patiently(lambda: self.read(log, cursor, most_bytes=PAGE_BYTES))
            cursor = page[-1].seq if page else cursor
            return page, is_full(page)

        return self._wakes.pages(log, read, self._listener.start)

    def feed(self, since: int = 0) -> AsyncIterator[list[Growth]]:
        """Yield which logs grew after position `since`, and then whenever one grows."""
        cursor = since
        sql = f"SELECT position, log, seq, seq FROM events WHERE position > $1 ORDER BY position LIMIT {PAGE}"

        async def read() -> tuple[list[Growth], bool]:
            nonlocal cursor
            rows = await self._patiently(lambda: self._fetch(sql, cursor))
            cursor = rows[-1][0] if rows else cursor
            return merge_by_log(Growth(*row) for row in rows), len(rows) == PAGE

        return self._wakes.pages(None, read, self._listener.start)

    async def _patiently(self, read: Callable[[], Awaitable[list[T]]]) -> list[T]:
        """Read for a follower, who has its place and loses nothing by waiting for a server that is away."""
        for tries_left in reversed(range(FOLLOW_TRIES)):
            try:
                return await read()
            except Unavailable:
                if self._closed:
                    break
                if not tries_left:
                    raise
        return []

    async def position(self) -> int:
        """Return the position of the last record."""
        return (await self._fetch(POSITION))[0][0]

    # ---- Snapshots

    async def save_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, unless something in it was masked meanwhile; thin out the older ones."""
        masked = "SELECT FROM events WHERE log = $1 AND seq > $2 AND type = 'payload_redacted' LIMIT 1"

        async def work(db: PostgresConnection) -> None:
            key = (snapshot.log, snapshot.version)
            async with db.transaction():
                if await db.fetch(masked, snapshot.log, snapshot.seq) or await postgres_prune.pruned_of(
                    db, [snapshot.log]
                ):
                    return
                await db.execute(
                    "INSERT INTO snapshots (log, version, seq, data) VALUES ($1, $2, $3, $4)"
                    " ON CONFLICT (log, version, seq) DO UPDATE SET data = excluded.data",
                    *key,
                    snapshot.seq,
                    snapshot.data,
                )
                await db.execute("DELETE FROM snapshots WHERE log = $1 AND version < $2", *key)
                await db.execute(
                    "DELETE FROM snapshots s WHERE log = $1 AND version = $2 AND seq < $3 AND EXISTS (SELECT FROM snapshots o"
                    " WHERE o.log = $1 AND o.version = $2 AND o.seq < s.seq AND o.seq / $4 = s.seq / $4)",
                    *key,
                    snapshot.seq,
                    SNAPSHOT_SPACING,
                )

        await self._links.run(work)

    async def snapshot(self, log: LogId, version: int, until: int | None = None) -> Snapshot | None:
        """Return the latest snapshot of that version at or before `until`."""
        rows = await self._fetch(
            "SELECT log, seq, version, data FROM snapshots WHERE log = $1 AND version = $2 AND seq <= $3"
            " ORDER BY seq DESC LIMIT 1",
            log,
            version,
            2**62 if until is None else until,
        )
        return Snapshot(*rows[0]) if rows else None

    async def drop_snapshots(self, log: LogId, since: int = 0) -> None:
        """Forget the snapshots of a log from number `since` on."""
        await self._fetch("DELETE FROM snapshots WHERE log = $1 AND seq >= $2", log, since)

    # ---- Leases, each change in one statement

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take the lease, or return None while somebody holds it."""
        # The line of a lease that was given back stays for a day. Its lock orders those who want the name, and
        # the number of the winner is drawn under it: so a later lease never gets a smaller epoch.
        epoch = await self._change(
            "INSERT INTO leases AS held (name, holder, epoch, ends)"
            " SELECT $1, $2, nextval('epochs'), clock_timestamp() + make_interval(secs => $3)"
            " WHERE NOT EXISTS (SELECT FROM leases WHERE name = $1 AND ends > clock_timestamp())"
            " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = nextval('epochs'),"
            " ends = clock_timestamp() + make_interval(secs => $3) WHERE held.ends <= clock_timestamp() RETURNING epoch",
            name,
            holder,
            float(seconds),
        )
        return Lease(name, holder, epoch, seconds) if epoch is not None else None

    async def renew(self, lease: Lease, seconds: float) -> Lease | None:
        """Hold on to a lease; None when it is lost."""
        held = await self._change(
            "UPDATE leases SET ends = clock_timestamp() + make_interval(secs => $3)"
            " WHERE name = $1 AND epoch = $2 AND holder = $4 AND ends > clock_timestamp() RETURNING epoch",
            lease.name,
            lease.epoch,
            float(seconds),
            lease.holder,
        )
        return msgspec.structs.replace(lease, seconds_left=seconds) if held is not None else None

    async def revive(self, lease: Lease, seconds: float) -> Lease | None:
        """Give a lease more time even if it ran out; None when it was given back, or taken since."""
        held = await self._change(
            "UPDATE leases SET ends = clock_timestamp() + make_interval(secs => $3)"
            " WHERE name = $1 AND epoch = $2 AND holder = $4 RETURNING epoch",
            lease.name,
            lease.epoch,
            float(seconds),
            lease.holder,
        )
        return msgspec.structs.replace(lease, seconds_left=seconds) if held is not None else None

    async def release(self, lease: Lease) -> None:
        """Give a lease back, and forget those that ended long ago."""
        await self._change(
            "WITH old AS (SELECT name FROM leases WHERE ends < clock_timestamp() - make_interval(days => $3)"
            " AND holder = '' LIMIT 100 FOR UPDATE SKIP LOCKED),"
            " gone AS (DELETE FROM leases USING old WHERE leases.name = old.name)"
            " UPDATE leases SET ends = least(ends, clock_timestamp()), holder = ''"
            " WHERE name = $1 AND epoch = $2 AND holder = $4",
            lease.name,
            lease.epoch,
            LEASE_DAYS,
            lease.holder,
        )

    async def lease(self, name: str) -> Lease | None:
        """Return the lease that is held under this name now."""
        rows = await self._fetch(
            "SELECT name, holder, epoch, extract(epoch FROM ends - clock_timestamp())::float8 FROM leases"
            " WHERE name = $1 AND ends > clock_timestamp()",
            name,
        )
        return Lease(*rows[0]) if rows else None

    async def leases(self) -> list[Lease]:
        """Return the leases that were not given back: those that were have no holder."""
        rows = await self._fetch(
            "SELECT name, holder, epoch, extract(epoch FROM ends - clock_timestamp())::float8 FROM leases"
            " WHERE holder <> '' ORDER BY epoch"
        )
        return [Lease(*row) for row in rows]

    async def _change(self, sql: str, *values: Any) -> Any:
        """Do what must not be done a second time when nobody knows whether it was done."""
        return await self._links.run(lambda db: db.fetchval(sql, *values), repeat=False)

    # ---- Tokens

    async def save_token(self, digest: str, token: str) -> None:
        """Keep the hash of a token's secret beside the token's id."""
        await self._fetch(
            "INSERT INTO tokens (digest, token) VALUES ($1, $2) ON CONFLICT (digest) DO UPDATE SET token = excluded.token",
            digest,
            token,
        )

    async def token(self, digest: str) -> str | None:
        """Return the id of the token whose secret has this hash."""
        rows = await self._fetch("SELECT token FROM tokens WHERE digest = $1", digest)
        return rows[0][0] if rows else None

    # ---- How far actors have seen logs

    async def save_seen(self, seen: ReadMark) -> ReadMark:
        """Keep how far an actor has seen a log: only forwards."""
        # A row that is there and further on is changed to itself, so that it is returned.
        rows = await self._fetch(
            "INSERT INTO seen AS known (log, actor, seq, at) VALUES ($1, $2, $3, $4) ON CONFLICT (log, actor) DO UPDATE SET"
            " seq = greatest(known.seq, excluded.seq),"
            " at = CASE WHEN excluded.seq >= known.seq THEN excluded.at ELSE known.at END RETURNING log, actor, seq, at",
            seen.log,
            seen.actor,
            seen.seq,
            seen.at,
        )
        return ReadMark(*rows[0])

    async def seen(self, log: LogId, actor: ActorId) -> ReadMark | None:
        """Return how far an actor has seen a log."""
        rows = await self._fetch("SELECT log, actor, seq, at FROM seen WHERE log = $1 AND actor = $2", log, actor)
        return ReadMark(*rows[0]) if rows else None

    # ---- The index

    async def indexed(self) -> int:
        """Return the position up to which the index was made; 0 when it was made by another version."""
        return await self._links.run(index_rows.indexed)

    async def save_index(self, rows: IndexRows, since: int, position: int) -> bool:
        """Bring the index from `since` to `position`, if it still is at `since`."""
        return await self._links.run(lambda db: index_rows.save(db, self._place, rows, since, position))

    async def forget_index(self) -> None:
        """Throw the index away, because what it was made from was masked."""
        await self._links.run(lambda db: index_rows.forget(db, self._place))

    async def index_rows(self, log: LogId) -> IndexRows:
        """Return the rows that the index has of a log, as they are."""
        found = IndexRows()
        for name, column in table_of(log).items():
            where, values = (f"WHERE {column} = $1", (log,)) if column else ("", ())
            rows = await self._fetch(f"SELECT * FROM index_{name} {where}", *values)
            setattr(found, name, [tuple(row) for row in rows])
        return found

    async def check_index(self, log: LogId) -> str | None:
        """Compare the index with rows made anew from a log; return the first table that differs."""
        return await compare_index(self, log)

    async def save_line(self, line: LogInfo) -> None:
        """Correct what lists show of a log."""
        sql = "UPDATE logs SET name = $2, archived = $3, created_at = $4, created_by = $5 WHERE log = $1"
        fields = (line.log, line.name, line.archived, line.created_at, line.created_by)
        await self._links.run(lambda db: db.execute(sql, *fields))

    async def query(self, sql: str, *, limit: int, seconds: float) -> Table:
        """Bring the index up to date and answer a question about it, read-only for real."""
        await refresh_index(self)
        return await self._asker.ask(sql, limit=limit, seconds=seconds)

    async def close(self) -> None:
        """Finish what is waiting and hang up."""
        if self._closed:
            return
        self._closed = True
        # All at once: a server that hangs keeps each of them waiting.
        await asyncio.gather(self._close_writer(), self._listener.close(), self._links.close())

    async def _close_writer(self) -> None:
        await self._writer.close()
        self._wakes.close()


def _info(row: Iterable[Any]) -> LogInfo:
    log, kind, seq, hash, at, name, archived, created_at, created_by = row
    return LogInfo(
        log=log,
        kind=kind,
        head=Head(seq, hash, at),
        name=name,
        archived=archived,
        created_at=created_at,
        created_by=created_by,
    )
