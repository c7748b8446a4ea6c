"""Undo of what one actor did, and pauses, over HTTP."""

from __future__ import annotations

from quire.core import events as e
from quire.core.text import Splice
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire import frames

from ...http_server import Server
from .conftest import As
from .http_clients import ADA, AGENT, BOB, NOTEBOOK, Client, say
from .sockets import connected

UNDO = f"/api/notebooks/{NOTEBOOK}/undo"


async def typed(client: Client, insert: str) -> None:
    edit = {"type": "source_edited", "cell": "a1", "base": 3, "edit": [[5, 0, insert]]}
    await client.ask("POST", f"/api/logs/{NOTEBOOK}/events", json={"drafts": [{"id": f"d{insert}", "event": edit}]})


async def test_an_undo_is_looked_at_and_then_done(ada: Client, acting_as: As, workspace: LocalWorkspace) -> None:
    agent = await acting_as(AGENT, "read", "edit", on_behalf_of=ADA)
    await typed(agent, "23")
    plan = await ada.ask("GET", UNDO, params={"by": AGENT, "since": 1})
    assert plan["undone"] == [{"cell": "a1", "part": "text", "removes": 2}]
    done = await ada.ask("POST", UNDO, json={"by": AGENT, "since": 1, "seq": plan["seq"]})
    assert ([entry["actor"] for entry in done["entries"]], done["proposed"]) == ([ADA], False)
    assert (await workspace.read(NOTEBOOK)).cells[e.CellId("a1")].source == "x = 1"
    listed = await ada.ask("GET", f"/api/notebooks/{NOTEBOOK}/editors")
    assert {"actor": AGENT, "on_behalf_of": ADA, "has_edited": True} in listed, "nothing of it is left"
    again = await ada.ask("POST", UNDO, json={"by": AGENT})
    assert again["entries"] == []


async def test_an_undo_of_a_plan_that_is_no_longer_true_is_a_conflict(ada: Client, acting_as: As) -> None:
    agent = await acting_as(AGENT, "read", "edit", on_behalf_of=ADA)
    await typed(agent, "23")
    plan = await ada.ask("GET", UNDO, params={"by": AGENT})
    await typed(agent, "45")
    assert "were changed" in await ada.ask("POST", UNDO, 409, json={"by": AGENT, "seq": plan["seq"]})


async def test_an_undo_is_planned_from_a_time(ada: Client, workspace: LocalWorkspace) -> None:
    at = [entry.at for entry in await workspace.entries(NOTEBOOK)]
    owner = workspace.identity.actor
    before = await ada.ask("GET", UNDO, params={"by": owner, "after": at[0]})
    assert before["since"] == 0
    edit = e.SourceEdited(cell=e.CellId("a1"), base=3, edit=(Splice(5, 0, "2"),))
    await say(workspace, NOTEBOOK, edit)
    last = (await workspace.entries(NOTEBOOK))[-1].at
    since = await ada.ask("GET", UNDO, params={"by": owner, "after": last})
    assert (since["since"], len(since["undone"])) == (3, 1)
    assert "is not a time" in await ada.ask("GET", UNDO, 422, params={"by": owner, "after": "yesterday"})
    assert "is not valid" in await ada.ask("GET", UNDO, 422, params={"by": "ada"})


async def test_a_pause_holds_an_agent_at_every_route_until_it_is_ended(ada: Client, acting_as: As) -> None:
    agent = await acting_as(AGENT, "read", "edit", on_behalf_of=ADA)
    assert await ada.ask("POST", "/api/pauses", json={"actor": AGENT, "why": "tests first", "interrupt": True}) == {
        "stopped": 0
    }
    (paused,) = (await ada.ask("GET", "/api/pauses"))["paused"]
    assert (paused["actor"], paused["token"], paused["by"], paused["why"]) == (AGENT, None, ADA, "tests first")
    answer = await agent.get(f"/api/notebooks/{NOTEBOOK}")
    assert answer.status_code == 403
    assert answer.json()["error"]["details"]["paused"]["why"] == "tests first"
    assert "is paused" in await agent.ask("POST", "/api/pauses/end", 403, json={"actor": AGENT})
    await ada.ask("POST", "/api/pauses/end", 204, json={"actor": AGENT})
    await agent.ask("GET", f"/api/notebooks/{NOTEBOOK}")


async def test_a_pause_is_for_people_who_may(ada: Client, acting_as: As) -> None:
    bob = await acting_as(BOB, "read", "edit")
    assert "admin" in await bob.ask("POST", "/api/pauses", 403, json={"actor": AGENT})
    assert "one of the two" in await ada.ask("POST", "/api/pauses", 422, json={})
    await ada.ask("POST", "/api/pauses/end", 404, json={"actor": AGENT})


async def test_a_socket_that_is_open_ends_with_the_reason(
    ada: Client, workspace: LocalWorkspace, server: Server
) -> None:
    made = await workspace.create_token(AGENT, ["read"], on_behalf_of=ADA)
    async with connected(server, made.secret) as client:
        await client.follow(log=NOTEBOOK)
        await ada.ask("POST", "/api/pauses", json={"actor": AGENT, "why": "tests first"})
        code, reason = await client.closed()
        assert code == frames.CLOSE_SIGNED_OUT
        assert "agent:claude is paused by human:ada" in reason
