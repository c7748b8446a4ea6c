"""`GET /health` answers soon, whatever the store does, and is well only when something can be recorded."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from quire.core import events as e
from quire.core.errors import Unavailable
from quire.core.events import Draft
from quire.core.ids import LogId
from quire.doors.http.server.store_probe import Pulse
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from ...http_server import served

SHORT = 0.2


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[LocalWorkspace]:
    made = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs(), write_seconds=SHORT)
    yield made
    await made.close()


@contextlib.contextmanager
def locked(path: Path):
    """Another process, as it were, that has begun to write and does not end."""
    with contextlib.closing(sqlite3.connect(path / "quire.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


async def test_a_store_that_hangs_is_told_soon_and_one_that_is_back_is_well(
    workspace: LocalWorkspace, tmp_path: Path
) -> None:
    clock = iter(range(0, 10_000_000, 2)).__next__  # every look is later than an answer counts
    pulse = Pulse(SHORT, clock)
    await pulse.check(workspace)
    with locked(tmp_path):
        for _ in range(3):  # however many ask, one question waits
            with pytest.raises(Unavailable, match=r"has not answered for [0-9]+ s: it hangs, or another process"):
                await pulse.check(workspace)
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(Unavailable):
                await pulse.check(workspace)
                break


async def test_a_server_says_that_its_store_hangs_long_before_the_store_does(tmp_path: Path) -> None:
    """Whoever watches servers asks with a short timeout: no answer would look like a server that is gone."""
    workspace = LocalWorkspace(SqliteStore(tmp_path / "quire.db"), MemoryBlobs())  # it gives a write a minute
    await workspace.submit(LogId("n"), [Draft(id=new_id(), event=e.NotebookCreated(name="n"))])
    async with served(workspace) as server, httpx.AsyncClient(base_url=server.url, timeout=90) as client:
        with locked(tmp_path):
            answer = await client.get("/health")
        assert answer.status_code == 503
        assert re.search("has not answered for [0-9] s: it hangs", answer.text), answer.text
    await workspace.close()


async def test_a_write_to_a_store_that_hangs_ends_with_a_reason_and_can_be_sent_again(
    workspace: LocalWorkspace, tmp_path: Path
) -> None:
    """It is recorded once, whether or not it came through the first time."""
    log, draft = LogId("n"), Draft(id=new_id(), event=e.NotebookCreated(name="n"))
    with locked(tmp_path), pytest.raises(Unavailable, match=f"did not answer for {SHORT} s"):
        await workspace.submit(log, [draft])
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(Unavailable):
                (entry,) = await workspace.submit(log, [draft])
                break
    assert entry.seq == 1 and [each.id for each in await workspace.entries(log)] == [draft.id]
