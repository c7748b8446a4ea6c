"""Who may open a socket, and what happens to it when that changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from quire.core import events as e
from quire.core.ids import WORKSPACE_LOG, LogId, check_time
from quire.core.notebook.reduce import REDUCER
from quire.doors.http.browser_session import split_secret
from quire.doors.http.server_settings import ServerSettings
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire import frames

from ...contracts.identities import Clock
from ...http_server import Server, served
from .sockets import ADA, BOB, LOG, OTHER, connected, note, notebook, say, token


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    workspace = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs())
    await notebook(workspace)
    yield workspace
    await workspace.close()


@pytest.fixture
async def server(workspace: LocalWorkspace) -> AsyncIterator[Server]:
    async with served(workspace) as server:
        yield server


async def revoke(workspace: LocalWorkspace, secret: str) -> None:
    token = (await workspace.bearer(secret)).identity.token
    assert token is not None
    await say(workspace, e.TokenRevoked(token=token), log=WORKSPACE_LOG)


async def denied(server: Server, secret: str = "", **headers: str) -> tuple[int, frames.Faulty]:
    """The answer to who is not let in."""
    sent = {"Authorization": f"Bearer {secret}"} if secret else {}
    with pytest.raises(InvalidStatus) as error:
        async with connected(server, "", additional_headers={**sent, **headers}):
            pass
    response = error.value.response
    return response.status_code, msgspec.json.decode(response.body or b"", type=frames.Faulty)


async def test_without_a_good_token_no_socket_opens(workspace: LocalWorkspace, server: Server) -> None:
    secret = await token(workspace)
    assert (await denied(server))[0] == 401
    assert (await denied(server, "quire_wrong"))[0] == 401
    await revoke(workspace, secret)
    status, told = await denied(server, secret)
    assert status == 401
    assert told.error.kind == "Refused"


async def test_a_page_of_another_site_opens_no_socket_with_a_browsers_cookie(
    workspace: LocalWorkspace, server: Server
) -> None:
    cookie = f"quire-{server.port}={await token(workspace)}"
    assert (await denied(server, Cookie=cookie))[0] == 403
    assert (await denied(server, Cookie=cookie, Origin="https://evil.example"))[0] == 403
    # What a page of the server's own has to send first: test_browser_session.
    cookie, page_key = split_secret(await token(workspace))
    headers = {"Cookie": f"quire-{server.port}={cookie}", "Origin": server.origin, "X-Quire-Page-Key": page_key}
    async with connected(server, "", additional_headers=headers) as client:
        await client.follow()


async def test_a_token_has_so_many_sockets_and_no_more(workspace: LocalWorkspace) -> None:
    secret, other = await token(workspace), await token(workspace, BOB)
    async with served(workspace, ServerSettings(sockets_per_token=2)) as server:
        async with connected(server, secret), connected(server, secret):
            assert (await denied(server, secret))[0] == 429
            async with connected(server, other) as client:
                await client.follow()
        async with connected(server, secret) as client:
            await client.follow()


async def test_the_first_frame_says_who_the_server_takes_one_for(workspace: LocalWorkspace, server: Server) -> None:
    """Rule 3."""
    secret = await token(workspace, BOB, "read", notebooks=[LOG])
    url = server.url.replace("http", "ws") + "/api/socket"
    async with connect(url, additional_headers={"Authorization": f"Bearer {secret}"}, proxy=None) as connection:
        welcome = msgspec.json.decode(await connection.recv(), type=frames.Welcome)
    assert welcome.me.actor == BOB
    assert welcome.me.scopes == ("read",)
    assert welcome.me.notebooks == (LOG,)
    assert welcome.tick_milliseconds == 20
    assert welcome.reducer == REDUCER, "a window that outlives an upgrade has to know"
    check_time(welcome.at, "The server's time")


async def test_a_token_that_is_revoked_closes_its_sockets_and_no_others(
    workspace: LocalWorkspace, server: Server
) -> None:
    secret = await token(workspace)
    async with (
        connected(server, secret) as client,
        connected(server, secret) as idle,
        connected(server, await token(workspace, BOB)) as other,
    ):
        await client.follow()
        await other.follow()
        await revoke(workspace, secret)
        code, why = await client.closed()
        assert code == frames.CLOSE_SIGNED_OUT
        assert "revoked" in why
        assert (await idle.closed())[0] == frames.CLOSE_SIGNED_OUT
        await note(workspace, 1)
        await other.until(2)


async def test_what_is_recorded_after_a_token_was_revoked_is_never_seen_with_it(
    workspace: LocalWorkspace, server: Server
) -> None:
    async with connected(server, await token(workspace, BOB)) as other:
        await other.follow()
        for _ in range(10):
            secret = await token(workspace)
            async with connected(server, secret) as client:
                await client.follow()
                await revoke(workspace, secret)
                (after,) = await say(workspace, e.MetadataSet(values={"after": "it"}))
                assert (await client.closed())[0] == frames.CLOSE_SIGNED_OUT
                assert client.last["f"] < after.seq
            await other.until(after.seq)  # who may, sees it


async def test_a_token_that_another_process_revokes_closes_its_sockets(
    workspace: LocalWorkspace, server: Server, tmp_path: Path
) -> None:
    secret = await token(workspace)
    others = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs())
    async with connected(server, secret) as client:
        await client.follow()
        await revoke(others, secret)
        assert (await client.closed())[0] == frames.CLOSE_SIGNED_OUT
    await others.close()


async def test_a_token_that_ends_closes_its_sockets_though_nothing_happens(
    workspace: LocalWorkspace, server: Server
) -> None:
    secret = await token(workspace, expires_at="2s")
    async with connected(server, secret) as client:
        await client.follow()
        code, why = await client.closed()
        assert code == frames.CLOSE_SIGNED_OUT
        assert "expired" in why


async def test_nothing_is_seen_with_a_token_after_its_end(tmp_path: Path) -> None:
    clock = Clock()
    workspace = LocalWorkspace(SqliteStore(tmp_path / "other.db"), MemoryBlobs(), now=clock.now)
    await notebook(workspace)
    secret = await token(workspace, expires_at="1h")
    async with served(workspace) as server, connected(server, secret) as client:
        await client.follow()
        clock.hour = 1
        await note(workspace, 1)
        assert (await client.closed())[0] == frames.CLOSE_SIGNED_OUT
        assert client.last["f"] == 1
    await workspace.close()


async def test_a_role_that_is_lost_ends_that_follow_and_the_connection_goes_on(
    workspace: LocalWorkspace, server: Server
) -> None:
    await notebook(workspace, OTHER)
    async with connected(server, await token(workspace, BOB, "read", "edit")) as client:
        await client.follow(LOG, id="closed to him")
        await client.follow(OTHER, id="open")
        await client.send(frames.Listen(id="lane", log=LOG, lane="presence"))
        await client.in_order()
        await say(workspace, e.RoleSet(actor=ADA, role="owner", notebook=LOG), log=WORKSPACE_LOG)
        await note(workspace, 1, log=LOG)
        ended = [await client.expect(frames.FailedFrame), await client.expect(frames.FailedFrame)]
        assert {each.id for each in ended} == {"closed to him", "lane"}
        assert {each.error.kind for each in ended} == {"Refused"}
        await note(workspace, 1, log=OTHER)
        await client.until(2, "open")
        assert client.last["closed to him"] == 1


async def test_what_may_not_be_read_is_not_followed(workspace: LocalWorkspace, server: Server) -> None:
    await say(workspace, e.RoleSet(actor=ADA, role="owner", notebook=LOG), log=WORKSPACE_LOG)
    await notebook(workspace, OTHER)
    async with (
        connected(server, await token(workspace, BOB)) as no_role,
        connected(server, await token(workspace, ADA, notebooks=[OTHER])) as elsewhere,
        connected(server, await token(workspace, ADA, "edit")) as no_scope,
    ):
        for client in (no_role, elsewhere, no_scope):
            for asked in (
                frames.Follow(id="x", log=LOG),
                frames.Listen(id="x", log=LOG, lane="presence"),
            ):
                await client.send(asked)
                failed = await client.expect(frames.FailedFrame)
                assert (failed.id, failed.error.kind) == ("x", "Refused")
        await elsewhere.follow(OTHER)


async def test_a_run_of_a_closed_notebook_is_not_seen_by_who_waited_for_it_to_begin(
    workspace: LocalWorkspace, server: Server
) -> None:
    """Before it begins nobody can know whose it is."""
    await say(workspace, e.RoleSet(actor=ADA, role="owner", notebook=LOG), log=WORKSPACE_LOG)
    run = LogId("r1")
    async with (
        connected(server, await token(workspace, BOB)) as bob,
        connected(server, await token(workspace, ADA)) as ada,
    ):
        await bob.follow(run)
        await ada.follow(run)
        await say(workspace, e.RunRequested(name="run", source=e.RunSource(notebook=LOG, seq=1)), log=run)
        assert [entry.seq for entry in await ada.until(1)] == [1]
        failed = await bob.expect(frames.FailedFrame)
        assert (failed.id, failed.error.kind) == ("f", "Refused")
        assert bob.seen["f"] == []
