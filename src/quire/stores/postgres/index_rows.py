"""Writing the rows of the index to PostgreSQL, a table with one statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..index import INDEX, KEYS, REPLACED, TABLES, IndexRows, Row
from .prune import pruned_of
from .schema import make_index
from .server_connection import DatabaseSchema, PostgresConnection
from .writer import arrays


async def indexed(db: PostgresConnection) -> int:
    """The position up to which the index was made; 0 when it was made by another version."""
    return (await _state(db))[0]


async def save(db: PostgresConnection, place: DatabaseSchema, rows: IndexRows, since: int, position: int) -> bool:
    """Bring the index from `since` to `position`, if it still is at `since`."""
    async with db.transaction():
        at, version = await _state(db, "FOR UPDATE")
        if at != since:
            return False
        if since <= 0:
            await _empty(db, place, version)
        # Rows may have been made of a log that was removed before they came here.
        await _save_rows(db, rows.without(await pruned_of(db, rows.logs)))
        await db.execute("UPDATE counters SET value = $1 WHERE name = 'indexed'", position)
        return True


async def forget(db: PostgresConnection, place: DatabaseSchema) -> None:
    """Throw the index away."""
    async with db.transaction():
        _, version = await _state(db, "FOR UPDATE")
        await _empty(db, place, version)
        await db.execute("UPDATE counters SET value = -1 - floor(random() * 1e15)::bigint WHERE name = 'indexed'")


async def _empty(db: PostgresConnection, place: DatabaseSchema, version: int) -> None:
    if version != INDEX:
        await make_index(db, place)
    else:
        # Not TRUNCATE: that waits for every query that has begun, and then shows it an empty table.
        await db.execute("; ".join(f"DELETE FROM index_{name}" for name in TABLES))
        await db.execute("UPDATE counters SET value = 0 WHERE name = 'indexed'")


async def _state(db: PostgresConnection, lock: str = "") -> tuple[int, int]:
    rows = await db.fetch(f"SELECT name, value FROM counters WHERE name IN ('index', 'indexed') ORDER BY name {lock}")
    values = dict(map(tuple, rows))
    return values["indexed"] if values["index"] == INDEX else 0, values["index"]


async def _save_rows(db: PostgresConnection, rows: IndexRows) -> None:
    for name in REPLACED:
        await db.execute(f"DELETE FROM index_{name} WHERE log = ANY($1::text[])", rows.logs)
    await db.execute(
        "DELETE FROM index_outputs o USING unnest($1::text[], $2::text[]) AS shown(log, execution)"
        " WHERE o.log = shown.log AND o.execution = shown.execution",
        [log for log, _ in rows.shown],
        [execution for _, execution in rows.shown],
    )
    for name in TABLES:
        if rows.table(name):
            await db.execute(_UPSERTS[name], *_columns(name, rows.table(name)))


def _upsert(name: str, columns: dict[str, str]) -> str:
    types = {"integer": "bigint[]", "real": "float8[]", "boolean": "boolean[]"}
    changed = ", ".join(f"{column} = excluded.{column}" for column in columns if column not in KEYS[name])
    return (
        f"INSERT INTO index_{name} SELECT * FROM unnest({arrays(types.get(kind, 'text[]') for kind in columns.values())})"
        f" ON CONFLICT ({', '.join(KEYS[name])}) DO UPDATE SET {changed}"
    )


_UPSERTS = {name: _upsert(name, columns) for name, columns in TABLES.items()}


def _columns(name: str, rows: Iterable[Row]) -> Iterable[Sequence[Any]]:
    """The columns of the rows; of those with the same key just the last, for one statement writes a row once."""
    places = [list(TABLES[name]).index(column) for column in KEYS[name]]
    last = {tuple(row[place] for place in places): row for row in rows}
    return [[_without_nul(value) for value in column] for column in zip(*last.values(), strict=True)]


def _without_nul(value: Any) -> Any:
    """PostgreSQL keeps no NUL in text. The log has it escaped; the index shows the picture of it."""
    return value.replace("\0", "\N{SYMBOL FOR NULL}") if isinstance(value, str) and "\0" in value else value
