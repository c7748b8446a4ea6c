"""The part of uvicorn that talks to a socket, with patience that ends.

uvicorn waits for ever for a client to take what it is sent, and cannot even say goodbye meanwhile. Here, whoever
takes nothing for so long is told so behind what is still on its way to them, and is cut off a little later.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import struct
import sys
import termios
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from ....workspace.wire.frames import CLOSE_SLOW

if TYPE_CHECKING:
    from .uvicorn_http import UvicornConfig

LINGER_SECONDS = 10.0
"""How long what was sent last may take to arrive, once a connection is to be closed."""
MOST_HELD_BYTES = 32 << 20
"""What all sockets of a server may hold together that clients do not take. Each holds a frame of a megabyte, however many they are."""
LOOKS = 4
"""How often it is looked, in the time that a client has, whether it takes anything."""
REASON = "Nothing was taken from this socket for too long. Connect again, from where you were."


_not_taking: dict[PatientSocket, None] = {}
"""The sockets whose clients do not take what they are sent; first the one that has not for longest."""


class PatientSocket(WebSocketsSansIOProtocol):
    """One socket. It is closed when nothing of what it is sent is taken for `stall_seconds`."""

    def __init__(self, config: UvicornConfig, *arguments: Any, **named: Any) -> None:
        super().__init__(config, *arguments, **named)
        self.conn.debug = False  # it would write headers, and so tokens, into the log
        self._stall_seconds = config.settings.stall_seconds
        self._stalled: asyncio.TimerHandle | None = None
        self._lingering: asyncio.TimerHandle | None = None
        self._received_at = 0.0
        self._was_held_back = False

    @property
    def held_bytes(self) -> int:
        """How much was sent and not taken yet."""
        return self.transport.get_write_buffer_size()

    # ---- Nothing is taken

    def pause_writing(self) -> None:
        """The client does not take what it is sent, or not as fast as it comes."""
        super().pause_writing()
        self._look_again(self._untaken(), 0)
        _not_taking[self] = None
        _make_room()

    def resume_writing(self) -> None:
        """It does again."""
        _not_taking.pop(self, None)
        self._cancel_look()
        super().resume_writing()

    def cut_off(self) -> None:
        """End the connection, and let go of what was not taken. The client goes on from where it was when it is back."""
        _not_taking.pop(self, None)
        self.transport.abort()

    def _look_again(self, before: int, looks: int) -> None:
        self._stalled = self.loop.call_later(self._stall_seconds / LOOKS, self._look, before, looks + 1)

    def _look(self, before: int, looks: int) -> None:
        if (now := self._untaken()) < before:
            self._look_again(now, 0)
        elif looks < LOOKS:
            self._look_again(before, looks)
        else:
            self._give_up()

    def _untaken(self) -> int:
        """What is on its way, with what the system holds: that is megabytes, and tells of them in large steps only."""
        line = self.transport.get_extra_info("socket")
        with contextlib.suppress(OSError, ValueError):
            return self.held_bytes + int.from_bytes(
                fcntl.ioctl(line.fileno(), termios.TIOCOUTQ, bytes(4)), sys.byteorder
            )
        return self.held_bytes

    def _give_up(self) -> None:
        if self.close_sent or self.transport.is_closing():
            return
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": CLOSE_SLOW, "reason": REASON})
        self.conn.send_close(CLOSE_SLOW, REASON)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()
        self._linger()

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
        _not_taking.pop(self, None)
        self._cancel_look()
        if self._lingering is not None:
            self._lingering.cancel()
        super().connection_lost(exc)

    def _linger(self) -> None:
        """Closing waits until everything was taken, which may be never."""
        if self._lingering is None:
            self._lingering = self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def _cancel_look(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


def _make_room() -> None:
    """While all of them hold too much, cut off whoever has taken nothing for longest."""
    held = sum(each.held_bytes for each in _not_taking)
    for longest in list(_not_taking):
        if held <= MOST_HELD_BYTES:
            return
        held -= longest.held_bytes
        longest.cut_off()


def _framed(payload: bytes) -> bytes:
    """A text as one whole frame of a server's: RFC 6455, section 5.2."""
    size = len(payload)
    if size < 126:
        return b"\x81" + bytes((size,)) + payload
    return (struct.pack("!BBH", 0x81, 126, size) if size < 1 << 16 else struct.pack("!BBQ", 0x81, 127, size)) + payload
