"""Those who read slowly: bigger frames, never a queue, and at last a clear end. Nobody else waits for them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from quire.core.events import MetadataSet, TokenRevoked
from quire.core.ids import WORKSPACE_LOG
from quire.doors.http.server import uvicorn_ws
from quire.doors.http.server_settings import ServerSettings
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.local import LocalWorkspace
from quire.workspace.subscriptions.ring import FRAME_BYTES, RING_BYTES
from quire.workspace.wire import frames

from ...http_server import Server, served
from .sockets import LOG, Client, connected, eventually, note, notebook, recorded, say, sent, sockets, token

TEXT = "x" * 50_000
COUNT = 400
"""More submits than wait in a server for one client."""


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    workspace = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs())
    await notebook(workspace)
    yield workspace
    await workspace.close()


@contextlib.asynccontextmanager
async def narrow(server: Server, secret: str) -> AsyncGenerator[Client]:
    """A client that takes very little unless it is asked to read."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.setblocking(False)
    await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", server.port))
    options: dict[str, Any] = {"sock": line, "max_queue": 1, "ping_interval": None, "close_timeout": 1}
    async with connected(server, secret, **options) as client:
        yield client


def held(server: Server) -> int:
    """What the server keeps for its sockets, sent and not taken."""
    return sum(each.held_bytes for each in sockets(server))


async def stuck(server: Server, workspace: LocalWorkspace, most: int = 2000) -> None:
    """Record until what is sent to somebody no longer fits into the line, and some more."""
    for _ in range(most):
        await note(workspace, 1, TEXT)
        if any(not each.writable.is_set() for each in sockets(server)):
            break
    else:
        raise AssertionError("everything was taken")
    for _ in range(100):
        await note(workspace, 1, TEXT)


async def test_who_reads_slowly_gets_bigger_frames_and_nobody_waits(workspace: LocalWorkspace) -> None:
    secret = await token(workspace)
    async with (
        served(workspace) as server,
        narrow(server, secret) as slow,
        connected(server, secret, max_queue=None) as quick,  # it takes everything, also while nobody here reads it
    ):
        await slow.follow()
        await quick.follow()
        await stuck(server, workspace)
        head = (await workspace.read(LOG)).seq
        await quick.until(head)  # while the other one has not read a thing
        # One frame is on its way to the slow one, and nothing waits behind it.
        assert held(server) < 2 * FRAME_BYTES
        assert workspace.watched_bytes < 2 * RING_BYTES
        await slow.until(head)
        assert slow.seen["f"] == await recorded(workspace)
        assert max(slow.sizes["f"]) > max(quick.sizes["f"])


async def test_what_is_held_for_a_slow_reader_does_not_grow(workspace: LocalWorkspace) -> None:
    secret = await token(workspace)
    async with served(workspace) as server, narrow(server, secret) as slow, connected(server, secret) as quick:
        await slow.follow()
        await quick.follow()
        await stuck(server, workspace)
        for _ in range(10):
            for _ in range(20):  # a megabyte
                await note(workspace, 1, TEXT)
            await quick.until((await workspace.read(LOG)).seq)
            assert held(server) < 2 * FRAME_BYTES
            assert workspace.watched_bytes < 2 * RING_BYTES


async def test_who_takes_nothing_is_disconnected_at_last_and_is_told_why(workspace: LocalWorkspace) -> None:
    secret = await token(workspace)
    limits = ServerSettings(stall_seconds=0.4)
    async with (
        served(workspace, limits) as server,
        narrow(server, secret) as slow,
        connected(server, secret, max_queue=None) as quick,  # it takes everything, also while nobody here reads it
    ):
        await slow.follow()
        await quick.follow()
        await stuck(server, workspace)
        await eventually(lambda: any(each.close_sent for each in sockets(server)), "it was never closed")
        code, why = await slow.closed()
        assert code == frames.CLOSE_SLOW
        assert "Connect again" in why
        last = slow.last["f"]
        await eventually(lambda: len(sockets(server)) == 1, "its connection was kept")
        await note(workspace, 1)
        await quick.until((await workspace.read(LOG)).seq)
        async with connected(server, secret) as again:  # from where it was
            await again.follow(since=last)
            await again.until((await workspace.read(LOG)).seq)


async def test_who_never_reads_again_is_cut_off(workspace: LocalWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn_ws, "LINGER_SECONDS", 0.2)
    secret = await token(workspace)
    async with served(workspace, ServerSettings(stall_seconds=0.2)) as server, narrow(server, secret) as slow:
        await slow.follow()
        await stuck(server, workspace)
        await eventually(lambda: not server.running.server_state.connections, "its connection was kept")
        await eventually(lambda: not workspace.watched_logs, "its log was followed on")


async def test_all_who_take_nothing_hold_no_more_than_a_bound_together(
    workspace: LocalWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many they are: whoever has taken nothing for longest is cut off, and goes on from where they were."""
    # A socket that is full holds 64 KiB of a frame at least, whatever of it the system took.
    monkeypatch.setattr(uvicorn_ws, "MOST_HELD_BYTES", 4 << 16)
    secret = await token(workspace)
    async with served(workspace, ServerSettings(stall_seconds=600)) as server, contextlib.AsyncExitStack() as stack:
        slow = [await stack.enter_async_context(narrow(server, secret)) for _ in range(5)]
        for client in slow:
            await client.follow()
        for _ in range(100):
            if len(sockets(server)) < len(slow):
                break
            await note(workspace, 1, "x" * (FRAME_BYTES - 10_000))
        else:
            raise AssertionError("nobody was cut off")
        assert held(server) < FRAME_BYTES


async def test_who_takes_a_little_all_the_time_is_not_cut_off(workspace: LocalWorkspace) -> None:
    """The server has to wait for it much longer than for one who takes nothing."""
    secret = await token(workspace)
    limits = ServerSettings(stall_seconds=1.5)
    async with (
        served(workspace, limits) as server,
        trickling(server) as line,
        connected(line, secret, max_queue=1) as slow,
    ):
        await slow.follow()
        reading = asyncio.create_task(slow.until(200))
        await note(workspace, 199, TEXT)
        assert await reading == await recorded(workspace)


@contextlib.asynccontextmanager
async def trickling(server: Server) -> AsyncGenerator[Server]:
    """The way to a server, over a line that is slow in one direction: so many bytes, then a pause."""

    async def relay(near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.setblocking(False)
        await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", server.port))
        far, onward = await asyncio.open_connection(sock=line, limit=4096)
        up = asyncio.create_task(pump(near, onward, 0))
        await pump(far, back, 0.008)
        up.cancel()
        for writer in (back, onward):
            writer.close()

    async with await asyncio.start_server(relay, "127.0.0.1", 0) as line:
        port = line.sockets[0].getsockname()[1]
        yield Server(url=f"http://127.0.0.1:{port}", port=port, lines=server.lines, running=server.running)


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pause: float) -> None:
    while data := await reader.read(20_000):
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(pause)


async def test_a_token_that_is_revoked_ends_a_socket_that_takes_nothing(
    workspace: LocalWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is closed behind what is on its way, and nothing more is put there."""
    monkeypatch.setattr(uvicorn_ws, "LINGER_SECONDS", 0.2)
    secret = await token(workspace)
    identity = (await workspace.bearer(secret)).identity
    async with served(workspace) as server, narrow(server, secret) as slow:
        await slow.follow()
        await stuck(server, workspace)
        assert identity.token is not None
        await say(workspace, TokenRevoked(token=identity.token), log=WORKSPACE_LOG)
        await eventually(lambda: not server.running.server_state.connections, "its connection was kept")


async def test_a_server_that_stops_says_so(workspace: LocalWorkspace) -> None:
    secret = await token(workspace)
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(served(workspace))
        client = await stack.enter_async_context(connected(server, secret))
        await client.follow()
        server.running.end()
        assert (await client.closed())[0] == frames.CLOSE_GOING_AWAY
    assert not workspace.watched_logs


# ---- Those who send more than is recorded


async def test_who_is_held_back_is_not_taken_for_gone(workspace: LocalWorkspace, tmp_path: Path) -> None:
    """The answer to a ping stands behind all that was sent before, and that is not read while nothing can be recorded."""
    secret = await token(workspace)
    async with served(workspace) as server, connected(server, secret) as held_back, connected(server, secret) as idle:
        both = sockets(server)
        with contextlib.closing(sqlite3.connect(tmp_path / "quire.db", isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            for number in range(COUNT):
                drafts = [sent(MetadataSet(values={"note": f"{number}"}))]
                await held_back.send({"type": "submit", "id": f"{number}", "log": LOG, "drafts": drafts})
            unread = "everything is read, though nothing is recorded"
            await eventually(lambda: any(each.read_paused and not each.queue.empty() for each in both), unread)
            paused, other = sorted(both, key=lambda each: not each.read_paused)
            patience, paused.ping_timeout = paused.ping_timeout, 0.1
            for each in both:
                each.stop_keepalive()
                each.ping_interval = 0.1
                each.start_keepalive()
            asked: set[float] = set()
            # By then the time for an answer to the first has long passed.
            await eventually(lambda: len(asked.add(other.ping_sent_at) or asked) > 4, "nobody is asked")
            paused.ping_timeout = patience
        answers = [await held_back.expect(frames.RecordedFrame) for _ in range(COUNT)]
        assert [each.id for each in answers] == [f"{number}" for number in range(COUNT)]
        await idle.follow()
