"""Submitting over the socket: in the order sent, answered in order, and as over HTTP in everything else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from quire.core import events as e
from quire.core.ids import WORKSPACE_LOG, CellId, LogId
from quire.doors.http.socket import connection_loop
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire import frames

from ...http_server import Server, served
from .sockets import ADA, BOB, LOG, Client, connected, eventually, notebook, recorded, sent, token


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


@pytest.fixture
async def client(workspace: LocalWorkspace, server: Server) -> AsyncIterator[Client]:
    async with connected(server, await token(workspace)) as client:
        yield client


async def answer(client: Client) -> frames.RecordedFrame | frames.FailedFrame:
    while not isinstance(frame := await client.next(), frames.RecordedFrame | frames.FailedFrame):
        pass
    return frame


async def test_submissions_are_recorded_and_answered_in_the_order_they_were_sent(
    workspace: LocalWorkspace, client: Client
) -> None:
    """Each cell stands after the one before: out of order, one of them would be refused."""
    before: CellId | None = None
    for number in range(200):
        cell = CellId(f"c{number}")
        await client.send(frames.Submit(id=f"{number}", log=LOG, drafts=[sent(e.CellAdded(cell=cell, after=before))]))
        before = cell
    for number in range(200):
        told = await answer(client)
        assert isinstance(told, frames.RecordedFrame), told
        assert (told.id, told.entries[0].seq) == (f"{number}", number + 2)
    assert (await workspace.read(LOG)).order == [f"c{number}" for number in range(200)]


async def test_what_is_refused_is_answered_in_its_place_and_the_rest_goes_on(
    workspace: LocalWorkspace, client: Client
) -> None:
    good = e.MetadataSet(values={"x": 1})
    submissions: list[list[dict[str, Any]]] = [
        [sent(good)],
        [sent(e.CellRemoved(cell=CellId("nowhere")))],
        [sent(good), sent(e.CellRemoved(cell=CellId("nowhere")))],
        [],
        [{"id": "d", "event": {"type": "nothing_known"}}],
        [{"id": "d", "event": {"type": "metadata_set", "values": {}, "more": 1}}],
        [{"id": "d"}],
        [sent(good)],
    ]
    for number, drafts in enumerate(submissions):
        await client.send(frames.Submit(id=f"{number}", log=LOG, drafts=drafts))
    answers = [await answer(client) for _ in submissions]
    assert [each.id for each in answers] == [f"{number}" for number in range(len(submissions))]
    kinds = [each.error.kind if isinstance(each, frames.FailedFrame) else "" for each in answers]
    assert kinds == ["", "NotFound", "NotFound", "BadInput", "BadInput", "BadInput", "BadInput", ""]
    assert len(await recorded(workspace)) == 3


async def test_nobody_signs_for_somebody_else(workspace: LocalWorkspace, client: Client) -> None:
    """Rule 3: actor, time and number are the workspace's to say, and so is what it fills."""
    good = sent(e.MetadataSet(values={"x": 1}))
    claim = {"type": "run_claimed", "runtime": "runtime:x", "epoch": 7}
    for forged in (
        {**good, "actor": BOB},
        {**good, "on_behalf_of": BOB},
        {**good, "seq": 9},
        {**good, "at": "2020-01-01T00:00:00.000000Z"},
        {**good, "event": claim},
    ):
        await client.send(frames.Submit(id="forged", log=LOG, drafts=[forged]))
        told = await answer(client)
        assert isinstance(told, frames.FailedFrame), forged
        assert told.error.kind in ("BadInput", "Refused")
    await client.send(frames.Submit(id="true", log=LOG, drafts=[good]))
    told = await answer(client)
    assert isinstance(told, frames.RecordedFrame)
    assert told.entries[0].actor == ADA


async def test_the_same_draft_again_is_answered_with_the_first_event(client: Client) -> None:
    draft = sent(e.MetadataSet(values={"x": 1}))
    for id in ("once", "again"):
        await client.send(frames.Submit(id=id, log=LOG, drafts=[draft]))
    once, again = await answer(client), await answer(client)
    assert isinstance(once, frames.RecordedFrame)
    assert isinstance(again, frames.RecordedFrame)
    assert again.entries == once.entries


async def test_what_the_token_does_not_allow_is_refused(workspace: LocalWorkspace, server: Server) -> None:
    async with connected(server, await token(workspace, BOB, "read", "edit", notebooks=[LOG])) as client:
        for log, event in (
            (LOG, e.PayloadRedacted(seq=1, why="x")),
            (LogId("other"), e.NotebookCreated(name="other")),
            (WORKSPACE_LOG, e.RoleSet(actor=BOB, role="owner")),
        ):
            await client.send(frames.Submit(id="x", log=log, drafts=[sent(event)]))
            told = await answer(client)
            assert isinstance(told, frames.FailedFrame)
            assert told.error.kind == "Refused"


async def test_what_has_to_be_asked_for_becomes_a_proposal_and_is_told_as_one(
    workspace: LocalWorkspace, server: Server
) -> None:
    async with connected(server, await token(workspace, BOB, "read", "edit", asks=["edit"])) as client:
        await client.send(
            frames.Submit(id="x", log=LOG, drafts=[sent(e.CellAdded(cell=CellId("c"), after=None, source="1"))])
        )
        told = await answer(client)
        assert isinstance(told, frames.RecordedFrame)
        assert told.proposed
        assert not (await workspace.read(LOG)).order


async def test_two_clients_that_write_at_once_lose_nothing(workspace: LocalWorkspace, server: Server) -> None:
    secret = await token(workspace)

    async def write(name: str) -> list[int]:
        async with connected(server, secret) as client:
            for number in range(100):
                await client.send(
                    frames.Submit(id=f"{number}", log=LOG, drafts=[sent(e.MetadataSet(values={name: number}))])
                )
            answers = [await answer(client) for _ in range(100)]
        return [entry.seq for each in answers if isinstance(each, frames.RecordedFrame) for entry in each.entries]

    mine, others = await asyncio.gather(write("mine"), write("others"))
    assert sorted(mine + others) == list(range(2, 202))
    assert mine == sorted(mine)
    assert others == sorted(others)


async def test_who_sends_faster_than_is_recorded_has_to_wait(
    workspace: LocalWorkspace, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits on the server is bounded: the rest stays with the sender until there is room."""
    monkeypatch.setattr(connection_loop, "WAITING", 4)
    async with connected(server, await token(workspace)) as client:
        lock = await held_up(workspace)
        text = "x" * 100_000

        async def flood() -> int:
            for number in range(400):
                await client.send(
                    frames.Submit(id=f"{number}", log=LOG, drafts=[sent(e.MetadataSet(values={"text": text}))])
                )
                flooded.append(number)
            return len(flooded)

        flooded: list[int] = []
        flooding = asyncio.create_task(flood())
        await eventually(lambda: _is_still(flooded, flooding), "the sender was held up")
        assert len(flooded) < 400
        lock.release()
        answers = [await answer(client) for _ in range(400)]
        assert await flooding == 400
        assert [each.id for each in answers] == [f"{number}" for number in range(400)]
        assert all(isinstance(each, frames.RecordedFrame) for each in answers)


_before: dict[int, tuple[int, int]] = {}


def _is_still(flooded: list[int], flooding: asyncio.Task[int]) -> bool:
    """Whether nothing has moved in a hundred looks."""
    count, looks = _before.get(id(flooded), (-1, 0))
    _before[id(flooded)] = (len(flooded), looks + 1 if count == len(flooded) else 0)
    return flooding.done() or looks > 100


async def held_up(workspace: LocalWorkspace) -> asyncio.Lock:
    """Nothing is recorded in the log until this is released, as when the disk is slow."""
    lock: asyncio.Lock = workspace._live(LOG)._lock  # pyright: ignore[reportPrivateUsage] - to be slow on purpose
    await lock.acquire()
    return lock
