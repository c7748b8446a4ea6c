"""A process beside a kernel that stays subscribed: what the kernel says outlives the runtime that asked for it (rule 11).

It owns the connections to the kernel, and the lock that says that somebody uses it. A runtime
talks to it over a socket in the kernel's folder, one at a time. What comes is passed on at
once, numbered, and kept until the runtime says that it is recorded; the next runtime gets it
again, with the notes that the one before had left in between. It checks no signature and
reads nothing of what it carries.

It starts with the standard library and kernels/transport/zmtp.py alone, beside every live kernel: whoever adds an
import pays for it in each of them. relay_frames.py has what is said, relay_buffer.py what is kept.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import Sequence
from typing import cast

from ..process import watchdog
from .relay_buffer import WEIGHT, Relay
from .relay_frames import VERSION, framed

LATE_SECONDS = 5.0
"""Whoever connects and does not say in time what they are has to go."""
LAST_WORDS_SECONDS = 5.0
"""How long what a dead kernel had sent may take to arrive."""
_MOST_FIRST = 64
_MOST = 1 << 30
_HIGH_WATER = 1 << 20


class RuntimeLink(asyncio.Protocol):
    """Whoever has connected: a runtime once it has said so."""

    def __init__(self, place: RelayState, *, is_known: bool = False) -> None:
        self._place, self._is_known = place, is_known
        self._heard = bytearray()
        self._unsent: deque[bytes] = deque()
        self._unsent_size = 0
        self._is_paused = False
        self._transport: asyncio.Transport | None = None
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for its first word, unless it is the one that started us."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=_HIGH_WATER)
        if self._is_known:
            self._place.come(self)
        else:
            self._late = asyncio.get_running_loop().call_later(LATE_SECONDS, self.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Its process ended, or it had to go."""
        self._transport = None
        if self._late is not None:
            self._late.cancel()
        self._place.gone(self)

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()

    # ---- Hearing

    def data_received(self, data: bytes) -> None:
        """Obey every frame that is there whole; hang up on whoever sends none."""
        self._heard += data
        try:
            while self._transport is not None and (frame := self._frame()):
                self._obey(frame[:1], frame[1:])
        except ValueError:
            self.close()

    def _frame(self) -> bytes:
        if len(self._heard) < 4:
            return b""
        size = int.from_bytes(self._heard[:4], "big")
        if not 0 < size <= (_MOST if self._is_known else _MOST_FIRST):
            raise ValueError("no frame is so long")
        if len(self._heard) < 4 + size:
            return b""
        frame = bytes(self._heard[4 : 4 + size])
        del self._heard[: 4 + size]
        return frame

    def _obey(self, kind: bytes, body: bytes) -> None:
        if self._is_known and kind == b"G":
            self._place.leave(keep=body == b"\1")
        elif self._is_known:
            self._place.relay.obey(kind, body)
        elif kind + body != b"Q" + VERSION:
            raise ValueError("not a runtime")
        elif self._place.relay.runtime is not None:
            cast("asyncio.Transport", self._transport).write(framed(b"R"))
            cast("asyncio.Transport", self._transport).close()
        else:
            self._is_known = True
            if self._late is not None:
                self._late.cancel()
            self._place.come(self)

    # ---- Telling

    @property
    def waiting(self) -> int:
        """Octets that it has not taken."""
        return self._unsent_size

    def tell(self, frame: bytes) -> None:
        """Send, as fast as it takes it."""
        if self._is_paused or self._transport is None:
            self._unsent.append(frame)
            self._unsent_size += len(frame) + WEIGHT
        else:
            self._transport.write(frame)

    def pause_writing(self) -> None:
        """It does not take any more for now."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """It takes again."""
        self._is_paused = False
        while self._unsent and not self._is_paused and self._transport is not None:
            frame = self._unsent.popleft()
            self._unsent_size -= len(frame) + WEIGHT
            self._transport.write(frame)
        self._place.relay.go_on()


class RelayState:
    """Who is here: a runtime or none, a kernel or none."""

    def __init__(self, relay: Relay, pid: int, printed: int, orphan_seconds: float) -> None:
        self.relay, self._printed, self._orphan_seconds = relay, printed, orphan_seconds
        self._loop = asyncio.get_running_loop()
        self._pid = pid
        self._kernel_lives = True
        self._alone: asyncio.TimerHandle | None = None
        try:
            self._kernel = watchdog.handle(pid)
        except ProcessLookupError:
            self._kernel, self._kernel_lives = None, False

    def look(self) -> None:
        """Learn that the kernel is gone: at once on Linux, by looking again and again elsewhere."""
        if self._kernel_lives and watchdog.lives(self._pid, self._kernel):
            if self._kernel is None:
                self._loop.call_later(watchdog.TICK_SECONDS, self.look)
            else:
                self._loop.add_reader(self._kernel, self._end)
        else:
            self._end()

    def _end(self) -> None:
        self._kernel_lives = False
        if self._kernel is not None:
            self._loop.remove_reader(self._kernel)
        self._loop.call_later(LAST_WORDS_SECONDS, self.relay.close)
        self._leave_if_useless()

    def come(self, runtime: RuntimeLink) -> None:
        """A runtime is here."""
        if self._alone is not None:
            self._alone.cancel()
        self.relay.begin(runtime)

    def gone(self, runtime: RuntimeLink) -> None:
        """Somebody has hung up."""
        if self.relay.runtime is not runtime:
            return
        self.relay.runtime = None
        self.relay.go_on()
        if self._printed >= 0:
            # A pipe that nobody reads would stop the kernel.
            os.set_blocking(self._printed, False)
            self._loop.add_reader(self._printed, self._drop_printed)
        self._alone = self._loop.call_later(self._orphan_seconds, self.leave)
        self._leave_if_useless()

    def _leave_if_useless(self) -> None:
        # How the work of a dead kernel went is still worth something to the next runtime.
        if not self._kernel_lives and self.relay.runtime is None and not self.relay.has_flight:
            self._loop.stop()

    def leave(self, *, keep: bool = False) -> None:
        """It is over here: end the kernel and all that it started, unless it is to live on."""
        if not keep and self._kernel_lives and watchdog.lives(self._pid, self._kernel):
            watchdog.kill(self._pid)
        self._loop.stop()

    def _drop_printed(self) -> None:
        try:
            data = os.read(self._printed, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self._loop.remove_reader(self._printed)
            os.close(self._printed)
            self._printed = -1


async def _begin(argv: Sequence[str]) -> None:
    pid, printed, listening, first, waits = (int(each) for each in argv[:5])
    relay = Relay(argv[7:], argv[6].encode(), kernel_waits=bool(waits))
    place = RelayState(relay, pid, printed, float(argv[5]))
    loop = asyncio.get_running_loop()
    await loop.connect_accepted_socket(lambda: RuntimeLink(place, is_known=True), socket.socket(fileno=first))
    await loop.create_unix_server(lambda: RuntimeLink(place), sock=socket.socket(fileno=listening))
    loop.call_soon(place.look)


def main(argv: Sequence[str]) -> None:
    """Relay until the kernel is gone and everybody knows. The lock is inherited, and held by being there."""
    loop = asyncio.new_event_loop()
    loop.run_until_complete(_begin(argv))
    loop.run_forever()
