"""One socket: what comes is done in order, what there is to send is sent when the other side is ready.

Three things go on at once: reading, recording what was submitted, and sending. None of them gets ahead of the
others by more than a bound: while too much waits, nothing more is read, and the sender feels it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import Any, TypeAlias

import msgspec
from litestar import WebSocket

from .... import __version__
from ....core import codec
from ....core.errors import BadInput, QuireError, Refused
from ....core.notebook.reduce import REDUCER
from ....workspace.clock import now
from ....workspace.identity.approval import proposed
from ....workspace.local import LocalWorkspace
from ....workspace.subscriptions.subscriptions import ConnectionSubscriptions
from ....workspace.wire import frames
from ....workspace.wire.frames import Hello, Say, Submit, ToServer
from ..error_responses import signed_out
from ..server.rate_limits import Allowance
from ..server.uvicorn_ws import LINE, PatientSocket
from ..server_settings import ServerSettings

WAITING = 64
WAITING_BYTES = 4 << 20
"""How many submissions of a socket may wait to be recorded, and how large they may be together."""
ALL_WAITING_BYTES = 4 << 20
"""The same for all sockets of a server; past that, none of them has more than one waiting."""
UNSENT = 256
UNSENT_BYTES = 2 << 20
"""How many answers may wait to be sent, and how large they may be together."""
MOST_REASON = 120
"""How long the reason of a close may be, in bytes."""

Socket: TypeAlias = WebSocket[Any, Any, Any]


async def close_socket(socket: Socket, code: int, reason: str) -> None:
    """Close a socket with a reason, cut to what fits; it may be gone by itself."""
    short = reason.encode()[:MOST_REASON].decode(errors="ignore")
    with contextlib.suppress(OSError, RuntimeError):
        await socket.close(code, short)


class Backlog:
    """How much waits to be recorded, of all who are connected."""

    def __init__(self) -> None:
        self.bytes = 0


_backlog = Backlog()


class SocketConnection:
    """A client that is connected. It is the `Watcher` of what it watches."""

    def __init__(self, workspace: LocalWorkspace, socket: Socket, settings: ServerSettings) -> None:
        self._workspace = workspace
        self._socket = socket
        self._settings = settings
        self._line: PatientSocket = socket.scope["state"][LINE]
        self._says = Allowance(settings.says_burst, settings.says_per_second)
        self._submits: deque[tuple[frames.Submit, int]] = deque()
        self._submitting: set[str] = set()
        self._submit_bytes = 0
        self._backlog = _backlog
        self._unsent: deque[str] = deque()
        self._unsent_bytes = 0
        self._due = asyncio.Event()
        self._came = asyncio.Event()
        self._room = asyncio.Event()
        self._ended: asyncio.Future[Refused] = asyncio.get_running_loop().create_future()
        self._watching: ConnectionSubscriptions

    async def open(self) -> None:
        """Begin to watch, nothing so far."""
        self._watching = await self._workspace.watch(self, self._settings.follows_per_socket)

    async def run(self) -> None:
        """Serve it until it is gone, or may not stay."""
        self.tell(self._welcome())
        tasks = [asyncio.ensure_future(work()) for work in (self._read, self._record, self._write)]
        try:
            await asyncio.wait([*tasks, self._ended], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.close()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        if self._ended.done():
            await close_socket(self._socket, frames.CLOSE_SIGNED_OUT, str(self._ended.result()))
        for task in tasks:
            if (
                not task.cancelled()
                and isinstance(fault := task.exception(), Exception)
                and not isinstance(fault, OSError)
            ):
                raise fault  # not OSError: the client is gone

    def close(self) -> None:
        """Watch nothing any more, and have nothing waiting."""
        self._watching.close()
        self._backlog.bytes -= self._submit_bytes
        self._submit_bytes = 0

    def _welcome(self) -> frames.Welcome:
        identity = self._workspace.identity
        return frames.Welcome(
            me=frames.me(identity),
            version=__version__,
            tick_milliseconds=frames.TICK_MILLISECONDS,
            at=now(),
            reducer=REDUCER,
        )

    # ---- As those see it who have something for it

    def wake(self) -> None:
        """There may be something to send."""
        self._due.set()

    def tell(self, frame: frames.Frame) -> None:
        """Send this before anything that is watched."""
        text = frames.encoded_frame(frame)
        self._unsent.append(text)
        self._unsent_bytes += len(text)
        self._due.set()

    def end(self, error: Refused) -> None:
        """The token is good for nothing any more."""
        if not self._ended.done():
            self._ended.set_result(error)

    # ---- Sending

    async def _write(self) -> None:
        while True:
            self._due.clear()
            while self._unsent or self._watching.is_due:
                await (self._answer() if self._unsent else self._show())
            await self._due.wait()

    async def _answer(self) -> None:
        text = self._unsent.popleft()
        self._unsent_bytes -= len(text)
        self._room.set()
        await self._send(text)

    async def _show(self) -> None:
        """Send the next frame of what is watched. It is put together when there is room for it, and says all there is by then."""
        await self._line.reserve()
        try:
            if (frame := await self._watching.take()) is not None:
                await self._send(frame)
        finally:
            self._line.release()

    async def _send(self, text: str) -> None:
        await self._socket.send({"type": "websocket.send", "bytes": None, "text": text})

    # ---- Reading

    async def _read(self) -> None:
        while True:
            message: Any = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            await self._take(text)
            del message, text  # not kept until the next one comes
            while self._is_full():
                self._room.clear()
                await self._room.wait()

    def _is_full(self) -> bool:
        return (
            len(self._submits) >= WAITING
            or self._submit_bytes > WAITING_BYTES
            or (self._submit_bytes > 0 and self._backlog.bytes > ALL_WAITING_BYTES)
            or len(self._unsent) >= UNSENT
            or self._unsent_bytes > UNSENT_BYTES
        )

    async def _take(self, text: str | None) -> None:
        try:
            frame = read_frame(text)
        except QuireError as error:
            self._fail(error, name_in(text))
            return
        id = None if isinstance(frame, frames.Say) else frame.id
        try:
            await self._do(frame, len(text or ""))
        except QuireError as error:
            self._fail(error, id)

    def _fail(self, error: QuireError, id: str | None) -> None:
        """Without its id where that is the name of something else that goes on."""
        if id is not None and (id in self._watching or id in self._submitting):
            id = None
        self.tell(frames.FailedFrame(id=id, error=frames.fault_of(error)))

    async def _do(self, frame: frames.ToServer, size: int) -> None:
        match frame:
            case frames.Stop():
                self._watching.stop(frame.id)
            case frames.Say():
                await self._say(frame)
            case _ if frame.id in self._watching or frame.id in self._submitting:
                raise BadInput(f"The id {frame.id!r} names something that goes on. Choose another for each request.")
            case frames.Follow():
                await self._watching.follow(frame.id, frame.log, frame.since)
            case frames.FollowFeed():
                await self._watching.feed(frame.id, frame.since)
            case frames.Listen():
                await self._watching.listen(frame.id, frame.log, frame.lane)
            case frames.Submit():
                self._submitting.add(frame.id)
                self._submits.append((frame, size))
                self._submit_bytes += size
                self._backlog.bytes += size
                self._came.set()

    async def _say(self, frame: frames.Say) -> None:
        if self._says.take(""):
            raise Refused("More is said on this socket than a server carries, and this was not. Say less, or slower.")
        await self._watching.say(frame.log, frame.lane, frame.message)

    # ---- Recording

    async def _record(self) -> None:
        """One after the other: what is sent later may build on what was sent before."""
        while True:
            while not self._submits:
                self._came.clear()
                await self._came.wait()
            frame, size = self._submits.popleft()
            answer = await self._submit(frame)
            self._submitting.discard(frame.id)
            del frame  # not kept until the next one comes
            self._submit_bytes -= size
            self._backlog.bytes -= size
            self._room.set()
            self.tell(answer)

    async def _submit(self, frame: frames.Submit) -> frames.Frame:
        try:
            drafts = [codec.draft_from(each) for each in frame.drafts]
            entries = await self._workspace.submit(frame.log, drafts)
        except QuireError as error:
            return frames.FailedFrame(id=frame.id, error=frames.fault_of(error))
        asked = proposed(drafts, entries) is not None
        return frames.RecordedFrame(
            id=frame.id, entries=[frames.from_entry(entry) for entry in entries], proposed=asked
        )


# ---- Frames as they come in: read strictly, and every fault is named


MOST_ID = 100
"""How long the name of a request may be: it is sent with each answer."""
MOST_SAID = 64 << 10
"""How large a message on a lane may be: what is larger is worth a blob."""

_decoder: msgspec.json.Decoder[ToServer] = msgspec.json.Decoder(ToServer)


_hello = msgspec.json.Decoder(Hello)


class _FrameName(msgspec.Struct):
    id: str | None = None


_named = msgspec.json.Decoder(_FrameName)


def read_frame(text: str | None) -> ToServer:
    """What a client sent."""
    if text is None:
        raise BadInput(
            "Frames are JSON in text messages, and this one was binary. docs/reference/socket.md lists them."
        )
    try:
        frame = _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadInput(f"This is no frame: {error}. docs/reference/socket.md lists them.") from error
    if isinstance(frame, Submit | Say):
        codec.check_json(text, "The frame")
    if isinstance(frame, Say):
        _check_said(text)
    elif not 0 < len(frame.id) <= MOST_ID:
        raise BadInput(f"The id of a request is 1 to {MOST_ID} characters, not {len(frame.id):,}.")
    return frame


def read_hello(text: str | None) -> str:
    """The key of a page, from the first frame that it sent."""
    try:
        return _hello.decode(text or "").page_key
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise signed_out("The first frame of a page is `hello` with its page_key: docs/reference/socket.md.") from None


def name_in(text: str | None) -> str | None:
    """The id of what cannot be read otherwise, so that whoever asked knows what failed."""
    try:
        found = _named.decode(text or "").id
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return found if found is not None and 0 < len(found) <= MOST_ID else None


def _check_said(text: str) -> None:
    if len(text) > MOST_SAID:
        raise BadInput(f"A message of {len(text):,} characters is too large for a lane; {MOST_SAID:,} are allowed.")
