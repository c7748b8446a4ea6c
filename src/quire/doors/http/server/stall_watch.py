"""Whether a client takes what it is sent: looked at while its connection is full, and given up when nothing moves for long."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import sys
import termios
from collections.abc import Callable

LOOKS = 4
"""How often it is looked, in the time that a client has, whether it takes anything."""


class StallWatch:
    """Watches one connection from when it is full until it is not. `give_up` is called when nothing was taken for so many seconds."""

    def __init__(self, seconds: float, give_up: Callable[[], object]) -> None:
        self._seconds, self._give_up = seconds, give_up
        self._timer: asyncio.TimerHandle | None = None

    def start(self, transport: asyncio.WriteTransport) -> None:
        """The connection is full."""
        self.stop()
        self._look_again(transport, untaken(transport), 0)

    def stop(self) -> None:
        """It is not, or it is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_again(self, transport: asyncio.WriteTransport, before: int, looks: int) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._seconds / LOOKS, self._look, transport, before, looks + 1)

    def _look(self, transport: asyncio.WriteTransport, before: int, looks: int) -> None:
        if (now := untaken(transport)) < before:
            self._look_again(transport, now, 0)
        elif looks < LOOKS:
            self._look_again(transport, before, looks)
        else:
            self._timer = None
            self._give_up()


def untaken(transport: asyncio.WriteTransport) -> int:
    """What is on its way, with what the system holds: that is megabytes, and tells of them in large steps only."""
    held, line = transport.get_write_buffer_size(), transport.get_extra_info("socket")
    with contextlib.suppress(OSError, ValueError):
        return held + int.from_bytes(fcntl.ioctl(line.fileno(), termios.TIOCOUTQ, bytes(4)), sys.byteorder)
    return held
