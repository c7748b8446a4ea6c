"""Whether the server is well, and who somebody is here."""

from __future__ import annotations

import asyncio
from typing import Literal

import msgspec

from ... import __version__
from ...core.errors import QuireError, Unavailable
from ...core.ids import WORKSPACE_LOG
from ...workspace import wire
from ...workspace.access import system
from .asking import Asked, Connection, door_of
from .route import Asking, route

PATIENCE_SECONDS = 5.0


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """A server that is well."""

    status: Literal["ok"]
    version: str


@route("GET", "/health", "health", tag="server", answer=Health, open=True)
async def health(request: Asking) -> Health:
    """Whether the server and its store are well. Needs no token."""
    await _check_store(request)
    return Health(status="ok", version=__version__)


async def _check_store(connection: Connection) -> None:
    workspace = door_of(connection).workspace.acting_as(system())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await workspace.entries(WORKSPACE_LOG, limit=1)
    except (QuireError, TimeoutError, OSError) as error:
        raise Unavailable(
            f"The store does not answer: {error or 'it takes too long'}. Look at its disk or database."
        ) from error


@route("GET", "/api/me", "me", tag="identity", answer=wire.Me)
async def me(workspace: Asked) -> wire.Me:
    """Who the bearer is here: the actor that the token names, and what it allows."""
    return wire.me(workspace.identity)


ROUTES = [health, me]
