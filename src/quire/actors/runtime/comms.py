"""Widgets between a kernel and whoever looks at it: Jupyter's comm messages, on the lane `comms`."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

import msgspec

from ...core.errors import BadInput
from ...core.values import Json
from ...kernels.kernel_client import KernelClient
from ...outputs.display_events import KernelMessage
from ...outputs.media import fields_in, valid
from ...outputs.secrets import Remover
from ...workspace.lanes import lane_messages

MOST_SAID = 60_000
"""Bytes that a message on a lane may have, with room for what stands around it."""
Said = lane_messages.CommOpen | lane_messages.CommMessage | lane_messages.CommClose
SAID: Any = Said


class Comms:
    """The comms of one kernel."""

    def __init__(
        self, client: KernelClient, remover: Remover, say: Callable[[lane_messages.LaneMessage], None]
    ) -> None:
        self._client, self._remover, self._say = client, remover, say
        self._known: set[str] = set()
        client.overhear = self.overheard

    # ---- From the kernel

    def overheard(self, message: KernelMessage) -> None:
        """Say what a widget says; nothing of it tells a secret (rule 16)."""
        content = fields_in(message.content)
        comm = content.get("comm_id")
        if not isinstance(comm, str) or not 0 < len(comm) <= 200:
            return
        try:
            made = self._made(message, comm, content)
            size = len(msgspec.json.encode(made))
        except (RecursionError, ValueError, UnicodeEncodeError):
            return  # no widget says such things
        self._say(made if size <= MOST_SAID else lane_messages.TooLarge(comm=comm, size=size))

    def _made(self, message: KernelMessage, comm: str, content: dict[str, Json]) -> lane_messages.LaneMessage:
        data = fields_in(self._remover.clean(valid(content.get("data"))))
        if message.type == "comm_close":
            self._known.discard(comm)
            return lane_messages.CommClose(comm=comm, data=data)
        metadata = fields_in(self._remover.clean(valid(message.metadata)))
        buffers = tuple(self._remover.clean_text(base64.b64encode(each).decode()) for each in message.buffers)
        if message.type == "comm_msg":
            return lane_messages.CommMessage(comm=comm, data=data, metadata=metadata, buffers=buffers)
        self._known.add(comm)
        target = str(content.get("target_name", ""))[:200]
        return lane_messages.CommOpen(comm=comm, target=target, data=data, metadata=metadata, buffers=buffers)

    # ---- To the kernel

    def knows(self, comm: str) -> bool:
        """Whether a comm is of this kernel, as far as was heard."""
        return comm in self._known

    def send(self, said: Said) -> None:
        """Let the kernel hear what somebody said to a widget."""
        content: dict[str, Json] = {"comm_id": said.comm, "data": said.data}
        match said:
            case lane_messages.CommOpen():
                self._known.add(said.comm)
                content["target_name"] = said.target
                self._client.send_comm("comm_open", content, metadata=said.metadata, buffers=_bytes(said.buffers))
            case lane_messages.CommMessage():
                self._client.send_comm("comm_msg", content, metadata=said.metadata, buffers=_bytes(said.buffers))
            case lane_messages.CommClose():
                self._known.discard(said.comm)
                self._client.send_comm("comm_close", content)


def _bytes(buffers: tuple[str, ...]) -> list[bytes]:
    try:
        return [base64.b64decode(each, validate=True) for each in buffers]
    except (binascii.Error, ValueError):
        raise BadInput("A buffer of a comm is not base64. docs/reference/socket.md tells what is.") from None
