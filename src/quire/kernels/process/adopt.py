"""Finding the kernel of a runtime that is gone, and what that had under way."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import msgspec

from ...core import events as e
from ...core.errors import Conflict, NotFound
from ...core.ids import ActorId, LogId
from ..kernel_protocol import AdoptedKernel
from ..relay import relay_client
from ..relay.execution_state import ExecutionNote, Flight, FlushNote, Note, StopNote
from ..relay.relay_frames import SOCKET, VERSION, framed
from .connection_dir import all_serving, connection_of, hash_of
from .exit_status import MemoryWatch
from .local_kernel import ABOUT, KernelRecord, LocalKernel

PATIENCE_SECONDS = 2.0
"""How long a relay may take to notice that its runtime is gone."""


async def adopt_served(where: str, log: LogId, actor: ActorId | None = None) -> AdoptedKernel | None:
    """See kernels.adopt_served."""
    workspace = hash_of(where)
    for folder, serves in all_serving():
        if serves.workspace == workspace and serves.log == log and actor in (None, serves.actor):
            try:
                found = await _adopt(folder, serves.actor)
            except NotFound:
                continue  # watchdog.py ends what is left of it
            if found is not None:
                return found
    return None


def served(where: str, actor: ActorId | None = None) -> list[LogId]:
    """See kernels.served."""
    workspace = hash_of(where)
    found = [each for _, each in all_serving() if each.workspace == workspace and actor in (None, each.actor)]
    return list(dict.fromkeys(each.log for each in found))


async def _adopt(folder: Path, actor: ActorId) -> AdoptedKernel | None:
    gone = NotFound(f"Kernel {folder.name} is gone, and with it what its cells had defined.")
    try:
        about = msgspec.json.decode((folder / ABOUT).read_bytes(), type=KernelRecord)
        connection = connection_of(folder)
    except (OSError, msgspec.DecodeError):
        raise gone from None
    line = await _connect_soon(folder)
    try:
        flight = _kept(line)
    except msgspec.DecodeError:  # of another version, or of nobody: whatever runs there is not ours to go on with
        line.close()
        raise gone from None
    lives = about.lives
    kernel = LocalKernel(folder, about, connection, -1, MemoryWatch(about.pid), lives=lives)
    kernel.is_relayed(line)
    if flight is None and not lives:
        await kernel.close()
        return None
    return AdoptedKernel(kernel=kernel, flight=flight, actor=actor)


async def _connect_soon(folder: Path) -> relay_client.RelayLink:
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE_SECONDS
    while True:
        try:
            return await _connect(folder)
        except Conflict:
            if loop.time() >= until:
                raise
            # It may not have noticed yet.
            await asyncio.sleep(0.05)


async def _connect(folder: Path) -> relay_client.RelayLink:
    """Take over from a runtime that is gone. Conflict while it is not, NotFound without a relay."""
    line = relay_client.RelayLink(await _connected(folder))
    line.send(framed(b"Q", VERSION))
    said: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(kind: bytes, body: bytes) -> None:
        if kind == b"L":
            # What comes after it is for whoever opens the conversation.
            line.pause()
            said.set_result(None)
        elif kind == b"R":
            said.set_exception(Conflict(f"Kernel {folder.name} is in use by another process. Stop that one first."))
        else:
            line.again.append((kind, body))

    def over() -> None:
        if not said.done():
            said.set_exception(
                NotFound(f"The relay of kernel {folder.name} is gone, and with it what the kernel said.")
            )

    line.begin(take, over)
    try:
        await said
    except BaseException:
        line.close()
        raise
    return line


async def _connected(folder: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.setblocking(False)
    try:
        with relay_client.short(folder / SOCKET) as path:
            await asyncio.get_running_loop().sock_connect(sock, path)
    except OSError:
        sock.close()
        raise NotFound(f"Kernel {folder.name} has no relay beside it.") from None
    return sock


def _kept(line: relay_client.RelayLink) -> Flight | None:
    """The execution that an earlier runtime did not record to its end, if there is one."""
    found = [body for kind, body in line.again if kind == b"F"]
    if not found:
        return None
    told = msgspec.json.decode(found[0], type=ExecutionNote)
    numbers = [int.from_bytes(body[:8], "big") for kind, body in line.again if kind == b"M"]
    return Flight(
        request=told.request,
        started=msgspec.json.decode(told.started, type=e.ExecutionStarted),
        notes=tuple(_note(body) for kind, body in line.again if kind == b"N"),
        answered=sum(kind == b"A" for kind, _ in line.again),
        last=max(numbers, default=0),
        is_whole=(b"W", b"\1") in line.again,
    )


def _note(body: bytes) -> Note:
    return msgspec.json.decode(body, type=FlushNote | StopNote)
