"""Whether the server is well, and who somebody is here."""

from __future__ import annotations

from typing import Literal

import msgspec

from .... import __version__
from ....workspace.identity.identities import system
from ....workspace.wire import frames
from ..auth import Asked, door_of
from ..route import Asking, route


class ServerHealth(msgspec.Struct, frozen=True, kw_only=True):
    """A server that is well."""

    status: Literal["ok"]
    version: str


@route("GET", "/health", "health", tag="server", answer=ServerHealth, open=True)
async def health(request: Asking) -> ServerHealth:
    """Whether the server is well, and its store can be read and written. Answers within 2 seconds. Needs no token."""
    await door_of(request).pulse.check(door_of(request).workspace.acting_as(system()))
    return ServerHealth(status="ok", version=__version__)


@route("GET", "/api/me", "me", tag="identity", answer=frames.Me)
async def me(workspace: Asked) -> frames.Me:
    """Who the bearer is here: the actor that the token names, and what it allows."""
    return frames.me(workspace.identity)


ROUTES = [health, me]
