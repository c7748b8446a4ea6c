"""The part of uvicorn that talks to the network, with patience that ends.

uvicorn itself waits for ever for the head of a request, and for a client to take what it is sent. Each would
hold a connection, of which there are so many.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import h11
import uvicorn
from litestar import Litestar
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..server_settings import ServerSettings
from .send_budget import SendBudget
from .stall_watch import StallWatch
from .uvicorn_ws import PatientSocket

HEAD_BYTES = 64 * 1024


class PatientProtocol(H11Protocol):
    """One connection. It is closed when a head does not come, or an answer is not taken, in time."""

    def __init__(self, config: UvicornConfig, *arguments: Any, **named: Any) -> None:
        super().__init__(config, *arguments, **named)
        self._settings = config.settings
        self._head: asyncio.TimerHandle | None = None
        self._stall_watch = StallWatch(config.settings.stall_seconds, lambda: self.transport.abort())

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - uvicorn's own
        """Somebody is there: a head has to follow."""
        super().connection_made(transport)
        # asyncio does this only for sockets that it made itself; else the body of each answer waits for some 40 ms.
        if (made := transport.get_extra_info("socket")).family in (socket.AF_INET, socket.AF_INET6):
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Something came: the rest of a head may be missing still."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._expect_head()
        else:
            self._head = _cancelled(self._head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._head = _cancelled(self._head)
        self._stall_watch.stop()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not take what it is sent, or not as fast as it comes."""
        super().pause_writing()
        self._stall_watch.start(self.transport)

    def resume_writing(self) -> None:
        """It does again."""
        self._stall_watch.stop()
        super().resume_writing()

    def _expect_head(self) -> None:
        if self._head is None:
            self._head = self.loop.call_later(self._settings.head_seconds, self.transport.abort)


def _cancelled(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class UvicornConfig(uvicorn.Config):
    """How uvicorn serves the app; `more` is what the caller adds: host, port …"""

    def __init__(self, app: Litestar, settings: ServerSettings, **more: Any) -> None:
        self.settings = settings
        self.budget = SendBudget()
        super().__init__(
            app,
            http=PatientProtocol,
            ws=PatientSocket,
            ws_max_size=settings.frame_bytes,
            ws_per_message_deflate=False,
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.proxies),
            forwarded_allow_ips=list(settings.proxies),
            h11_max_incomplete_event_size=HEAD_BYTES,
            limit_concurrency=settings.connections,
            **more,
        )
