"""Runtimes for as long as a verb waits for one: on a store in a folder, where no server starts them.

Not on one that machines share: what others asked for there would be run on whichever machine somebody waits at.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from ...formats.terminal_safe import plain
from ...workspace.local import LocalWorkspace
from ...workspace.protocol import Workspace


def _tell(message: str) -> None:
    import click  # who writes Python comes here too, and needs no command line

    with contextlib.suppress(OSError):  # nobody reads it any more, or the disk is full: no reason to stop
        click.echo(f"quire: {plain(message)}", err=True)


@asynccontextmanager
async def runtimes_beside(workspace: Workspace, tell: Callable[[str], None] = _tell) -> AsyncGenerator[bool]:
    """Start what is needed, meanwhile; what was started stays. Gives whether anybody does, this process or a server."""
    home = folder_beside(workspace)
    if home is None:
        yield False
        return
    from ...connection import FOLDER
    from ...workspace import server_file

    server = server_file.read(home / FOLDER)
    if server is not None and not server.is_gone:
        yield True
        return
    async with _starting(workspace.beside_store(), home, tell):
        yield True


def folder_beside(workspace: Workspace) -> Path | None:
    """The folder that its store is in; None: it is elsewhere."""
    where = workspace.store_address
    return Path(where).parent if where and "://" not in where else None


@asynccontextmanager
async def _starting(workspace: LocalWorkspace, home: Path, tell: Callable[[str], None]) -> AsyncGenerator[None]:
    from ...actors.runtime.start.launcher import start_runtimes
    from ...runs.host.host_launcher import starting_here
    from ...workspace.identity import identities
    from ..background_task import keep_running
    from .settings import read

    settings = read(home, os.environ, {})
    starting = starting_here(
        workspace.store_address,
        home,
        idle_minutes=settings.serve.runtime_idle_minutes,
        most=settings.serve.most_runtimes,
        memory_bytes=settings.runtime.memory_bytes,
        tells_full=False,  # who waits says it
    )
    system = workspace.acting_as(identities.system())
    async with keep_running("Starting runtimes", lambda: start_runtimes(system, starting, tell=tell), tell):
        yield
