"""`quire runtime`."""

from __future__ import annotations

import asyncio
import os
import signal
from functools import partial
from pathlib import Path

import click

from ....core.errors import BadInput
from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json, tell
from ..workspace_command import names_of_logs, wait_option, with_workspace

INTERRUPTED = 130


@click.command("runtime", epilog=EXIT_STATUS)
@click.option(
    "--for", "notebook", metavar="NOTEBOOK", shell_complete=names_of_logs, help="Serve this one, from now on."
)
@click.option("--name", metavar="NAME", default="", help="What a request may call it: gpu, cluster.")
@click.option("--language", metavar="LANGUAGE", help="Of its kernels: python, R.  [default: each notebook's own]")
@click.option("--most", metavar="N", type=click.IntRange(1, 100), default=4, show_default=True, help="Kernels at once.")
@click.option(
    "--idle",
    metavar="MINUTES",
    type=float,
    default=30.0,
    show_default=True,
    help="End a kernel after so long without work.",
)
@click.option(
    "--memory", metavar="SIZE", help="How much a kernel may use: 8GB.  [default: QUIRE_MEMORY, else no limit]"
)
@click.option(
    "--list", "lists", is_flag=True, help="List the runtimes of all notebooks, or of NOTEBOOK, and how they are."
)
@click.option("--lease", metavar="SECONDS", type=click.FloatRange(1, 3600), help="How long a claim holds unheard of.")
@wait_option
@click.argument("listed", required=False, metavar="[NOTEBOOK]", shell_complete=names_of_logs)
@with_workspace
async def runtime_verb(
    workspace: Workspace,
    notebook: str | None,
    name: str,
    language: str | None,
    most: int,
    idle: float,
    lease: float | None,
    memory: str | None,
    lists: bool,
    listed: str | None,
    as_json: bool,
) -> int:
    """Run cells of a workspace on this machine, in this folder: wherever something waits for it, until Ctrl-C.

    \b
      export QUIRE_TOKEN=quire_…      made by: quire token new --actor gpu --kind runtime
      quire runtime --at https://notebooks.example.org --name gpu
      quire runtime --list

    It takes what was asked of its name, its actor or its language, and what was asked of nobody in particular. While the
    server is away cells go on; what they show is kept on disk and sent later. What happens goes to stderr; with --json,
    one JSON value per line on stdout. docs/how-to/runtimes.md tells what happens when something breaks.
    """
    if lists:
        from .runtime_list import list_runtimes

        await list_runtimes(workspace, listed, as_json=as_json)
        return 0
    if listed is not None:
        raise BadInput(f"{listed!r} is what --list lists. To serve one notebook: quire runtime --for {listed}")
    from ....runs.host.worker import Offer, offer
    from ..settings import read_runtime

    if not idle > 0:
        raise BadInput(f"--idle {idle:g}: give more than 0 minutes.")
    only = (await workspace.find(notebook)).log if notebook is not None else None
    offered = Offer(
        folder=Path.cwd(),
        name=name,
        language=language,
        only=only,
        most=most,
        idle_seconds=idle * 60,
        lease_seconds=lease,
        where=_server(),
        memory_bytes=read_runtime(Path.cwd(), os.environ, memory).memory_bytes,
        state=_state(workspace),
    )

    def ready(actor: str) -> None:
        if as_json:
            print_json({"ready": True, "actor": actor, "name": name, "folder": str(offered.folder)})
        else:
            click.echo(f"{plain(actor)} runs cells in {plain(str(offered.folder))}; Ctrl-C ends it", err=True)

    ending = _WorkerEnding()
    await offer(workspace, offered, ending.over, partial(tell, as_json=as_json), ready)
    return ending.status


def _state(workspace: Workspace) -> Path | None:
    """Where a server beside the same store says where it is."""
    if not workspace.store_address:
        return None
    from .server_workspace import place_of

    return place_of(click.get_current_context().params.get("at"), make=False).state


def _server() -> str:
    """The address of the server, if it is one."""
    at = click.get_current_context().params.get("at") or ""
    return at if at.partition("://")[0].lower() in ("http", "https") else ""


class _WorkerEnding:
    """What ends it: SIGTERM, or Ctrl-C. Whoever asks twice wants it at once."""

    def __init__(self) -> None:
        self.over, self.status = asyncio.Event(), 0
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._ask, 0)
        loop.add_signal_handler(signal.SIGINT, self._ask, INTERRUPTED)

    def _ask(self, status: int) -> None:
        if self.over.is_set() and status == INTERRUPTED:
            os._exit(INTERRUPTED)  # what could not be sent is on disk
        self.status = self.status if self.over.is_set() else status
        self.over.set()
