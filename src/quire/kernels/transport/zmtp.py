"""ZeroMQ's protocol, ZMTP 3, as far as the client of a kernel needs it: connect, send and hear messages of several frames.

By hand for what was measured: of a cell's time in the client, a third went into libzmq's own
thread and the way from there into the event loop, frame by frame. Here a message is read where
it arrives. It also lets the kernel feel a client that does not read: there is no queue between them.

    greeting   64 octets, both at once: a signature, version 3.0, the mechanism (NULL), padding
    handshake  the command READY from both, with the type of the socket and its identity
    frames     a flag octet (more, long, command), the size in 1 or 8 octets, the content

https://rfc.zeromq.org/spec/23/
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
_MORE, _LONG, _COMMAND = 1, 2, 4
_SHORT = 255
"""The longest frame whose size fits into one octet."""
_ROOM = 1 << 18
"""Octets that are read in one go, unless a frame is larger."""
_MOST_KEPT = 1 << 23
"""Room that a larger frame took is used again, up to this: to get it anew each time costs more than to fill it."""
AGAIN_SECONDS = 0.01
"""A kernel that starts does not listen yet: how often it is tried."""


class Link(asyncio.BufferedProtocol):
    """One connection to one socket of a kernel, from the first attempt until it is closed.

    What is sent before the kernel listens, or while it does not, is sent when it does.
    """

    def __init__(
        self,
        endpoint: str,
        kind: bytes,
        identity: bytes,
        heard: Callable[[list[bytes]], None],
        hung_up: Callable[[], None] | None = None,
    ) -> None:
        self._endpoint, self._heard, self._hung_up = endpoint, heard, hung_up
        self._ready = _command(b"READY", _property(b"Socket-Type", kind) + _property(b"Identity", identity))
        # One subscription, to everything: a frame like any other.
        self._first = framed([b"\x01"]) if kind == b"SUB" else b""
        self._waiting: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self._is_open = self._is_held = False
        self._loop = asyncio.get_running_loop()
        self._connecting = self._loop.create_task(self._connect())
        self._begin()

    def _begin(self) -> None:
        """Forget what came of an earlier connection."""
        self._room = memoryview(bytearray(_ROOM))
        self._start = self._end = 0
        self._frames: list[bytes] = []
        self._is_greeted = self._is_open = False

    # ---- Sending

    def send(self, frames: Sequence[bytes]) -> None:
        """Send a message."""
        data = framed(frames)
        if self._is_open and self._transport is not None:
            self._transport.write(data)
        else:
            self._waiting.append(data)

    def hold(self) -> None:
        """Read no more for now: whoever sends has to wait."""
        self._is_held = True
        if self._is_open and self._transport is not None:
            self._transport.pause_reading()

    def go_on(self) -> None:
        """Read again."""
        if self._is_held and self._is_open and self._transport is not None:
            self._transport.resume_reading()
        self._is_held = False

    def close(self) -> None:
        """Let go. What was not read or sent is dropped."""
        self._hung_up = None
        self._connecting.cancel()
        if self._transport is not None:
            self._transport.abort()
        self._transport = None

    # ---- What asyncio calls

    async def _connect(self) -> None:
        transport, _, address = self._endpoint.partition("://")
        while True:
            try:
                if transport == "ipc":
                    await self._loop.create_unix_connection(lambda: self, address)
                else:
                    host, _, port = address.rpartition(":")
                    await self._loop.create_connection(lambda: self, host.strip("[]"), int(port))
                return
            except OSError:
                await asyncio.sleep(AGAIN_SECONDS)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet."""
        self._begin()
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(GREETING)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever wants to know, and try again: a kernel may come back."""
        if self._transport is None:
            return
        self._transport, was_open = None, self._is_open
        self._begin()
        if was_open and self._hung_up is not None:
            self._hung_up()
        self._connecting = self._loop.create_task(self._again())

    async def _again(self) -> None:
        await asyncio.sleep(AGAIN_SECONDS)
        await self._connect()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next octets go."""
        if self._end == len(self._room):
            self._make_room(_ROOM)
        return self._room[self._end :]

    def buffer_updated(self, nbytes: int) -> None:
        """Take all frames that are there in full."""
        self._end += nbytes
        if not self._is_greeted:
            self._take_greeting()
        while self._is_greeted and self._transport is not None and self._take_frame():
            pass
        if self._start == self._end:
            self._start = self._end = 0
            if len(self._room) > _MOST_KEPT:
                self._room = memoryview(bytearray(_ROOM))

    def _make_room(self, needed: int) -> None:
        """Have room for `needed` octets from the start of what is not taken yet."""
        left = bytes(self._room[self._start : self._end])
        if len(self._room) < max(needed, len(left) + 1):
            self._room = memoryview(bytearray(max(needed, 2 * len(left))))
        self._room[: len(left)] = left
        self._start, self._end = 0, len(left)

    def _take_greeting(self) -> None:
        if self._end < len(GREETING):
            return
        self._start, self._is_greeted = len(GREETING), True
        if self._room[0] != GREETING[0] or self._room[10] < 3:
            # Not ZeroMQ, or one from before 2013. Nothing will come of it; whoever waits for the kernel says so.
            self.close()
        else:
            cast("asyncio.Transport", self._transport).write(self._ready)

    def _take_frame(self) -> bool:
        """Take one frame; False when it is not there in full."""
        room, start = self._room, self._start
        here = self._end - start
        if here < 2:
            return False
        flags = room[start]
        head = 9 if flags & _LONG else 2
        if here < head:
            return False
        size = int.from_bytes(room[start + 1 : start + head], "big")
        if here < head + size:
            if len(room) - start < head + size:
                self._make_room(head + size)
            return False
        self._start = start + head + size
        content = bytes(room[start + head : self._start])
        if flags & _COMMAND:
            self._obey(content)
        else:
            self._frames.append(content)
            if not flags & _MORE:
                frames, self._frames = self._frames, []
                self._heard(frames)
        return True

    def _obey(self, command: bytes) -> None:
        transport = cast("asyncio.Transport", self._transport)
        if command.startswith(b"\x05READY"):
            self._is_open = True
            transport.write(self._first + b"".join(self._waiting))
            self._waiting.clear()
            if self._is_held:
                transport.pause_reading()
        elif command.startswith(b"\x04PING"):
            transport.write(_command(b"PONG", command[7:]))


def framed(frames: Sequence[bytes]) -> bytes:
    """A message as it travels."""
    parts: list[bytes] = []
    last = len(frames) - 1
    for index, frame in enumerate(frames):
        more = _MORE if index < last else 0
        parts += (_head(more, len(frame)), frame)
    return b"".join(parts)


def _head(flags: int, size: int) -> bytes:
    return bytes((flags, size)) if size <= _SHORT else bytes((flags | _LONG,)) + size.to_bytes(8, "big")


def _command(name: bytes, body: bytes) -> bytes:
    content = bytes((len(name),)) + name + body
    return _head(_COMMAND, len(content)) + content


def _property(name: bytes, value: bytes) -> bytes:
    return bytes((len(name),)) + name + len(value).to_bytes(4, "big") + value


class LastWords:
    """Calls `then` once a kernel has closed both channels on which its last words come: outputs, and replies.

    After the end of a process the two are read one after the other, in any order.
    """

    CHANNELS = frozenset(("iopub", "shell"))

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then
        self._open = set(self.CHANNELS)

    def hung_up(self, channel: str) -> None:
        """Note that a channel is closed, and that all that was sent on it was heard."""
        self._open.discard(channel)
        if not self._open:
            self._then()

    def of(self, channel: str) -> Callable[[], None] | None:
        """Return what the link of a channel calls; None where no last words come."""
        return partial(self.hung_up, channel) if channel in self.CHANNELS else None
