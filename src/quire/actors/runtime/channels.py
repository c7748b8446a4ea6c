"""The sockets to a kernel, read by the event loop.

A socket of ZeroMQ has a file descriptor that becomes readable when something changed, and
stays quiet until everything was taken: so it is read until it is empty, and once more after
each send. What comes is given to `hear` at once, in order for each socket. The loop reads
no outputs while `hold` is in force: then they wait in the kernel, and whoever prints waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import zmq
from zmq.utils.monitor import recv_monitor_message

from ...core.values import Json
from .wire import Heard, Wire

MOST_MESSAGES = 50
"""Outputs that wait in a socket, from a kernel that waits as well."""
_AT_ONCE = 2_000_000
"""Bytes that are taken before others on the loop have their turn."""
_RECONNECT_MILLISECONDS = 10
"""A kernel that starts does not listen yet: how often it is tried. ZeroMQ's own 100 are felt."""


class Channels:
    """Four sockets to one kernel: outputs, requests, control, and questions to the user."""

    def __init__(self, connection: dict[str, Any], hear: Callable[[Heard], None], *, kernel_waits: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._hear = hear
        self._wire = Wire(connection["key"], connection.get("signature_scheme", "hmac-sha256"))
        self._context = zmq.Context()
        self._context.setsockopt(zmq.LINGER, 0)
        self._context.setsockopt(zmq.RECONNECT_IVL, _RECONNECT_MILLISECONDS)
        # Whatever a kernel sends that does not wait for us has to be taken: nothing is lost on this side.
        self._context.setsockopt(zmq.RCVHWM, MOST_MESSAGES if kernel_waits else 0)
        self._context.setsockopt(zmq.SNDHWM, 0)
        self.hold = False
        self.hung_up = asyncio.Event()
        self._again: dict[str, asyncio.Handle] = {}
        """Channels that are read on the loop's next turn."""
        outputs = self._context.socket(zmq.SUB)
        outputs.subscribe(b"")
        self._monitor = outputs.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._sockets = {"iopub": outputs}
        for channel in ("stdin", "shell", "control"):
            self._sockets[channel] = self._context.socket(zmq.DEALER)
            # The kernel asks on stdin whoever sent the request, by this name.
            self._sockets[channel].setsockopt(zmq.IDENTITY, self._wire.identity.encode())
        for channel, one in self._sockets.items():
            one.connect(_endpoint(connection, channel))
        for channel, one in self._sockets.items():
            self._loop.add_reader(one.fileno(), self._read_channel, channel)
        self._loop.add_reader(self._monitor.fileno(), self.read)
        # Only a socket that was found empty tells of what comes next.
        self._loop.call_soon(self.read)

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
        id, frames = self._wire.pack(type, content, parent=parent, metadata=metadata, buffers=buffers)
        self._sockets[channel].send_multipart(frames, zmq.NOBLOCK)
        self._read_soon(channel)
        return id

    def read_outputs_soon(self) -> None:
        """Look for outputs on the loop's next turn: they were held."""
        self._read_soon("iopub")

    def _read_soon(self, channel: str) -> None:
        if channel not in self._again and not self._context.closed:
            self._again[channel] = self._loop.call_soon(self._read_channel, channel)

    def read(self) -> None:
        """Take what there is in all of them, and learn whether the kernel hung up."""
        if self._context.closed:
            return
        self._look_whether_it_hung_up()
        for channel in self._sockets:
            self._read_channel(channel)

    def _read_channel(self, channel: str) -> None:
        """Take what there is, a bounded part of it at a time."""
        self._again.pop(channel, None)
        if self._context.closed:
            return
        taken = 0
        while not (self.hold and channel == "iopub"):
            frames = _take(self._sockets[channel])
            if frames is None:
                return
            heard = self._wire.unpack(frames, channel)
            if heard is not None:
                taken += heard.size
                self._hear(heard)
            if taken >= _AT_ONCE:
                self._read_soon(channel)
                break
        # Not empty: being looked at, the descriptor becomes quiet all the same, or the loop would turn for nothing.
        self._sockets[channel].getsockopt(zmq.EVENTS)

    def _look_whether_it_hung_up(self) -> None:
        # Told after all that came before it was put into the socket.
        while self._monitor.poll(0, zmq.POLLIN):
            recv_monitor_message(self._monitor, zmq.NOBLOCK)
            self.hung_up.set()

    def close(self) -> None:
        """Let go of the sockets; what was not read is dropped."""
        if self._context.closed:
            return
        for one in (*self._sockets.values(), self._monitor):
            self._loop.remove_reader(one.fileno())
        self._sockets["iopub"].disable_monitor()
        self._context.destroy(linger=0)


def _take(socket: zmq.Socket[bytes]) -> list[bytes] | None:
    try:
        return socket.recv_multipart(zmq.NOBLOCK)
    except zmq.Again:
        return None


def _endpoint(connection: dict[str, Any], channel: str) -> str:
    between = "-" if connection["transport"] == "ipc" else ":"
    return f"{connection['transport']}://{connection['ip']}{between}{connection[f'{channel}_port']}"
