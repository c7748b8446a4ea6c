"""A client's end of a WebSocket that costs next to nothing. Standard library only: other environments run it, too.

On a machine with few cores, hundreds of clients that read everything with care would be what is measured.
"""

from __future__ import annotations

import asyncio
import base64
import os
import struct
from collections.abc import Iterator
from typing import Any

HEAD = b"\r\n\r\n"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
MORE = 1 << 62


class RawSocket(asyncio.Protocol):
    """One connection. What is derived from it says what to do once it is open, and with each message."""

    def __init__(self, path: str, authorization: str) -> None:
        self._path, self._authorization = path, authorization
        self._buffer = bytearray()
        self._is_open = False
        self.transport: Any = None

    def opened(self) -> None:
        """The other side has taken us."""

    def came(self, payload: bytes) -> None:
        """A message came."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for a socket."""
        self.transport = transport
        lines = (
            f"GET {self._path} HTTP/1.1",
            "Host: 127.0.0.1",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
            "Sec-WebSocket-Version: 13",
            f"Authorization: {self._authorization}",
        )
        self.transport.write("\r\n".join(lines).encode() + HEAD)

    def data_received(self, data: bytes) -> None:
        """Take what came apart into messages."""
        self._buffer += data
        if not self._is_open and not self._shake_hands():
            return
        for kind, payload in self._frames():
            if kind == PING:
                self.write(payload, PONG)
            elif kind in (TEXT, BINARY):
                self.came(payload)

    def _shake_hands(self) -> bool:
        end = self._buffer.find(HEAD)
        if end < 0:
            return False
        if b" 101 " not in self._buffer[:20]:
            raise RuntimeError(bytes(self._buffer[:300]).decode(errors="replace"))
        del self._buffer[: end + len(HEAD)]
        self._is_open = True
        self.opened()
        return True

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        start = 0
        while (place := self._next(start)) is not None:
            yield self._buffer[start] & 15, bytes(self._buffer[place[0] : place[1]])
            start = place[1]
        del self._buffer[:start]

    def _next(self, at: int) -> tuple[int, int] | None:
        """Where the payload of the frame at this place begins and ends, if it is all there."""
        there = len(self._buffer) - at
        if there < 2:
            return None
        size, start = self._buffer[at + 1] & 127, at + 2
        if size >= 126:
            long = 2 if size == 126 else 8
            size = int.from_bytes(self._buffer[start : start + long], "big") if there >= 2 + long else MORE
            start += long
        return (start, start + size) if len(self._buffer) >= start + size else None

    def write(self, payload: bytes, kind: int) -> None:
        """Send a message of up to 64 KiB."""
        size = len(payload)
        head = bytes((128 | kind, 128 | size)) if size < 126 else bytes((128 | kind, 254)) + struct.pack("!H", size)
        self.transport.write(head + bytes(4) + payload)  # a mask of zeros: as good as any here
