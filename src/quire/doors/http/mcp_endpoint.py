"""`/mcp`: the tools for agents over streamable HTTP, for whoever has a token.

Every request stands for itself: there is nothing to keep between two of them, so any of several servers may answer
the next. A client that asks for a stream of its own (GET), or ends one (DELETE), is told that there is none, as the
protocol foresees. The package mcp is loaded by the first request.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from litestar import Litestar, post
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from ...core.errors import Refused, Unavailable
from ...verbs.answers.answer import Here
from ...workspace.identity.identities import Identity
from ...workspace.lanes.agent_presence import AgentPresence, LocalPresenceLane
from ...workspace.local import LocalWorkspace
from .auth import BEARER, Door, asked_by, is_known
from .error_responses import ErrorResponse
from .route import Asking

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"


@post(PATH, opt=BEARER, include_in_schema=False, status_code=200)
async def mcp(request: Asking) -> ASGIApp:
    """Pass a message to the tools, and what they say back."""
    _check_origin(request)
    body = await request.body()  # no larger than any body
    answering = await _answering(request.app)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await answering.handle_request(cast("Any", scope), cast("Any", _again(body, receive)), cast("Any", send))

    return cast("ASGIApp", answer)


def _check_origin(request: Asking) -> None:
    """A page of another site has no business here, whatever token it found."""
    if "origin" in request.headers and not is_known(request):
        came = request.headers["origin"][:100]
        raise ErrorResponse(
            403, Refused(f"A page of {came!r} may not use this server's tools (the setting `origins`).")
        )


def _again(body: bytes, receive: Receive) -> Receive:
    """The body once more, and then whatever comes."""
    left: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Any:
        return left.pop() if left else cast("Message", await receive())

    return received


# ---- What answers


async def _answering(app: Litestar) -> StreamableHTTPSessionManager:
    """What speaks the protocol: made by the first who asks, for as long as the server lives."""
    if "mcp" not in app.state:
        await asyncio.to_thread(_load)  # takes a second or two, for which nobody else should wait
    if "mcp" not in app.state:
        app.state["mcp"] = _ProtocolTask(cast("Door", app.state["door"]))
    return await cast("_ProtocolTask", app.state["mcp"]).begun()


async def close(app: Litestar) -> None:
    """End what still waits for an answer."""
    if "mcp" in app.state:
        await cast("_ProtocolTask", app.state["mcp"]).close()


class _ProtocolTask:
    """The protocol's side, in a task of its own: what it starts has to end where it began."""

    def __init__(self, door: Door) -> None:
        self._agents = _Agents(door.settings.agent_quiet_seconds)
        self._manager = _made(door, self._agents)
        self._ready = asyncio.Event()
        self._over = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def begun(self) -> StreamableHTTPSessionManager:
        await self._ready.wait()
        return self._manager

    async def _run(self) -> None:
        async with self._manager.run():
            self._ready.set()
            await self._over.wait()

    async def close(self) -> None:
        self._agents.close()
        self._over.set()
        await self._task


class _Agents:
    """Where the agents are that called lately, for those who look at the same notebooks."""

    def __init__(self, quiet_seconds: float) -> None:
        self._quiet = quiet_seconds
        self._present: dict[Identity, AgentPresence] = {}

    def presence(self, workspace: LocalWorkspace) -> AgentPresence:
        """Of whoever acts in a workspace."""
        self._present = {who: each for who, each in self._present.items() if not each.is_away}
        known = self._present.get(workspace.identity)
        if known is None:
            known = AgentPresence(workspace.identity.actor, LocalPresenceLane(workspace), self._quiet)
            self._present[workspace.identity] = known
        return known

    def close(self) -> None:
        for each in self._present.values():
            each.close()


def _load() -> None:
    try:
        for name in ("mcp.server.streamable_http_manager", "quire.doors.mcp.mcp_server"):
            import_module(name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("quire"):
            raise
        told = f"The package {missing.name} is not installed where this server runs, so there are no tools."
        raise ErrorResponse(501, Unavailable(f"{told} Whoever runs it: pip install 'quire[mcp]'.")) from missing


def _made(door: Door, agents: _Agents) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from ..mcp.mcp_server import Context, make_server

    def here(context: Context) -> Here:
        workspace = asked_by(cast("Asking", context.request))  # which every message by HTTP has
        presence = agents.presence(workspace)
        return Here(workspace=workspace, folder=door.folder, may_start=door.folder is not None, presence=presence)

    return StreamableHTTPSessionManager(
        make_server(here), stateless=True, max_request_body_size=door.settings.body_bytes
    )
