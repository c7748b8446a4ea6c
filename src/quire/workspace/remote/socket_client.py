"""One socket to a server, for all that is followed there; it comes back by itself.

When a connection is lost it is made again, after a pause that grows, and every stream is asked for from where it
got to: no gap, no repetition. What no waiting mends ends the streams: a token that is no longer good, a
certificate that is not trusted, somebody who does not speak as a server does.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import ssl
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from itertools import count
from typing import Any, TypeVar, get_args

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidProxy, InvalidStatus, InvalidURI
from websockets.http11 import Response

from ...core.errors import QuireError, Refused, Unavailable
from ..lanes.lanes import KEPT
from ..tasks import cancel_and_wait
from ..wire import frames
from .network_errors import closed, distrusted, redirected, tls_error, unexpected
from .server_address import Address
from .stream_state import OutOfStep, RemoteStream

T = TypeVar("T")
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 10.0
"""How long to wait before a connection is made again, at first and at most, in seconds."""
FEW = 20
"""How much of what was said waits for a connection."""
FRAME_BYTES = 64 << 20
_SIGNED_OUT = (401, 403)
_FRAMES = msgspec.json.Decoder(frames.FromServer)
_KNOWN = frozenset(str(each.__struct_config__.tag) for each in get_args(frames.FromServer))


class _FrameTag(msgspec.Struct):
    type: str


# The library writes headers, and so the token, into its log: into this one, which nobody reads.
_silent = logging.Logger("quire.socket", logging.CRITICAL + 1)


class _Connect(connect):
    """Goes where it was told to, and nowhere else."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Follow no redirection."""
        return exc


class Socket:
    """The streams of one bearer on one server, and the connection that they come over while there is one."""

    def __init__(
        self, address: Address, secret: str, check: Callable[[], Awaitable[Any]], tls: ssl.SSLContext | None = None
    ) -> None:
        self._address, self._secret, self._tls = address, secret, tls
        self._check = check
        """Asks the server who we are: it says why if we are nobody any more."""
        self._streams: dict[str, RemoteStream[Any]] = {}
        self._ids = count(1)
        self._requests: deque[bytes] = deque()
        self._said: deque[bytes] = deque(maxlen=KEPT)
        self._lost = asyncio.Event()
        """Set while there is no connection."""
        self._lost.set()
        self._work = asyncio.Event()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed: Unavailable | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is a connection, to somebody who said welcome."""
        return not self._lost.is_set()

    async def until_lost(self) -> None:
        """Wait until there is no connection."""
        await self._lost.wait()

    # ---- For those who follow

    async def pages(self, stream: RemoteStream[T]) -> AsyncGenerator[T]:
        """Yield what a stream brings, for ever."""
        self._ask(stream)
        try:
            while True:
                yield await stream.next()
                if stream.paused and stream.is_empty:
                    self._ask(stream)
        finally:
            self._stop(stream)

    def say(self, frame: frames.Say) -> None:
        """Say something as soon as there is a connection; the oldest of too much is dropped."""
        if self._closed is None:
            while not self.is_open and len(self._said) >= FEW:
                self._said.popleft()  # it is old by the time that anybody hears it
            self._said.append(msgspec.json.encode(frame))
            self._start()

    async def close(self) -> None:
        """Say goodbye. Who still follows is told."""
        self._closed = closed(self._address)
        self._fail(self._closed)
        if self._task is not None:
            await cancel_and_wait(self._task)

    def _ask(self, stream: RemoteStream[Any]) -> None:
        stream.id, stream.paused = f"s{next(self._ids)}", False
        if self._closed:
            stream.fail(self._closed)
            return
        self._streams[stream.id] = stream
        self._send(stream.request())
        self._start()

    def _stop(self, stream: RemoteStream[Any]) -> None:
        if self._streams.pop(stream.id, None) is not None:
            self._send(frames.Stop(id=stream.id))

    def _send(self, frame: frames.ToServer) -> None:
        self._requests.append(msgspec.json.encode(frame))
        self._work.set()

    def _start(self) -> None:
        self._wanted.set()
        self._work.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    def _fail(self, fault: QuireError) -> None:
        failed, self._streams = list(self._streams.values()), {}
        self._said.clear()
        for stream in failed:
            stream.fail(fault)

    # ---- Connections, one after the other

    async def _run(self) -> None:
        loop, pauses = asyncio.get_running_loop(), _pauses()
        while True:
            if not self._streams and not self._said:
                self._wanted.clear()
                await self._wanted.wait()
            began = loop.time()
            try:
                connection = await self._connect()
                heard = connection is not None and await self._talk(connection)
            except Exception as fault:
                # Whatever it is: nobody is to wait for ever.
                told = f"{self._address.url} cannot be followed ({type(fault).__name__}: {fault}). Try again."
                self._fail(fault if isinstance(fault, QuireError) else Unavailable(told))
                heard = False
            if heard or loop.time() - began > LONGEST_PAUSE:
                pauses = _pauses()
            await asyncio.sleep(next(pauses))

    async def _connect(self) -> ClientConnection | None:
        """Make a connection. None: it may be there soon; an error is raised when there is no use in trying again."""
        more: dict[str, Any] = {"ssl": self._tls} if self._tls is not None else {}
        try:
            return await _Connect(
                self._address.socket,
                additional_headers={"Authorization": f"Bearer {self._secret}"},
                proxy=True if self._address.by_proxy else None,
                compression=None,
                max_size=FRAME_BYTES,
                max_queue=4,
                close_timeout=2,
                logger=_silent,
                **more,
            )
        except (OSError, InvalidHandshake, InvalidURI, InvalidProxy) as error:
            if (tls := tls_error(error)) is not None:
                raise distrusted(self._address, tls) from error
            if isinstance(error, InvalidStatus):
                await self._refused(error.response)
            elif isinstance(error, InvalidHandshake | InvalidURI) and not _is_cut(error):
                raise unexpected(self._address, f"The socket is not opened ({error})") from error
            return None

    async def _refused(self, response: Response) -> None:
        """Raise what it means that a server opens no socket, unless it may do so soon."""
        status = response.status_code
        if status in (408, 429) or status >= 500:
            return
        if 300 <= status < 400:
            raise redirected(self._address, response.headers.get("location", ""))
        if status in _SIGNED_OUT:
            await self._signed_out("")
            return
        try:
            told = frames.error_of(msgspec.json.decode(response.body or b"", type=frames.Faulty).error)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            told = unexpected(self._address, f"The socket is refused with the status {status}")
        raise told

    async def _signed_out(self, why: str) -> None:
        """The server no longer takes us for anybody: let it say why."""
        try:
            await self._check()
        except Unavailable:
            return
        raise Refused(why or f"{self._address.url} does not open its socket for this token. Ask for another.")

    async def _talk(self, connection: ClientConnection) -> bool:
        """Ask for every stream, and hear what comes until the connection ends; whether anything came."""
        self._ask_again()
        sending = asyncio.create_task(self._sending(connection))
        heard = False
        try:
            self._welcome(await connection.recv(decode=False))
            self._lost.clear()
            while True:
                heard = self._hear(await connection.recv(decode=False)) or heard
        except ConnectionClosed as end:
            if end.rcvd is not None and end.rcvd.code == frames.CLOSE_SIGNED_OUT:
                await self._signed_out(end.rcvd.reason)
        finally:
            self._lost.set()
            await cancel_and_wait(sending)
            await connection.close()
        return heard

    def _ask_again(self) -> None:
        streams, self._streams = list(self._streams.values()), {}
        self._requests.clear()
        for stream in streams:
            self._ask(stream)

    async def _sending(self, connection: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                while waiting := self._requests or self._said:
                    await connection.send(waiting.popleft(), text=True)
                self._work.clear()
                await self._work.wait()

    # ---- What comes

    def _welcome(self, data: bytes) -> None:
        if not isinstance(self._frame(data), frames.Welcome):
            raise unexpected(self._address, "The socket says no welcome")

    def _hear(self, data: bytes) -> bool:
        """Give a frame to the stream that it is for; whether it brought anything."""
        frame = self._frame(data)
        if frame is None or isinstance(frame, frames.Welcome) or frame.id is None:
            return False
        stream = self._streams.get(frame.id)
        if stream is None:  # of one that was stopped meanwhile
            return False
        if isinstance(frame, frames.FailedFrame):
            del self._streams[frame.id]
            stream.fail(frames.error_of(frame.error))
            return False
        self._give(stream, frame, len(data))
        return True

    def _give(self, stream: RemoteStream[Any], frame: frames.FromServer, size: int) -> None:
        try:
            stream.take(frame, size)
        except OutOfStep as error:
            self._stop(stream)
            stream.fail(unexpected(self._address, str(error)))
        except QuireError as fault:
            self._stop(stream)
            stream.fail(fault)
        if stream.is_full:
            self._stop(stream)
            stream.paused = True

    def _frame(self, data: bytes) -> frames.FromServer | None:
        """Read a frame; None for one of a newer Quire."""
        try:
            return _FRAMES.decode(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            with contextlib.suppress(msgspec.DecodeError, UnicodeError, RecursionError):
                if msgspec.json.decode(data, type=_FrameTag).type not in _KNOWN:
                    return None
            raise unexpected(self._address, f"A frame of the socket cannot be read ({error})") from error


def _is_cut(error: BaseException | None) -> bool:
    """Whether a handshake failed because the connection ended."""
    while error is not None:
        if isinstance(error, EOFError | OSError):
            return True
        error = error.__cause__
    return False


def _pauses() -> Iterator[float]:
    pause = FIRST_PAUSE
    while True:
        yield pause * random.uniform(0.5, 1.0)  # noqa: S311 - so that not all come back at once
        pause = min(2 * pause, LONGEST_PAUSE)
