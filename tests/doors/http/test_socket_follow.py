"""Following logs over the socket: from anywhere, without a gap, without a repetition."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core import events as e
from quire.core.ids import LogId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire import frames

from ...conftest import OpenStore
from ...http_server import Server, served
from .sockets import ADA, LOG, OTHER, connected, eventually, note, notebook, recorded, say, sent, token


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    """On one kind of store: tests/contracts follows logs on each."""
    made = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs())
    yield made
    await made.close()


@pytest.fixture
async def server(workspace: LocalWorkspace) -> AsyncIterator[Server]:
    async with served(workspace) as server:
        yield server


async def test_a_log_is_followed_from_the_start_and_then_as_it_grows(workspace: LocalWorkspace, server: Server) -> None:
    await notebook(workspace, notes=5)
    async with connected(server, await token(workspace)) as client:
        await client.follow()
        await client.until(6)
        await note(workspace, 4)
        await client.until(10)
        assert client.seen["f"] == await recorded(workspace)


async def test_what_another_process_records_is_followed_too(open_store: OpenStore) -> None:
    ours = LocalWorkspace(await open_store(), MemoryBlobs())
    others = LocalWorkspace(await open_store(), MemoryBlobs())
    await notebook(ours)
    async with served(ours) as server, connected(server, await token(ours)) as client:
        await client.follow(since=1)
        await note(others, 10)
        await client.until(11)
        assert client.seen["f"] == await recorded(others, since=1)


async def test_a_log_is_followed_from_a_number(workspace: LocalWorkspace, server: Server) -> None:
    await notebook(workspace, notes=9)
    async with connected(server, await token(workspace)) as client:
        await client.follow(since=7)
        assert [entry.seq for entry in await client.until(10)] == [8, 9, 10]


async def test_who_has_seen_everything_is_answered_at_once_with_nothing(
    workspace: LocalWorkspace, server: Server
) -> None:
    await notebook(workspace)
    async with connected(server, await token(workspace)) as client:
        await client.follow(since=1)
        assert client.sizes["f"] == [0]


async def test_a_log_that_has_not_begun_can_be_waited_for(workspace: LocalWorkspace, server: Server) -> None:
    async with connected(server, await token(workspace)) as client:
        await client.follow()
        await notebook(workspace)
        assert [entry.seq for entry in await client.until(1)] == [1]


async def test_from_far_behind_everything_comes_in_frames_of_a_bounded_size(
    workspace: LocalWorkspace, server: Server
) -> None:
    await notebook(workspace, notes=10_000)
    async with connected(server, await token(workspace)) as client:
        await client.follow()
        await note(workspace, 100)
        assert len(await client.until(10_101)) == 10_101
        assert client.seen["f"] == await recorded(workspace)
        # An entry has some 400 bytes, and a frame one megabyte of them.
        assert 3 < len(client.sizes["f"]) < 200
        assert max(client.sizes["f"]) < 5_000


async def test_several_logs_on_one_socket_do_not_mix(workspace: LocalWorkspace, server: Server) -> None:
    logs = [LogId(f"log{number}") for number in range(5)]
    for log in logs:
        await notebook(workspace, log)
    async with connected(server, await token(workspace)) as client:
        for log in logs:
            await client.follow(log, id=f"of {log}")
        await asyncio.gather(*(note(workspace, 20 + number, log=log) for number, log in enumerate(logs)))
        for number, log in enumerate(logs):
            await client.until(21 + number, f"of {log}")
            assert client.seen[f"of {log}"] == await recorded(workspace, log)


async def test_one_log_may_be_followed_twice(workspace: LocalWorkspace, server: Server) -> None:
    await notebook(workspace, notes=3)
    async with connected(server, await token(workspace)) as client:
        await client.follow(id="all")
        await client.follow(id="end", since=3)
        await note(workspace, 1)
        assert len(await client.until(5, "all")) == 5
        assert len(await client.until(5, "end")) == 2


async def test_what_is_masked_is_not_given_out_any_more(workspace: LocalWorkspace, server: Server) -> None:
    """Rule 4: also not to who was a little behind."""
    await notebook(workspace)
    async with connected(server, await token(workspace)) as client, connected(server, await token(workspace)) as late:
        await client.follow()
        (entry,) = await say(workspace, e.MetadataSet(values={"key": "hunter2"}))
        await client.until(entry.seq)
        await workspace.redact(LOG, [entry.seq], "leaked")
        await client.until(entry.seq + 1)
        await late.follow()
        shown = (await late.until(entry.seq + 1))[entry.seq - 1]
        assert shown.redacted
        assert b"hunter2" not in bytes(shown.event)


async def test_stop_stops(workspace: LocalWorkspace, server: Server) -> None:
    await notebook(workspace)
    await notebook(workspace, OTHER)
    async with connected(server, await token(workspace)) as client:
        await client.follow(LOG, id="stopped")
        await client.follow(OTHER, id="goes on")
        await client.send(frames.Stop(id="stopped"))
        await client.in_order()
        await note(workspace, 3, log=LOG)
        await note(workspace, 3, log=OTHER)
        await client.until(4, "goes on")
        assert client.last["stopped"] == 1
        await client.follow(LOG, since=1, id="stopped")  # its name is free again
        await client.until(4, "stopped")


async def test_fifty_followers_at_different_numbers_see_the_same(workspace: LocalWorkspace, server: Server) -> None:
    await notebook(workspace, notes=100)
    secret = await token(workspace)

    async def one(since: int) -> list[frames.EntryOnWire]:
        async with connected(server, secret) as client:
            await client.follow(since=since)
            followed.append(since)
            return await client.until(201)

    followed: list[int] = []
    following = [asyncio.create_task(one(2 * number)) for number in range(50)]
    await eventually(lambda: len(followed) == 50, "fifty follow")
    for _ in range(10):
        await note(workspace, 10)
    everything = await recorded(workspace)
    assert len(everything) == 201
    for number, seen in enumerate(await asyncio.gather(*following)):
        assert seen == everything[2 * number :]


async def test_nothing_is_kept_of_what_everybody_has(workspace: LocalWorkspace, server: Server) -> None:
    await notebook(workspace)
    secret = await token(workspace)
    async with connected(server, secret) as client:
        await client.follow()
        for _ in range(5):
            await note(workspace, 2000)
            await client.until(client.last["f"] + 2000)
        assert client.last["f"] == 10_001
        await note(workspace, 1)
        await client.until(10_002)
        # Ten thousand events have four megabytes; what is kept is for who comes back after a moment.
        assert workspace.watched_bytes < 300_000
    await eventually(lambda: not workspace.watched_logs, "with nobody there, nothing is followed")


# ---- Cut at any moment


@pytest.mark.generated
@given(data=st.data())
@settings(max_examples=10)
def test_who_comes_back_after_a_cut_misses_nothing_and_gets_nothing_twice(data: st.DataObject) -> None:
    """The line is cut wherever in a message it may be; the next connection goes on from the last number seen."""
    cuts = data.draw(st.lists(st.integers(1, 30_000), min_size=1, max_size=6))
    asyncio.run(_cut(cuts))


async def _cut(cuts: list[int]) -> None:
    workspace = LocalWorkspace(MemoryStore(), MemoryBlobs())
    await notebook(workspace, notes=50)
    secret = await token(workspace)
    async with served(workspace) as server:
        writing = asyncio.create_task(_write(workspace, 300))
        seen: list[frames.EntryOnWire] = []
        for cut in cuts:
            seen += await _until_cut(server, secret, len(seen), cut)
        async with connected(server, secret) as client:
            await client.follow(since=len(seen))
            await writing
            seen += await client.until(351)
    assert seen == await recorded(workspace)
    await workspace.close()


async def _write(workspace: LocalWorkspace, notes: int) -> None:
    for _ in range(notes):
        await note(workspace, 1)
        await asyncio.sleep(0.0005)


async def _until_cut(server: Server, secret: str, since: int, cut: int) -> list[frames.EntryOnWire]:
    """Follow through a line that breaks after so many bytes from the server."""
    relayed = 0

    async def relay(near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        nonlocal relayed
        far, onward = await asyncio.open_connection("127.0.0.1", server.port)
        up = asyncio.create_task(_pump(near, onward))
        while relayed < cut and (data := await far.read(min(4096, cut - relayed))):
            relayed += len(data)
            back.write(data)
            await back.drain()
        back.transport.abort()
        up.cancel()
        onward.close()

    async with await asyncio.start_server(relay, "127.0.0.1", 0) as line:
        port = line.sockets[0].getsockname()[1]
        return await _seen_through(port, server, secret, since)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(4096):
        writer.write(data)
        await writer.drain()


async def _seen_through(port: int, server: Server, secret: str, since: int) -> list[frames.EntryOnWire]:
    from websockets.exceptions import ConnectionClosed, InvalidHandshake

    through = Server(url=f"http://127.0.0.1:{port}", port=port, lines=server.lines, running=server.running)
    found: list[frames.EntryOnWire] = []
    try:
        async with connected(through, secret) as client:
            client.begin("f", since)
            found = client.seen["f"]
            await client.send(frames.Follow(id="f", log=LOG, since=since))
            while client.last["f"] < 351:
                await client.next()
    except (ConnectionClosed, InvalidHandshake, OSError, EOFError):
        pass
    return found


async def test_who_submits_sees_it_on_the_same_socket(tmp_path: Path) -> None:
    workspace = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs())
    await notebook(workspace)
    async with served(workspace) as server, connected(server, await token(workspace)) as client:
        await client.follow()
        await client.send(
            frames.Submit(id="s", log=LOG, drafts=[sent(e.MetadataSet(values={"x": number})) for number in range(3)])
        )
        answer = await client.expect(frames.RecordedFrame)
        seen = await client.until(4)
        assert answer.entries == seen[1:]
        assert {entry.actor for entry in answer.entries} == {ADA}
    await workspace.close()
