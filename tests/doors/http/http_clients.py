"""Clients of a real server for the tests of this door, and a connection for what no client would send."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx

from quire.core import events as e
from quire.core.events import Draft, KnownEvent, Scope
from quire.core.ids import ActorId, EventId, LogId
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

ALL: tuple[Scope, ...] = ("read", "edit", "run", "approve", "admin", "bind")
ADA, BOB, AGENT = ActorId("human:ada"), ActorId("human:bob"), ActorId("agent:claude")
NOTEBOOK, OTHER = LogId("n1"), LogId("n2")
# One for all clients: each of its own would read all certificates of the machine.
TLS = ssl.create_default_context()


class Client(httpx.AsyncClient):
    """Somebody who talks to a server."""

    async def ask(self, method: str, path: str, expected: int = 200, **more: Any) -> Any:
        """What a request is answered with, which has this status; a fault as its message."""
        answer = await self.request(method, path, **more)
        assert answer.status_code == expected, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        if expected < 400:
            return answer.json() if answer.headers.get("content-type") == "application/json" else answer
        fault = answer.json()["error"]
        assert set(fault) == {"kind", "message", "details"}
        return f"{fault['kind']}: {fault['message']}"


def client_of(url: str, secret: str | None = None, **headers: str) -> Client:
    """A program with this token, or without one."""
    told = {"Authorization": f"Bearer {secret}"} if secret is not None else {}
    return Client(base_url=url, headers=told | headers, timeout=240, trust_env=False, verify=TLS)


async def say(workspace: LocalWorkspace, log: LogId, *events: KnownEvent) -> None:
    """Record something without going through the door."""
    await workspace.submit(log, [Draft(id=EventId(new_id()), event=event) for event in events])


async def make_notebook(workspace: LocalWorkspace, log: LogId, *sources: str) -> None:
    """A notebook with cells a1, a2 …"""
    cells = [e.CellId(f"a{number}") for number in range(1, len(sources) + 1)]
    added = [
        e.CellAdded(cell=cell, after=after, source=source)
        for cell, after, source in zip(cells, [None, *cells], sources, strict=False)
    ]
    await say(workspace, log, e.NotebookCreated(name=f"notebook {log}"), *added)


def draft(event: dict[str, Any], id: str | None = None, **more: Any) -> dict[str, Any]:
    """A draft as it is sent."""
    return {"id": id or new_id(), "event": event, **more}


def drafts(*events: dict[str, Any]) -> dict[str, Any]:
    """A whole submission."""
    return {"drafts": [draft(event) for event in events]}


@asynccontextmanager
async def connection(port: int) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare connection, for what no client would send."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def answer_to(port: int, *lines: str, body: bytes = b"") -> bytes:
    """Send a request as it stands, and return all that comes until the server closes."""
    async with connection(port) as (reader, writer), asyncio.timeout(240):
        writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body)
        return await reader.read()


async def until(happened: Callable[[], bool]) -> None:
    """Wait for something that happens in the server, which tells nobody."""
    async with asyncio.timeout(240):
        while not happened():  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.01)
