"""Who is where: the server remembers it for those who come later, and says who left."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from quire.core import events as e
from quire.core.ids import WORKSPACE_LOG, ActorId, CellId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.identity import identities
from quire.workspace.lanes.agent_presence import AgentPresence, LocalPresenceLane
from quire.workspace.lanes.presence import MOST_WINDOWS
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire import frames

from ...http_server import Server, served
from .sockets import ADA, BOB, LOG, OTHER, Client, connected, notebook, say, token


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


async def listen(client: Client) -> None:
    """Listen, before anybody is there."""
    await client.send(frames.Listen(id="lane", log=LOG, lane="presence"))
    await client.in_order()


async def who_is_there(client: Client, windows: int) -> list[frames.LaneFrame]:
    """Listen, and read what is told of those who are there."""
    await client.send(frames.Listen(id="lane", log=LOG, lane="presence"))
    return [await client.expect(frames.LaneFrame) for _ in range(windows)]


async def said(client: Client, window: str, kind: str = "here", **more: Any) -> None:
    await client.send(frames.Say(log=LOG, lane="presence", message={"kind": kind, "window": window, **more}))
    await client.in_order()


async def test_who_comes_later_learns_who_is_there_and_where(
    workspace: LocalWorkspace, ada: Client, bob: Client
) -> None:
    selection = {"from": 1, "to": 2, "seq": 3}
    await said(ada, "w1", cell="a", selection=selection, asks=True)
    await said(ada, "w2")
    await said(ada, "w3")
    await said(ada, "w3", "gone")
    await ada.send(frames.Say(log=OTHER, lane="presence", message={"kind": "here", "window": "elsewhere"}))
    await ada.in_order()
    heard = await who_is_there(bob, 2)
    assert [(each.by, each.message) for each in heard] == [
        (ADA, {"kind": "here", "window": "w1", "cell": "a", "selection": selection}),
        (ADA, {"kind": "here", "window": "w2"}),
    ]


async def test_a_connection_that_ends_leaves_no_window_behind(
    workspace: LocalWorkspace, server: Server, bob: Client
) -> None:
    await listen(bob)
    async with connected(server, await token(workspace, ADA)) as ada:
        for window in ("w1", "w2"):
            await said(ada, window)
            assert (await bob.expect(frames.LaneFrame)).message == {"kind": "here", "window": window}
    gone = [await bob.expect(frames.LaneFrame) for _ in range(2)]
    assert [(each.by, each.message) for each in gone] == [
        (ADA, {"kind": "gone", "window": "w1"}),
        (ADA, {"kind": "gone", "window": "w2"}),
    ]


async def test_a_window_that_connects_again_is_not_gone_when_its_old_connection_ends(
    workspace: LocalWorkspace, server: Server, ada: Client, bob: Client
) -> None:
    await listen(bob)
    async with connected(server, await token(workspace, ADA)) as before:
        await said(before, "w1", cell="a")
        await bob.expect(frames.LaneFrame)
        await said(ada, "w1", cell="b")
        await bob.expect(frames.LaneFrame)
    await said(ada, "w1", cell="c")
    assert (await bob.expect(frames.LaneFrame)).message == {"kind": "here", "window": "w1", "cell": "c"}


async def test_nobody_moves_or_closes_the_window_of_somebody_else(ada: Client, bob: Client) -> None:
    """Rule 3."""
    await said(ada, "w1")
    for kind in ("here", "gone"):
        await bob.send(frames.Say(log=LOG, lane="presence", message={"kind": kind, "window": "w1"}))
        assert (await bob.expect(frames.FailedFrame)).error.kind == "Refused"
    assert [each.by for each in await who_is_there(bob, 1)] == [ADA]


async def test_who_loses_the_right_to_read_is_no_longer_shown(
    workspace: LocalWorkspace, ada: Client, bob: Client
) -> None:
    await say(workspace, e.RoleSet(actor=ADA, role="owner", notebook=LOG), log=WORKSPACE_LOG)
    await say(workspace, e.RoleSet(actor=BOB, role="viewer", notebook=LOG), log=WORKSPACE_LOG)
    await listen(ada)
    await said(bob, "w1")
    assert (await ada.expect(frames.LaneFrame)).by == BOB
    await say(workspace, e.RoleSet(actor=BOB, role=None, notebook=LOG), log=WORKSPACE_LOG)
    gone = await ada.expect(frames.LaneFrame)
    assert (gone.by, gone.message) == (BOB, {"kind": "gone", "window": "w1"})


async def test_one_connection_has_only_so_many_windows(ada: Client) -> None:
    for number in range(MOST_WINDOWS):
        await ada.send(frames.Say(log=LOG, lane="presence", message={"kind": "here", "window": f"w{number}"}))
    await ada.in_order()
    await ada.send(frames.Say(log=LOG, lane="presence", message={"kind": "here", "window": "one more"}))
    assert (await ada.expect(frames.FailedFrame)).error.kind == "Refused"


# ---- Agents, who have no window


AGENT = ActorId("agent:codex")


def codex(workspace: LocalWorkspace, quiet_seconds: float = 600) -> AgentPresence:
    """An agent of Ada's that calls tools in the server's own process."""
    identity = identities.Identity(actor=AGENT, scopes=frozenset(("read", "edit")), on_behalf_of=ADA)
    return AgentPresence(AGENT, LocalPresenceLane(workspace.acting_as(identity)), quiet_seconds)


async def test_an_agent_is_where_its_calls_are_and_for_whom_the_server_says(
    workspace: LocalWorkspace, bob: Client
) -> None:
    await listen(bob)
    agent = codex(workspace)
    await agent.at(LOG, "running", CellId("a"))
    here = {"kind": "here", "window": "mcp:agent:codex", "cell": "a", "on_behalf_of": ADA}
    heard = await bob.expect(frames.LaneFrame)
    assert (heard.by, heard.message) == (AGENT, {**here, "doing": "running"})
    await agent.rest()
    assert (await bob.expect(frames.LaneFrame)).message == {**here, "doing": "reading"}
    agent.close()
    assert (await bob.expect(frames.LaneFrame)).message == {"kind": "gone", "window": "mcp:agent:codex"}


async def test_an_agent_that_is_quiet_for_a_while_is_gone(workspace: LocalWorkspace, bob: Client) -> None:
    await listen(bob)
    agent = codex(workspace, quiet_seconds=0.2)
    await agent.at(LOG, "reading")
    kinds = [await bob.expect(frames.LaneFrame) for _ in range(2)]
    assert [each.message["kind"] for each in kinds] == ["here", "gone"]  # type: ignore[index, call-overload]
    assert agent.is_away
    await agent.at(LOG, "editing", CellId("b"))
    assert (await bob.expect(frames.LaneFrame)).by == AGENT
    agent.close()


async def test_nobody_takes_the_window_of_an_agent_or_says_for_whom_it_acts(ada: Client, bob: Client) -> None:
    """Rule 3."""
    window = {"kind": "here", "window": "mcp:agent:codex"}
    await ada.send(frames.Say(log=LOG, lane="presence", message=window))
    refused = await ada.expect(frames.FailedFrame)
    assert refused.error.kind == "Refused"
    assert "windows that begin with 'mcp:' name an agent" in refused.error.message
    await listen(bob)
    await said(ada, "w1", doing="editing", on_behalf_of="human:eve")
    assert (await bob.expect(frames.LaneFrame)).message == {"kind": "here", "window": "w1", "doing": "editing"}


async def test_an_agent_that_may_no_longer_read_is_no_longer_shown(workspace: LocalWorkspace, bob: Client) -> None:
    await say(workspace, e.RoleSet(actor=BOB, role="owner", notebook=LOG), log=WORKSPACE_LOG)
    await say(workspace, e.RoleSet(actor=ADA, role="viewer", notebook=LOG), log=WORKSPACE_LOG)
    await listen(bob)
    agent = codex(workspace)
    await agent.at(LOG, "reading")
    assert (await bob.expect(frames.LaneFrame)).by == AGENT
    await say(workspace, e.RoleSet(actor=ADA, role=None, notebook=LOG), log=WORKSPACE_LOG)
    gone = await bob.expect(frames.LaneFrame)
    assert (gone.by, gone.message) == (AGENT, {"kind": "gone", "window": "mcp:agent:codex"})
    agent.close()
