"""Runtimes for as long as a verb waits for one: on a store in a folder, where no server starts them.

Not on one that machines share: what others asked for there would be run on whichever machine somebody waits at.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import click

from ...files.plain import plain
from ...workspace.local import LocalWorkspace
from ...workspace.workspace import Workspace


@asynccontextmanager
async def runtimes_beside(workspace: Workspace) -> AsyncGenerator[bool]:
    """Start what is needed, meanwhile; what was started stays. Gives whether anybody does, this process or a server."""
    home = _home(workspace)
    if home is None or not isinstance(workspace, LocalWorkspace):
        yield False
        return
    from ...connect import FOLDER
    from ...workspace import whereabouts

    server = whereabouts.read(home / FOLDER)
    if server is not None and not server.is_gone:
        yield True
        return
    async with _starting(workspace, home):
        yield True


def _home(workspace: Workspace) -> Path | None:
    """The folder that its store is in; None: it is elsewhere."""
    where = workspace.where if isinstance(workspace, LocalWorkspace) else ""
    return Path(where).parent if where and "://" not in where else None


@asynccontextmanager
async def _starting(workspace: LocalWorkspace, home: Path) -> AsyncGenerator[None]:
    from ...actors.runtime.starting import start_runtimes
    from ...runs.starting_here import starting_here
    from ...workspace import access
    from ..alongside import alongside
    from .settings import read

    settings = read(home, os.environ, {})
    starting = starting_here(
        workspace.where,
        home,
        idle_minutes=settings.serve.runtime_idle_minutes,
        most=settings.serve.most_runtimes,
        memory_bytes=settings.runtime.memory_bytes,
        tells_full=False,  # who waits says it
    )
    system = workspace.acting_as(access.system())
    async with alongside("Starting runtimes", lambda: start_runtimes(system, starting, tell=_tell), _tell):
        yield


def _tell(message: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads it any more, or the disk is full: no reason to stop
        click.echo(f"quire: {plain(message)}", err=True)
