"""Sharing over HTTP: the list, the link that signs in once, my browsers, what coding agents paste."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from quire.workspace.local import LocalWorkspace

from ...http_server import Server
from .conftest import As
from .http_clients import ADA, AGENT, ALL, BOB, NOTEBOOK, OTHER, Client, client_of

INVITED = {"name": "grace", "notebook": NOTEBOOK, "role": "viewer"}


async def signed_in(server: Server, secret: str, expected: int = 200) -> Any:
    """What a browser is answered that opens the link."""
    async with client_of(server.url, Origin=server.url) as browser:
        return await browser.ask("POST", "/api/sign-in", expected, json={"token": secret})


async def test_an_invited_person_signs_in_once_and_sees_one_notebook(
    ada: Client, nobody: Client, server: Server
) -> None:
    made = await ada.ask("POST", "/api/invitations", json=INVITED)
    assert (made["actor"], made["role"], made["was_known"]) == ("human:grace", "viewer", False)
    assert (await signed_in(server, made["secret"]))["actor"] == "human:grace"
    assert "was revoked" in await signed_in(server, made["secret"], 401)
    assert "no token" in await nobody.ask("GET", f"/api/notebooks/{NOTEBOOK}/access", 401)


async def test_the_list_is_for_who_may_read_and_says_who_may_change_it(ada: Client, acting_as: As) -> None:
    await ada.ask("POST", "/api/invitations", json=INVITED | {"role": "editor"})
    shown = await ada.ask("GET", f"/api/notebooks/{NOTEBOOK}/access")
    states = {line["actor"]: line["state"] for line in shown["lines"]}
    assert states["human:grace"] == "invited"
    assert (shown["is_open"], shown["manage_refusal"]) == (False, None)
    bob = await acting_as(BOB, *ALL)
    assert "no role" in await bob.ask("GET", f"/api/notebooks/{NOTEBOOK}/access", 403)
    assert (await bob.ask("GET", f"/api/notebooks/{OTHER}/access"))["is_open"] is True
    assert "There is no notebook" in await ada.ask("GET", "/api/notebooks/nothing/access", 404)


async def test_who_may_not_invite_is_told_why(ada: Client, acting_as: As) -> None:
    agent = await acting_as(AGENT, "read", "edit", "run", "admin", on_behalf_of=ADA)
    assert "only a person invites" in await agent.ask("POST", "/api/invitations", 403, json=INVITED)
    plain = await acting_as(BOB, "read", "edit", "run", "approve")
    assert "scope 'admin'" in await plain.ask("POST", "/api/invitations", 403, json=INVITED)
    assert "somebody called bob" in await ada.ask("POST", "/api/invitations", 409, json=INVITED | {"name": "bob"})
    await ada.ask("POST", "/api/invitations", 400, json=INVITED | {"scopes": ["admin"]})


async def test_a_browser_of_the_bearer_is_listed_and_signed_out(server: Server, workspace: LocalWorkspace) -> None:
    first, second = [await workspace.sign_in((await workspace.create_sign_in()).secret) for _ in range(2)]
    async with client_of(server.url, first.secret) as here:
        listed = await here.ask("GET", "/api/browsers")
        assert [(each["token"], each["is_this"]) for each in listed] == [(second.token, False), (first.token, True)]
        await here.ask("POST", f"/api/browsers/{second.token}/sign-out", 204)
        assert len(await here.ask("GET", "/api/browsers")) == 1


async def test_each_coding_agent_has_settings_to_paste_and_none_holds_a_secret(ada: Client) -> None:
    listed = await ada.ask("GET", "/api/agents", params={"origin": "https://quire.example.org"})
    names = [each["name"] for each in listed]
    assert names == ["claude-code", "codex", "cursor", "vscode", "gemini-cli", "opencode", "windsurf", "zed"]
    for each in listed:
        assert each["placeholder"] in each["text"]
        read = tomllib.loads if each["name"] == "codex" else json.loads
        (servers,) = read(each["text"]).values()
        entry = servers["quire"]
        headers = entry.get("headers") or entry["http_headers"]
        assert headers == {"Authorization": f"Bearer {each['placeholder']}"}
        assert "https://quire.example.org/mcp" in entry.values()
        if each["command"] is not None:
            assert "quire https://quire.example.org/mcp --header" in each["command"]
    for wrong in ("ftp://x", "quire.example.org", "https://a:b@c", "https://x/y", "http://[", "javascript:alert(1)"):
        assert "is not the address" in await ada.ask("GET", "/api/agents", 422, params={"origin": wrong})
