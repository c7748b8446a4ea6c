"""docs/reference/runtime-protocol.md is played against a real server, word by word: what it shows is what happens."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import msgspec
from websockets.asyncio.client import ClientConnection, connect

from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import ActorId, CellId, EventId, LogId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.local import LocalWorkspace

from ...http_server import served

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "runtime-protocol.md"
DEADLINE_SECONDS = 240
LOG = LogId("shop")
CELLS = {"sold": "SELECT sum(pieces) FROM sold", "slow": "SELECT count(*) FROM sold, sold", "ask": "SELECT :month"}
_BLOCK = re.compile(r"^```(http|socket) ?(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(msgspec.Struct, frozen=True):
    """One exchange of the page: over HTTP by somebody, or on the runtime's socket."""

    kind: str
    by: str
    text: str
    line: int


def blocks() -> Iterator[Block]:
    page = PAGE.read_text()
    for found in _BLOCK.finditer(page):
        yield Block(found[1], found[2] or "shop", found[3], page.count("\n", 0, found.start()) + 1)


class Frames:
    """The runtime's socket. What comes is kept until the page tells of it."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._came: list[dict[str, Any]] = []

    async def play(self, text: str, line: int) -> None:
        for arrow, frame in re.findall(r"^(->|<-) (.*?)(?=^->|^<-|\Z)", text, re.MULTILINE | re.DOTALL):
            said = json.loads(frame)
            if arrow == "->":
                await self._connection.send(json.dumps(said))
            else:
                await self._expect(said, line)

    async def _expect(self, told: dict[str, Any], line: int) -> None:
        wanted = len(told.get("entries", ()))
        async with asyncio.timeout(DEADLINE_SECONDS):
            while (found := self._taken(told, wanted)) is None:
                self._came.append(json.loads(await self._connection.recv()))
        compare(told, found, f"line {line}")

    def _taken(self, told: dict[str, Any], wanted: int) -> dict[str, Any] | None:
        """The next of what was asked for under that id; entries that came in several frames are put together."""
        mine = [each for each in self._came if (each["type"], each.get("id")) == (told["type"], told.get("id"))]
        entries = [entry for each in mine for entry in each.get("entries", ())]
        if not mine or len(entries) < wanted:
            return None
        taken = mine if wanted else mine[:1]
        self._came = [each for each in self._came if not any(each is one for one in taken)]
        return {**taken[-1], "entries": entries} if wanted else taken[0]


def compare(told: Any, found: Any, where: str) -> None:
    """What the page tells is what was found. Fields may be left out; `…` stands for any text."""
    if isinstance(told, dict):
        assert isinstance(found, dict), where
        for name, value in cast("dict[str, Any]", told).items():
            assert name in found, f"{where}: there is no {name} in {found}"
            compare(value, found[name], f"{where}, {name}")
    elif isinstance(told, list):
        assert isinstance(found, list), where
        parts, there = cast("list[Any]", told), cast("list[Any]", found)
        assert len(parts) == len(there), f"{where}: {there}"
        for number, (part, each) in enumerate(zip(parts, there, strict=True)):
            compare(part, each, f"{where}[{number}]")
    elif isinstance(told, str) and "…" in told:
        pattern = ".*".join(re.escape(part) for part in told.split("…"))
        assert isinstance(found, str), where
        assert re.fullmatch(pattern, found, re.DOTALL), f"{where}: {found!r}"
    else:
        assert told == found, where


async def ask(client: httpx.AsyncClient, block: Block) -> None:
    """Send what stands there, and see that the answer is the one that stands there."""
    request, _, answer = block.text.partition("\n\n")
    first, _, body = request.partition("\n")
    method, _, path = first.partition(" ")
    is_json = body.startswith("{")
    headers = {"Content-Type": "application/json" if is_json else "application/octet-stream"} if body else {}
    sent = json.dumps(json.loads(body)) if is_json else body
    came = await client.request(method, path, content=sent.encode(), headers=headers)
    status, _, told = answer.partition("\n")
    where = f"line {block.line}"
    assert came.status_code == int(status), f"{where}: {came.text}"
    if told:
        compare(json.loads(told), came.json(), where)


async def test_every_exchange_of_the_page_is_what_happens() -> None:
    workspace = LocalWorkspace(MemoryStore(), MemoryBlobs())
    begun: list[e.KnownEvent] = [e.NotebookCreated(name="shop")]
    begun += [e.CellAdded(cell=CellId(id), after=None, kind="sql", source=source) for id, source in CELLS.items()]
    await workspace.submit(LOG, [Draft(id=EventId(f"n{number}"), event=event) for number, event in enumerate(begun)])
    runtime: tuple[e.Scope, ...] = ("read", "serve")
    secrets = {
        "shop": (await workspace.create_token(ActorId("runtime:shop"), runtime, notebooks=[LOG])).secret,
        "gpu": (await workspace.create_token(ActorId("runtime:gpu"), runtime)).secret,
        "ada": (await workspace.create_token(ActorId("human:ada"), ("read", "edit", "run"))).secret,
    }
    played = list(blocks())
    assert len(played) > 30
    async with served(workspace) as server:
        headers = {"Authorization": f"Bearer {secrets['shop']}"}
        socket = connect(server.url.replace("http", "ws", 1) + "/api/socket", additional_headers=headers, proxy=None)
        async with socket as connection:
            frames = Frames(connection)
            for block in played:
                if block.kind == "socket":
                    await frames.play(block.text, block.line)
                    continue
                bearer = {"Authorization": f"Bearer {secrets[block.by]}"}
                async with httpx.AsyncClient(base_url=server.url, headers=bearer, timeout=DEADLINE_SECONDS) as client:
                    await ask(client, block)
    await workspace.close()
