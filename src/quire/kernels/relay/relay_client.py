"""The way to a kernel through the relay beside it: how a relay is started, and talked to.

What the relay does with it is in relay.py. Here a `RelayLink` carries frames, and `RelayedConversation` makes a
conversation of them. How the next runtime finds the relay is in kernels/process/adopt.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import msgspec

from ...core.errors import Unavailable
from ...core.values import Json
from ..kernel_environment import isolated_python
from ..kernel_protocol import ReplayStore
from ..transport.jupyter_wire import ReceivedMessage, Wire, endpoint
from .execution_state import ExecutionNote
from .relay_frames import CHANNELS, SOCKET, framed, packed, unpacked

GOODBYE_SECONDS = 5.0
"""How long a relay that is told to end may take."""
_ROOM = 1 << 18
_LONGEST_PATH = 100
_SHELL = bytes((CHANNELS.index("shell"),))
# By its package and not by its path: it needs kernels/transport/zmtp.py. TLS, which asyncio would load, takes a quarter of its memory.
_PROGRAM = (
    "import sys; sys.modules['ssl'] = None; sys.path.insert(0, sys.argv.pop(1)); "
    "from quire.kernels.relay.relay import main; main(sys.argv[1:])"
)
_SOURCES = str(Path(__file__).parents[3])
_LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class RelayTarget(NamedTuple):
    """The kernel that a relay is to be started for, and what it takes over."""

    folder: Path
    pid: int
    connection: dict[str, Any]
    waits: bool
    """Whether the kernel's outputs wait for us."""
    lock: int
    printed: int = -1
    """The pipe that the kernel prints into; it is read once this process is gone."""


def start(beside: RelayTarget, orphan_seconds: float) -> tuple[subprocess.Popen[bytes], RelayLink]:
    """Start a relay, connected to us. The lock is its own from then on."""
    ours, theirs = socket.socketpair()
    with contextlib.ExitStack() as failed, theirs, socket.socket(socket.AF_UNIX) as listening:
        failed.callback(ours.close)
        # There may be that of an earlier relay: it is gone, for the lock is ours.
        (beside.folder / SOCKET).unlink(missing_ok=True)
        with short(beside.folder / SOCKET) as path:
            listening.bind(path)
        listening.listen()
        given = (beside.lock, listening.fileno(), theirs.fileno(), *((beside.printed,) if beside.printed >= 0 else ()))
        numbers = (beside.pid, beside.printed, *given[1:3], int(beside.waits), orphan_seconds)
        endpoints = [endpoint(beside.connection, channel) for channel in CHANNELS]
        process = subprocess.Popen(  # noqa: S603 - ourselves
            isolated_python("-c", _PROGRAM, _SOURCES, *map(str, numbers), uuid4().hex, *endpoints),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # It outlives us, and what it is told others could read: nothing of ours.
            env={name: value for name, value in os.environ.items() if name in _LIBRARIES},
            pass_fds=given,
            cwd="/",
            start_new_session=True,
        )
        failed.pop_all()
    return process, RelayLink(ours)


@contextlib.contextmanager
def short(path: Path) -> Generator[str]:
    """A path by which a socket can be reached however long its own is."""
    if len(os.fsencode(path)) < _LONGEST_PATH:
        yield str(path)
        return
    if sys.platform != "linux":
        raise Unavailable(f"{path} is too long for a socket. Set XDG_RUNTIME_DIR to a folder with a short path.")
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


class RelayLink:
    """Frames to a relay and back, read by the event loop while somebody takes them."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._heard = bytearray()
        self._unsent = bytearray()
        self._sent = asyncio.Event()
        self._take: Callable[[bytes, bytes], None] = lambda kind, body: None
        self._tell_over: Callable[[], None] = lambda: None
        self._is_reading = False
        self.is_over = False
        self.heard = 0
        """The number of the last message that somebody took."""
        self.again: list[tuple[bytes, bytes]] = []
        """What is to be said again to whoever opens a conversation."""

    def begin(self, take: Callable[[bytes, bytes], None], over: Callable[[], None]) -> None:
        """Read, and give each frame to `take`; tell when the relay is gone."""
        self._take, self._tell_over = take, over
        self.go_on()

    def pause(self) -> None:
        """Read no more for now; what was read already waits, too."""
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._sock)

    def go_on(self) -> None:
        """Read again."""
        if self.is_over:
            self._loop.call_soon(self._tell_over)
        elif not self._is_reading:
            self._is_reading = True
            self._loop.add_reader(self._sock, self._read)
            # Frames may have come in one piece with the one at which it was paused.
            self._loop.call_soon(self._take_frames)

    def _read(self) -> None:
        try:
            data = self._sock.recv(_ROOM)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._end()
            return
        self._heard += data
        self._take_frames()

    def _take_frames(self) -> None:
        heard, start = self._heard, 0
        try:
            while self._is_reading and len(heard) - start > 4:
                end = start + 4 + int.from_bytes(heard[start : start + 4], "big")
                if end > len(heard):
                    break
                kind, body = bytes(heard[start + 4 : start + 5]), bytes(heard[start + 5 : end])
                start = end
                self._take(kind, body)
        finally:
            del heard[:start]

    def send(self, frame: bytes) -> None:
        """Send, now or as soon as there is room."""
        if self.is_over:
            return
        self._unsent += frame
        if len(self._unsent) == len(frame):
            self._write()

    def _write(self) -> None:
        try:
            del self._unsent[: self._sock.send(self._unsent)]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self._end()
            return
        if self._unsent:
            self._sent.clear()
            self._loop.add_writer(self._sock, self._write)
        else:
            self._loop.remove_writer(self._sock)
            self._sent.set()

    async def sent(self) -> None:
        """Wait until all is on its way: then it arrives, whatever becomes of this process."""
        while self._unsent and not self.is_over:
            await self._sent.wait()

    def _end(self) -> None:
        if not self.is_over:
            self.close()
            self._tell_over()

    async def goodbye(self, *, keep: bool) -> None:
        """Tell the relay to end, with the kernel or without it, and wait until it has."""
        self.send(framed(b"G", bytes((keep,))))
        over = asyncio.Event()
        self.begin(lambda kind, body: None, over.set)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS):
                await over.wait()
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.pause()
        if not self.is_over:
            self.is_over = True
            self._loop.remove_writer(self._sock)
            self._sent.set()
            self._sock.close()


class RelayedConversation:
    """A conversation with a kernel through its relay."""

    def __init__(
        self,
        line: RelayLink,
        connection: dict[str, Any],
        hear: Callable[[ReceivedMessage], None],
        *,
        kernel_waits: bool,
    ) -> None:
        self._line, self._hear, self._kernel_waits = line, hear, kernel_waits
        self._wire = Wire(connection["key"], connection.get("signature_scheme", "hmac-sha256"))
        self.is_held = False
        self.hung_up = asyncio.Event()
        self.cut_off = ""
        self.remembers: ReplayStore | None = self
        self.since = line.heard
        line.begin(self._take, self._over)

    def _take(self, kind: bytes, body: bytes) -> None:
        if kind == b"M":
            self._line.heard = int.from_bytes(body[:8], "big")
            heard = self._wire.unpack(unpacked(body, 9), CHANNELS[body[8]])
            if heard is not None:
                self._hear(heard._replace(number=self._line.heard))
        elif kind == b"U":
            self.hung_up.set()

    def _over(self) -> None:
        if not self.hung_up.is_set():
            self.cut_off = "cannot be heard any more: the relay beside it is gone, and with it what it said since"
            self.hung_up.set()

    # ---- Conversing

    def send(
        self,
        channel: str,
        type: str,
        content: dict[str, Json],
        *,
        parent: msgspec.Raw | None = None,
        metadata: dict[str, Json] | None = None,
        buffers: Sequence[bytes] = (),
    ) -> str:
        """Send a message, and return its id."""
        id, parts = self._wire.pack(type, content, parent=parent, metadata=metadata, buffers=buffers)
        self._line.send(framed(b"S", bytes((CHANNELS.index(channel),)) + packed(parts)))
        return id

    def hold(self) -> None:
        """Take nothing for now, if the kernel waits."""
        if self._kernel_waits:
            self.is_held = True
            self._line.pause()

    def go_on(self) -> None:
        """Take again."""
        self.is_held = False
        self._line.go_on()

    def close(self) -> None:
        """Listen no more. The line stays, for the next conversation or to say goodbye."""
        self._line.pause()

    # ---- Remembering

    def begin(self, content: dict[str, Json], flight: bytes, after: int) -> str:
        """Send an execute_request, and have its flight kept."""
        id, parts = self._wire.pack("execute_request", content)
        told = msgspec.json.encode(ExecutionNote(request=id, started=msgspec.Raw(flight)))
        head = after.to_bytes(8, "big") + len(told).to_bytes(4, "big")
        self._line.send(framed(b"B", head + told + _SHELL + packed(parts)))
        return id

    async def mark(self, note: bytes) -> None:
        """Have a note kept."""
        self._line.send(framed(b"N", note))
        await self._line.sent()

    def forget(self, until: int) -> None:
        """Have dropped what is recorded."""
        self._line.send(framed(b"D", until.to_bytes(8, "big")))

    def replay(self) -> None:
        """Say again what was kept."""
        again, self._line.again = self._line.again, []
        for kind, body in again:
            self._take(kind, body)
