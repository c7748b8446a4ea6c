"""A workspace on SQLite with two notebooks, a real server for it, and somebody who may do everything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from quire.core.events import Scope
from quire.core.ids import ActorId
from quire.stores.blobs.folder_blobs import FolderBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from ...http_server import Server, served
from .http_clients import ADA, ALL, NOTEBOOK, OTHER, Client, client_of, make_notebook

As: TypeAlias = Callable[..., Awaitable[Client]]
"""Makes a client with a token: `await acting_as(ADA, "read", notebooks=[NOTEBOOK])`."""


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    """The owner's."""
    made = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), FolderBlobs(tmp_path / "blobs"), identities.owner())
    await make_notebook(made, NOTEBOOK, "x = 1", "print(x)")
    await make_notebook(made, OTHER, "y = 2")
    yield made
    await made.close()


@pytest.fixture
async def server(workspace: LocalWorkspace) -> AsyncIterator[Server]:
    async with served(workspace) as running:
        yield running


@pytest.fixture
async def acting_as(workspace: LocalWorkspace, server: Server) -> AsyncIterator[As]:
    clients: list[Client] = []

    async def made(actor: ActorId, *scopes: Scope, **limits: Any) -> Client:
        token = await workspace.create_token(actor, scopes, **limits)
        clients.append(client_of(server.url, token.secret))
        return clients[-1]

    yield made
    for client in clients:
        await client.aclose()


@pytest.fixture
async def ada(acting_as: As) -> Client:
    return await acting_as(ADA, *ALL)


@pytest.fixture
async def nobody(server: Server) -> AsyncIterator[Client]:
    async with client_of(server.url) as client:
        yield client
