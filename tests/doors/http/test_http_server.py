"""What a runtime's token opens at each door of a server, and what ends with the token above it (rule 3)."""

from __future__ import annotations

from typing import Any

import pytest

from quire.core import events as e
from quire.core.ids import WORKSPACE_LOG, ActorId, ExecutionId, RuntimeId, TokenId
from quire.core.text import source_hash
from quire.doors.http.server_settings import ServerSettings
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire import frames

from ...http_server import Server, served
from .conftest import As
from .http_clients import ADA, ALL, BOB, NOTEBOOK, Client, client_of, drafts, say
from .sockets import connected, sent
from .test_http_mcp import agent_at, told

GPU = ActorId("runtime:gpu")


@pytest.fixture
async def execution(ada: Client, workspace: LocalWorkspace) -> ExecutionId:
    """What somebody waits for."""
    await ada.ask("POST", "/api/notebooks/n1/executions", json={"cells": [{"cell": "a1"}]})
    (found,) = (await workspace.read(NOTEBOOK)).executions
    return found


async def test_a_runtime_asks_for_nothing_over_http(
    ada: Client, acting_as: As, workspace: LocalWorkspace, execution: ExecutionId
) -> None:
    gpu = await acting_as(GPU, "read", "serve")
    await gpu.ask("POST", "/api/logs/n1/events", json=drafts({"type": "runtime_attached", "runtime": GPU}))
    before = (await workspace.read(NOTEBOOK)).seq
    hash = source_hash("x = 1")
    asked: list[tuple[str, Any]] = [
        ("/api/notebooks/n1/executions", {"cells": [{"cell": "a2"}]}),
        ("/api/notebooks/n1/scratch", {"source": "print(1)"}),
        (f"/api/logs/n1/executions/{execution}/interrupt", None),
        (f"/api/logs/n1/executions/{execution}/input", {"answer": "y"}),
        ("/api/logs/n1/restart", {}),
        (
            "/api/logs/n1/events",
            drafts({"type": "execution_requested", "execution": "x", "cell": "a2", "source_hash": hash}),
        ),
        ("/api/logs/n1/events", drafts({"type": "restart_requested", "runtime": GPU})),
        ("/api/logs/n1/events", drafts({"type": "cell_removed", "cell": "a1"})),
        ("/api/logs/new/events", drafts({"type": "run_requested", "name": "r", "source": {"notebook": "n1"}})),
        ("/api/logs/new/events", drafts({"type": "notebook_created", "name": "n"})),
        ("/api/runtimes", {"name": "other", "log": "n1"}),
        ("/api/sign-ins", None),
        ("/api/tokens", {"actor": "runtime:other", "scopes": ["read", "serve"]}),
        ("/api/roles", {"actor": GPU, "role": "owner", "notebook": "n1"}),
    ]
    for path, body in asked:
        answer = await gpu.post(path, json=body)
        assert answer.status_code == 403, (path, body, answer.status_code, answer.text)
    assert (await workspace.read(NOTEBOOK)).seq == before
    claim = {"type": "execution_claimed", "execution": execution, "runtime": GPU}
    await gpu.ask("POST", "/api/logs/n1/events", json=drafts(claim))


async def test_a_runtime_asks_for_nothing_on_the_socket(
    workspace: LocalWorkspace, server: Server, execution: ExecutionId
) -> None:
    secret = (await workspace.create_token(GPU, ["read", "serve"])).secret
    ada = (await workspace.create_token(ADA, ["read", "run"])).secret
    asks: list[tuple[str, dict[str, Any]]] = [
        ("completion", {"kind": "ask", "id": "1", "code": "imp", "position": 3}),
        ("inspection", {"kind": "ask", "id": "1", "code": "imp", "position": 3}),
        ("stdin", {"kind": "answer", "execution": execution, "answer": "y"}),
    ]
    async with connected(server, secret) as gpu, connected(server, ada) as person:
        for lane, _ in asks:
            await person.send(frames.Listen(id=lane, log=NOTEBOOK, lane=lane))
        await person.in_order()
        for number, (lane, message) in enumerate(asks):
            await gpu.send(frames.Say(log=NOTEBOOK, lane=lane, message=message))
            failed = await gpu.expect(frames.FailedFrame)
            assert failed.error.kind == "Refused" and "'run'" in failed.error.message, (number, failed)
        events = [
            e.InterruptRequested(execution=execution),
            e.RestartRequested(),
            e.ExecutionRequested(execution=ExecutionId("x"), cell=e.CellId("a2"), source_hash=source_hash("print(x)")),
        ]
        for event in events:
            await gpu.send(frames.Submit(id="s", log=NOTEBOOK, drafts=[sent(event)]))
            assert (await gpu.expect(frames.FailedFrame)).error.kind == "Refused"
        # What it is there for: how it is, what its cells ask, what its kernel answers.
        said: list[tuple[str, dict[str, Any]]] = [
            ("stdin", {"kind": "asked", "execution": execution, "prompt": "?"}),
            ("completion", {"kind": "answer", "id": "1", "content": {}}),
        ]
        for lane, message in said:
            await gpu.send(frames.Say(log=NOTEBOOK, lane=lane, message=message))
            heard = await person.expect(frames.LaneFrame)
            assert (heard.by, heard.message) == (GPU, message)


async def test_a_runtime_runs_and_edits_nothing_by_mcp(workspace: LocalWorkspace, server: Server) -> None:
    made = await workspace.create_token(GPU, ["read", "serve"])
    await say(
        workspace.acting_as((await workspace.bearer(made.secret)).identity),
        NOTEBOOK,
        e.RuntimeAttached(runtime=RuntimeId(GPU)),
    )
    before = (await workspace.read(NOTEBOOK)).seq
    inserts = [{"op": "insert", "after": "end", "source": "z = 3"}]
    async with agent_at(server.url, made.secret) as agent:
        assert "x = 1" in await told(agent, "read", notebook=NOTEBOOK, view="full")
        for tool, arguments in (
            ("run", {"cells": "all"}),
            ("run", {"fresh": True}),
            ("execute", {"code": "1"}),
            ("edit", {"edits": inserts}),
            ("control", {"action": "restart"}),
        ):
            assert "may not" in await told(agent, tool, wrong=True, notebook=NOTEBOOK, **arguments)
    assert (await workspace.read(NOTEBOOK)).seq == before


async def test_no_runtime_gets_a_token_for_the_workspace_log(ada: Client, workspace: LocalWorkspace) -> None:
    before = len((await workspace.directory()).tokens)
    told = await ada.ask("POST", "/api/runtimes", 422, json={"name": "gpu", "log": WORKSPACE_LOG})
    assert "BadInput" in told and "workspace log" in told
    assert len((await workspace.directory()).tokens) == before


# ---- What ends with a token


@pytest.mark.parametrize("kind", ["browser", "runtime"])
async def test_a_revoked_token_closes_the_sockets_of_what_was_made_with_it(
    workspace: LocalWorkspace, server: Server, kind: str
) -> None:
    parent = await workspace.create_token(BOB, ALL)
    async with client_of(server.url, parent.secret) as bob:
        if kind == "runtime":
            secret = (await bob.ask("POST", "/api/runtimes", json={"name": "gpu", "log": "n1"}))["secret"]
        else:
            once = (await bob.ask("POST", "/api/sign-ins"))["secret"]
            secret = (await workspace.sign_in(once)).secret
        async with connected(server, secret) as socket, client_of(server.url, secret) as client:
            await socket.follow(NOTEBOOK)
            await say(workspace, WORKSPACE_LOG, e.TokenRevoked(token=TokenId(parent.token)))
            assert (await socket.closed())[0] == frames.CLOSE_SIGNED_OUT
            assert parent.token in await client.ask("GET", "/api/me", 401)
            assert parent.token in await client.ask("GET", "/api/notebooks/n1", 401)


async def test_a_sender_that_names_the_parent_of_a_token_is_refused(ada: Client, workspace: LocalWorkspace) -> None:
    forged = {"type": "token_created", "token": "t", "actor": BOB, "scopes": ["read"], "parent": "t0"}
    told = await ada.ask("POST", f"/api/logs/{WORKSPACE_LOG}/events", 403, json=drafts(forged))
    assert "filled by the workspace" in told


# ---- Who tries many


async def test_wrong_tokens_of_an_address_keep_no_good_one_out(workspace: LocalWorkspace) -> None:
    """Not one that was never used here before, nor a sign-in, nor a socket."""
    good, once = await workspace.create_token(ADA, ALL), await workspace.create_sign_in()
    async with served(workspace, ServerSettings(failures_per_minute=3)) as server, client_of(server.url) as client:
        for number in range(5):
            await client.post("/api/sign-in", json={"token": f"quire_{number}"})
        answer = await client.get("/api/me", headers={"Authorization": "Bearer quire_x"})
        wrong = await client.post("/api/sign-in", json={"token": "quire_x"})
        assert (answer.status_code, wrong.status_code) == (429, 429)
        assert int(answer.headers["retry-after"]) > 0
        me = await client.ask("POST", "/api/sign-in", json={"token": once.secret})
        assert me["actor"] == workspace.identity.actor
        await client.ask("GET", "/api/me", headers={"Authorization": f"Bearer {good.secret}"})
        async with connected(server, good.secret) as socket:
            await socket.follow(NOTEBOOK)
        answer = await client.get("/api/me", headers={"Authorization": "Bearer quire_wrong"})
        assert answer.status_code == 429, "who guesses still waits"
