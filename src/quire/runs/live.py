"""A runtime for a live notebook, as a process: `python -m quire.runs.live LOG`, started by actors/runtime/starting.

It reads its assignment from standard input, serves that notebook in the environment that a
run of it would have, and ends when nothing has happened for a while, when it is told to
(SIGTERM), or when another one holds the notebook. What keeps it from starting is told where
people look: in the cells that wait.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec

from ..actors.runtime.environments import find
from ..actors.runtime.serving import Serving, serve
from ..actors.runtime.starting import LOCAL, Assignment, hold_name, skip_waiting
from ..connect import connect_store
from ..core.errors import QuireError, Unavailable
from ..core.exchange import sheet_of
from ..core.notebook import Notebook
from ..kernel import startup_source
from ..workspace import access
from ..workspace.holders import this_process
from ..workspace.holds import Hold
from ..workspace.leases import LEASE_SECONDS
from ..workspace.local import LocalWorkspace
from ..workspace.workspace import Workspace
from .asking import provide

RENEW_SECONDS = LEASE_SECONDS / 3
"""How often it says that it still serves: two may be late before it is taken for gone."""


async def serve_live(runtime: LocalWorkspace, told: Assignment, over: asyncio.Event) -> None:
    """Serve the notebook until `over`, or until nothing happens in it any more."""
    async with _held(runtime, told, over) as is_ours:
        if not is_ours:
            say(f"Another runtime serves {told.log}")
            return
        try:
            async with _alongside(_quiet(runtime, told, over)):
                await serve(runtime, await _serving(runtime, told), over)
        except QuireError as error:
            say(str(error))
            await skip_waiting(runtime, told.log, str(error))


async def _serving(runtime: Workspace, told: Assignment) -> Serving:
    """What a run of the notebook would have around it."""
    notebook = await runtime.read(told.log)
    folder, sheet = _folder(notebook, Path(told.folder)), sheet_of(notebook, {})
    kernelspec: Any = sheet.metadata.get("kernelspec")
    preferred = cast("dict[str, Any]", kernelspec).get("name") if isinstance(kernelspec, dict) else None
    spec = find(sheet.language, None, cwd=folder, environ=os.environ, preferred=preferred)
    provided = provide(notebook.name, sheet, spec, folder, os.environ, None)
    for warning in provided.warnings:
        say(warning)
    return Serving(
        log=told.log,
        spec=spec,
        cwd=folder,
        variables=provided.env,
        name=LOCAL,
        secrets=provided.secrets,
        startup=startup_source() if spec.language == "python" else "",
    )


def _folder(notebook: Notebook, workspace: Path) -> Path:
    """Where the notebook works: beside its file, if that is a place in the workspace."""
    beside = (workspace / notebook.binding.path).parent if notebook.binding is not None else workspace
    # The path is what somebody said who may edit: it is not to lead anywhere else.
    is_inside = beside.resolve().is_relative_to(workspace.resolve())
    return beside if is_inside and beside.is_dir() else workspace


async def _quiet(runtime: Workspace, told: Assignment, over: asyncio.Event) -> None:
    """Say that it is enough once nothing has happened for so long, and nothing runs or waits."""
    loop, seen = asyncio.get_running_loop(), _Seen()
    async with _alongside(seen.follow(runtime, told)):
        while True:
            await asyncio.sleep(max(seen.last + told.idle_seconds - loop.time(), 0))
            if (await runtime.read(told.log)).executions:
                seen.last = loop.time()
            elif seen.last + told.idle_seconds <= loop.time():
                say(f"Nothing happened in {told.idle_seconds / 60:g} minutes")
                over.set()
                return


class _Seen:
    """When something happened last."""

    def __init__(self) -> None:
        self.last = asyncio.get_running_loop().time()

    async def follow(self, runtime: Workspace, told: Assignment) -> None:
        async for _ in runtime.follow(told.log):
            self.last = asyncio.get_running_loop().time()


# ---- One per notebook


@asynccontextmanager
async def _held(runtime: LocalWorkspace, told: Assignment, over: asyncio.Event) -> AsyncGenerator[bool]:
    # It is Quire's own business who serves: a runtime's rights end at its notebook.
    system = runtime.acting_as(access.system())
    hold = await system.hold(hold_name(told.log), LEASE_SECONDS)
    if hold is None:
        yield False
        return
    try:
        async with _alongside(_renew(system, hold, over)):
            yield True
    finally:
        await system.let_go(hold)


async def _renew(system: LocalWorkspace, hold: Hold, over: asyncio.Event) -> None:
    while True:
        await asyncio.sleep(RENEW_SECONDS)
        try:
            if await system.renew_hold(hold, LEASE_SECONDS) is None:
                say("This process stood still for so long that the notebook was given to another runtime")
                over.set()
                return
        except Unavailable:
            continue  # a store that is away may be back before the hold runs out


@asynccontextmanager
async def _alongside(work: Any) -> AsyncGenerator[None]:
    """Do something beside, for as long as this takes."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


# ---- The process


def say(message: str) -> None:
    """A line into the log of the process, which is its standard error."""
    sys.stderr.write(f"quire: {message}\n")
    sys.stderr.flush()


async def main(told: Assignment) -> None:
    """Serve, and let go of everything."""
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    workspace = await connect_store(told.where, access.runtime(this_process()))
    try:
        await serve_live(workspace, told, over)
    finally:
        await workspace.close()


if __name__ == "__main__":
    try:
        asyncio.run(main(msgspec.json.decode(sys.stdin.buffer.read(), type=Assignment)))
    except QuireError as error:
        say(str(error))
        sys.exit(4)
