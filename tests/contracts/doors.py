"""The same workspace through either door: at hand, or behind a real server, where who somebody is comes from a token."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from quire.core.events import Scope
from quire.core.ids import ActorId, TokenId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.stores.store import Blobs, Store
from quire.workspace import clock
from quire.workspace.identity import identities
from quire.workspace.identity.identities import Identity
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from ..conftest import OpenStore, stores
from ..http_server import served

EVERYWHERE = ["memory", "sqlite", "postgres", "remote"]
"""Each kind of store at hand, and a server, whose store is SQLite. A test runs there unless it says otherwise."""

on_every_store = pytest.mark.parametrize("place", ["memory", "sqlite", "postgres"], indirect=True)
"""What a store takes part in and a client over the network does not: signing in, the tables that queries see."""
at_both_doors = pytest.mark.parametrize("place", ["sqlite", "remote"], indirect=True)
"""What any store keeps alike and the network has to carry: refusals with their details, lanes, rights of each method."""
in_one_place = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
"""What the workspace decides by itself, before anything is stored or sent: rules, scopes, roles, times."""


class House(LocalWorkspace):
    """A workspace of its owner that others reach through a server, each with a token of their own."""

    def __init__(self, store: Store, blobs: Blobs, now: Callable[[], str], secrets: dict[TokenId, str]) -> None:
        super().__init__(store, blobs, identities.owner(), now)
        self.url = ""
        self._secrets = secrets
        self._known: dict[Identity, Workspace] = {}
        self._closing = AsyncExitStack()

    async def open_door(self) -> None:
        self.url = (await self._closing.enter_async_context(served(self))).url

    async def close_door(self) -> None:
        await self._closing.aclose()

    async def visitor(self, secret: str) -> Workspace:
        """Whoever comes with this token."""
        opened = await Visitor.open(self.url, secret)
        opened.house = self
        self._closing.push_async_callback(opened.close)
        assert opened.identity.token is not None
        self._secrets[opened.identity.token] = secret
        return opened

    async def visiting(self, identity: Identity) -> Workspace:
        """Somebody of this identity: with the token that it is of, if that is known, or a new one that says the same."""
        if identity.owns or identity.actor == identities.SYSTEM:
            return self.acting_as(identity)  # nobody comes over the network as one of these
        if identity not in self._known:
            self._known[identity] = await self.visitor(await self._secret(identity))
        return self._known[identity]

    async def _secret(self, identity: Identity) -> str:
        if identity.token is not None and identity == await self._named(identity.token):
            return self._secrets[identity.token]
        made = await self.create_token(
            identity.actor,
            sorted(identity.scopes),
            on_behalf_of=identity.on_behalf_of,
            notebooks=identity.notebooks,
            expires_at=identity.expires_at,
            asks=sorted(identity.asks),
        )
        return made.secret

    async def _named(self, token: TokenId) -> Identity | None:
        return identities.bearer(await self.directory(), token, clock.now()) if token in self._secrets else None


class Visitor(RemoteWorkspace):
    """Somebody at the door of a house."""

    house: House


async def acting(workspace: Workspace, identity: Identity) -> Workspace:
    """The same workspace for somebody else."""
    if isinstance(workspace, Visitor):
        return await workspace.house.visiting(identity)
    if isinstance(workspace, House):
        return await workspace.visiting(identity)
    assert isinstance(workspace, LocalWorkspace)
    return workspace.acting_as(identity)


async def bearer_of(workspace: Workspace, secret: str) -> Workspace:
    """The same workspace for whoever holds this token."""
    if isinstance(workspace, Visitor):
        return await workspace.house.visitor(secret)
    if isinstance(workspace, House):
        return await workspace.visitor(secret)
    assert isinstance(workspace, LocalWorkspace)
    return await workspace.bearer(secret)


async def bearer(workspace: Workspace, actor: ActorId, *scopes: Scope, **limits: Any) -> Workspace:
    """Somebody with a new token."""
    return await bearer_of(workspace, (await workspace.create_token(actor, scopes, **limits)).secret)


class Place:
    """Where a workspace is. Each handle has its own store and its own memory, as in another process, and its own server."""

    def __init__(self, open_store: OpenStore, remote: bool) -> None:
        self._open_store = open_store
        self._remote = remote
        self._blobs = MemoryBlobs()
        self._secrets: dict[TokenId, str] = {}
        self._houses: list[House] = []

    async def owner(self, now: Callable[[], str] = clock.now) -> LocalWorkspace:
        """Who has the files."""
        return await self._owner(await self._open_store(), self._blobs, now)

    async def elsewhere(self) -> LocalWorkspace:
        """Who has the files of another place, of the same kind."""
        return await self._owner(MemoryStore(), MemoryBlobs(), clock.now)

    async def _owner(self, store: Store, blobs: Blobs, now: Callable[[], str]) -> LocalWorkspace:
        if not self._remote:
            return LocalWorkspace(store, blobs, identities.owner(), now)
        house = House(store, blobs, now, self._secrets)
        self._houses.append(house)
        await house.open_door()
        return house

    async def close(self) -> None:
        for house in self._houses:
            await house.close_door()


@asynccontextmanager
async def opened_place(kind: str, request: pytest.FixtureRequest, folder: Path) -> AsyncGenerator[Place]:
    """A place of one kind, empty."""
    remote = kind == "remote"
    async with stores("sqlite" if remote else kind, request, folder) as open_store:
        place = Place(open_store, remote)
        try:
            yield place
        finally:
            await place.close()
