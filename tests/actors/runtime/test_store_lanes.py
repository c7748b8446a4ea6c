"""A runtime beside the store finds the lanes of whatever server is there, and of the next."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from quire.actors.runtime.store_lanes import lanes_beside
from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import WORKSPACE_LOG, LogId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace import clock, server_file
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.log.process_id import this_process
from quire.workspace.protocol import LaneAccess
from quire.workspace.server_file import Whereabouts

from ...http_server import served

LOG = LogId("01M7GFVPH90000000000000000")
LANE = f"{LOG}/completion"
PATIENCE = 60


@pytest.fixture
async def owner() -> AsyncIterator[LocalWorkspace]:
    made = LocalWorkspace(MemoryStore(), MemoryBlobs())
    await made.submit(LOG, [Draft(id=clock.new_id(), event=e.NotebookCreated(name="live"))])
    yield made
    await made.close()


@asynccontextmanager
async def server(owner: LocalWorkspace, state: Path) -> AsyncGenerator[None]:
    """A server that says where it is."""
    async with served(owner) as running:
        told = Whereabouts(
            url=running.url,
            address=running.url,
            port=running.port,
            pid=1,
            process=this_process(),
            version="0",
            started_at=clock.now(),
        )
        server_file.write(state, told)
        yield
        server_file.remove(state, told)


async def until_heard(owner: LocalWorkspace, lanes: LaneAccess, word: str) -> None:
    """Say something at the server until the runtime says that it heard it."""

    async def hear() -> None:
        async for heard in lanes.hear(LANE):
            if heard.message == word:
                assert heard.by == owner.identity.actor
                lanes.say(LANE, f"heard {word}")
                return

    async def hear_back() -> None:
        async for heard in owner.lanes.hear(LANE):
            if heard.message == f"heard {word}":
                assert heard.by == "runtime:local"
                return

    hearing = [asyncio.ensure_future(each) for each in (hear(), hear_back())]
    async with asyncio.timeout(PATIENCE):
        while not all(each.done() for each in hearing):
            owner.lanes.say(LANE, word)
            await asyncio.wait(hearing, timeout=0.05, return_when=asyncio.ALL_COMPLETED)
    for each in hearing:
        each.result()


async def tokens(owner: LocalWorkspace) -> list[str]:
    return [each.token for each in await owner.tokens() if each.state == "valid"]


async def test_servers_come_and_go_and_the_runtime_is_heard_at_each(owner: LocalWorkspace, tmp_path: Path) -> None:
    runtime = owner.acting_as(identities.runtime("local"))
    async with lanes_beside(runtime, LOG, tmp_path, look_seconds=0.05) as lanes:
        lanes.say(LANE, "nobody hears it")
        async with server(owner, tmp_path):
            await until_heard(owner, lanes, "one")
            (token,) = await tokens(owner)
            async with server(owner, tmp_path):
                await until_heard(owner, lanes, "another in its place")
                assert await tokens(owner) == [token], "it is good for all of them"
                revoked = e.TokenRevoked(token=cast("e.TokenId", token))
                await owner.submit(WORKSPACE_LOG, [Draft(id=clock.new_id(), event=revoked)])
                await until_heard(owner, lanes, "with another token")
                (other,) = await tokens(owner)
                assert other != token
    assert await tokens(owner) == [], "it leaves nothing behind that opens anything"


async def test_what_stands_where_a_server_was_does_not_hurt(owner: LocalWorkspace, tmp_path: Path) -> None:
    (tmp_path / server_file.FILE).write_text("{no server")
    async with lanes_beside(owner.acting_as(identities.runtime("local")), LOG, tmp_path, look_seconds=0.05) as lanes:
        async with server(owner, tmp_path):
            await until_heard(owner, lanes, "one")
        gone = Whereabouts(
            url="http://127.0.0.1:9",
            address="http://127.0.0.1:9",
            port=9,
            pid=1,
            process=this_process(),
            version="0",
            started_at=clock.now(),
        )
        server_file.write(tmp_path, gone)
        async with server(owner, tmp_path):
            await until_heard(owner, lanes, "two")


def test_a_runtime_beside_a_store_needs_no_http_client() -> None:
    """Each of forty would take 8 MB for it."""
    code = (
        "import sys, quire.runs.host.host_process, quire.workspace.remote.remote_lanes, quire.stores.sqlite.sqlite_store;"
        "print([name for name in ('httpx', 'watchfiles', 'litestar') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
