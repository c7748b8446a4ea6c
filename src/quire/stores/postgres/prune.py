"""Removing whole logs from PostgreSQL, and giving their room back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec.structs import astuple

from ...core.chain import Head, Record
from ...core.ids import WORKSPACE_LOG, LogId
from ..index import table_of
from ..seal import COLUMNS, KEY_OWNER, LINE, check_prune, seal_note
from ..store import CompactionOutcome, Prune, PrunedLog, Sizes
from .server_connection import DatabaseSchema, PostgresConnection
from .writer import LOCK

VACUUM_SECONDS = 3600.0
_GONE = "log, kind, seq, hash, at, name, created_at, pruned_at"
_LOGS = ("events", "snapshots", "seen", "logs")
_TAKING_ROOM = (*_LOGS, "used", "used_keys", "pruned")


async def prune_log(db: PostgresConnection, place: DatabaseSchema, prune: Prune) -> Record:
    """Remove a log, and record that it was removed, in one transaction."""
    async with db.transaction():
        await db.execute(LOCK)
        # After the position, as nobody takes them in another order: rows of the log that are being made come first.
        await db.execute("SELECT FROM counters WHERE name IN ('index', 'indexed') ORDER BY name FOR UPDATE")
        heads = {log: Head(*rest) for log, *rest in await _heads(db, prune.log)}
        newer = await db.fetch(f"SELECT {COLUMNS} FROM events WHERE position > $1 ORDER BY position", prune.since)
        check_prune(prune, heads.get(prune.log, Head()), (Record(*row) for row in newer))
        record = await _note(db, place, prune, heads.get(WORKSPACE_LOG, Head()))
        number = await db.fetchval(
            f"INSERT INTO pruned ({_GONE}) SELECT log, kind, seq, hash, at, name, created_at, $2 FROM logs WHERE log = $1"
            " RETURNING number",
            prune.log,
            record.at,
        )
        of = "FROM events WHERE log = $1 AND NOT imported"
        await db.execute(f"INSERT INTO used SELECT id, $2::bigint {of}", prune.log, number)
        await db.execute(
            f"INSERT INTO used_keys SELECT key, {KEY_OWNER}, $2::bigint {of} AND key IS NOT NULL", prune.log, number
        )
        columns = dict.fromkeys(_LOGS, "log")
        columns |= {f"index_{name}": column for name, column in table_of(prune.log).items()}
        for table, column in columns.items():
            await db.execute(f"DELETE FROM {table} WHERE {column} = $1", prune.log)
        return record


async def _heads(db: PostgresConnection, log: LogId) -> Sequence[Any]:
    return await db.fetch("SELECT log, seq, hash, at FROM logs WHERE log = ANY($1::text[])", [log, WORKSPACE_LOG])


async def _note(db: PostgresConnection, place: DatabaseSchema, prune: Prune, head: Head) -> Record:
    record = seal_note(prune.note, head)
    position = await db.fetchval("UPDATE counters SET value = value + 1 WHERE name = 'position' RETURNING value")
    marks = ", ".join(f"${number}" for number in range(1, len(record.__struct_fields__) + 2))
    await db.execute(f"INSERT INTO events (position, {COLUMNS}) VALUES ({marks})", position, *astuple(record))
    await db.execute(
        f"INSERT INTO logs ({LINE}) VALUES ($1, 'workspace', $2, $3, $4, 'workspace', false, $4, $5)"
        " ON CONFLICT (log) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, at = excluded.at",
        WORKSPACE_LOG,
        record.seq,
        record.hash,
        record.at,
        record.actor,
    )
    await db.execute("SELECT pg_notify($1, $2)", place.channel, f'["{WORKSPACE_LOG}"]')
    return record


async def pruned(db: PostgresConnection, log: LogId | None) -> list[PrunedLog]:
    """The logs that were removed, the last one first, or the one of this id."""
    sql = f"SELECT {_GONE} FROM pruned WHERE $1::text IS NULL OR log = $1 ORDER BY number DESC"
    return [
        PrunedLog(log=log, kind=kind, head=Head(seq, hash, at), name=name, created_at=created_at, pruned_at=pruned_at)
        for log, kind, seq, hash, at, name, created_at, pruned_at in await db.fetch(sql, log)
    ]


async def pruned_of(db: PostgresConnection, logs: Sequence[LogId]) -> set[LogId]:
    """Those of these logs that were removed."""
    return {row[0] for row in await db.fetch("SELECT log FROM pruned WHERE log = ANY($1::text[])", list(logs))}


async def while_still(db: PostgresConnection, work: Callable[[], Awaitable[None]]) -> None:
    """Do something while nobody can record anything."""
    async with db.transaction():
        await db.execute(LOCK)
        await work()


# ---- Room


async def sizes(db: PostgresConnection, before: str) -> Sizes:
    """How much there is in the schema."""
    kinds = dict(map(tuple, await db.fetch("SELECT kind, count(*) FROM logs GROUP BY kind")))
    measured = "count(*), coalesce(sum(octet_length(payload)), 0)::bigint"
    events, event_bytes = await db.fetchrow(f"SELECT {measured} FROM events")
    old = "kind = 'run' AND at < $1"
    _, old_bytes = await db.fetchrow(
        f"SELECT {measured} FROM events WHERE log IN (SELECT log FROM logs WHERE {old})", before
    )
    return Sizes(
        notebooks=kinds.get("notebook", 0),
        runs=kinds.get("run", 0),
        pruned=await db.fetchval("SELECT count(*) FROM pruned"),
        events=events,
        event_bytes=event_bytes,
        database_bytes=await _bytes(db),
        old_runs=await db.fetchval(f"SELECT count(*) FROM logs WHERE {old}", before),
        old_bytes=old_bytes,
    )


async def compact(db: PostgresConnection) -> CompactionOutcome:
    """Make the room of what was removed free for what comes; what is free at the end of a table goes back to the disk."""
    before = await _bytes(db)
    await db.execute(f"VACUUM (ANALYZE) {', '.join(_TAKING_ROOM)}", timeout=VACUUM_SECONDS)
    return CompactionOutcome(before=before, after=await _bytes(db))


async def _bytes(db: PostgresConnection) -> int:
    return await db.fetchval(
        "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class"
        " WHERE relkind = 'r' AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('logs'))"
    )
