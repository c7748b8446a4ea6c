"""A runtime beside a live notebook whose database is away for a while: the cell goes on, and nothing of it is lost."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.actors.runtime.live_runtime import ServeOptions, serve
from quire.core import events as e
from quire.core.events import Draft, KnownEvent, Stream
from quire.core.ids import CellId, ExecutionId, LogId
from quire.core.text import source_hash
from quire.kernels.environments import find
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.postgres.postgres_store import PostgresStore
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

from ...conftest import Postgres
from ...journeys.remote_runtime import COUNTING, NUMBERS
from ...kernels.real_kernels import PATIENCE, until

LOG = LogId("01M7GFVPH90000000000000000")
CELL = CellId("count")
SOURCE = COUNTING.partition('name="count"\n')[2].partition("\n# %%")[0]


@pytest.fixture
async def own_postgres() -> AsyncIterator[Postgres]:
    """A server of our own: it is to be stopped."""
    server = await asyncio.to_thread(Postgres)
    yield server
    await asyncio.to_thread(server.stop)


async def say(workspace: LocalWorkspace, *events: KnownEvent) -> None:
    await workspace.submit(LOG, [Draft(id=new_id(), event=event) for event in events])


async def test_a_database_that_is_stopped_while_a_cell_counts_has_every_number_once(
    own_postgres: Postgres, tmp_path: Path
) -> None:
    """Rule 11."""
    workspace = LocalWorkspace(await PostgresStore.open(own_postgres.url), MemoryBlobs())
    await say(workspace, e.NotebookCreated(name="n"), e.CellAdded(cell=CELL, after=None, source=SOURCE))
    spec = find("python", None, cwd=tmp_path, environ={})
    told: list[str] = []
    over = asyncio.Event()
    serving = ServeOptions(log=LOG, spec=spec, cwd=tmp_path, variables=dict(os.environ), spools=tmp_path / "spool")
    runtime = workspace.acting_as(identities.runtime("local"))
    working = asyncio.ensure_future(serve(runtime, serving, over, told.append))
    execution = ExecutionId(new_id())
    await say(workspace, e.ExecutionRequested(execution=execution, cell=CELL, source_hash=source_hash(SOURCE)))
    async for page in workspace.follow(LOG):
        if any(isinstance(entry.event, e.StreamAppended) for entry in page):
            break
    await asyncio.to_thread(own_postgres.control, "stop", "-m", "immediate")
    (tmp_path / "away").touch()
    await until((tmp_path / "said").exists)
    await until(lambda: any("is away" in each for each in told) or working.done())
    await asyncio.to_thread(own_postgres.control, "start")
    (tmp_path / "back").touch()
    async with asyncio.timeout(PATIENCE):
        while (await workspace.read(LOG)).cells[CELL].state == "running":  # noqa: ASYNC110 - of another task
            await asyncio.sleep(0.05)
    over.set()
    await asyncio.wait_for(working, 60)
    found = (await workspace.read(LOG)).cells[CELL].execution
    assert found is not None and found.state == "ok", told
    assert "".join(each.head + each.tail for each in found.outputs if isinstance(each, Stream)) == NUMBERS
    await workspace.close()
