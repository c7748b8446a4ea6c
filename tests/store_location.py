"""Where a store is, as text that one process can hand to another."""

from __future__ import annotations

from pathlib import Path

from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.stores.store import Store
from quire.workspace.identity.identities import Identity
from quire.workspace.local import LocalWorkspace


async def open_place(place: str) -> Store:
    """Open the store at `sqlite:PATH` or `postgresql://…#SCHEMA`."""
    if place.startswith("sqlite:"):
        return SqliteStore(Path(place.removeprefix("sqlite:")))
    from quire.stores.postgres.postgres_store import PostgresStore

    url, _, schema = place.partition("#")
    return await PostgresStore.open(url, schema=schema)


async def workspace_at(place: str, identity: Identity | None = None) -> LocalWorkspace:
    """Open a workspace there, with blobs that nobody needs."""
    return LocalWorkspace(await open_place(place), MemoryBlobs(), identity)
