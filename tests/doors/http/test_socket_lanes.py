"""What is said and not kept, and the feed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.ids import WORKSPACE_LOG, ActorId, LogId
from quire.doors.http.server_settings import ServerSettings
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.stores.store import Store
from quire.workspace.lanes.lanes import KEPT
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire import frames

from ...http_server import Server, served
from .sockets import ADA, BOB, LOG, OTHER, Client, connected, note, notebook, say, token


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    workspace = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs())
    await notebook(workspace)
    await notebook(workspace, OTHER)
    yield workspace
    await workspace.close()


@pytest.fixture
async def server(workspace: LocalWorkspace) -> AsyncIterator[Server]:
    async with served(workspace) as server:
        yield server


@pytest.fixture
async def ada(workspace: LocalWorkspace, server: Server) -> AsyncIterator[Client]:
    async with connected(server, await token(workspace, ADA)) as client:
        yield client


@pytest.fixture
async def bob(workspace: LocalWorkspace, server: Server) -> AsyncIterator[Client]:
    async with connected(server, await token(workspace, BOB)) as client:
        yield client


async def listen(client: Client, lane: str = "presence", log: LogId = LOG, id: str = "lane") -> None:
    await client.send(frames.Listen(id=id, log=log, lane=lane))
    await client.in_order()


# ---- Lanes


async def test_what_is_said_reaches_those_who_listen_to_that_lane_of_that_log(ada: Client, bob: Client) -> None:
    await listen(bob, "presence", LOG, "here")
    await listen(bob, "presence", OTHER, "elsewhere")
    await listen(bob, "selections", LOG, "other lane")
    for log, lane, message in (
        (OTHER, "presence", "to the other log"),
        (LOG, "selections", "to the other lane"),
        (LOG, "presence", {"cell": "a", "at": [1, 2]}),
    ):
        await ada.send(frames.Say(log=log, lane=lane, message=message))
    heard = {said.id: said for said in [await bob.expect(frames.LaneFrame) for _ in range(3)]}
    assert heard["here"].message == {"cell": "a", "at": [1, 2]}
    assert heard["elsewhere"].message == "to the other log"
    assert heard["other lane"].message == "to the other lane"


async def test_it_is_told_by_whom_and_nobody_can_be_somebody_else(ada: Client, bob: Client) -> None:
    """Rule 3."""
    await listen(bob)
    await ada.send({"type": "say", "log": LOG, "lane": "presence", "message": {"by": BOB}})
    assert (await bob.expect(frames.LaneFrame)).by == ADA
    await ada.send({"type": "say", "log": LOG, "lane": "presence", "message": 1, "by": BOB})
    assert (await ada.expect(frames.FailedFrame)).error.kind == "BadInput"


async def test_who_says_something_hears_it_too_and_nothing_is_recorded(workspace: LocalWorkspace, ada: Client) -> None:
    """Rule 5."""
    before = (await workspace.read(LOG)).seq
    await listen(ada)
    await ada.send(frames.Say(log=LOG, lane="presence", message="here"))
    assert (await ada.expect(frames.LaneFrame)).message == "here"
    assert (await workspace.read(LOG)).seq == before


async def test_lanes_reach_the_workspace_of_the_server_and_back(workspace: LocalWorkspace, ada: Client) -> None:
    hearing = asyncio.ensure_future(anext(aiter(workspace.lanes.listen(f"{LOG}/stdin"))))
    await asyncio.sleep(0)
    await ada.send(frames.Say(log=LOG, lane="stdin", message="yes"))
    async with asyncio.timeout(240):
        assert await hearing == "yes"
    await listen(ada, "progress")
    workspace.lanes.say(f"{LOG}/progress", {"done": 0.5})
    said = await ada.expect(frames.LaneFrame)
    assert said.message == {"done": 0.5}
    assert said.by == workspace.identity.actor


async def test_a_reader_may_show_where_it_is_and_not_answer_for_a_kernel(
    workspace: LocalWorkspace, server: Server, bob: Client
) -> None:
    await listen(bob, "presence", id="presence")
    await listen(bob, "stdin", id="stdin")
    await listen(bob, "completion", id="completion")
    asking = await token(workspace, ActorId("human:eve"), "read", "run", asks=["run"])
    async with (
        connected(server, await token(workspace, ADA, "read")) as reader,
        connected(server, asking) as asker,
        connected(server, await token(workspace, ADA, "read", "run")) as runner,
    ):
        for client in (reader, asker):
            for lane in ("stdin", "completion"):
                await client.send(frames.Say(log=LOG, lane=lane, message="no"))
                assert (await client.expect(frames.FailedFrame)).error.kind == "Refused"
        await reader.send(frames.Say(log=LOG, lane="presence", message="here"))
        said = await bob.expect(frames.LaneFrame)
        assert (said.id, said.message) == ("presence", "here")
        await runner.send(frames.Say(log=LOG, lane="stdin", message="yes"))
        said = await bob.expect(frames.LaneFrame)
        assert (said.id, said.message) == ("stdin", "yes")


async def test_who_loses_the_right_to_a_log_can_say_nothing_there_any_more(
    workspace: LocalWorkspace, ada: Client, bob: Client
) -> None:
    await say(workspace, e.RoleSet(actor=ADA, role="owner", notebook=LOG), log=WORKSPACE_LOG)
    await say(workspace, e.RoleSet(actor=BOB, role="viewer", notebook=LOG), log=WORKSPACE_LOG)
    await listen(ada)
    await bob.follow(LOG)
    await bob.send(frames.Say(log=LOG, lane="presence", message=1))
    assert (await ada.expect(frames.LaneFrame)).message == 1
    await say(workspace, e.RoleSet(actor=BOB, role=None, notebook=LOG), log=WORKSPACE_LOG)
    assert (await bob.expect(frames.FailedFrame)).id == "f"
    await bob.send(frames.Say(log=LOG, lane="presence", message=2))
    assert (await bob.expect(frames.FailedFrame)).error.kind == "Refused"
    await ada.send(frames.Say(log=LOG, lane="presence", message=3))
    assert (await ada.expect(frames.LaneFrame)).message == 3


async def test_a_log_that_is_not_there_has_no_lanes(ada: Client) -> None:
    await ada.send(frames.Listen(id="x", log=LogId("nowhere"), lane="presence"))
    failed = await ada.expect(frames.FailedFrame)
    assert (failed.id, failed.error.kind) == ("x", "NotFound")
    await ada.send(frames.Say(log=LogId("nowhere"), lane="presence", message=1))
    failed = await ada.expect(frames.FailedFrame)
    assert (failed.id, failed.error.kind) == (None, "NotFound")


async def test_too_much_is_not_carried(workspace: LocalWorkspace) -> None:
    limits = ServerSettings(says_burst=5, says_per_second=0.001)
    async with served(workspace, limits) as server, connected(server, await token(workspace)) as client:
        await listen(client)
        for number in range(8):
            await client.send(frames.Say(log=LOG, lane="presence", message=number))
        refused = [await client.expect(frames.FailedFrame) for _ in range(3)]
        assert {(each.id, each.error.kind) for each in refused} == {(None, "Refused")}
    async with served(workspace) as server, connected(server, await token(workspace)) as client:
        await client.send(frames.Say(log=LOG, lane="presence", message="x" * 70_000))
        assert "too large" in (await client.expect(frames.FailedFrame)).error.message


async def test_a_listener_that_does_not_keep_up_misses_the_oldest(workspace: LocalWorkspace) -> None:
    """Without waiting in between, nothing can be sent while it is said."""
    async with served(workspace) as server, connected(server, await token(workspace)) as client:
        await listen(client)
        for number in range(KEPT + 500):
            workspace.lanes.say(f"{LOG}/presence", number)
        assert [(await client.expect(frames.LaneFrame)).message for _ in range(KEPT)] == list(range(500, KEPT + 500))


async def test_stop_stops_listening(ada: Client) -> None:
    await listen(ada, id="one")
    await listen(ada, id="two")
    await ada.send(frames.Stop(id="one"))
    await ada.send(frames.Say(log=LOG, lane="presence", message=1))
    await ada.send(frames.Say(log=LOG, lane="presence", message=2))
    assert [(await ada.expect(frames.LaneFrame)).id for _ in range(2)] == ["two", "two"]


# ---- The feed


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """One kind of store: tests/contracts has the feed of each."""
    made = SqliteStore(tmp_path / "feed.db")
    yield made
    await made.close()


async def test_the_feed_tells_which_logs_grow(store: Store) -> None:
    workspace = LocalWorkspace(store, MemoryBlobs())
    await notebook(workspace)
    async with served(workspace) as server, connected(server, await token(workspace)) as client:
        await client.send(frames.FollowFeed(id="feed"))
        first = await client.expect(frames.Grown)
        assert first.growth == []
        assert first.position == await store.position()
        await note(workspace, 3)
        await notebook(workspace, OTHER)
        grown = await all_growth(client, await store.position())
        assert {(LOG, 2), (LOG, 3), (LOG, 4), (OTHER, 1)} == {
            (line.log, seq) for line in grown for seq in range(line.first, line.seq + 1)
        }


async def test_the_feed_is_followed_from_a_position_without_a_gap(store: Store) -> None:
    workspace = LocalWorkspace(store, MemoryBlobs())
    await notebook(workspace)
    async with served(workspace) as server, connected(server, await token(workspace)) as client:
        await client.send(frames.FollowFeed(id="feed", since=0))
        await all_growth(client, await store.position())
        since = await store.position()
        await client.send(frames.Stop(id="feed"))
        await note(workspace, 2500)  # more than one page of a store
        await client.send(frames.FollowFeed(id="again", since=since))
        grown = await all_growth(client, await store.position())
        assert sorted(seq for line in grown for seq in range(line.first, line.seq + 1)) == list(range(2, 2502))


async def test_the_feed_tells_only_of_what_one_may_read(workspace: LocalWorkspace, server: Server) -> None:
    await say(workspace, e.RoleSet(actor=ADA, role="owner", notebook=LOG), log=WORKSPACE_LOG)
    async with (
        connected(server, await token(workspace, BOB, "read", "edit")) as client,
        connected(server, await token(workspace, BOB, "read", notebooks=[OTHER])) as only,
    ):
        for each in (client, only):
            await each.send(frames.FollowFeed(id="feed"))
            await each.expect(frames.Grown)
        await note(workspace, 2, log=LOG)
        await note(workspace, 2, log=OTHER)
        for each in (client, only):
            assert {line.log for line in (await each.expect(frames.Grown)).growth} == {OTHER}
        await say(workspace, e.RoleSet(actor=BOB, role="viewer", notebook=LOG), log=WORKSPACE_LOG)
        await note(workspace, 1, log=LOG)
        told: set[LogId] = set()
        while LOG not in told:
            told |= {line.log for line in (await client.expect(frames.Grown)).growth}


async def all_growth(client: Client, position: int) -> list[frames.Growth]:
    grown: list[frames.Growth] = []
    last = 0
    while last < position:
        frame = await client.expect(frames.Grown)
        assert all(line.position > last for line in frame.growth)
        last = frame.position
        grown += frame.growth
    return grown
