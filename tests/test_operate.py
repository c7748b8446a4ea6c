"""Backup and restore do what docs/how-to/operate.md says: its own lines are run here, while others write."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any, cast

import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import pytest

from quire.connection import connect_store
from quire.core import events as e
from quire.core.events import Draft, Stream
from quire.core.ids import CellId, CommentId, EventId, ExecutionId, LogId
from quire.core.text import source_hash
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from .conftest import Postgres
from .journeys.server import Folder, Server, events, printed, run_cell, until

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "operate.md"
LOG = LogId("01M7GFVPH90000000000000000")
DEADLINE_SECONDS = 120


def lines_of(heading: str, number: int = 0) -> str:
    """What the page tells to type under a heading."""
    section = PAGE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)[number]


def typed(lines: str, folder: Path, **environ: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{environ.pop('PATH', os.environ['PATH'])}"
    more = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")} | {"PATH": path}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", lines], cwd=folder, env=more | environ, capture_output=True, text=True
    )
    assert done.returncode == 0, (lines, done.stdout, done.stderr)


class Writers:
    """Several who write at once, and note what was acknowledged."""

    def __init__(self, workspace: LocalWorkspace) -> None:
        self._workspace = workspace
        self.acknowledged: list[EventId] = []

    async def begin(self) -> None:
        events = [e.NotebookCreated(name="live"), e.CellAdded(cell=CellId("a"), after=None, source="1")]
        await self._workspace.submit(LOG, [Draft(id=new_id(), event=event) for event in events])

    async def write(self) -> None:
        while True:
            id = new_id()
            text = f"{id} " * 20
            await self._workspace.submit(LOG, [Draft(id=id, event=e.CommentAdded(comment=CommentId(id), text=text))])
            self.acknowledged.append(id)

    @contextlib.asynccontextmanager
    async def at_work(self, after: int) -> AsyncGenerator[None]:
        tasks = [asyncio.ensure_future(self.write()) for _ in range(4)]
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                while len(self.acknowledged) < after:  # noqa: ASYNC110 - of several tasks
                    await asyncio.sleep(0.01)
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def all_ids(workspace: LocalWorkspace) -> list[EventId]:
    found: list[EventId] = []
    while page := await workspace.entries(LOG, len(found)):
        found += [entry.id for entry in page]
    return found


async def test_a_backup_while_people_write_has_all_that_was_acknowledged_before(tmp_path: Path) -> None:
    workspace = await connect_store(tmp_path)
    writers = Writers(workspace)
    await writers.begin()
    await put_a_large_output(workspace)
    async with writers.at_work(after=100):
        before = list(writers.acknowledged)
        await asyncio.to_thread(typed, lines_of("Back up"), tmp_path)
        during = len(writers.acknowledged)
    await workspace.close()
    assert during > len(before), "somebody wrote meanwhile"

    await asyncio.to_thread(typed, lines_of("Restore"), tmp_path)
    restored = await connect_store(tmp_path / "restored")
    try:
        ids = await all_ids(restored)
        assert set(before) <= set(ids), "every event that was acknowledged before"
        assert len(ids) == len(set(ids))
        (blob,) = [each async for each in blobs_of(restored)]
        assert len(blob) == 200_000
        assert ids == (await all_ids_of(tmp_path))[: len(ids)], "and nothing but what the log had"
    finally:
        await restored.close()
    for folder in (tmp_path / "backup", tmp_path / "restored" / ".quire"):
        assert folder.stat().st_mode & 0o077 == 0, "nobody else may read it"


async def all_ids_of(folder: Path) -> list[EventId]:
    workspace = await connect_store(folder)
    try:
        return await all_ids(workspace)
    finally:
        await workspace.close()


async def put_a_large_output(workspace: LocalWorkspace) -> None:
    """A text that is too long for the log, so that a blob has it."""
    ref = await workspace.put_blob(b"x" * 200_000, "text/plain")
    output = Stream(name="stdout", head="x" * 10, omitted=199_980, tail="x" * 10, blob=ref)
    now = await workspace.read(LOG)
    event = e.OutputsImported(
        execution=ExecutionId(new_id()),
        cell=CellId("a"),
        source_hash=source_hash(now.cells[CellId("a")].source),
        outputs=(output,),
    )
    await workspace.submit(LOG, [Draft(id=new_id(), event=event)])


async def blobs_of(workspace: LocalWorkspace) -> AsyncIterator[bytes]:
    execution = (await workspace.read(LOG)).cells[CellId("a")].execution
    assert execution is not None
    for output in execution.outputs:
        assert isinstance(output, Stream) and output.blob is not None
        yield b"".join([piece async for piece in workspace.open_blob(output.blob.hash)])


@pytest.mark.slow  # the same as above, with the tools of PostgreSQL
async def test_a_database_is_dumped_and_restored_while_people_write(tmp_path: Path, postgres: Postgres) -> None:
    source, target = await database(postgres, "operate"), await database(postgres, "restored")
    os.environ["QUIRE_BLOBS"] = str(tmp_path / "blobs")
    try:
        workspace = await connect_store(source)
        writers = Writers(workspace)
        await writers.begin()
        path = f"{postgres.tools}{os.pathsep}{os.environ['PATH']}"
        async with writers.at_work(after=100):
            before = list(writers.acknowledged)
            await asyncio.to_thread(typed, lines_of("PostgreSQL"), tmp_path, QUIRE_URL=source, PATH=path)
        await workspace.close()
        await asyncio.to_thread(
            typed,
            lines_of("PostgreSQL", 1),
            tmp_path,
            RESTORED_URL=target,
            PATH=path,
            QUIRE_BLOBS=str(tmp_path / "blobs"),
        )
        restored = await connect_store(target)
        assert set(before) <= set(await all_ids(restored))
        assert (await restored.query("select count(*) from notebooks")).rows == ((1,),)
        await restored.close()
    finally:
        del os.environ["QUIRE_BLOBS"]


async def database(postgres: Postgres, name: str) -> str:
    connection = await postgres.connect()
    await connection.execute(f"DROP DATABASE IF EXISTS {name}")
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    return postgres.url.replace("/postgres?", f"/{name}?")


async def test_two_servers_on_one_database_show_the_same(tmp_path: Path, postgres: Postgres) -> None:
    url = await database(postgres, "servers")
    folders = [Folder(tmp_path / name) for name in ("one", "two")]
    try:
        servers: list[Server] = []
        for folder in folders:
            folder.path.mkdir()
            folder.environ |= {"QUIRE_URL": url, "QUIRE_BLOBS": str(tmp_path / "blobs")}
            servers.append(await asyncio.to_thread(folder.start))
        one, two = servers
        words = ("--actor", "ada", "--kind", "human", "--scope", "read,edit,run", "--json")
        token: str = (await asyncio.to_thread(folders[0].quire, "token", "new", *words))["secret"]
        log = await asyncio.to_thread(use_both, one, two, token)
        os.kill(await process_of(url, log), signal.SIGTERM)
        await asyncio.to_thread(wait_for_its_end, one, token, log)
        assert [await asyncio.to_thread(server.end) for server in servers] == [0, 0]
        assert not any("failed" in folder.printed for folder in folders)
    finally:
        for folder in folders:
            await asyncio.to_thread(folder.close)


def use_both(one: Server, two: Server, token: str) -> str:
    """Make a notebook at the one and run it at the other: either may start the runtime, and one does."""
    with one.client(token) as first, two.client(token) as second:
        cells = [{"source": "print(6 * 7)", "name": "answer"}]
        log = first.post("/api/notebooks", json={"name": "shared", "cells": cells}).json()["log"]
        assert second.get(f"/api/notebooks/{log}").json()["name"] == "shared"
        assert printed(run_cell(second, log, "answer")) == "42\n"
        assert printed(run_cell(first, log, "answer")) == "42\n"
        assert len(events(first, log, "runtime_attached")) == 1
        return log


async def process_of(url: str, log: str) -> int:
    """The process that serves a notebook, by what it holds."""
    connection = await cast("Any", asyncpg).connect(url)
    try:
        holder = await connection.fetchval("SELECT holder FROM quire.leases WHERE name = $1", f"hold:runtime:{log}")
    finally:
        await connection.close()
    return int(holder.split("-")[2])


def wait_for_its_end(server: Server, token: str, log: str) -> None:
    with server.client(token) as client:
        until(lambda: events(client, log, "runtime_detached") or None, "the runtime does not end")
