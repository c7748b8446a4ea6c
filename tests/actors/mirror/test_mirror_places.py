"""The same mirror where the log is in PostgreSQL, and where others change the notebook through the HTTP API (rule 13)."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx
import msgspec
import pytest
from hypothesis import given, settings

from quire.core import codec
from quire.core.events import Entry, KnownEvent
from quire.core.ids import ActorId
from quire.stores.blobs.folder_blobs import FolderBlobs
from quire.stores.postgres.postgres_store import PostgresStore
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from ...conftest import Postgres
from ...http_server import served
from .mirror_desk import Desk, until
from .test_mirror_interleaved import DRAWN, Play, Step, steps

IN_PROCESS = ("agent",)
"""What needs a folder that another process can open."""


# ---- PostgreSQL


async def on(server: Postgres, schema: str, folder: Path) -> LocalWorkspace:
    """A workspace of that schema, as each server of a team opens it."""
    store = await PostgresStore.open(server.url, schema=schema)
    return LocalWorkspace(store, FolderBlobs(folder / "blobs"))


@asynccontextmanager
async def two_servers(server: Postgres, folder: Path) -> AsyncGenerator[tuple[Desk, LocalWorkspace]]:
    """A notebook in PostgreSQL with a mirror, and the workspace of another server on the same folder."""
    async with server.schema() as schema:
        (folder / "files").mkdir()
        desk = Desk(folder / "files", "sales.py", await on(server, schema, folder))
        other = await on(server, schema, folder)
        await desk.write("a = 1", "b = 2", "c = 3")
        await desk.start()
        await desk.agree("a = 1", "b = 2", "c = 3")
        try:
            yield desk, other
        finally:
            await desk.close()
            await other.close()


@pytest.fixture
async def pair(postgres: Postgres, tmp_path: Path) -> AsyncIterator[tuple[Desk, LocalWorkspace]]:
    async with two_servers(postgres, tmp_path) as pair:
        yield pair


async def test_both_sides_follow_each_other_on_postgresql(pair: tuple[Desk, LocalWorkspace]) -> None:
    desk, _ = pair
    seq = (await desk.notebook()).seq
    await desk.edit(0, "a = 10")
    await desk.agree("a = 10", "b = 2", "c = 3")
    desk.rewrite("a = 10", "b = 2", "c = 30")
    await desk.agree("a = 10", "b = 2", "c = 30")
    assert await desk.types(seq) == ["SourceEdited", "FileMerged", "FileMerged"]


async def test_two_servers_on_postgresql_do_not_fight(pair: tuple[Desk, LocalWorkspace]) -> None:
    desk, other = pair
    await desk.start(every=True, workspace=other)
    seq = (await desk.notebook()).seq
    await desk.edit(1, "b = 20")
    await desk.agree("a = 1", "b = 20", "c = 3")
    desk.rewrite("a = 1", "b = 20", "c = 30")
    await desk.agree("a = 1", "b = 20", "c = 30")
    await desk.edit(0, "a = 10")
    await desk.agree("a = 10", "b = 20", "c = 30")
    assert await desk.types(seq) == ["SourceEdited", "FileMerged", "FileMerged", "SourceEdited", "FileMerged"]


async def test_a_conflict_on_postgresql_keeps_both_and_ends_when_it_is_decided(
    pair: tuple[Desk, LocalWorkspace],
) -> None:
    desk, other = pair
    await desk.stop()
    await desk.edit(1, "b = 'log'")
    desk.rewrite("a = 1", "b = 'file'", "c = 3")
    await desk.start(workspace=other)
    await desk.agree("a = 1", "b = 'log'", "c = 3")
    await desk.conflicts_are(("b = 'log'", "b = 'file'"))
    desk.rewrite("a = 1", "b = 'file'", "c = 3")
    await desk.agree("a = 1", "b = 'file'", "c = 3")
    await desk.conflicts_are()


@pytest.mark.slow
def test_whatever_happens_on_postgresql_nothing_is_lost_and_it_comes_to_rest(postgres: Postgres) -> None:
    @asynccontextmanager
    async def workspace(folder: Path) -> AsyncGenerator[LocalWorkspace]:
        async with postgres.schema() as schema:
            yield await on(postgres, schema, folder)

    _played("sales.py", workspace, Desk)


# ---- The HTTP API


class OverHttp(Desk):
    """A desk at which everything that is said goes through a server, with the token of an agent."""

    url = secret = ""

    async def say(self, *events: KnownEvent) -> list[Entry]:
        if not self.secret:
            return await super().say(*events)
        body = {"drafts": [{"id": new_id(), "event": msgspec.json.decode(codec.encode(event))} for event in events]}
        head = {"Authorization": f"Bearer {self.secret}"}
        async with httpx.AsyncClient(base_url=self.url, headers=head, timeout=30) as client:
            answer = await client.post(f"/api/logs/{self.log}/events", json=body)
        assert answer.status_code == 200, answer.text
        last = answer.json()["entries"][-1]["seq"]
        return await self.workspace.entries(self.log, last - len(events), last)


@asynccontextmanager
async def serving(desk: OverHttp) -> AsyncGenerator[None]:
    """A server on the desk's workspace, and a token for what is said from now on."""
    token = await desk.workspace.create_token(ActorId("agent:claude"), ("read", "edit"))
    async with served(desk.workspace) as server:
        desk.url, desk.secret = server.url, token.secret
        yield
        desk.secret = ""


async def test_what_arrives_through_the_api_is_in_the_file_and_the_other_way_round(tmp_path: Path) -> None:
    desk = OverHttp(tmp_path, "sales.ipynb")
    await desk.write("a = 1", "b = 2")
    await desk.start()
    async with serving(desk):
        await desk.edit(0, "a = 10")
        await desk.agree("a = 10", "b = 2")
        desk.rewrite("a = 10", "b = 20")
        await desk.agree("a = 10", "b = 20")
        async with httpx.AsyncClient(base_url=desk.url, headers={"Authorization": f"Bearer {desk.secret}"}) as client:
            page = (await client.get(f"/api/logs/{desk.log}/events")).json()

    async def actor() -> object:
        (cell, _) = await desk.cells()
        return cell.edited_by

    await until(actor, "agent:claude")
    assert "file_merged" in str(page)
    await desk.close()


@pytest.mark.slow
def test_whatever_happens_through_the_api_nothing_is_lost_and_it_comes_to_rest() -> None:
    _played("sales.ipynb", None, OverHttp)


# ---- Playing


def _played(
    path: str,
    workspace: Callable[[Path], AbstractAsyncContextManager[LocalWorkspace]] | None,
    kind: type[Desk],
) -> None:
    @settings(max_examples=5, phases=DRAWN)
    @given(steps)
    def played(given: list[Step]) -> None:
        asyncio.run(_play(path, [step for step in given if step[0] not in IN_PROCESS], workspace, kind))

    played()


async def _play(
    path: str,
    given: list[Step],
    workspace: Callable[[Path], AbstractAsyncContextManager[LocalWorkspace]] | None,
    kind: type[Desk],
) -> None:
    with tempfile.TemporaryDirectory(prefix="quire-mirror-") as name:
        folder = Path(name) / "files"
        folder.mkdir()
        if workspace is None:
            await _through(Play(kind(folder, path)), given)
            return
        async with workspace(Path(name)) as opened:
            await _through(Play(kind(folder, path, opened)), given)


async def _through(one: Play, given: list[Step]) -> None:
    try:
        await one.begin()
        if isinstance(one.desk, OverHttp):
            async with serving(one.desk):
                await one.all_of(given)
        else:
            await one.all_of(given)
    finally:
        await one.desk.close()
