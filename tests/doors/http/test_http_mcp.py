"""`/mcp`: who gets in, what a token allows there, and what is not said."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2  # as the client has it
import pytest
from mcp import Client as Agent
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, Implementation, TextContent

from quire.core.events import Scope
from quire.core.ids import ActorId
from quire.doors.http.server_settings import ServerSettings
from quire.workspace.identity.tokens import NewToken
from quire.workspace.local import LocalWorkspace

from ...http_server import Server, served
from .conftest import As
from .http_clients import ADA, ALL, NOTEBOOK, OTHER, Client, client_of

CLAUDE = ActorId("agent:claude")
ACCEPT = {"Accept": "application/json, text/event-stream"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
each_era = pytest.mark.parametrize("mode", ["auto", "legacy"])


@asynccontextmanager
async def agent_at(
    url: str, secret: str, mode: str = "auto", info: Implementation | None = None, told: str = "test"
) -> AsyncGenerator[Agent]:
    """An agent with a token. What it says of itself is in the protocol's words (`info`) and in HTTP's (`told`)."""
    headers = {"Authorization": f"Bearer {secret}", "User-Agent": told}
    http = httpx2.AsyncClient(headers=headers, timeout=240, trust_env=False)
    there = streamable_http_client(f"{url}/mcp", http_client=http)
    async with http, Agent(there, mode=mode, client_info=info) as made:
        yield made


async def token(workspace: LocalWorkspace, *scopes: Scope, **limits: Any) -> NewToken:
    return await workspace.create_token(CLAUDE, scopes, **limits)


async def called(agent: Agent, tool: str, **arguments: Any) -> CallToolResult:
    async with asyncio.timeout(240):
        return await agent.call_tool(tool, arguments)


async def told(agent: Agent, tool: str, *, wrong: bool = False, **arguments: Any) -> str:
    result = await called(agent, tool, **arguments)
    text = "".join(each.text for each in result.content if isinstance(each, TextContent))
    assert result.is_error is wrong, text
    return text


# ---- Who gets in


async def test_without_a_token_nobody_gets_in(nobody: Client) -> None:
    assert "no token" in await nobody.ask("POST", "/mcp", 401, json=PING, headers=ACCEPT)
    bad = {**ACCEPT, "Authorization": "Bearer quire_wrong"}
    assert "not known" in await nobody.ask("POST", "/mcp", 401, json=PING, headers=bad)


async def test_the_cookie_of_a_browser_opens_no_tools(server: Server, workspace: LocalWorkspace) -> None:
    """What no page of ours uses, no page should: not even one that was injected into ours."""
    async with client_of(server.url, Origin=server.origin) as browser:
        sign_in = await workspace.create_sign_in()
        signed_in = await browser.ask("POST", "/api/sign-in", json={"token": sign_in.secret})
        browser.headers["X-Quire-Page-Key"] = signed_in["page_key"]
        await browser.ask("GET", "/api/notebooks")
        assert "Bearer" in await browser.ask("POST", "/mcp", 401, json=PING, headers=ACCEPT)


async def test_pages_of_other_sites_and_other_names_are_refused(ada: Client, server: Server) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert "Refused" in await ada.ask("POST", "/mcp", 403, json=PING, headers=ACCEPT | headers)
    await ada.ask("POST", "/mcp", 421, json=PING, headers=ACCEPT | {"Host": "evil.example"})
    await ada.ask("POST", "/mcp", json=PING, headers=ACCEPT | {"Origin": server.origin})


async def test_pages_that_were_named_may_use_the_tools(workspace: LocalWorkspace) -> None:
    settings = ServerSettings(origins=("https://lab.example",))
    made = await workspace.create_token(ADA, ALL)
    async with served(workspace, settings) as server, client_of(server.url, made.secret) as client:
        await client.ask("POST", "/mcp", json=PING, headers=ACCEPT | {"Origin": "https://lab.example"})


async def test_there_is_no_stream_without_a_question_and_nothing_to_end(ada: Client) -> None:
    for method in ("GET", "DELETE", "PUT"):
        answer = await ada.request(method, "/mcp", headers=ACCEPT)
        assert answer.status_code == 405
        assert "POST" in answer.headers["allow"]


async def test_bodies_are_limited_as_everywhere(workspace: LocalWorkspace) -> None:
    made = await workspace.create_token(ADA, ALL)
    settings = ServerSettings(body_bytes=10_000)
    async with served(workspace, settings) as server, client_of(server.url, made.secret) as client:
        large = PING | {"params": {"x": "y" * 10_000}}
        assert "10,000 bytes" in await client.ask("POST", "/mcp", 413, json=large, headers=ACCEPT)
        packed = ACCEPT | {"Content-Encoding": "gzip"}
        assert "Compressed" in await client.ask("POST", "/mcp", 415, content=b"x", headers=packed)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff", b'"x"', b"[" * 100_000, b'{"jsonrpc":"2.0","id":1,"method":"nothing"}']
)
async def test_what_is_no_message_is_answered_and_not_with_a_traceback(
    ada: Client, server: Server, body: bytes
) -> None:
    for era in ({}, {"MCP-Protocol-Version": "2026-07-28"}):
        headers = ACCEPT | {"Content-Type": "application/json"} | era
        answer = await ada.post("/mcp", content=body, headers=headers)
        assert answer.status_code < 500
        assert "Traceback" not in answer.text
    assert "Traceback" not in server.lines.getvalue()


async def test_no_token_is_in_the_log(workspace: LocalWorkspace, server: Server) -> None:
    made = await token(workspace, "read")
    async with agent_at(server.url, made.secret) as agent:
        await told(agent, "find")
    assert made.secret not in server.lines.getvalue()
    assert {line["actor"] for line in server.told() if line["path"] == "/mcp"} == {CLAUDE}


async def test_without_the_package_it_says_what_to_install(
    workspace: LocalWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await workspace.create_token(ADA, ALL)
    monkeypatch.setitem(sys.modules, "mcp.server.streamable_http_manager", None)
    async with served(workspace) as server, client_of(server.url, made.secret) as client:
        assert "pip install 'quire[mcp]'" in await client.ask("POST", "/mcp", 501, json=PING, headers=ACCEPT)
        await client.ask("GET", "/api/notebooks")


# ---- What a model gets to see


@each_era
async def test_who_shows_a_model_only_the_facts_shows_it_the_text_too(
    workspace: LocalWorkspace, server: Server, mode: str
) -> None:
    async with agent_at(server.url, (await token(workspace, "read")).secret, mode) as agent:
        result = await called(agent, "read", notebook=NOTEBOOK)
        assert isinstance(result.content[0], TextContent)
        assert result.structured_content is not None
        assert result.structured_content["text"] == result.content[0].text
        assert result.structured_content["notebook"] == NOTEBOOK


@each_era
async def test_coding_agents_get_the_text_alone(workspace: LocalWorkspace, server: Server, mode: str) -> None:
    """They are known to hand their models the facts, and to drop the text and the images beside them."""
    secret = (await token(workspace, "read")).secret
    info = Implementation(name="claude-code", version="2.1")
    async with agent_at(server.url, secret, mode, info, "claude-code/2.1 (cli)") as agent:
        result = await called(agent, "read", notebook=NOTEBOOK)
        assert isinstance(result.content[0], TextContent)
        assert "2 cells" in result.content[0].text
        assert result.structured_content is None


# ---- What a token allows


@each_era
async def test_a_token_without_run_runs_nothing(workspace: LocalWorkspace, server: Server, mode: str) -> None:
    before = (await workspace.read(NOTEBOOK)).seq
    async with agent_at(server.url, (await token(workspace, "read", "edit")).secret, mode) as agent:
        assert "may not run" in await told(agent, "run", wrong=True, notebook=NOTEBOOK, cells="all")
        assert "may not run" in await told(agent, "run", wrong=True, notebook=NOTEBOOK, fresh=True)
        assert "may not run" in await told(agent, "execute", wrong=True, notebook=NOTEBOOK, code="1")
        inserts = [{"op": "insert", "after": "end", "source": "z = 3"}]
        assert "may not run" in await told(agent, "edit", wrong=True, notebook=NOTEBOOK, edits=inserts, run="changed")
    assert (await workspace.read(NOTEBOOK)).seq == before


async def test_a_token_without_edit_changes_nothing(workspace: LocalWorkspace, server: Server) -> None:
    before = (await workspace.read(NOTEBOOK)).seq
    async with agent_at(server.url, (await token(workspace, "read", "run")).secret) as agent:
        inserts = [{"op": "insert", "after": "end", "source": "z = 3"}]
        assert "may not edit" in await told(agent, "edit", wrong=True, notebook=NOTEBOOK, edits=inserts)
        assert "may not edit" in await told(agent, "edit", wrong=True, notebook="new one", edits=inserts)
        comment = {"notebook": NOTEBOOK, "action": "comment", "text": "Hm."}
        assert "may not edit" in await told(agent, "control", wrong=True, **comment)
    assert (await workspace.read(NOTEBOOK)).seq == before


async def test_a_token_for_one_notebook_is_for_no_other(workspace: LocalWorkspace, server: Server) -> None:
    made = await token(workspace, "read", "edit", notebooks=[NOTEBOOK])
    async with agent_at(server.url, made.secret) as agent:
        assert "x = 1" in await told(agent, "read", notebook=NOTEBOOK, view="full")
        refused = await told(agent, "read", wrong=True, notebook=OTHER)
        assert "y = 2" not in refused
        assert "y = 2" not in await told(agent, "find", query="y")
        listed = await agent.list_resources()
        assert [each.uri for each in listed.resources] == [f"quire://notebooks/{NOTEBOOK}"]
        with pytest.raises(MCPError, match=str(OTHER)):
            await agent.read_resource(f"quire://notebooks/{OTHER}")


async def test_files_of_the_folder_are_for_who_may_bind_them_or_run(workspace: LocalWorkspace, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "plan.py").write_text("# %%\nhush = 1\n")
    async with served(workspace, folder=tmp_path / "folder") as server:
        allowed: tuple[tuple[Scope, ...], ...] = (("edit", "bind"), ("run",))
        kept_out: tuple[tuple[Scope, ...], ...] = (("read",), ("read", "edit"))
        for scopes in kept_out:
            async with agent_at(server.url, (await token(workspace, *scopes)).secret) as reader:
                assert "hush" not in await told(reader, "read", wrong=True, notebook="plan.py")
                assert "plan.py" not in await told(reader, "find")
        for more in allowed:
            async with agent_at(server.url, (await token(workspace, "read", *more)).secret) as worker:
                assert "hush" in await told(worker, "read", notebook="plan.py", view="source")
                assert "plan.py" in await told(worker, "find")


async def test_what_has_to_be_asked_becomes_a_proposal(workspace: LocalWorkspace, server: Server) -> None:
    made = await token(workspace, "read", "edit", "run", asks=["edit"])
    async with agent_at(server.url, made.secret) as agent:
        inserts = [{"op": "insert", "after": "end", "source": "z = 3"}]
        result = await called(agent, "edit", notebook=NOTEBOOK, edits=inserts)
    assert result.structured_content is not None
    now = await workspace.read(NOTEBOOK)
    assert list(now.proposals) == [result.structured_content["proposal"]]
    assert len(list(now.live_cells)) == 2


@each_era
async def test_a_token_that_is_revoked_ends_the_waiting_and_opens_nothing(
    workspace: LocalWorkspace, server: Server, acting_as: As, mode: str
) -> None:
    made = await token(workspace, "read", "edit", "run")
    admin = await acting_as(ADA, *ALL)
    begun = asyncio.Event()

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        begun.set()

    async with agent_at(server.url, made.secret, mode) as agent, asyncio.timeout(240):
        arguments = {"notebook": NOTEBOOK, "cells": "all", "seconds": 25}
        waiting = asyncio.create_task(agent.call_tool("run", arguments, progress_callback=progress))
        await begun.wait()  # that nobody serves it
        await admin.ask("POST", f"/api/tokens/{made.token}/revoke")
        result = await waiting
        assert result.is_error
        assert isinstance(result.content[0], TextContent)
        assert "revoked" in result.content[0].text
        with pytest.raises(MCPError):
            await agent.call_tool("find", {})
    refused = [line for line in server.told() if line["status"] == 401]
    assert {line["path"] for line in refused} == {"/mcp"}


async def test_two_agents_at_once_are_never_mistaken_for_each_other(workspace: LocalWorkspace, server: Server) -> None:
    secrets = [
        (await workspace.create_token(ActorId(f"agent:{name}"), ["read", "edit"])).secret for name in ("one", "two")
    ]

    async def add(agent: Agent, name: str, number: int) -> None:
        source = f"{name} = {number}"
        await told(agent, "edit", notebook=NOTEBOOK, edits=[{"op": "insert", "after": "end", "source": source}])

    async with agent_at(server.url, secrets[0]) as one, agent_at(server.url, secrets[1], "legacy") as two:
        await asyncio.gather(*(add(each, name, n) for each, name in ((one, "one"), (two, "two")) for n in range(5)))
    entries = await workspace.entries(NOTEBOOK, types=["cell_added"])
    added = [(entry.actor.partition(":")[2], getattr(entry.event, "source", "")) for entry in entries][2:]
    assert len(added) == 10
    assert all(source.startswith(name) for name, source in added)
