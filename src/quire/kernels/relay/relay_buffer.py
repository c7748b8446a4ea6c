"""What a relay has heard of its kernel and nobody has recorded.

With the standard library and kernels/transport/zmtp.py alone: relay.py says why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from ..transport.zmtp import LastWords, Link
from .relay_frames import CHANNELS, framed, packed, unpacked

MOST_KEPT = 64_000_000
"""Octets that are kept of what was not recorded."""
MOST_WAITING = 4_000_000
"""Octets that wait for a runtime that is there."""
WEIGHT = 150
"""What one message takes beside its octets."""


class RelayReader(Protocol):
    """The runtime that is there."""

    @property
    def waiting(self) -> int:
        """Octets that it has not taken."""
        ...

    def tell(self, frame: bytes) -> None:
        """Send, as fast as it takes it."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


class Relay:
    """What was said and not recorded, and whom to tell."""

    def __init__(self, endpoints: Sequence[str], identity: bytes, *, kernel_waits: bool) -> None:
        self._kernel_waits = kernel_waits
        last = LastWords(self._hang_up)
        self._links = {
            channel: Link(
                endpoint,
                b"SUB" if channel == "iopub" else b"DEALER",
                b"" if channel == "iopub" else identity,
                partial(self._hear, channel),
                last.of(channel),
            )
            for channel, endpoint in zip(CHANNELS, endpoints, strict=True)
        }
        self._kept: deque[tuple[int, bytes]] = deque()
        """Numbers and frames; notes have the number 0."""
        self._kept_size = 0
        self._flight: bytes | None = None
        self._number = self._forgotten = self._dropped = 0
        """The last message that came; the last that is recorded; the last that had to be thrown away."""
        self._is_held = self._has_hung_up = False
        self._replayed = 0
        """Octets that the runtime had still to take when all that was kept had been said again."""
        self.runtime: RelayReader | None = None

    @property
    def has_flight(self) -> bool:
        """Whether something is under way, or has ended, that nobody has recorded."""
        return self._flight is not None

    # ---- What the kernel says

    def _hear(self, channel: str, parts: list[bytes]) -> None:
        self._number += 1
        head = self._number.to_bytes(8, "big") + bytes((CHANNELS.index(channel),))
        frame = framed(b"M", head + packed(parts))
        self._keep(self._number, frame)
        if self.runtime is not None:
            self.runtime.tell(frame)
        self._make_room()

    def _hang_up(self) -> None:
        self._has_hung_up = True
        if self.runtime is not None:
            self.runtime.tell(framed(b"U"))

    def close(self) -> None:
        """Nothing more comes: the kernel is gone, and had time for its last words."""
        for link in self._links.values():
            link.close()
        if not self._has_hung_up:
            self._hang_up()

    # ---- Keeping

    def _keep(self, number: int, frame: bytes) -> None:
        self._kept.append((number, frame))
        self._kept_size += len(frame) + WEIGHT

    def _make_room(self) -> None:
        """Keep no more than there is room for; a kernel that waits for whoever takes its outputs is made to."""
        if self._kernel_waits and not self._has_room:
            self._hold()
            if self.runtime is None:
                return
            # Whoever is there has been told it. A runtime that is always a little behind would let this grow without end.
        elif self.runtime is not None and self.runtime.waiting > self._replayed + MOST_KEPT:
            # It does not read. When it wakes up, the end of the connection tells it that something is missing. What was
            # replayed does not count: a kernel that prints much would otherwise shut out whoever takes over from the dead.
            self.runtime.close()
        while self._kept_size > MOST_KEPT:
            self._drop()

    @property
    def _has_room(self) -> bool:
        # What is far ahead of whoever watches makes an interrupt late: it comes after all that was printed before.
        return self._kept_size <= MOST_KEPT if self.runtime is None else self.runtime.waiting <= MOST_WAITING

    def _drop(self) -> None:
        number, frame = self._kept.popleft()
        self._kept_size -= len(frame) + WEIGHT
        self._dropped = number or self._dropped

    def _hold(self) -> None:
        if not self._is_held:
            self._is_held = True
            self._links["iopub"].hold()

    def go_on(self) -> None:
        """Hear outputs again, if there is room."""
        if self._is_held and self._has_room:
            self._is_held = False
            self._links["iopub"].go_on()

    def forget(self, until: int) -> None:
        """Drop what is recorded, and what was noted about it."""
        self._forgotten = max(self._forgotten, min(until, self._number))
        self._flight = None
        self._kept = deque(each for each in self._kept if each[0] > self._forgotten)
        self._kept_size = sum(len(frame) + WEIGHT for _, frame in self._kept)
        self.go_on()

    # ---- What a runtime says

    def begin(self, runtime: RelayReader) -> None:
        """Say again all that is kept, and then what comes."""
        self.runtime = runtime
        runtime.tell(framed(b"W", bytes((self._dropped <= self._forgotten,))))
        if self._flight is not None:
            runtime.tell(framed(b"F", self._flight))
        for _, frame in self._kept:
            runtime.tell(frame)
        if self._has_hung_up:
            runtime.tell(framed(b"U"))
        runtime.tell(framed(b"L"))
        self._replayed = runtime.waiting
        self.go_on()

    def obey(self, kind: bytes, body: bytes) -> None:
        """Do what a runtime says. ValueError for what it cannot have said."""
        match kind:
            case b"S":
                self._send(*_message(body, 0))
            case b"B":
                start = 12 + int.from_bytes(body[8:12], "big")
                channel, parts = _message(body, start)
                self.forget(int.from_bytes(body[:8], "big"))
                self._flight = body[12:start]
                self._send(channel, parts)
            case b"N":
                self._keep(0, framed(b"N", body))
            case b"D":
                self.forget(int.from_bytes(body, "big"))
            case _:
                raise ValueError(f"{kind!r} is not known")

    def _send(self, channel: str, parts: list[bytes]) -> None:
        self._links[channel].send(parts)
        if channel == "stdin":
            # Whoever comes next is not to ask again.
            self._keep(0, framed(b"A"))


def _message(body: bytes, start: int) -> tuple[str, list[bytes]]:
    """The channel, and the parts of what is to be sent on it: all of it, before anything is done."""
    parts = unpacked(body, start + 1)
    if not parts or body[start] >= len(CHANNELS):
        raise ValueError("no message, or no such channel")
    return CHANNELS[body[start]], parts
