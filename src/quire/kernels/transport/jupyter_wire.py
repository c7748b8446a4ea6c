"""Jupyter's messages on the wire: from values to signed frames and back, and the channels that they travel on.

Written by hand for what was measured: jupyter_client's Session takes 0.45 s of CPU to import
and 80 µs for a message, most of it for dates that nobody reads; this takes 8 µs.

The event loop reads the channels. What comes is given to `hear` at once, in order for each channel. While outputs are
held, those of a kernel that waits stay in the kernel, and whoever prints waits.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import count
from typing import Any, NamedTuple, cast
from uuid import uuid4

import msgspec

from ...core.errors import BadInput
from ...core.values import Json
from ...outputs.display_events import KernelMessage
from ..kernel_protocol import ReplayStore
from .zmtp import LastWords, Link

PROTOCOL = "5.4"
_BEFORE_US = b"<IDS|MSG>"
_PARTS = 4


class ReceivedMessage(NamedTuple):
    """A message, and what an answer to it has to name."""

    message: KernelMessage
    header: msgspec.Raw
    size: int
    number: int = 0
    """Which one it is, where somebody counts them."""


class _Header(msgspec.Struct):
    msg_type: str


class _Parent(msgspec.Struct):
    msg_id: str | None = None


class Wire:
    """Signs what is sent and checks what comes, for one side of one conversation."""

    def __init__(self, key: str, scheme: str = "hmac-sha256") -> None:
        self.identity = uuid4().hex
        self._numbers = count(1)
        self._sign = None
        if key:
            try:
                self._sign = hmac.new(key.encode(), digestmod=scheme.removeprefix("hmac-"))
            except ValueError:
                raise BadInput(f"The kernel wants messages signed by {scheme!r}, which is not known here.") from None

    def pack(
        self,
        type: str,
        content: dict[str, Json],
        *,
        parent: msgspec.Raw | None = None,
        metadata: dict[str, Json] | None = None,
        buffers: Sequence[bytes] = (),
    ) -> tuple[str, list[bytes]]:
        """Return the id of a new message, and its frames."""
        id = f"{self.identity}_{next(self._numbers)}"
        header = {
            "msg_id": id,
            "msg_type": type,
            "username": "quire",
            "session": self.identity,
            "date": datetime.now(UTC).isoformat(),
            "version": PROTOCOL,
        }
        parts = [_encode(header), bytes(parent or b"{}"), _encode(metadata or {}), _encode(content)]
        return id, [_BEFORE_US, self._signature(parts), *parts, *buffers]

    def unpack(self, frames: Sequence[bytes], channel: str) -> ReceivedMessage | None:
        """Return the message, or None for one that is broken or signed by nobody we know."""
        try:
            start = frames.index(_BEFORE_US) + 1
        except ValueError:
            return None
        parts = frames[start + 1 : start + 1 + _PARTS]
        if len(parts) < _PARTS or (self._sign and not hmac.compare_digest(frames[start], self._signature(parts))):
            return None
        header, parent, metadata, content = parts
        try:
            message = KernelMessage(
                type=msgspec.json.decode(header, type=_Header).msg_type,
                content=_decode(content),
                metadata=_decode(metadata),
                parent_id=msgspec.json.decode(parent, type=_Parent).msg_id,
                buffers=tuple(frames[start + 1 + _PARTS :]),
                channel=channel,
            )
        except ValueError:
            return None
        return ReceivedMessage(message, msgspec.Raw(header), sum(map(len, frames)))

    def _signature(self, parts: Iterable[bytes]) -> bytes:
        if self._sign is None:
            return b""
        signature = self._sign.copy()
        for part in parts:
            signature.update(part)
        return signature.hexdigest().encode()


def _encode(value: dict[str, Json]) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # Half of a surrogate pair: it travels escaped.
        return json.dumps(value).encode()


def _decode(data: bytes) -> dict[str, Json]:
    try:
        value = msgspec.json.decode(data)
    except ValueError:
        # Kernels in the wild send NaN, halves of surrogate pairs and bytes that are no UTF-8.
        value = _decode_loosely(data)
    except RecursionError:
        value = None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _decode_loosely(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        # That there was a message counts: one may end an execution.
        return None


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
