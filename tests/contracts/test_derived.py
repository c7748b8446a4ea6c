"""What is derived from logs on every store: verified against them, made anew, and asked about without holding others up."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from quire.core import events as e
from quire.core.errors import Unavailable
from quire.core.events import Draft
from quire.core.ids import ActorId, CellId, LogId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.index import IndexRows
from quire.stores.store import Store
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

LOG = LogId("n1")
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
async def workspace(store: Store) -> LocalWorkspace:
    made = LocalWorkspace(store, MemoryBlobs(), identities.owner())
    await submit(made, e.NotebookCreated(name="sales"), e.CellAdded(cell=CellId("a"), after=None, source="1\0"))
    return made


async def submit(workspace: LocalWorkspace, *events: Any) -> None:
    await workspace.submit(LOG, [Draft(id=new_id(), event=event) for event in events])


async def flaws(workspace: LocalWorkspace) -> list[str]:
    return [found.flaw.what async for found in workspace.verify() if found.flaw is not None]


async def test_an_index_that_was_changed_is_named_and_made_anew(workspace: LocalWorkspace, store: Store) -> None:
    """Rule 1: the log is the only truth."""
    await workspace.query("SELECT 1")
    assert await flaws(workspace) == []
    position = await store.indexed()
    (row,) = (await store.index_rows(LOG)).cells
    forged = tuple("evil()" if value == row[6] else value for value in row)
    assert await store.save_index(IndexRows(cells=[forged]), position, position)
    (what,) = await flaws(workspace)
    assert "the index is not what the log folds to (cells)" in what
    await workspace.forget_snapshots(LOG)
    assert await flaws(workspace) == []
    assert (await store.index_rows(LOG)).cells == [row]


async def test_a_name_in_a_list_that_the_log_does_not_say_is_named_and_corrected(
    workspace: LocalWorkspace, store: Store
) -> None:
    line = await store.info(LOG)
    assert line is not None
    for forged in (
        replace(line, name="costs"),
        replace(line, created_by=identities.SYSTEM),
        replace(line, archived=True),
    ):
        await store.save_line(forged)
        (what,) = await flaws(workspace)
        assert "lists show" in what
        await workspace.forget_snapshots(LOG)
        assert await flaws(workspace) == []
        assert await store.info(LOG) == line


async def test_a_log_that_grows_while_it_is_verified_has_no_flaw(workspace: LocalWorkspace) -> None:
    stopped = asyncio.Event()

    async def rename() -> None:
        number = 0
        while not stopped.is_set():
            number += 1
            await submit(workspace, e.NotebookRenamed(name=f"sales {number}"))

    renaming = asyncio.create_task(rename())
    try:
        for _ in range(5):
            assert await flaws(workspace) == []
    finally:
        stopped.set()
        await renaming


@pytest.mark.parametrize("open_store", ["sqlite", "postgres"], indirect=True)
async def test_ten_endless_queries_delay_nobody_else(workspace: LocalWorkspace, tmp_path: Path) -> None:
    """Whatever a token asks for, it asks one thing at a time, and nobody waits for it."""
    tokens = [await workspace.create_token(ActorId(f"human:reader{number}"), ["read"]) for number in range(10)]
    bearers = [await workspace.bearer(token.secret) for token in tokens]
    asking = [asyncio.create_task(bearer.query(ENDLESS, seconds=600)) for bearer in bearers]
    more = [asyncio.create_task(bearers[0].query(ENDLESS, seconds=600)) for _ in range(20)]
    try:
        async with asyncio.timeout(120):  # far less than one of them takes
            await submit(workspace, e.NotebookRenamed(name="costs"))
            assert (await workspace.read(LOG)).name == "costs"
            assert (await workspace.query("SELECT name FROM notebooks")).rows == (("costs",),)
            assert [entry.seq for entry in await workspace.entries(LOG)] == [1, 2, 3]
        assert not any(task.done() for task in (*asking, *more))
    finally:
        for task in (*asking, *more):
            task.cancel()
        await asyncio.wait((*asking, *more))
    assert all(task.cancelled() for task in (*asking, *more)), "who goes away takes the question along"
    with pytest.raises(Unavailable):
        await bearers[0].query(ENDLESS, seconds=0.05)


async def test_a_query_waits_for_the_one_before_of_the_same_token(workspace: LocalWorkspace) -> None:
    """One at a time per token: the second is answered once the first was stopped."""
    token = await workspace.create_token(ActorId("human:reader"), ["read"])
    bearer = await workspace.bearer(token.secret)
    first = asyncio.create_task(bearer.query(ENDLESS, seconds=0.2))
    second = asyncio.create_task(bearer.query("SELECT count(*) FROM notebooks"))
    with pytest.raises(Unavailable):
        await first
    assert (await second).rows == ((1,),)
