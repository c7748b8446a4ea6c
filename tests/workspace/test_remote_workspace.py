"""A workspace behind a server, over lines that break: nothing is lost, nothing comes twice, and it comes back by itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core import events as e
from quire.core.errors import Refused, Unavailable
from quire.core.ids import WORKSPACE_LOG, ActorId, LogId
from quire.doors.http.server_settings import ServerSettings
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from ..http_server import served
from .cutting_proxy import relay
from .server_house import ALL, LOG, House, again, draft, house, seen, until

# ---- Cut lines


@pytest.mark.generated
def test_whatever_is_cut_an_acknowledged_event_is_there_once_and_followers_see_all_once() -> None:
    @settings(max_examples=8)
    @given(st.lists(st.integers(1, 5000), max_size=8), st.lists(st.integers(0, 9), max_size=3))
    def played(cuts: list[int], pulled: list[int]) -> None:
        asyncio.run(play(cuts, set(pulled)))

    played()


async def play(cuts: list[int], pulled: set[int]) -> None:
    """Ten submissions over a line that is cut after so many bytes, and all at once at some of them."""
    async with house(cuts) as made:
        following = [asyncio.create_task(seen(made.remote.follow(LOG, since), 21)) for since in (0, 1)]
        sent: list[str] = []
        for number in range(10):
            drafts = [draft(e.NotebookRenamed(name=f"{number} {half}")) for half in "ab"]
            sent += [each.id for each in drafts]
            answer = asyncio.ensure_future(again(lambda drafts=drafts: made.remote.submit(LOG, drafts)))
            if number in pulled:
                made.line.cut()
            assert [entry.id for entry in await answer] == sent[-2:]
        assert [await each for each in following] == [list(range(1, 22)), list(range(2, 22))]
        recorded = [entry.id for entry in await made.local.entries(LOG, 1)]
        assert recorded == sent


async def test_a_follower_goes_on_when_the_server_was_started_anew(tmp_path: Path) -> None:
    made = House(SqliteStore(tmp_path / "quire.db"))
    await made.say(e.NotebookCreated(name="sales"))
    made.token = await made.local.create_token(ActorId("human:ada"), ALL)
    async with relay(None) as line:
        async with served(made.local) as server:
            line.target = server.port
            remote = await RemoteWorkspace.open(line.url, made.token.secret)
            following = asyncio.create_task(seen(remote.follow(LOG), 4))
            grown: list[int] = []
            feeding = asyncio.create_task(gather_positions(remote.feed(0), grown))
            await remote.submit(LOG, [draft(e.NotebookRenamed(name="before"))])
            await until(lambda: len(grown) >= 2)
            line.target = None
        await made.local.close()
        with pytest.raises(Unavailable):
            await remote.read(LOG)
        other = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs(), identities.owner())
        await other.submit(LOG, [draft(e.NotebookRenamed(name="while nobody was there"))])
        async with served(other) as server:
            line.target = server.port
            await again(lambda: remote.submit(LOG, [draft(e.NotebookRenamed(name="after"))]))
            assert await following == [1, 2, 3, 4]
            position = (await other.grown())[1]
            await until(lambda: grown[-1] == position)
            assert grown == sorted(set(grown)), "no position twice, and none before one that was seen"
            feeding.cancel()
            await remote.close()
        await other.close()


async def gather_positions(pages: AsyncIterator[list[Any]], found: list[int]) -> None:
    async for page in pages:
        found += [growth.position for growth in page]


async def test_a_feed_from_now_on_misses_nothing_that_comes_while_the_line_is_cut() -> None:
    async with house() as made:
        grown: list[LogId] = []

        async def feed() -> None:
            async for page in made.remote.feed():
                grown.extend(growth.log for growth in page)

        feeding = asyncio.create_task(feed())
        await until(lambda: made.line.connections >= 2)
        made.line.target = None
        made.line.cut()
        await made.say(e.NotebookCreated(name="other"), log=LogId("n2"))
        made.line.target = made.server.port
        await until(lambda: "n2" in grown)
        assert LOG not in grown
        feeding.cancel()


# ---- Out of reach


async def test_a_server_that_is_gone_is_unavailable_for_calls_and_waited_for_by_followers() -> None:
    async with house() as made:
        following = asyncio.create_task(seen(made.remote.follow(LOG), 2))
        made.line.target = None
        made.line.cut()
        for ask in (made.remote.logs(), made.remote.submit(LOG, [draft(e.NotebookRenamed(name="x"))])):
            with pytest.raises(Unavailable):
                await ask
        assert not following.done()
        await made.say(e.NotebookRenamed(name="meanwhile"))
        made.line.target = made.server.port
        assert await following == [1, 2]


async def test_nobody_there_is_told_with_what_to_do() -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    with pytest.raises(Unavailable, match="quire serve"):
        await RemoteWorkspace.open(f"http://127.0.0.1:{port}", "quire_token")


async def test_who_is_asked_to_wait_waits() -> None:
    async with house(settings=ServerSettings(request_burst=3, requests_per_second=1)) as made:
        assert [len(await made.remote.logs()) for _ in range(5)] == [2] * 5
        assert 429 in [line["status"] for line in made.server.told()]


# ---- Rights


async def test_a_token_that_is_revoked_ends_what_is_followed_with_it() -> None:
    async with house() as made:
        pages = made.remote.follow(LOG)
        await anext(pages)
        await made.say(e.TokenRevoked(token=made.token.token), log=WORKSPACE_LOG)
        with pytest.raises(Refused, match="revoked"):
            await anext(pages)
        with pytest.raises(Refused, match="revoked"):
            await anext(made.remote.follow(LOG))
        with pytest.raises(Refused, match="revoked"):
            await made.remote.read(LOG)


async def test_a_follow_that_is_refused_leaves_the_others_alone() -> None:
    async with house() as made:
        only = await made.local.create_token(ActorId("human:bob"), ["read"], notebooks=[LOG])
        bob = await RemoteWorkspace.open(made.line.url, only.secret)
        mine = bob.follow(LOG)
        await anext(mine)
        with pytest.raises(Refused, match="other notebooks"):
            await anext(bob.follow(LogId("n2")))
        await made.say(e.NotebookRenamed(name="still"))
        assert [entry.seq for entry in await anext(mine)] == [2]
        assert made.line.connections <= 4
        await bob.close()


async def test_a_runtime_has_a_token_of_its_own_for_one_log() -> None:
    async with house() as made:
        runtime = await made.remote.as_runtime("run-1", LOG)
        assert (runtime.identity.actor, runtime.identity.notebooks) == ("runtime:run-1", {LOG})
        assert runtime.identity.on_behalf_of == "human:ada"
        assert (await runtime.read(LOG)).name == "sales"
        with pytest.raises(Refused):
            await runtime.submit(LOG, [draft(e.NotebookRenamed(name="x"))])
        await made.remote.close()
        assert [each.state for each in await made.local.tokens()] == ["revoked", "valid"], "its work is over"


async def test_the_token_is_in_no_log_error_or_address(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with house() as made:
        await anext(made.remote.follow(LOG))
        made.line.target = None
        made.line.cut()
        with pytest.raises(Unavailable) as away:
            await made.remote.logs()
        told = [caplog.text, made.server.lines.getvalue(), repr(away.value), repr(made.remote)]
        told += [repr(each) for each in (away.value.__cause__, away.value.__context__)]
        assert caplog.text
        assert not any(made.token.secret in text for text in told)


async def test_what_is_closed_follows_no_longer() -> None:
    async with house() as made:
        following = asyncio.create_task(seen(made.remote.follow(LOG), 99))
        await until(lambda: made.line.connections >= 2)
        await made.remote.close()
        with pytest.raises(Unavailable, match="closed here"):
            await following
        with pytest.raises(Unavailable, match="closed here"):
            await anext(made.remote.follow(LOG))
        with pytest.raises(Unavailable, match="closed here"):
            await made.remote.logs()
