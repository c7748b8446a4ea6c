"""Lanes over the socket of a server: what is said here is heard by whoever listens there, and the other way round."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator

from ...core.errors import BadInput, Refused
from ...core.ids import LogId
from ...core.values import Json
from ..lanes.lanes import LaneEntry
from ..wire import frames
from .server_address import check_secret, read_address
from .socket_client import Socket
from .stream_state import LaneStream


class RemoteLanes:
    """The lanes of a workspace elsewhere. A lane is of a log: its name is LOG/LANE."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    def say(self, lane: str, message: Json) -> None:
        """Tell everybody who listens now, here or elsewhere."""
        log, name = _parts(lane)
        self._socket.say(frames.Say(log=log, lane=name, message=message))

    async def listen(self, lane: str) -> AsyncIterator[Json]:
        """Yield what is said, from when the server has heard of it on; what is said while there is no connection is missed."""
        async for heard in self.hear(lane):
            yield heard.message

    async def hear(self, lane: str) -> AsyncIterator[LaneEntry]:
        """The same, with by whom it was said: the server's word."""
        log, name = _parts(lane)
        async for heard in self._socket.pages(LaneStream(log, name)):
            yield heard


class LanesAt(RemoteLanes):
    """The lanes of a server of this machine, and nothing else of it: over its socket alone, without an HTTP client."""

    def __init__(self, url: str, secret: str) -> None:
        self._address = read_address(url, allow_http=True)
        tls = ssl.create_default_context() if self._address.secure else None
        super().__init__(Socket(self._address, check_secret(secret), self._refuse, tls))

    async def _refuse(self) -> None:
        raise Refused(f"{self._address.url} does not open its socket for this token any more.")

    @property
    def is_open(self) -> bool:
        """Whether there is a connection."""
        return self._socket.is_open

    async def until_lost(self) -> None:
        """Wait until there is no connection."""
        await self._socket.until_lost()

    async def close(self) -> None:
        """Say goodbye."""
        await self._socket.close()


def _parts(lane: str) -> tuple[LogId, str]:
    log, slash, name = lane.partition("/")
    if not slash:
        raise BadInput(f"Lane {lane[:80]!r} is of no log. Name it LOG/LANE: lanes of a server belong to a log.")
    return LogId(log), name
