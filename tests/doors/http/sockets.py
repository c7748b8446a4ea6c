"""A client of the socket for tests: it checks that whatever it follows has no gap and no repetition."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from itertools import count
from typing import Any, TypeVar

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from quire.core import events as e
from quire.core.events import Draft, Entry, KnownEvent
from quire.core.ids import ActorId, EventId, LogId
from quire.doors.http.server.uvicorn_ws import PatientSocket
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire import frames

from ...http_server import Server

DEADLINE = 240
ALL: tuple[e.Scope, ...] = ("read", "edit", "run", "approve", "admin", "bind")
ADA, BOB = ActorId("human:ada"), ActorId("human:bob")
LOG, OTHER = LogId("n1"), LogId("n2")
F = TypeVar("F", bound=frames.Frame)
_decoder: msgspec.json.Decoder[frames.FromServer] = msgspec.json.Decoder(frames.FromServer)
_numbers = count()


class Client:
    """One connection."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.seen: dict[str, list[frames.EntryOnWire]] = {}
        """What came of each log, by the id under which it is followed."""
        self.last: dict[str, int] = {}
        self.sizes: dict[str, list[int]] = {}
        """How many entries were in each frame."""

    async def send(self, frame: frames.ToServer | dict[str, Any] | str | bytes) -> None:
        data = frame if isinstance(frame, str | bytes) else msgspec.json.encode(frame).decode()
        await self.connection.send(data)

    async def next(self) -> frames.FromServer:
        """The next frame, which has to come in time."""
        async with asyncio.timeout(DEADLINE):
            frame = _decoder.decode(await self.connection.recv())
        if isinstance(frame, frames.Events):
            self._check(frame)
        return frame

    def _check(self, frame: frames.Events) -> None:
        for entry in frame.entries:
            assert entry.seq == self.last[frame.id] + 1, f"{entry.seq} came after {self.last[frame.id]}"
            self.last[frame.id] = entry.seq
        assert frame.head >= self.last[frame.id] or not frame.entries
        self.seen[frame.id] += frame.entries
        self.sizes[frame.id].append(len(frame.entries))

    async def expect(self, kind: type[F]) -> F:
        """The next frame of a kind; others are taken in on the way."""
        while not isinstance(frame := await self.next(), kind):
            pass
        return frame

    async def follow(self, log: LogId = LOG, since: int = 0, id: str = "f") -> None:
        """Ask for a log, and wait for the first frame of it."""
        self.begin(id, since)
        await self.send(frames.Follow(id=id, log=log, since=since))
        while not self.sizes[id]:
            await self.next()

    def begin(self, id: str, since: int) -> None:
        self.seen[id], self.sizes[id], self.last[id] = [], [], since

    async def until(self, seq: int, id: str = "f") -> list[frames.EntryOnWire]:
        """Read on until that number has come."""
        while self.last[id] < seq:
            await self.next()
        return self.seen[id]

    async def in_order(self) -> None:
        """Wait until everything that was sent before is done, but for what is to be recorded."""
        id = f"mark{next(_numbers)}"
        await self.follow(LogId(id), 0, id)
        await self.send(frames.Stop(id=id))

    async def closed(self) -> tuple[int, str]:
        """Read until the server closes; with which code and why."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self.next()
        assert self.connection.close_code is not None
        return self.connection.close_code, self.connection.close_reason or ""


@contextlib.asynccontextmanager
async def connected(server: Server, secret: str, **more: Any) -> AsyncGenerator[Client]:
    """A client that was welcomed."""
    url = server.url.replace("http", "ws", 1) + "/api/socket"
    headers = {"Authorization": f"Bearer {secret}"}
    options: dict[str, Any] = {"additional_headers": headers, "max_size": 64 << 20, "proxy": None, **more}
    async with connect(url, **options) as connection:
        client = Client(connection)
        assert isinstance(await client.next(), frames.Welcome)
        yield client


async def token(workspace: LocalWorkspace, actor: ActorId = ADA, *scopes: e.Scope, **limits: Any) -> str:
    return (await workspace.create_token(actor, scopes or ALL, **limits)).secret


def draft(event: KnownEvent) -> Draft:
    return Draft(id=EventId(f"s{next(_numbers)}"), event=event)


def sent(event: KnownEvent, **more: Any) -> dict[str, Any]:
    """A draft as a client writes it."""
    return {**msgspec.to_builtins(draft(event)), **more}


async def say(workspace: LocalWorkspace, *events: KnownEvent, log: LogId = LOG) -> list[Entry]:
    return await workspace.submit(log, [draft(event) for event in events])


async def notebook(workspace: LocalWorkspace, log: LogId = LOG, notes: int = 0) -> None:
    await say(workspace, e.NotebookCreated(name=f"notebook {log}"), log=log)
    await note(workspace, notes, log=log)


async def note(workspace: LocalWorkspace, notes: int, text: str = "", log: LogId = LOG) -> None:
    """Record so many events, many at a time."""
    for start in range(0, notes, 1000):
        many = range(start, min(start + 1000, notes))
        await say(workspace, *(e.MetadataSet(values={"note": f"{each}{text}"}) for each in many), log=log)


async def recorded(workspace: LocalWorkspace, log: LogId = LOG, since: int = 0) -> list[frames.EntryOnWire]:
    """What a follower has to have seen."""
    found: list[frames.EntryOnWire] = []
    while page := await workspace.entries(log, since):
        found += [frames.from_entry(entry) for entry in page]
        since = page[-1].seq
    return found


async def eventually(condition: Callable[[], bool], why: str) -> None:
    """Wait until something is true; the test fails when it never is."""
    try:
        async with asyncio.timeout(DEADLINE):
            while not condition():  # noqa: ASYNC110 - nothing tells of most of them
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(why) from None


def sockets(server: Server) -> list[PatientSocket]:
    """The sockets that are open, as the server sees them."""
    return [each for each in server.running.server_state.connections if isinstance(each, PatientSocket)]
