"""Those who read slowly: bigger frames, never a queue, and at last a clear end. Nobody else waits for them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from quire.core.events import MetadataSet, TokenRevoked
from quire.core.ids import WORKSPACE_LOG
from quire.doors.http.server import send_budget, uvicorn_ws
from quire.doors.http.server_settings import ServerSettings
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.local import LocalWorkspace
from quire.workspace.subscriptions.log_channel import FRAME_BYTES, RING_BYTES
from quire.workspace.wire import frames

from ...http_server import Server, served
from .sockets import DEADLINE, LOG, Client, connected, eventually, note, notebook, recorded, say, sent, sockets, token

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
async def narrow(server: Server, secret: str, taken: int = 4096) -> AsyncGenerator[Client]:
    """A client that takes very little unless it is asked to read."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, taken)
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


LARGE = "x" * (FRAME_BYTES - 10_000)
"""An entry that fills a frame."""


async def large_until(workspace: LocalWorkspace, is_so: Callable[[], bool]) -> None:
    """Record what fills a frame, until something is so: how much fits into a line is the system's business."""
    for _ in range(100):
        if is_so():
            return
        await note(workspace, 1, LARGE)
    raise AssertionError("everything fits into the line")


async def test_who_reads_what_many_follow_is_fed_in_turn_and_never_cut_off(
    workspace: LocalWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them begin at the same moment, as after a restart of the server, and there is room for two frames."""
    monkeypatch.setattr(send_budget, "MOST_HELD_BYTES", 2 * FRAME_BYTES)
    monkeypatch.setattr(send_budget, "PRESSED_SECONDS", 600)  # on a busy machine nobody is quick
    secret = await token(workspace)
    async with served(workspace) as server, contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(narrow(server, secret, 1 << 16)) for _ in range(6)]
        for client in clients:
            await client.follow()
        await large_until(workspace, lambda: held(server) > 0)
        for _ in range(3):
            await note(workspace, 1, LARGE)
        assert held(server) < 4 * FRAME_BYTES
        seq = (await workspace.read(LOG)).seq
        for seen in await asyncio.gather(*(client.until(seq) for client in clients)):
            assert len(seen) == seq


async def test_all_who_take_nothing_hold_no_more_than_a_bound_together_and_make_room(
    workspace: LocalWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many they are: nobody who reads waits for them for long. They go on from where they were."""
    # Room for one: whatever is left of a frame that did not fit into the line, others wait for it.
    monkeypatch.setattr(send_budget, "MOST_HELD_BYTES", FRAME_BYTES)
    monkeypatch.setattr(send_budget, "PRESSED_SECONDS", 1.0)
    secret = await token(workspace)
    async with served(workspace, ServerSettings(stall_seconds=600)) as server, contextlib.AsyncExitStack() as stack:
        slow = [await stack.enter_async_context(narrow(server, secret)) for _ in range(4)]
        quick = await stack.enter_async_context(connected(server, secret, max_queue=None))
        for client in (*slow, quick):
            await client.follow()
        await large_until(workspace, lambda: len(sockets(server)) < 5)
        await quick.until((await workspace.read(LOG)).seq)
        assert held(server) < 4 * FRAME_BYTES


async def test_who_sends_and_reads_nothing_is_told_why_it_is_closed(workspace: LocalWorkspace) -> None:
    """Both ways are full: the server reads on, to no effect, until the client has sent all and begins to read."""
    secret = await token(workspace)
    async with served(workspace, ServerSettings(stall_seconds=0.4)) as server, narrow(server, secret) as client:
        for number in range(COUNT):
            drafts = [sent(MetadataSet(values={"note": f"{number}{TEXT}"}))]
            await client.send({"type": "submit", "id": f"{number}", "log": LOG, "drafts": drafts})
        code, why = await client.closed()
        assert code == frames.CLOSE_SLOW
        assert "Connect again" in why
        await eventually(lambda: not server.running.server_state.connections, "its connection was kept")
        assert "Traceback" not in server.lines.getvalue()


async def test_a_large_answer_is_taken_slowly_and_whole(workspace: LocalWorkspace) -> None:
    """It is one piece for the server, and never all taken within the time that somebody has who takes nothing."""
    secret = await token(workspace)
    await note(workspace, 200, TEXT)
    async with (
        served(workspace, ServerSettings(stall_seconds=1.5)) as server,
        trickling(server) as line,
        httpx.AsyncClient(timeout=DEADLINE) as client,
    ):
        answer = await client.get(
            f"{line.url}/api/logs/{LOG}/events",
            params={"limit": 1000},
            headers={"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"},
        )
        assert len(answer.json()["entries"]) > 100


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
