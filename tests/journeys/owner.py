"""What the owner of a workspace's files does to them in this process: a `quire` of its own takes a third of a second."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from quire.connection import connect_store
from quire.core.events import Scope
from quire.core.ids import ActorId, LogId
from quire.doors.transfer import import_notebook
from quire.runs.records.run_records import RunRecord, record_of
from quire.runs.records.run_snapshot import as_left
from quire.workspace.local import LocalWorkspace

T = TypeVar("T")


def owned(folder: Path, work: Callable[[LocalWorkspace], Awaitable[T]]) -> T:
    """Open the workspace in a folder, do some work in it and close it. Also where a loop runs: in a thread of its own."""

    async def opened() -> T:
        workspace = await connect_store(folder)
        try:
            return await work(workspace)
        finally:
            await workspace.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(opened())).result()


def new_token(
    folder: Path,
    actor: str,
    *scopes: Scope,
    behalf: str | None = None,
    asks: tuple[Scope, ...] = (),
    notebooks: tuple[str, ...] = (),
) -> str:
    """The secret of a new token, as `quire token new` makes it."""

    async def made(workspace: LocalWorkspace) -> str:
        logs = [LogId(log) for log in notebooks] or None
        on_behalf_of = ActorId(behalf) if behalf is not None else None
        token = await workspace.create_token(
            ActorId(actor), scopes, on_behalf_of=on_behalf_of, notebooks=logs, asks=asks
        )
        return token.secret

    return owned(folder, made)


def imported(folder: Path, file: str, name: str | None = None) -> str:
    """The log of a notebook that was taken in from a file, as `quire import` takes it in."""

    async def taken(workspace: LocalWorkspace) -> str:
        path = folder / file
        return (await import_notebook(workspace, path.read_text(), file, name or path.stem)).log

    return owned(folder, taken)


def run_record(folder: Path, run: str) -> RunRecord:
    """What is known of a run, as `quire runs show` tells it."""

    async def read(workspace: LocalWorkspace) -> RunRecord:
        log = (await workspace.find(run)).log
        now = await workspace.read(log)
        return record_of(log, await as_left(workspace, log, now), now)

    return owned(folder, read)


def check_chains(folder: Path) -> None:
    """Every log is what was recorded, as `quire verify` checks it."""

    async def verified(workspace: LocalWorkspace) -> list[object]:
        return [each.flaw async for each in workspace.verify() if each.flaw is not None]

    assert owned(folder, verified) == []
