"""The lanes of a runtime or an agent that works on the store itself: those of the server that there is, when there is one.

Where a store carries lanes between processes (workspace/lanes/lane_exchange.py) no server is needed for it. Elsewhere:

People are where a server is, and servers come and go: which one it is now stands in a file beside the logs. The runtime makes
itself a token that is good for its own notebook, and gives it up when it ends; an agent makes one that only reads, with which it
says where it is. Without a server nothing is said or heard, and nothing else changes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.errors import QuireError, Refused
from ...core.events import Draft, Scope, TokenRevoked
from ...core.ids import WORKSPACE_LOG, LogId
from ...core.values import Json
from ...workspace import server_file
from ...workspace.clock import new_id
from ...workspace.identity import identities
from ...workspace.identity.identities import Identity
from ...workspace.identity.tokens import NewToken
from ...workspace.lanes import lane_messages
from ...workspace.lanes.lanes import LaneEntry
from ...workspace.local import LocalWorkspace
from ...workspace.protocol import LaneAccess, Workspace
from ...workspace.server_file import Whereabouts
from ...workspace.tasks import alongside

if TYPE_CHECKING:
    from ...workspace.remote.remote_lanes import LanesAt

LOOK_SECONDS = 1.0
"""How often it is looked where the server is, while there is no connection to one."""
SELDOM = 10
"""It is looked this many times less often while there is: a server that ends says so."""
GO_SECONDS = 3.0
"""How long a call of an agent waits for a server that does not answer."""
LASTS = "7d"
"""How long a token is good, if nobody is there to give it up; another one is made when it has ended."""


@asynccontextmanager
async def lanes_beside(
    runtime: Workspace, log: LogId, state: Path | None, *, look_seconds: float = LOOK_SECONDS
) -> AsyncGenerator[LaneAccess]:
    """The lanes of a runtime, for as long as this takes.

    `state` is the folder in which servers say where they are; it is looked at every `look_seconds`.
    """
    if state is None or runtime.carries_lanes:
        # They lead to the server or, by way of the store, to all servers; or nowhere.
        async with alongside(runtime.carry_lanes(log)):
            yield runtime.lanes
        return
    # Who works beside the store may make a token: it could anyway.
    system = runtime.beside_store().acting_as(identities.system(runtime.identity.token))
    lanes = LanesBeside(system, runtime.identity, state, scopes=("read", "serve"), notebooks=(log,))
    try:
        async with alongside(lanes.look(look_seconds)):
            yield lanes
    finally:
        await lanes.close()


class LanesBeside:
    """Lanes that lead to whatever server is there."""

    def __init__(
        self,
        system: Workspace,
        me: Identity,
        state: Path,
        *,
        scopes: Collection[Scope],
        notebooks: Collection[LogId] | None,
    ) -> None:
        self._system, self._me, self._state = system, me, state
        self._scopes, self._notebooks = scopes, notebooks
        self._token: NewToken | None = None
        self._server: Whereabouts | None = None
        self._there: LanesAt | None = None
        self._change = asyncio.Event()

    # ---- As a runtime has them

    def say(self, lane: str, message: Json) -> None:
        """Tell everybody who listens now; nobody, if there is no server."""
        if self._there is not None:
            self._there.say(lane, message)

    async def hear(self, lane: str) -> AsyncIterator[LaneEntry]:
        """Yield what is said, and by whom, at one server after the other."""
        while True:
            there, change = self._there, self._change
            if there is not None:
                try:
                    async for heard in there.hear(lane):
                        yield heard
                except QuireError as error:
                    if self._there is there:
                        self._server = None  # it does not want to be heard: go there anew
                        if isinstance(error, Refused):
                            self._token = None  # it has ended, or somebody revoked it
            if self._there is there:
                await change.wait()

    async def listen(self, lane: str) -> AsyncIterator[Json]:
        """Yield what is said."""
        async for heard in self.hear(lane):
            yield heard.message

    # ---- Where the server is

    async def look(self, look_seconds: float = LOOK_SECONDS) -> None:
        """Go where the server is, for ever."""
        while True:
            with contextlib.suppress(QuireError, OSError):
                await self.go()
            if self._there is not None and self._there.is_open:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(SELDOM * look_seconds):
                        await self._there.until_lost()
            else:
                await asyncio.sleep(look_seconds)

    async def go(self) -> None:
        """Go where the server is now, unless that is done."""
        await self._go(server_file.read(self._state))

    async def _go(self, told: Whereabouts | None) -> None:
        if told is not None and told.is_gone:
            told = None
        if told == self._server and (told is None or self._there is not None):
            return
        await self._leave()
        if told is not None:
            there = await self._opened(told)
            self._server = told
            self._is_at(there)

    async def _opened(self, told: Whereabouts) -> LanesAt:
        # Loaded when there is a server: it takes a while, and some runtimes never have one.
        from ...workspace.remote.remote_lanes import LanesAt

        return LanesAt(told.address, await self._secret())

    async def _secret(self) -> str:
        if self._token is None:
            self._token = await self._system.create_token(
                self._me.actor,
                self._scopes,
                on_behalf_of=self._me.on_behalf_of,
                notebooks=self._notebooks,
                expires_at=LASTS,
            )
        return self._token.secret

    def _is_at(self, there: LanesAt | None) -> None:
        self._there = there
        self._change.set()
        self._change = asyncio.Event()

    async def _leave(self) -> None:
        there, self._server = self._there, None
        self._is_at(None)
        if there is not None:
            await there.close()

    async def close(self) -> None:
        """Let go, and leave nothing behind that opens anything."""
        await self._leave()
        if self._token is not None:
            revoked = Draft(id=new_id(), event=TokenRevoked(token=self._token.token))
            with contextlib.suppress(QuireError):
                await self._system.submit(WORKSPACE_LOG, [revoked])


class PresenceBeside:
    """The lane `presence` for an agent that works on the store itself. It goes to the server with the first word."""

    def __init__(self, workspace: LocalWorkspace, state: Path) -> None:
        me = workspace.identity
        system = workspace.acting_as(identities.system(me.token))
        self._lanes = LanesBeside(system, me, state, scopes=("read",), notebooks=me.notebooks)
        self._going = asyncio.Lock()

    async def say(self, log: LogId, message: Json) -> None:
        """Tell everybody who listens at the server; nobody, if there is none."""
        async with self._going, asyncio.timeout(GO_SECONDS):
            await self._lanes.go()
        self._lanes.say(f"{log}/{lane_messages.PRESENCE_LANE}", message)

    def close(self) -> None:
        """The connection stays for what is said later; `end` closes it."""

    async def end(self) -> None:
        """Let go: the server says that the agent is gone."""
        await self._lanes.close()
