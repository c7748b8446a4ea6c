"""A browser's secret is in two halves, because cookies know no ports: what a server beside ours gets opens nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import websockets
from playwright.async_api import async_playwright

from quire.doors.http.server_settings import ServerSettings
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from ...chromium import chromium_path
from ...http_server import Server, served
from ...web.app import build_app

ASK_WHO = """fetch("/api/me", { headers: { "X-Quire-Page-Key": localStorage.getItem("quire-page-key") } })
    .then(({ status }) => status)"""


class SignedIn(msgspec.Struct, frozen=True, kw_only=True):
    """What a browser keeps: the cookie as it is sent, and the key of its pages."""

    cookie: str
    page_key: str


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    made = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs(), identities.owner())
    yield made
    await made.close()


@pytest.fixture
async def server(workspace: LocalWorkspace) -> AsyncIterator[Server]:
    async with served(workspace) as running:
        yield running


@pytest.fixture
async def signed_in(workspace: LocalWorkspace, server: Server) -> SignedIn:
    token = (await workspace.create_sign_in()).secret
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        answer = await client.post("/api/sign-in", json={"token": token}, headers={"Origin": server.origin})
    return SignedIn(cookie=answer.headers["set-cookie"].partition(";")[0], page_key=answer.json()["page_key"])


async def status_of(server: Server, **headers: str) -> int:
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        return (await client.get("/api/me", headers=headers)).status_code


@contextlib.asynccontextmanager
async def connected(server: Server, cookie: str) -> AsyncGenerator[websockets.ClientConnection]:
    url = server.url.replace("http", "ws") + "/api/socket"
    headers = {"Cookie": cookie, "Origin": server.origin}
    async with websockets.connect(url, additional_headers=headers, proxy=None) as client, asyncio.timeout(60):
        yield client


async def test_neither_half_opens_anything_alone(server: Server, signed_in: SignedIn) -> None:
    """Rule 3."""
    cookie, key = signed_in.cookie, signed_in.page_key
    assert await status_of(server, **{"Cookie": cookie, "X-Quire-Page-Key": key}) == 200
    assert await status_of(server, Cookie=cookie) == 401
    assert await status_of(server, **{"Cookie": cookie, "X-Quire-Page-Key": ""}) == 401
    assert await status_of(server, **{"Cookie": cookie, "X-Quire-Page-Key": key[:-1]}) == 401
    assert await status_of(server, **{"Cookie": cookie, "X-Quire-Page-Key": key * 100}) == 401
    assert await status_of(server, **{"X-Quire-Page-Key": key}) == 401
    name, _, half = cookie.partition("=")
    assert await status_of(server, Authorization=f"Bearer {half}") == 401
    assert await status_of(server, Authorization=f"Bearer {key}") == 401
    assert await status_of(server, Cookie=f"{name}={half}{key}") == 401, "the key is not taken from a cookie"


async def test_a_socket_is_told_nothing_before_its_page_sent_the_key(server: Server, signed_in: SignedIn) -> None:
    async with connected(server, signed_in.cookie) as client:
        await client.send(json.dumps({"type": "hello", "page_key": signed_in.page_key}))
        assert json.loads(await client.recv())["type"] == "welcome"


@pytest.mark.parametrize(
    "first",
    [
        {"type": "follow", "id": "1", "log": "workspace"},
        {"type": "hello"},
        {"type": "hello", "page_key": ""},
        {"type": "hello", "page_key": "wrong"},
        {"type": "hello", "page_key": "x" * 100_000},
        [],
    ],
)
async def test_a_socket_with_another_first_frame_is_closed(server: Server, signed_in: SignedIn, first: Any) -> None:
    async with connected(server, signed_in.cookie) as client:
        await client.send(json.dumps(first))
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await client.recv()
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 4401


async def test_a_socket_that_sends_nothing_is_closed_after_a_while(workspace: LocalWorkspace) -> None:
    async with (
        served(workspace, ServerSettings(head_seconds=2)) as server,
        connected(server, f"quire-{server.port}=quire_anything") as client,
    ):
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await client.recv()
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 4401


async def test_a_browser_gives_its_cookie_to_a_server_on_another_port_which_gets_nothing_with_it(
    workspace: LocalWorkspace, server: Server
) -> None:
    """A cell may start a server on this machine, and a person may open it."""
    came: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def dashboard(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        if not came.done():
            came.set_result(request)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<title>sales</title>")
        await writer.drain()
        writer.close()

    beside = await asyncio.start_server(dashboard, "127.0.0.1", 0)
    port = beside.sockets[0].getsockname()[1]
    chromium: Any = chromium_path()
    await asyncio.to_thread(build_app)
    async with beside, async_playwright() as play:
        browser = await play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            page = await browser.new_page()
            page.set_default_timeout(60_000)
            await page.goto(f"{server.url}/#sign-in={(await workspace.create_sign_in()).secret}")
            async with asyncio.timeout(60):
                # The policy of the page forbids `wait_for_function`, which evaluates text in it.
                while not await page.evaluate("localStorage.getItem('quire-page-key')"):
                    await page.wait_for_timeout(50)
            key: str = await page.evaluate("localStorage.getItem('quire-page-key')")
            await page.goto(f"http://127.0.0.1:{port}/")
            request = await came
            assert await page.evaluate("localStorage.length") == 0, "storage knows ports"
            await page.goto(server.url)
            assert await page.evaluate(ASK_WHO) == 200, "it is still signed in"
        finally:
            await browser.close()
    cookie = next(line.partition(": ")[2] for line in request.splitlines() if line.lower().startswith("cookie:"))
    assert cookie.startswith(f"quire-{server.port}=quire_"), "the browser hands it over"
    assert key not in request
    assert await status_of(server, Cookie=cookie) == 401
    assert await status_of(server, **{"Cookie": cookie, "X-Quire-Page-Key": key}) == 200, "it was the right one"
