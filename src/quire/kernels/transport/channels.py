"""The channels to a kernel, read by the event loop.

What comes is given to `hear` at once, in order for each channel. While outputs are held,
those of a kernel that waits stay in the kernel, and whoever prints waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from ...core.values import Json
from ..kernel_protocol import ReplayStore
from .jupyter_wire import ReceivedMessage, Wire
from .zmtp import LastWords, Link


class Channels:
    """Four links to one kernel: outputs, requests, control, and questions to the user."""

    cut_off = ""
    remembers: ReplayStore | None = None

    def __init__(
        self, connection: dict[str, Any], hear: Callable[[ReceivedMessage], None], *, kernel_waits: bool
    ) -> None:
        self._hear = hear
        self._wire = Wire(connection["key"], connection.get("signature_scheme", "hmac-sha256"))
        self._kernel_waits = kernel_waits
        self.is_held = False
        self.hung_up = asyncio.Event()
        """Set once the kernel has closed the channels for outputs and replies, after all that it said there was heard."""
        # The kernel asks on stdin whoever sent the request, by this name.
        identity = self._wire.identity.encode()
        last = LastWords(self.hung_up.set)
        outputs = endpoint(connection, "iopub")
        self._links = {"iopub": Link(outputs, b"SUB", b"", partial(self._take, "iopub"), last.of("iopub"))}
        for channel in ("stdin", "shell", "control"):
            self._links[channel] = Link(
                endpoint(connection, channel), b"DEALER", identity, partial(self._take, channel), last.of(channel)
            )

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
        self._links[channel].send(frames)
        return id

    def _take(self, channel: str, frames: list[bytes]) -> None:
        heard = self._wire.unpack(frames, channel)
        if heard is not None:
            self._hear(heard)

    def hold(self) -> None:
        """Take no outputs for now."""
        # Whatever a kernel sends that does not wait for us has to be taken: it would throw it away.
        if self._kernel_waits:
            self.is_held = True
            self._links["iopub"].hold()

    def go_on(self) -> None:
        """Take outputs again."""
        self.is_held = False
        self._links["iopub"].go_on()

    def close(self) -> None:
        """Let go of them; what was not read is dropped."""
        for link in self._links.values():
            link.close()


def endpoint(connection: dict[str, Any], channel: str) -> str:
    """Where one channel of a kernel is, as ZeroMQ writes it."""
    between = "-" if connection["transport"] == "ipc" else ":"
    return f"{connection['transport']}://{connection['ip']}{between}{connection[f'{channel}_port']}"
