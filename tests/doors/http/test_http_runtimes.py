"""The runtimes of a notebook through the door: answers, passwords, interrupts and restarts, for whoever may."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from quire.core import events as e
from quire.core.ids import ActorId, CellId, ExecutionId, RuntimeId
from quire.core.text import source_hash
from quire.core.values import Json
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.log.locks import runtime_hold
from quire.workspace.remote.remote_workspace import RemoteWorkspace
from quire.workspace.wire import frames

from ...http_server import Server
from .conftest import As
from .http_clients import ADA, AGENT, ALL, BOB, NOTEBOOK, OTHER, Client, say
from .sockets import Client as Socket
from .sockets import connected

A1, A2 = CellId("a1"), CellId("a2")
X, WAITS = ExecutionId("x1"), ExecutionId("x2")
ME = RuntimeId("runtime:gpu")
INPUT = f"/api/logs/{NOTEBOOK}/executions/{X}/input"
ASKED: dict[str, Json] = {"kind": "asked", "execution": X, "prompt": "key: ", "password": True}


@pytest.fixture
async def runtime(workspace: LocalWorkspace) -> LocalWorkspace:
    """A runtime that runs x1; x2 waits behind it."""
    made = workspace.acting_as(identities.runtime("gpu"))
    hashes = {A1: source_hash("x = 1"), A2: source_hash("print(x)")}
    await say(workspace, NOTEBOOK, e.ExecutionRequested(execution=X, cell=A1, source_hash=hashes[A1]))
    await say(workspace, NOTEBOOK, e.ExecutionRequested(execution=WAITS, cell=A2, source_hash=hashes[A2]))
    await say(made, NOTEBOOK, e.RuntimeAttached(runtime=ME, name="gpu", language="python"))
    await say(made, NOTEBOOK, e.ExecutionClaimed(execution=X, runtime=ME))
    held = (await workspace.read(NOTEBOOK)).execution(X)
    assert held is not None and held.epoch is not None
    await say(made, NOTEBOOK, e.ExecutionStarted(execution=X, cell=A1, source_hash=hashes[A1], epoch=held.epoch))
    return made


@pytest.fixture
async def listening(workspace: LocalWorkspace, server: Server, runtime: LocalWorkspace) -> AsyncIterator[Socket]:
    """The same runtime, where it hears what is said to it."""
    token = await workspace.create_token(ActorId(ME), ("read", "serve"))
    async with connected(server, token.secret) as client:
        await client.send(frames.Listen(id="lane", log=NOTEBOOK, lane="stdin"))
        await client.in_order()
        yield client


async def test_a_password_reaches_the_runtime_that_asked_and_no_log_nor_anybody_who_listens(
    workspace: LocalWorkspace, server: Server, ada: Client, listening: Socket
) -> None:
    """Rules 3 and 16."""
    token = await workspace.create_token(BOB, ALL)
    async with connected(server, token.secret) as bob:
        await bob.send(frames.Listen(id="lane", log=NOTEBOOK, lane="stdin"))
        await bob.in_order()
        await listening.send(frames.Say(log=NOTEBOOK, lane="stdin", message=ASKED))
        assert (await bob.expect(frames.LaneFrame)).message == ASKED
        answer = await ada.ask("POST", INPUT, json={"answer": "correct horse"})
        (entry,) = answer["entries"]
        assert (entry["actor"], entry["event"]) == (
            ADA,
            {"type": "input_answered", "execution": X, "prompt": "key: "},
        )
        said: Any = await listening.expect(frames.LaneFrame)
        while said.message["kind"] != "answer":
            said = await listening.expect(frames.LaneFrame)
        assert (said.by, said.message["answer"]) == (ADA, "correct horse")
        await listening.send(frames.Say(log=NOTEBOOK, lane="stdin", message={"kind": "answered", "execution": X}))
        assert (await bob.expect(frames.LaneFrame)).message == {"kind": "answered", "execution": X}, (
            "that is the next he hears"
        )
    assert "correct horse" not in server.lines.getvalue()


async def test_a_password_is_not_taken_when_its_runtime_does_not_listen(
    ada: Client, runtime: LocalWorkspace, workspace: LocalWorkspace
) -> None:
    runtime.lanes.say(f"{NOTEBOOK}/stdin", ASKED)
    before = (await workspace.read(NOTEBOOK)).seq
    assert "does not listen" in await ada.ask("POST", INPUT, 503, json={"answer": "x"})
    assert (await workspace.read(NOTEBOOK)).seq == before


async def test_who_may_not_run_or_has_to_ask_answers_and_stops_nothing(
    acting_as: As, runtime: LocalWorkspace, workspace: LocalWorkspace
) -> None:
    runtime.lanes.say(f"{NOTEBOOK}/stdin", {**ASKED, "password": False})
    before = (await workspace.read(NOTEBOOK)).seq
    nobodies = [
        await acting_as(BOB, "read", "edit"),
        await acting_as(BOB, *ALL, notebooks=[OTHER]),
        await acting_as(AGENT, "read", "edit", "run", on_behalf_of=ADA, asks=["run"]),
    ]
    for nobody in nobodies:
        await nobody.ask("POST", INPUT, 403, json={"answer": "x"})
        await nobody.ask("POST", f"/api/logs/{NOTEBOOK}/executions/{X}/interrupt", 403)
        await nobody.ask("POST", f"/api/logs/{NOTEBOOK}/restart", 403, json={})
    assert (await workspace.read(NOTEBOOK)).seq == before
    assert await nobodies[0].ask("GET", f"/api/logs/{NOTEBOOK}/runtimes")
    await nobodies[1].ask("GET", f"/api/logs/{NOTEBOOK}/runtimes", 403)


async def test_an_execution_of_another_notebook_is_not_answered_here(ada: Client, runtime: LocalWorkspace) -> None:
    runtime.lanes.say(f"{OTHER}/stdin", {**ASKED, "password": False})
    elsewhere = f"/api/logs/{OTHER}/executions/{X}/input"
    assert "no open execution" in await ada.ask("POST", elsewhere, 404, json={"answer": "x"})
    # It is asked elsewhere, and not here.
    assert "asks for no input" in await ada.ask("POST", INPUT, 409, json={"answer": "x"})


async def test_what_runs_is_interrupted_and_what_waits_is_taken_back(ada: Client, runtime: LocalWorkspace) -> None:
    stopped = [await ada.ask("POST", f"/api/logs/{NOTEBOOK}/executions/{each}/interrupt") for each in (X, WAITS)]
    assert [each["entries"][0]["event"]["type"] for each in stopped] == ["interrupt_requested", "execution_cancelled"]
    now = await ada.ask("GET", f"/api/notebooks/{NOTEBOOK}")
    assert now["cells"][A1]["execution"]["interrupted_by"] == ADA
    assert now["cells"][A2]["missed"]["state"] == "cancelled"
    assert "no open execution" in await ada.ask("POST", f"/api/logs/{NOTEBOOK}/executions/{WAITS}/interrupt", 404)


async def test_a_restart_is_asked_of_a_runtime_that_is_there(ada: Client, runtime: LocalWorkspace) -> None:
    path = f"/api/logs/{NOTEBOOK}/restart"
    assert "There is: gpu, python, runtime:gpu" in await ada.ask("POST", path, 404, json={"runtime": "tpu"})
    answer = await ada.ask("POST", path, json={"runtime": "python"})
    assert answer["entries"][0]["event"] == {"type": "restart_requested", "runtime": "python"}
    assert "No runtime is attached" in await ada.ask("POST", f"/api/logs/{OTHER}/restart", 404, json={})


async def test_why_something_waits_for_want_of_room_is_said_to_whoever_may_read(
    workspace: LocalWorkspace, server: Server, ada: Client, acting_as: As
) -> None:
    waiting = f"/api/logs/{NOTEBOOK}/waiting"
    assert await ada.ask("GET", waiting) == {"why": None}
    system = workspace.acting_as(identities.system())
    assert await system.hold("runtimes-full:32:300", 60) is not None
    why = (
        "waits: 32 runtimes are running, the most that this workspace allows (most_runtimes under [serve]); "
        "idle ones end after 5 minutes"
    )
    assert await ada.ask("GET", waiting) == {"why": why}
    await (await acting_as(BOB, *ALL, notebooks=[OTHER])).ask("GET", waiting, 403)
    remote = await RemoteWorkspace.open(server.url, (await workspace.create_token(ADA, ALL)).secret)
    try:
        assert await remote.why_waiting(NOTEBOOK) == why
        assert await system.hold(runtime_hold(NOTEBOOK), 60) is not None
        assert await remote.why_waiting(NOTEBOOK) is None, "one serves it"
    finally:
        await remote.close()
