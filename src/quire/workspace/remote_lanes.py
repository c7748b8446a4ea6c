"""Lanes over the socket of a server: what is said here is heard by whoever listens there, and the other way round."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ..core.errors import BadInput
from ..core.ids import LogId
from ..core.values import Json
from . import wire
from .lanes import Heard
from .remote_socket import Socket
from .remote_streams import Hearing


class RemoteLanes:
    """The lanes of a workspace elsewhere. A lane is of a log: its name is LOG/LANE."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    def say(self, lane: str, message: Json) -> None:
        """Tell everybody who listens now, here or elsewhere."""
        log, name = _parts(lane)
        self._socket.say(wire.Say(log=log, lane=name, message=message))

    async def listen(self, lane: str) -> AsyncIterator[Json]:
        """Yield what is said, from when the server has heard of it on; what is said while there is no connection is missed."""
        async for heard in self.hear(lane):
            yield heard.message

    async def hear(self, lane: str) -> AsyncIterator[Heard]:
        """The same, with by whom it was said: the server's word."""
        log, name = _parts(lane)
        async for heard in self._socket.pages(Hearing(log, name)):
            yield heard


def _parts(lane: str) -> tuple[LogId, str]:
    log, slash, name = lane.partition("/")
    if not slash:
        raise BadInput(f"Lane {lane[:80]!r} is of no log. Name it LOG/LANE: lanes of a server belong to a log.")
    return LogId(log), name
