"""A server is killed while many write and follow, and started again: nothing that was acknowledged is lost or doubled."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.errors import Unavailable
from quire.core.events import Draft, Entry
from quire.core.ids import CellId, EventId, LogId
from quire.workspace.clock import new_id
from quire.workspace.remote.remote_workspace import RemoteWorkspace

from .faulty_notebook import DEADLINE_SECONDS
from .server import Folder, Server, free_port

LOG = LogId("01M7GFVPH90000000000000000")
WRITERS, FOLLOWERS = 4, 3


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[Folder]:
    made = Folder(tmp_path)
    yield made
    await asyncio.to_thread(made.close)


class Load:
    """Writers who note what was acknowledged, and followers who note what they saw."""

    def __init__(self, url: str, secret: str) -> None:
        self._url, self._secret = url, secret
        self.acknowledged: list[EventId] = []
        self.seen: list[list[Entry]] = [[] for _ in range(FOLLOWERS)]
        self.refused = 0

    async def write(self, over: asyncio.Event) -> None:
        """Send edits, and each again until somebody says that it is recorded."""
        workspace = await RemoteWorkspace.open(self._url, self._secret)
        try:
            while not over.is_set():
                id = new_id()
                await self._send(workspace, Draft(id=id, event=e.CommentAdded(comment=id, text="load")))  # type: ignore[arg-type]
                self.acknowledged.append(id)
        finally:
            await workspace.close()

    async def _send(self, workspace: RemoteWorkspace, draft: Draft) -> None:
        while True:
            try:
                await workspace.submit(LOG, [draft])
                return
            except Unavailable:
                self.refused += 1
                await asyncio.sleep(0.05)

    async def follow(self, number: int) -> None:
        """See everything, for ever; nobody helps when the connection is lost."""
        workspace = await RemoteWorkspace.open(self._url, self._secret)
        try:
            async for page in workspace.follow(LOG):
                self.seen[number] += page
        finally:
            await workspace.close()

    async def until(self, count: int, writers: Sequence[asyncio.Future[None]]) -> None:
        """Wait until so many are acknowledged; a writer that failed is not waited for."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            while len(self.acknowledged) < count:
                for writer in writers:
                    if writer.done():
                        writer.result()
                await asyncio.sleep(0.01)

    async def until_seen(self, seq: int) -> None:
        async with asyncio.timeout(DEADLINE_SECONDS):
            while any(not seen or seen[-1].seq < seq for seen in self.seen):  # noqa: ASYNC110 - of many tasks
                await asyncio.sleep(0.01)


async def began(folder: Folder) -> tuple[Server, str]:
    # Not the usual port: whoever tests beside this takes that while no server runs here.
    server = await asyncio.to_thread(folder.start, "--port", str(free_port()))
    secret = await asyncio.to_thread(folder.token, "read", "edit", "run")
    workspace = await RemoteWorkspace.open(server.url, secret)
    events = [e.NotebookCreated(name="live"), e.CellAdded(cell=CellId("a"), after=None, source="1")]
    await workspace.submit(LOG, [Draft(id=new_id(), event=event) for event in events])
    await workspace.close()
    return server, secret


@pytest.mark.parametrize(("kills", "between"), [(2, 20), pytest.param(5, 40, marks=pytest.mark.slow)])
async def test_every_acknowledged_event_is_there_once_and_followers_resume_by_themselves(
    folder: Folder, kills: int, between: int
) -> None:
    server, secret = await began(folder)
    load, over = Load(server.url, secret), asyncio.Event()
    followers = [asyncio.ensure_future(load.follow(number)) for number in range(FOLLOWERS)]
    writers = [asyncio.ensure_future(load.write(over)) for _ in range(WRITERS)]
    for _ in range(kills):
        await load.until(len(load.acknowledged) + between, writers)
        await asyncio.to_thread(server.end, signal.SIGKILL)
        server = await asyncio.to_thread(folder.start, "--port", str(server.port))
    await load.until(len(load.acknowledged) + between, writers)
    over.set()
    await asyncio.gather(*writers)
    head = await last(server, secret)
    await load.until_seen(head)
    for follower in followers:
        follower.cancel()
    await asyncio.gather(*followers, return_exceptions=True)

    for seen in load.seen:
        assert [entry.seq for entry in seen] == list(range(1, head + 1)), "without a gap, without a repetition"
    recorded = [entry.id for entry in load.seen[0]]
    assert len(set(load.acknowledged)) == len(load.acknowledged) >= (kills + 1) * between
    assert sorted(recorded[2:]) == sorted(load.acknowledged), "each once, and nothing else"
    assert await asyncio.to_thread(server.end) == 0
    await asyncio.to_thread(folder.verify)


async def last(server: Server, secret: str) -> int:
    workspace = await RemoteWorkspace.open(server.url, secret)
    try:
        return (await workspace.read(LOG)).seq
    finally:
        await workspace.close()
