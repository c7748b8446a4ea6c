"""Who comes in at this door, and as whom: tokens, signing in, and what pages of others may not do (rule 3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from quire.core import events as e
from quire.core.ids import WORKSPACE_LOG, CellId, RuntimeId
from quire.core.text import source_hash
from quire.doors.http.server_settings import ServerSettings
from quire.stores.blobs.folder_blobs import FolderBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.clock import later
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from ...http_server import Server, served
from .conftest import As
from .http_clients import (
    ADA,
    AGENT,
    ALL,
    BOB,
    NOTEBOOK,
    OTHER,
    TLS,
    Client,
    answer_to,
    client_of,
    connection,
    draft,
    drafts,
    say,
)

RENAMED = drafts({"type": "notebook_renamed", "name": "other"})


# ---- Tokens


async def test_a_token_that_opens_nothing_is_told_apart_from_one_that_allows_too_little(
    nobody: Client, acting_as: As, server: Server, workspace: LocalWorkspace
) -> None:
    assert "There is no token" in await nobody.ask("GET", "/api/me", 401)
    for wrong in ("Basic YWRhOmFkYQ==", "Bearer", "bearer", "quire_x"):
        told = await nobody.ask("GET", "/api/me", 401, headers={"Authorization": wrong})
        assert "is not `Bearer TOKEN`" in told
    assert "not known" in await nobody.ask("GET", "/api/me", 401, headers={"Authorization": "Bearer quire_wrong"})
    ended = await workspace.create_token(ADA, ALL, expires_at=later(-1))
    assert "expired" in await nobody.ask("GET", "/api/me", 401, headers={"Authorization": f"Bearer {ended.secret}"})
    reader = await acting_as(BOB, "read")
    assert "scope 'edit'" in await reader.ask("POST", "/api/logs/n1/events", 403, json=RENAMED)


async def test_a_token_that_was_revoked_opens_nothing_from_then_on(ada: Client, workspace: LocalWorkspace) -> None:
    me = await ada.ask("GET", "/api/me")
    await say(workspace, WORKSPACE_LOG, e.TokenRevoked(token=me["token"]))
    assert "was revoked" in await ada.ask("GET", "/api/me", 401)
    assert "was revoked" in await ada.ask("POST", "/api/logs/n1/events", 401, json=RENAMED)
    assert (await workspace.read(NOTEBOOK)).seq == 3


async def test_a_token_in_the_address_is_no_token(nobody: Client, ada: Client) -> None:
    secret = ada.headers["authorization"].removeprefix("Bearer ")
    for name in ("token", "access_token", "authorization"):
        assert "There is no token" in await nobody.ask("GET", f"/api/logs?{name}={secret}", 401)


async def test_a_token_for_some_notebooks_gets_at_no_other(acting_as: As) -> None:
    bound = await acting_as(BOB, "read", "edit", "run", notebooks=[NOTEBOOK])
    assert (await bound.ask("GET", "/api/notebooks/n1"))["seq"] == 3
    assert [each["log"] for each in await bound.ask("GET", "/api/logs")] == [NOTEBOOK]
    for path in ("notebooks/n2", "logs/n2/events", "logs/n2/export", "logs/n2/results", "notebooks/n2/proposals"):
        assert "other notebooks" in await bound.ask("GET", f"/api/{path}", 403)
    assert "other notebooks" in await bound.ask("POST", "/api/logs/n2/events", 403, json=RENAMED)
    assert "NotFound" in await bound.ask("GET", "/api/logs/notebook%20n2", 404)
    assert "other notebooks" in await bound.ask("POST", "/api/runtimes", 403, json={"name": "x", "log": "n2"})


async def test_a_blob_is_for_who_may_read_a_notebook_that_has_it(ada: Client, acting_as: As) -> None:
    bound = await acting_as(BOB, "read", "edit", notebooks=[NOTEBOOK])
    ref = await ada.ask("POST", "/api/blobs?media=text/plain", content=b"secret figures")
    display = {"execution": "x1", "cell": "a1", "source_hash": source_hash("y = 2")}
    outputs = [{"kind": "display", "blobs": {"text/plain": ref}}]
    shown = drafts({"type": "outputs_imported", **display, "outputs": outputs})
    await ada.ask("POST", "/api/logs/n2/events", json=shown)
    url = f"/api/blobs/{ref['hash']}"
    assert (await ada.ask("GET", url)).content == b"secret figures"
    assert "may not read blob" in await bound.ask("GET", url, 403)
    assert (await bound.head(url)).status_code == 403
    assert "may not refer" in await bound.ask("POST", "/api/logs/n1/events", 403, json=shown)
    assert "may not read blob" in await bound.ask("GET", f"/api/blobs/{'0' * 64}", 403), "nor learn which there are"


FORGED = [
    draft({"type": "notebook_renamed", "name": "x"}, actor="human:bob"),
    draft({"type": "notebook_renamed", "name": "x"}, at="2026-03-02T09:00:00.000000Z"),
    draft({"type": "notebook_renamed", "name": "x"}, seq=9),
    draft({"type": "notebook_renamed", "name": "x"}, on_behalf_of="human:bob"),
    draft({"type": "notebook_renamed", "name": "x"}, hash="0" * 64),
    draft({"type": "notebook_renamed", "name": "x"}, imported=True),
    draft({"type": "notebook_renamed", "name": "x", "actor": "human:bob"}),
    draft({"type": "source_edited", "cell": "a1", "base": 3, "edit": [], "applied": []}),
    draft({"type": "execution_claimed", "execution": "x1", "runtime": "human:ada", "epoch": 7}),
    draft({"type": "proposal_accepted", "proposal": "p1", "applied": []}),
    draft({"type": "payload_redacted", "seq": 1, "why": "x", "replacement": "0" * 64}),
]


async def test_what_is_the_workspaces_to_say_is_refused_of_a_sender(
    ada: Client, workspace: LocalWorkspace, subtests: pytest.Subtests
) -> None:
    for forged in FORGED:
        with subtests.test(forged=forged):
            answer = await ada.post("/api/logs/n1/events", json={"drafts": [forged]})
            assert answer.status_code in (403, 422), answer.text
            assert (await workspace.read(NOTEBOOK)).seq == 3


async def test_nobody_finishes_what_a_runtime_holds_under_its_name(ada: Client) -> None:
    claim = {"type": "execution_claimed", "execution": "x1", "runtime": "runtime:other"}
    await ada.ask("POST", "/api/notebooks/n1/executions", json={"cells": [{"cell": "a1"}]})
    answer = await ada.post("/api/logs/n1/events", json=drafts(claim))
    assert answer.status_code in (403, 404, 422)


async def test_a_runtimes_token_is_for_one_log_and_no_longer_than_who_wants_it(
    acting_as: As, server: Server, workspace: LocalWorkspace
) -> None:
    ends = later(3600)
    bob = await acting_as(BOB, "read", "run", expires_at=ends)
    made = await bob.ask("POST", "/api/runtimes", json={"name": "kernel-1", "log": "n1"})
    assert made["expires_at"] == ends
    async with client_of(server.url, made["secret"]) as runtime:
        me = await runtime.ask("GET", "/api/me")
        assert (me["actor"], me["on_behalf_of"], me["notebooks"]) == ("runtime:kernel-1", BOB, [NOTEBOOK])
        assert me["scopes"] == ["read", "serve"]
        assert "other notebooks" in await runtime.ask("GET", "/api/notebooks/n2", 403)
    reader = await acting_as(BOB, "read")
    assert "scope 'run'" in await reader.ask("POST", "/api/runtimes", 403, json={"name": "x", "log": "n1"})
    asks = await acting_as(AGENT, "read", "run", on_behalf_of=ADA, asks=["run"])
    assert "has to ask" in await asks.ask("POST", "/api/runtimes", 403, json={"name": "x", "log": "n1"})
    assert "BadInput" in await bob.ask("POST", "/api/runtimes", 422, json={"name": "a b", "log": "n1"})


async def test_a_runtime_gives_up_its_token_and_nobody_else_by_mistake(acting_as: As, server: Server) -> None:
    bob = await acting_as(BOB, "read", "run")
    made = await bob.ask("POST", "/api/runtimes", json={"name": "kernel-1", "log": "n1"})
    assert "is no runtime" in await bob.ask("POST", "/api/runtimes/end", 403)
    async with client_of(server.url, made["secret"]) as runtime:
        await runtime.ask("POST", "/api/runtimes/end", 204)
        await runtime.ask("GET", "/api/me", 401)
    assert (await bob.ask("GET", "/api/me"))["actor"] == BOB


async def test_nobody_gets_a_token_for_a_runtime_that_is_at_work_for_others(
    ada: Client, acting_as: As, workspace: LocalWorkspace
) -> None:
    bob = await acting_as(BOB, "read", "run")
    for _ in range(2):
        await bob.ask("POST", "/api/runtimes", json={"name": "one", "log": "n1"})
    assert "for somebody else" in await ada.ask("POST", "/api/runtimes", 403, json={"name": "one", "log": "n1"})
    await ada.ask("POST", "/api/notebooks/n1/executions", json={"cells": [{"cell": "a1"}]})
    (execution,) = (await workspace.read(NOTEBOOK)).executions
    owners = workspace.acting_as(identities.runtime("two"))
    await say(owners, NOTEBOOK, e.ExecutionClaimed(execution=execution, runtime=RuntimeId("runtime:two")))
    other = workspace.acting_as(identities.runtime("three"))
    await say(other, OTHER, e.RuntimeAttached(runtime=RuntimeId("runtime:three")))
    assert "for somebody else" in await ada.ask("POST", "/api/runtimes", 403, json={"name": "two", "log": "n2"})
    assert "for somebody else" in await ada.ask("POST", "/api/runtimes", 403, json={"name": "three", "log": "n2"})
    await ada.ask("POST", "/api/runtimes", json={"name": "four", "log": "new-run"})


# ---- Who tries many


async def test_who_tries_many_wrong_tokens_has_to_wait_and_others_do_not(workspace: LocalWorkspace) -> None:
    good = await workspace.create_token(ADA, ALL)
    async with served(workspace, ServerSettings(failures_per_minute=3)) as server, client_of(server.url) as client:
        known = {"Authorization": f"Bearer {good.secret}"}
        await client.ask("GET", "/api/me", headers=known)
        for number in range(3):
            await client.ask("GET", "/api/me", 401, headers={"Authorization": f"Bearer quire_{number}"})
        answer = await client.get("/api/me", headers={"Authorization": "Bearer quire_4"})
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) > 0
        assert "too many tokens" in await client.ask("POST", "/api/sign-in", 429, json={"token": "quire_5"})
        await client.ask("GET", "/api/me", headers=known)
        other, once = await workspace.create_token(BOB, ["read"]), await workspace.create_sign_in()
        await client.ask("GET", "/api/me", headers={"Authorization": f"Bearer {other.secret}"})
        await client.ask("POST", "/api/sign-in", json={"token": once.secret})


async def test_a_token_makes_so_many_requests_and_then_waits(workspace: LocalWorkspace) -> None:
    one, two = [await workspace.create_token(ADA, ALL) for _ in range(2)]
    settings = ServerSettings(request_burst=5, requests_per_second=0.01)
    async with served(workspace, settings) as server:
        async with client_of(server.url, one.secret) as client:
            for _ in range(5):
                await client.ask("GET", "/api/me")
            answer = await client.get("/api/me")
            assert (answer.status_code, answer.json()["error"]["kind"]) == (429, "Refused")
            assert int(answer.headers["retry-after"]) >= 1
            await client.ask("GET", "/health")
        async with client_of(server.url, two.secret) as other:
            await other.ask("GET", "/api/me")


# ---- Signing in


class Browser(Client):
    """A client that keeps cookies, and says where its pages come from."""

    @property
    def origin(self) -> dict[str, str]:
        """Of its own server."""
        return {"Origin": str(self.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}

    async def sign_in(self, workspace: LocalWorkspace) -> httpx.Response:
        """As `quire open` does."""
        token = (await workspace.create_sign_in()).secret
        answer = await self.post("/api/sign-in", json={"token": token}, headers=self.origin)
        assert answer.status_code == 200, answer.text
        self.headers["X-Quire-Page-Key"] = answer.json()["page_key"]
        return answer


@pytest.fixture
async def browser(server: Server) -> AsyncIterator[Browser]:
    async with Browser(base_url=server.url, trust_env=False, timeout=240, verify=TLS) as client:
        yield client


async def test_a_browser_signs_in_once_and_gets_a_cookie(
    browser: Browser, server: Server, workspace: LocalWorkspace
) -> None:
    token = (await workspace.create_sign_in()).secret
    answer = await browser.post("/api/sign-in", json={"token": token}, headers=browser.origin)
    assert answer.json()["actor"] == workspace.identity.actor
    assert answer.json()["scopes"] == sorted(ALL)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"quire-{server.port}=quire_")
    for part in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=2592000"):
        assert part.lower() in cookie.lower()
    assert "secure" not in cookie.lower()
    assert "domain" not in cookie.lower()
    assert "a cookie alone opens nothing" in (await browser.ask("GET", "/api/me", 401)).lower()
    browser.headers["X-Quire-Page-Key"] = answer.json()["page_key"]
    assert (await browser.ask("GET", "/api/me"))["actor"] == workspace.identity.actor
    async with client_of(server.url) as other:
        assert "was revoked" in await other.ask("POST", "/api/sign-in", 401, json={"token": token})
        assert "for nothing else" in await other.ask(
            "GET", "/api/me", 401, headers={"Authorization": f"Bearer {(await workspace.create_sign_in()).secret}"}
        )


async def test_of_two_servers_on_one_file_one_takes_a_sign_in(workspace: LocalWorkspace, tmp_path: Path) -> None:
    second = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), FolderBlobs(tmp_path / "blobs"), identities.owner())
    async with served(workspace) as here, served(second) as there:
        clients = [client_of(server.url) for server in (here, there) for _ in range(3)]
        for _ in range(3):
            sent = {"token": (await workspace.create_sign_in()).secret}
            came = await asyncio.gather(*(client.post("/api/sign-in", json=sent) for client in clients))
            assert sorted(answer.status_code for answer in came) == [200, 401, 401, 401, 401, 401]
        for client in clients:
            await client.aclose()
    await second.close()


async def test_over_https_the_cookie_is_for_this_host_alone(workspace: LocalWorkspace) -> None:
    settings = ServerSettings(proxies=("127.0.0.1",), hosts=("quire.example",))
    async with served(workspace, settings) as server:
        headers = {"Host": "quire.example", "X-Forwarded-Proto": "https", "Origin": "https://quire.example"}
        async with client_of(server.url, **headers) as client:
            token = (await workspace.create_sign_in()).secret
            cookie = (await client.post("/api/sign-in", json={"token": token})).headers["set-cookie"]
            assert cookie.startswith("__Host-quire-443=")
            assert "secure" in cookie.lower()


async def test_signing_out_ends_the_token_and_the_cookie(browser: Browser, workspace: LocalWorkspace) -> None:
    await browser.sign_in(workspace)
    (name,) = browser.cookies
    secret = browser.cookies[name]
    answer = await browser.post("/api/sign-out", headers=browser.origin)
    assert answer.status_code == 204
    assert not browser.cookies
    browser.cookies.set(name, secret)
    assert "was revoked" in await browser.ask("GET", "/api/me", 401)


async def test_only_a_browser_signs_out(ada: Client) -> None:
    assert "Only a browser signs out" in await ada.ask("POST", "/api/sign-out", 422)
    await ada.ask("GET", "/api/me")


async def test_a_bearer_makes_a_sign_in_for_itself_and_nobody_else(acting_as: As, browser: Browser) -> None:
    bob = await acting_as(BOB, "read", notebooks=[NOTEBOOK])
    made = await bob.ask("POST", "/api/sign-ins")
    me = await browser.ask("POST", "/api/sign-in", json={"token": made["secret"]}, headers=browser.origin)
    assert (me["actor"], me["scopes"], me["notebooks"]) == (BOB, ["read"], [NOTEBOOK])


# ---- Pages of others


async def test_with_a_cookie_changes_come_from_a_page_of_the_server(
    browser: Browser, workspace: LocalWorkspace
) -> None:
    await browser.sign_in(workspace)
    url = "/api/logs/n1/events"
    for headers in (
        {},
        {"Origin": "null"},
        {"Origin": "https://evil.example"},
        {"Origin": str(browser.base_url).replace("127.0.0.1", "localhost").rstrip("/")},
        {"Origin": "http://127.0.0.1"},
        {"Origin": f"https://127.0.0.1:{browser.base_url.port}"},
        {"Origin": str(browser.base_url).rstrip("/") + ".evil.example"},
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
    ):
        assert "Refused" in await browser.ask("POST", url, 403, json=RENAMED, headers=headers)
    assert (await workspace.read(NOTEBOOK)).seq == 3
    await browser.ask("POST", url, json=RENAMED, headers=browser.origin)
    assert (await browser.ask("GET", "/api/notebooks/n1"))["name"] == "other"


async def test_a_form_of_another_site_does_nothing(browser: Browser, workspace: LocalWorkspace) -> None:
    """A form sends cookies along (if SameSite did not keep them back), and cannot send JSON."""
    await browser.sign_in(workspace)
    evil = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    forms: list[dict[str, Any]] = [{"data": {"name": "x"}}, {"files": {"file": b"x"}}, {"content": b'{"name":"x"}'}]
    for sent in forms:
        answer = await browser.post("/api/notebooks", headers=evil | {"Content-Type": "text/plain"}, **sent)
        assert answer.status_code == 403
    answer = await browser.post("/api/notebooks", headers=browser.origin, data={"name": "x"})
    assert answer.status_code == 415, "also not of our own: what is read here is JSON"
    assert len(await workspace.logs("notebook")) == 2


async def test_a_page_of_another_site_reads_nothing_and_gets_no_leave_to(browser: Browser, ada: Client) -> None:
    evil = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert "another site" in await ada.ask("GET", "/api/me", 403, headers=evil)
    assert "another site" in await browser.ask("POST", "/api/sign-in", 403, json={"token": "x"}, headers=evil)
    asked = evil | {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    answer = await browser.options("/api/logs/n1/events", headers=asked)
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_origins_that_were_named_may_use_the_cookie(workspace: LocalWorkspace) -> None:
    settings = ServerSettings(origins=("https://app.example",))
    async with (
        served(workspace, settings) as server,
        Browser(base_url=server.url, trust_env=False, timeout=240, verify=TLS) as browser,
    ):
        await browser.sign_in(workspace)
        known = {"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
        await browser.ask("POST", "/api/logs/n1/events", json=RENAMED, headers=known)


HOSTS = ["evil.example", "127.0.0.1.evil.example", "", "127.0.0.1:80:80", "[::1", "localhost:x", "user@localhost"]


async def test_a_name_that_is_not_the_servers_is_not_answered(
    server: Server, ada: Client, subtests: pytest.Subtests
) -> None:
    """A page that has its own name point to this machine must not get in."""
    for host in HOSTS:
        with subtests.test(host=host):
            secret = ada.headers["authorization"]
            for path in ("/api/me", "/health", "/", "/nothing"):
                came = await answer_to(server.port, f"GET {path} HTTP/1.1", f"Host: {host}", f"Authorization: {secret}")
                assert came.startswith(b"HTTP/1.1 421 "), came
                assert b"human:ada" not in came


async def test_two_hosts_are_none(server: Server) -> None:
    came = await answer_to(server.port, "GET /health HTTP/1.1", "Host: localhost", "Host: evil.example")
    assert came.startswith((b"HTTP/1.1 421 ", b"HTTP/1.1 400 "))


async def test_the_usual_names_of_this_machine_are_answered(server: Server) -> None:
    for host in ("localhost", f"localhost:{server.port}", "127.0.0.1", "[::1]:9", "LOCALHOST"):
        assert (await answer_to(server.port, "GET /health HTTP/1.1", f"Host: {host}")).startswith(b"HTTP/1.1 200 ")


async def test_every_answer_says_how_it_is_to_be_treated(nobody: Client, ada: Client) -> None:
    for answer in (
        await nobody.get("/health"),
        await nobody.get("/api/me"),
        await ada.get("/api/me"),
        await ada.get("/api/nothing"),
        await ada.get("/api/logs/n1/export?format=html"),
        await nobody.get("/health", headers={"Host": "evil.example"}),
    ):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-request-id"]
        assert "server" not in answer.headers


async def test_a_notebook_that_is_closed_stays_closed_over_the_network(
    acting_as: As, workspace: LocalWorkspace
) -> None:
    await say(workspace, WORKSPACE_LOG, e.RoleSet(actor=ADA, role="owner", notebook=OTHER))
    bob = await acting_as(BOB, *ALL)
    await say(workspace, OTHER, e.CellRemoved(cell=CellId("a1")))
    assert "no role" in await bob.ask("GET", "/api/notebooks/n2", 403)
    assert OTHER not in (await bob.get("/api/logs")).text


# ---- Sockets that are not opened

HANDSHAKE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==",
)


NOT_OPENED = [
    ("/api/socket", ["Host: localhost"], 401),
    ("/api/socket", ["Host: localhost", "Authorization: Bearer quire_wrong"], 401),
    ("/api/socket", ["Host: evil.example", "SECRET"], 421),
    (
        "/api/socket",
        ["Host: localhost", "SECRET", "Sec-Fetch-Site: cross-site", "Origin: https://evil.example"],
        403,
    ),
    ("/api/socket", ["Host: localhost", "COOKIE", "Origin: https://evil.example"], 403),
    ("/api/socket", ["Host: localhost", "COOKIE"], 403),
    ("/nothing", ["Host: localhost", "SECRET"], 404),
    ("/api/me", ["Host: localhost", "SECRET"], 404),
]


async def test_a_socket_that_is_not_opened_is_answered_as_any_request(
    server: Server, ada: Client, subtests: pytest.Subtests
) -> None:
    for path, headers, status in NOT_OPENED:
        with subtests.test(path=path, headers=headers):
            secret = ada.headers["authorization"]
            cookie = f"Cookie: quire-80={secret.removeprefix('Bearer ')}"
            sent = [each.replace("SECRET", f"Authorization: {secret}").replace("COOKIE", cookie) for each in headers]
            lines = [f"GET {path} HTTP/1.1", *sent, *HANDSHAKE]
            async with connection(server.port) as (reader, writer), asyncio.timeout(240):
                writer.write("\r\n".join([*lines, "", ""]).encode())
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(f"HTTP/1.1 {status} ".encode()), head
                assert b"x-request-id" in head.lower()
                assert b'"kind":' in await reader.read(1000)
