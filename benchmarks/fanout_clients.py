"""Many clients of a server in one process: followers that cost next to nothing, and writers that keep a pace.

A follower notes when which numbers came and reads no further into a frame: on a machine with few cores, clients that
read everything would be what is measured. What came is written to a file when the process is told to end.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import time
from pathlib import Path

from .fanout_server import LOG
from .raw_socket import TEXT, RawSocket


class Follower(RawSocket):
    """Follows one log, from a number on."""

    def __init__(self, secret: str, since: int, until: int | None = None) -> None:
        super().__init__("/api/socket", f"Bearer {secret}")
        self.seen: list[tuple[float, int, int]] = []
        """When which numbers came: the first and the last of each frame."""
        self.last = since
        self.head = since
        """As far as the log went when the first frame was sent."""
        self.following: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.bytes = 0
        self._until = until

    def opened(self) -> None:
        """Follow."""
        self.write(json.dumps({"type": "follow", "id": "1", "log": LOG, "since": self.last}).encode(), TEXT)

    def came(self, payload: bytes) -> None:
        """Note which numbers came."""
        if not payload.startswith(b'{"type":"events"'):
            return
        self.bytes += len(payload)
        if not self.following.done():
            at = payload.rfind(b'"head":') + 7
            self.head = int(payload[at : payload.find(b"}", at)].split(b",")[0])
            self.following.set_result(None)
        first, last = payload.find(b'"seq":'), payload.rfind(b'"seq":')
        if first >= 0:
            self.last = _number(payload, last)
            self.seen.append((time.monotonic(), _number(payload, first), self.last))
        if self._until is not None and self.last >= self._until and not self.done.done():
            self.done.set_result(None)


def _number(payload: bytes, at: int) -> int:
    end = payload.find(b",", at)
    return int(payload[at + 6 : end])


async def follower(port: int, secret: str, since: int, until: int | None = None) -> Follower:
    """One that is connected, and was answered."""
    _, made = await asyncio.get_running_loop().create_connection(
        lambda: Follower(secret, since, until), "127.0.0.1", port
    )
    await made.following
    return made


async def followers(port: int, secret: str, count: int, since: int, out: Path) -> None:
    """Follow until stdin ends; then write down what came."""
    there = [await follower(port, secret, since) for _ in range(count)]
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    out.write_text(json.dumps([each.seen for each in there]))  # noqa: ASYNC240 - nothing else goes on any more


async def writers(port: int, secret: str, count: int, rate: float, seconds: float, batch: int, out: Path) -> None:
    """Submit events at a pace, so many at a time, over so many sockets; write down when each was sent."""
    from websockets.asyncio.client import connect

    url, headers = f"ws://127.0.0.1:{port}/api/socket", {"Authorization": f"Bearer {secret}"}
    sent: dict[str, float] = {}
    numbers: dict[int, float] = {}

    async def one(name: int) -> None:
        async with connect(url, additional_headers=headers, proxy=None, max_size=None) as socket:
            await socket.recv()

            async def answers() -> None:
                for _ in range(total):
                    told = json.loads(await socket.recv())
                    if told["type"] != "recorded":
                        raise RuntimeError(told)
                    for entry in told["entries"]:
                        numbers[entry["seq"]] = sent[f"{name}-{told['id']}"]

            total, pause = int(seconds * rate / count / batch), count * batch / rate
            answering = asyncio.create_task(answers())
            start = time.monotonic() + pause * name / count
            for number in range(total):
                await asyncio.sleep(max(0, start + number * pause - time.monotonic()))
                event = {"type": "metadata_set", "values": {"text": "x" * 250}}
                ids = (f"w{name}-{number}-{each}-{os.getpid()}" for each in range(batch))
                drafts = [{"id": id, "event": event} for id in ids]
                sent[f"{name}-{number}"] = time.monotonic()
                await socket.send(json.dumps({"type": "submit", "id": f"{number}", "log": LOG, "drafts": drafts}))
            await answering

    await asyncio.gather(*(one(name) for name in range(count)))
    out.write_text(json.dumps(numbers))  # noqa: ASYNC240 - nothing else goes on any more


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 20_000), most))
    role, port, secret, out, *rest = sys.argv[1:]
    if role == "followers":
        asyncio.run(followers(int(port), secret, int(rest[0]), int(rest[1]), Path(out)))
    else:
        asyncio.run(writers(int(port), secret, int(rest[0]), float(rest[1]), float(rest[2]), int(rest[3]), Path(out)))
