"""Clients that type into one notebook, many in a process: of our server, or of Jupyter's with jupyter-collaboration.

A script, run by Quire's Python or by the peers' (`pycrdt` is only there). What is inserted tells who typed it and
when, and is found again in whatever bytes come: the same on both sides. No client applies what it sees: a hundred
notebooks kept up to date on the machine of the server would be what is measured.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import random
import re
import resource
import sys
import time
from array import array
from pathlib import Path
from typing import Any

from raw_socket import BINARY, TEXT, RawSocket

MARK = re.compile(rb"#(\d{3}):(\d{9});")
"""What is typed: who, and when in units of 10 microseconds."""
UNIT = 1e-5
PATIENCE_SECONDS = 12.0
"""How long what was typed last may take to be seen."""


class Typing:
    """The clients of this process, what they typed and what they saw."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.start = 0.0
        self.until = 0.0
        self.since = 0
        self.is_closed_loop = plan["rate"] is None
        self.mine = range(plan["first"], plan["first"] + plan["count"])
        self.clients: dict[int, Client] = {}
        self.sent = 0
        self.faults: list[str] = []
        self.delays = array("f")
        self.seen: dict[tuple[bytes, bytes], list[float]] = {}
        """Of each mark: how many clients here have seen it, but for the one who typed it, and when the last did."""

    def see(self, client: Client, payload: bytes) -> None:
        """Note what a client was told."""
        now = time.monotonic() - self.start
        for mark in dict.fromkeys(MARK.findall(payload)):
            client.count += 1
            number, at = int(mark[0]), int(mark[1])
            if number == client.number:
                continue
            if at >= self.since:
                self.delays.append(now - at * UNIT)
            there = self.seen.setdefault(mark, [0, 0.0])
            there[0] += 1
            there[1] = now
            if self.is_closed_loop and number in self.mine and there[0] == len(self.mine) - 1:
                self.clients[number].type()


class Client(RawSocket):
    """One who types, in a cell of their own and in one that all share."""

    def __init__(self, typing: Typing, plan: dict[str, Any], number: int) -> None:
        super().__init__(plan["path"], plan["authorization"])
        self.number, self.count = number, 0
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._typing, self._plan = typing, plan
        self._random = random.Random(number)

    def type(self) -> None:
        """Insert a few characters somewhere, unless time is up."""
        now = time.monotonic()
        if now >= self._typing.until:
            return
        is_shared = self._random.random() < 0.5
        at = self._random.randrange(self._plan["shared_size" if is_shared else "own_size"])
        self._typing.sent += 1
        text = f"#{self.number:03}:{int((now - self._typing.start) / UNIT):09};"
        self.insert(0 if is_shared else self.number + 1, at, text)

    def insert(self, cell: int, at: int, text: str) -> None:
        """Send that."""
        raise NotImplementedError

    def connection_lost(self, exc: Exception | None) -> None:
        """Remember it: nobody here leaves before the end."""
        self._typing.faults.append(f"Client {self.number} was disconnected: {exc}.")


class OurClient(Client):
    """One of ours: follows the log, and submits edits made against the last number that it saw."""

    _last = 0

    def opened(self) -> None:
        """Follow the notebook from here on."""
        self._last = self._plan["head"]
        self._send({"type": "follow", "id": "1", "log": self._plan["log"], "since": self._last})

    def came(self, payload: bytes) -> None:
        """Look at entries; everything else is an answer."""
        if payload.startswith(b'{"type":"events"'):
            if (at := payload.rfind(b'"seq":')) >= 0:
                self._last = int(payload[at + 6 : payload.find(b",", at)])
                self._typing.see(self, payload)
            elif not self.ready.done():
                self.ready.set_result(None)
        elif payload.startswith(b'{"type":"failed"'):
            self._typing.faults.append(payload.decode())

    def insert(self, cell: int, at: int, text: str) -> None:
        """Submit an edit."""
        event = {"type": "source_edited", "cell": f"c{cell}", "base": self._last, "edit": [[at, 0, text]]}
        draft = {"id": text.strip("#;").replace(":", "-"), "event": event}
        self._send({"type": "submit", "id": draft["id"], "log": self._plan["log"], "drafts": [draft]})

    def _send(self, frame: dict[str, Any]) -> None:
        self.write(json.dumps(frame).encode(), TEXT)


class TheirClient(Client):
    """One of theirs: a document with an id of its own, and the updates that typing makes in it."""

    def opened(self) -> None:
        """Ask for the document."""
        self._crdt: Any = importlib.import_module("pycrdt")
        self._document: Any = self._crdt.Doc()
        self._cells: Any = self._document.get("cells", type=self._crdt.Array)
        self.write(self._crdt.create_sync_message(self._document), BINARY)

    def came(self, payload: bytes) -> None:
        """Take the document; afterwards, look at updates."""
        if payload[:2] == b"\0\2":
            self._typing.see(self, payload)
        elif payload[:2] == b"\0\1" and not self.ready.done():
            self._take(payload)

    def _take(self, payload: bytes) -> None:
        self._crdt.handle_sync_message(payload[1:], self._document)
        self._texts = [cell["source"] for cell in self._cells]
        self._document.observe(self._changed)
        self.ready.set_result(None)

    def _changed(self, event: Any) -> None:
        self.write(self._crdt.create_update_message(event.update), BINARY)

    def insert(self, cell: int, at: int, text: str) -> None:
        """Insert it into the document, which sends it."""
        self._texts[cell].insert(at, text)

    def marks(self) -> int:
        """How many marks there are in the document."""
        return sum(str(text).count("#") for text in self._texts)


async def connect(typing: Typing, plan: dict[str, Any], number: int) -> Client:
    """One that has the notebook."""
    kind = OurClient if plan["side"] == "ours" else TheirClient
    loop = asyncio.get_running_loop()
    _, client = await loop.create_connection(lambda: kind(typing, plan, number), "127.0.0.1", plan["port"])
    await asyncio.wait_for(client.ready, 30)
    return client


async def keep_pace(typing: Typing, rate: float, everybody: int) -> None:
    """Each types in turn, so that all together keep the rate."""
    turn = 0
    while time.monotonic() < typing.until:
        for number, client in typing.clients.items():
            due = typing.start + (turn * everybody + number) / rate
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            client.type()
        turn += 1


async def told() -> Any:
    """The next thing that whoever started us says."""
    return json.loads(await asyncio.to_thread(sys.stdin.readline))


async def work(plan: dict[str, Any]) -> dict[str, Any]:
    """Type as long as is planned, see what comes, and tell of it."""
    typing = Typing(plan)
    for number in typing.mine:
        typing.clients[number] = await connect(typing, plan, number)
    print("ready", flush=True)
    typing.start = await told()
    typing.since = int(plan["warm"] / UNIT)
    typing.until = typing.start + plan["warm"] + plan["seconds"]
    await asyncio.sleep(max(0.0, typing.start - time.monotonic()))
    if typing.is_closed_loop:
        for client in typing.clients.values():
            client.type()
        await asyncio.sleep(max(0.0, typing.until - time.monotonic()))
    else:
        await keep_pace(typing, plan["rate"], plan["everybody"])
    print(typing.sent, flush=True)
    await all_seen(typing, await told())
    return outcome(typing, plan)


async def all_seen(typing: Typing, total: int) -> None:
    """Wait until every client has seen everything; what has not come by then is missing."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    clients = typing.clients.values()
    while time.monotonic() < deadline and any(client.count < total for client in clients):  # noqa: ASYNC110 - not one's event
        await asyncio.sleep(0.05)


def outcome(typing: Typing, plan: dict[str, Any]) -> dict[str, Any]:
    """What there is to tell; the delays are in a file beside it."""
    Path(plan["out"]).write_bytes(typing.delays.tobytes())
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "seen": [[f"{who.decode()}:{at.decode()}", *there] for (who, at), there in typing.seen.items()],
        "faults": typing.faults[:20],
        "cpu": used.ru_utime + used.ru_stime,
    }


async def main() -> None:
    """Do what stdin says."""
    plan = await told()
    if plan["count"]:
        print(json.dumps(await work(plan)), flush=True)
    else:
        reader = await connect(Typing(plan), plan, 999)
        print(json.dumps(reader.marks() if isinstance(reader, TheirClient) else 0), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
