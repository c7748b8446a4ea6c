"""Durable appends by 64 writers, beside a raw loop on the same database with the same batching."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any, cast

import asyncpg  # pyright: ignore[reportMissingTypeStubs]

from quire.core.chain import digest
from quire.core.events import Draft, MetadataSet, NotebookCreated
from quire.core.ids import ActorId, EventId, LogId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.database_file import prepare
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.stores.sqlite.writer import COLUMNS
from quire.stores.store import Append, Store, UnsealedRecord
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from .figures import Figure, alternately, rate_figure

WRITERS = 64
SECONDS = 1.0
ROUNDS = 7
PAYLOAD = '{"type":"metadata_set","values":{"text":"' + "x" * 250 + '"}}'
_numbers = count()
_positions = count(0, 10_000_000)


async def writers(write: Callable[[int], Awaitable[None]]) -> float:
    """Let 64 writers write, each waiting for its acknowledgement, and return events a second."""
    written = 0
    until = time.perf_counter() + SECONDS

    async def one(number: int) -> None:
        nonlocal written
        while time.perf_counter() < until:
            await write(number)
            written += 1

    start = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(WRITERS)))
    return written / (time.perf_counter() - start)


async def through_store(store: Store) -> float:
    """Each writer appends 300-byte events to a log of its own."""
    run = next(_numbers)
    heads = [0] * WRITERS
    now = "2026-01-01T00:00:00.000000Z"
    hash = digest(PAYLOAD)

    async def write(number: int) -> None:
        record = UnsealedRecord(
            EventId(new_id()), None, None, now, ActorId("human:ada"), None, "metadata_set", PAYLOAD, hash
        )
        append = Append(log=LogId(f"log-{run}-{number}"), kind="notebook", expected=heads[number], records=(record,))
        await store.append([append])
        heads[number] += 1

    return await writers(write)


async def through_workspace(workspace: LocalWorkspace) -> float:
    """The same through rules, fold and all: 64 writers at one notebook."""
    log = LogId(f"shared-{next(_numbers)}")
    await workspace.submit(log, [Draft(id=new_id(), event=NotebookCreated(name="shared"))])

    async def write(number: int) -> None:
        await workspace.submit(log, [Draft(id=new_id(), event=MetadataSet(values={"text": "x" * 250}))])

    return await writers(write)


def raw_sqlite(path: Path) -> float:
    """A loop that does nothing but insert: the same rows into the same table, 64 in a transaction."""
    prepare(path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    run, hash = next(_numbers), digest(PAYLOAD)
    fixed = (None, None, "2026-01-01T00:00:00.000000Z", "human:ada", None, "metadata_set", PAYLOAD, hash, hash, 0, 0)
    insert = f"INSERT INTO events ({COLUMNS}) VALUES ({', '.join('?' * 14)})"
    written, spent, start = 0, 0.0, time.perf_counter()
    for seq in count(1):
        rows = [(f"log-{run}-{number}", seq, new_id(), *fixed) for number in range(WRITERS)]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(insert, rows)
        connection.execute("COMMIT")
        written += WRITERS
        if (spent := time.perf_counter() - start) > SECONDS:
            break
    connection.close()
    return written / spent


def plain_sqlite(path: Path) -> float:
    """The same loop into a table of two columns without an index: what the file system allows, of any use or not."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS plain (seq INTEGER PRIMARY KEY, payload TEXT)")
    written, spent, start = 0, 0.0, time.perf_counter()
    while spent <= SECONDS:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO plain (payload) VALUES (?)", [(PAYLOAD,)] * WRITERS)
        connection.execute("COMMIT")
        written += WRITERS
        spent = time.perf_counter() - start
    connection.close()
    return written / spent


async def raw_postgres(url: str, schema: str) -> float:
    """A loop that does nothing but insert: the same rows into the same table, 64 in a transaction."""
    connection: Any = await cast("Any", asyncpg).connect(url, server_settings={"search_path": schema})
    run, hash, position = next(_numbers), digest(PAYLOAD), next(_positions)
    now = "2026-01-01T00:00:00.000000Z"
    kinds = ["bigint", "text", "bigint", *["text"] * 10, "boolean", "boolean"]
    arrays = ", ".join(f"${number}::{kind}[]" for number, kind in enumerate(kinds, 1))
    insert = f"INSERT INTO events (position, {COLUMNS}) SELECT * FROM unnest({arrays})"
    written, spent, start = 0, 0.0, time.perf_counter()
    for seq in count(1):
        rest = (None, None, now, "human:ada", None, "metadata_set", PAYLOAD, hash, hash, False, False)
        rows = [(position + written + n, f"log-{run}-{n}", seq, new_id(), *rest) for n in range(WRITERS)]
        await connection.execute(insert, *zip(*rows, strict=True))
        written += WRITERS
        if (spent := time.perf_counter() - start) > SECONDS:
            break
    await connection.close()
    return written / spent


async def postgres_figures() -> list[Figure]:
    """PostgreSQL, started for this."""
    from tests.conftest import Postgres

    from quire.stores.postgres.postgres_store import PostgresStore

    server = await asyncio.to_thread(Postgres)
    try:
        store = await PostgresStore.open(server.url)
        await (await PostgresStore.open(server.url, schema="raw")).close()
        workspace = LocalWorkspace(store, MemoryBlobs())

        async def floor() -> float:
            return await raw_postgres(server.url, "raw")

        ours, whole, raw = await alternately(
            ROUNDS, lambda: through_store(store), lambda: through_workspace(workspace), floor
        )
        await workspace.close()
    finally:
        await asyncio.to_thread(server.stop)
    return [
        rate_figure("PostgreSQL: durable appends, 64 writers, own logs", ours, raw, "raw loop", 0.5),
        Figure(
            name="PostgreSQL: the same through the workspace, one log",
            ours=whole,
            unit="/s",
            floor=raw,
            floor_name="raw loop",
        ),
    ]


async def sqlite_figures() -> list[Figure]:
    """SQLite, with synchronous=FULL."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        store = SqliteStore(Path(folder) / "quire.db")
        workspace = LocalWorkspace(store, MemoryBlobs())

        async def floor() -> float:
            return await asyncio.to_thread(raw_sqlite, Path(folder) / "raw.db")

        async def bare() -> float:
            return await asyncio.to_thread(plain_sqlite, Path(folder) / "plain.db")

        ours, whole, raw, plain = await alternately(
            ROUNDS, lambda: through_store(store), lambda: through_workspace(workspace), floor, bare
        )
        await workspace.close()
    return [
        rate_figure("SQLite: durable appends, 64 writers, own logs", ours, raw, "raw loop", 0.5),
        Figure(
            name="SQLite: the same beside a bare table",
            ours=ours,
            unit="/s",
            floor=plain,
            floor_name="two columns, no index",
        ),
        Figure(
            name="SQLite: the same through the workspace, one log",
            ours=whole,
            unit="/s",
            floor=raw,
            floor_name="raw loop",
        ),
    ]
