"""A workspace, a real server for it, a bad line to that, and somebody at the far end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

from quire.core import events as e
from quire.core.errors import Unavailable
from quire.core.events import Draft, Entry, KnownEvent
from quire.core.ids import ActorId, LogId
from quire.doors.http.server_settings import ServerSettings
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.stores.store import Store
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.identity.tokens import NewToken
from quire.workspace.local import LocalWorkspace
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from ..http_server import Server, served
from .cutting_proxy import Relay, relay

LOG = LogId("n1")
ALL: tuple[e.Scope, ...] = ("read", "edit", "run", "approve", "admin", "bind")
PATIENCE = 240


class House:
    """A workspace, its server, a bad line to it, and somebody at the far end."""

    def __init__(self, store: Store) -> None:
        self.local = LocalWorkspace(store, MemoryBlobs(), identities.owner())
        self.token: NewToken
        self.server: Server
        self.line: Relay
        self.remote: RemoteWorkspace

    async def say(self, *events: KnownEvent, log: LogId = LOG) -> list[Entry]:
        return await self.local.submit(log, [draft(event) for event in events])


def draft(event: KnownEvent) -> Draft:
    return Draft(id=new_id(), event=event)


@asynccontextmanager
async def house(cuts: list[int] | None = None, settings: ServerSettings | None = None) -> AsyncGenerator[House]:
    made = House(MemoryStore())
    await made.say(e.NotebookCreated(name="sales"))
    made.token = await made.local.create_token(ActorId("human:ada"), ALL)
    async with AsyncExitStack() as stack:
        made.server = await stack.enter_async_context(served(made.local, settings))
        made.line = await stack.enter_async_context(relay(made.server.port, cuts or ()))
        made.remote = await again(lambda: RemoteWorkspace.open(made.line.url, made.token.secret))
        stack.push_async_callback(made.remote.close)
        yield made


async def again(ask: Callable[[], Any]) -> Any:
    """As somebody would who is told that a server is out of reach."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(Unavailable):
                return await ask()


async def seen(pages: AsyncIterator[list[Entry]], last: int) -> list[int]:
    """The numbers that a follower sees, up to the last."""
    found: list[int] = []
    async with asyncio.timeout(PATIENCE):
        async for page in pages:
            found += [entry.seq for entry in page]
            if found[-1] >= last:
                break
    return found


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)
