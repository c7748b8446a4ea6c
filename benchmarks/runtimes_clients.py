"""Clients that run cells and see what they show: of our socket, and of a Jupyter Server's. The same library for both.

As a process of its own, many that only follow: it is told on standard input whom, says when all are there, and
prints what they saw once the cell is over.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
import uuid
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Protocol

import msgspec
from websockets.asyncio.client import ClientConnection, connect


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A server, and what of it is meant."""

    side: str
    port: int
    authorization: str
    log: str = ""
    """Of ours: the notebook, and from which number on it is followed."""
    since: int = 0
    kernel: str = ""
    """Of theirs."""
    quick: bool = False
    """Whether what comes is acknowledged at once: a server that waits for that before it sends on is not waited for."""

    @property
    def path(self) -> str:
        """Where its socket is."""
        return "/api/socket" if self.side == "ours" else f"/api/kernels/{self.kernel}/channels"


class Printed(msgspec.Struct, frozen=True):
    """A piece of what a cell printed."""

    execution: str
    length: int
    """How much there is with it, in code points."""
    lag: float
    """From when it was stamped to when it was here, in seconds."""
    blob: str | None = None


class Ended(msgspec.Struct, frozen=True):
    """A cell is over, and everything of it has come."""

    execution: str


class Client(Protocol):
    """Somebody on a socket."""

    async def execute(self, cell: str, source: str) -> str:
        """Have a cell run, and return by which id it goes."""
        ...

    def seen(self) -> AsyncIterator[Printed | Ended]:
        """What cells print, as it comes."""
        ...


async def client_of(place: Place) -> Client:
    """Connect, and wait until the server tells what happens from now on."""
    url = f"ws://127.0.0.1:{place.port}{place.path}"
    headers = {"Authorization": place.authorization}
    connection = await connect(
        url, additional_headers=headers, max_size=1 << 28, max_queue=1024, compression=None, proxy=None
    )
    if place.side == "theirs":
        return _Theirs(connection, quick=place.quick)
    made = _Ours(connection, place)
    await made.follow()
    return made


# ---- Ours


class _Ours:
    def __init__(self, connection: ClientConnection, place: Place) -> None:
        self._connection, self._place = connection, place

    async def follow(self) -> None:
        """Ask for the log, and wait for the answer."""
        await self._send({"type": "follow", "id": "log", "log": self._place.log, "since": self._place.since})
        while json.loads(await self._connection.recv())["type"] != "events":
            pass

    async def execute(self, cell: str, source: str) -> str:
        """Have a cell run."""
        from quire.core.text import source_hash

        execution = uuid.uuid4().hex
        event = {"type": "execution_requested", "execution": execution, "cell": cell}
        event["source_hash"] = source_hash(source)
        drafts = [{"id": uuid.uuid4().hex, "event": event}]
        await self._send({"type": "submit", "id": execution, "log": self._place.log, "drafts": drafts})
        return execution

    async def _send(self, frame: dict[str, Any]) -> None:
        await self._connection.send(json.dumps(frame))

    async def seen(self) -> AsyncIterator[Printed | Ended]:
        """What cells print."""
        while True:
            frame: Any = msgspec.json.decode(await self._connection.recv())
            if frame["type"] == "failed":
                raise RuntimeError(str(frame["error"]))
            if frame["type"] == "events":
                now = time.time()
                for entry in frame["entries"]:
                    event = entry["event"]
                    if event["type"] == "stream_appended":
                        lag = now - datetime.fromisoformat(entry["at"]).timestamp()
                        length = event["offset"] + len(event["text"])
                        blob = event["blob"]["hash"] if event.get("blob") else None
                        yield Printed(event["execution"], length, lag, blob)
                    elif event["type"] == "execution_finished":
                        yield Ended(event["execution"])


# ---- Theirs


class _Theirs:
    def __init__(self, connection: ClientConnection, *, quick: bool) -> None:
        self._connection, self._quick = connection, quick
        self._id = uuid.uuid4().hex
        self._lengths: dict[str, int] = {}

    async def execute(self, cell: str, source: str) -> str:
        """Have a cell run."""
        id = uuid.uuid4().hex
        header = {"msg_id": id, "msg_type": "execute_request", "username": "", "session": self._id, "version": "5.3"}
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": True}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        await self._connection.send(json.dumps({**message, "buffers": []}))
        return id

    async def seen(self) -> AsyncIterator[Printed | Ended]:
        """What cells print, by the request that they came from."""
        while True:
            if self._quick:
                _acknowledge_at_once(self._connection)
            message: Any = msgspec.json.decode(await self._connection.recv())
            execution, kind = message["parent_header"].get("msg_id", ""), message["header"]["msg_type"]
            if kind == "stream":
                length = self._lengths.get(execution, 0) + len(message["content"]["text"])
                self._lengths[execution] = length
                stamped = datetime.fromisoformat(message["header"]["date"]).timestamp()
                yield Printed(execution, length, time.time() - stamped)
            elif kind == "status" and message["content"]["execution_state"] == "idle":
                yield Ended(execution)


def _acknowledge_at_once(connection: ClientConnection) -> None:
    """Linux forgets it again and again."""
    line = connection.transport.get_extra_info("socket")
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


# ---- Many that follow


class Saw(msgspec.Struct, frozen=True, kw_only=True):
    """What one follower saw of a cell."""

    length: int
    lags: list[float]
    done: float
    """When it had everything, by the clock that all processes share."""
    blob: str | None = None


async def follow_to_the_end(client: Client) -> Saw:
    """Follow the next cell that prints to its end."""
    length, lags, blob, execution = 0, list[float](), None, None
    async for each in client.seen():
        if isinstance(each, Printed) and execution in (None, each.execution):
            execution, length, blob = each.execution, each.length, each.blob
            lags.append(each.lag)
        elif isinstance(each, Ended) and each.execution == execution:
            return Saw(length=length, lags=lags, done=time.monotonic(), blob=blob)
    raise RuntimeError("A socket ended.")


async def main() -> None:
    """Many followers in this process."""
    place, count = msgspec.json.decode(sys.stdin.readline(), type=tuple[Place, int])
    clients = [await client_of(place) for _ in range(count)]
    print("there", flush=True)
    saw = await asyncio.gather(*map(follow_to_the_end, clients))
    sys.stdout.buffer.write(msgspec.json.encode(saw) + b"\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
