"""The part of uvicorn that talks to a socket, with patience that ends.

uvicorn waits for ever for a client to take what it is sent, and cannot even say goodbye meanwhile. Here, whoever
takes nothing for so long is told so behind what is still on its way to them, and is cut off a little later.
"""

from __future__ import annotations

import asyncio
import struct
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request
from websockets.protocol import State

from ....workspace.wire.frames import CLOSE_SLOW
from .stall_watch import StallWatch

if TYPE_CHECKING:
    from .uvicorn_http import UvicornConfig

LINGER_SECONDS = 10.0
"""How long what was sent last may take to arrive, once a connection is to be closed."""
REASON = "Nothing was taken from this socket for too long. Connect again, from where you were."
LINE = "line"
"""Under which name a socket's own end is in the state of its scope."""


class PatientSocket(WebSocketsSansIOProtocol):
    """One socket. It is closed when nothing of what it is sent is taken for `stall_seconds`."""

    def __init__(self, config: UvicornConfig, *arguments: Any, **named: Any) -> None:
        super().__init__(config, *arguments, **named)
        self.conn.debug = False  # it would write headers, and so tokens, into the log
        self._budget = config.budget
        self._stall_watch = StallWatch(config.settings.stall_seconds, self._give_up)
        self._lingering: asyncio.TimerHandle | None = None
        self._received_at = 0.0
        self._was_held_back = False
        self._has_given_up = False

    def handle_connect(self, event: Request) -> None:
        """Let the application find this end of the socket."""
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["state"][LINE] = self  # pyright: ignore[reportTypedDictNotRequiredAccess] - set just now

    @property
    def held_bytes(self) -> int:
        """How much was sent and not taken yet."""
        return self.transport.get_write_buffer_size()

    # ---- Nothing is taken

    async def reserve(self) -> None:
        """Wait until the client takes what it is sent, and the server has room for one more frame."""
        await self.writable.wait()
        await self._budget.reserve()

    def release(self) -> None:
        """That frame was sent, or there was none."""
        self._budget.release()

    def pause_writing(self) -> None:
        """The client does not take what it is sent, or not as fast as it comes."""
        super().pause_writing()
        self._stall_watch.start(self.transport)
        self._budget.hold(self)

    def resume_writing(self) -> None:
        """It does again."""
        self._stall_watch.stop()
        super().resume_writing()
        self._budget.let_go(self)

    def cut_off(self) -> None:
        """End the connection, and let go of what was not taken. The client goes on from where it was when it is back."""
        self.transport.abort()
        self._budget.let_go(self)

    def _give_up(self) -> None:
        """Close, behind what is on its way.

        What comes is read on, to no effect: a client that reads nothing while it sends would never get to read why.
        """
        if self.close_sent or self.transport.is_closing():
            return
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": CLOSE_SLOW, "reason": REASON})
        self.conn.send_close(CLOSE_SLOW, REASON)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = self._has_given_up = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        # uvicorn stops this timer, and closes, when the client has answered.
        self.close_timer = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    # ---- Pings

    def data_received(self, data: bytes) -> None:
        """Take what a client sends."""
        self._received_at = self.loop.time()
        super().data_received(data)

    def keepalive_timeout(self) -> None:
        """Close, unless the client sends, or is not read from: the answer to a ping stands behind all that was sent before."""
        patience = self.ping_timeout or 0.0
        # Whoever was held back for long has just been heard of only when the next of what waits was read.
        was_held_back, self._was_held_back = self._was_held_back, self.read_paused
        if self.read_paused or was_held_back or self.loop.time() - self._received_at < patience:
            self.pong_timer = self.loop.call_later(patience, self.keepalive_timeout)
        else:
            super().keepalive_timeout()

    # ---- The end

    async def send(self, message: Any) -> None:
        """Send what the application says; that it closes does not wait for what was sent before to be taken."""
        if self._has_given_up:
            raise ClientDisconnected
        if message["type"] == "websocket.send" and self._is_plain and (text := message.get("text")) is not None:
            self.transport.write(_framed(text.encode()))
            return
        if message["type"] == "websocket.close" and self.handshake_complete:
            self.writable.set()
            self._linger()
        await super().send(message)

    @property
    def _is_plain(self) -> bool:
        """Whether a frame can go out as it is: nothing waits, ends, or wants it compressed. uvicorn's way is twice as long."""
        return (
            self.writable.is_set()
            and self.conn.state is State.OPEN
            and not (self.conn.extensions or self.disconnected or self.close_sent or self.initial_response)
        )

    def shutdown(self) -> None:
        """The server stops."""
        super().shutdown()
        self._linger()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._stall_watch.stop()
        self._budget.let_go(self)
        if self._lingering is not None:
            self._lingering.cancel()
        super().connection_lost(exc)

    def _linger(self) -> None:
        """Closing waits until everything was taken, which may be never."""
        if self._lingering is None:
            self._lingering = self.loop.call_later(LINGER_SECONDS, self.transport.abort)


def _framed(payload: bytes) -> bytes:
    """A text as one whole frame of a server's: RFC 6455, section 5.2."""
    size = len(payload)
    if size < 126:
        return b"\x81" + bytes((size,)) + payload
    return (struct.pack("!BBH", 0x81, 126, size) if size < 1 << 16 else struct.pack("!BBQ", 0x81, 127, size)) + payload
