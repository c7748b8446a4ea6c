"""`quire restart`."""

from __future__ import annotations

import asyncio

import click

from ....core.errors import Unavailable
from ....core.events import Draft, Entry, KernelRestarted, RestartRequested
from ....core.ids import LogId, RuntimeId
from ....core.notebook.notebook import Notebook
from ....formats.terminal_safe import plain
from ....workspace.clock import new_id
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json
from ..workspace_command import notebook_argument, with_workspace


@click.command("restart", epilog=EXIT_STATUS)
@notebook_argument
@click.option("--runtime", metavar="NAME", help="Only of this runtime: its name, id or language.  [default: all]")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(0, 3600),
    default=60.0,
    show_default=True,
    help="How long to wait for it; 0 waits for nothing.",
)
@with_workspace
async def restart_verb(workspace: Workspace, notebook: str, runtime: str | None, timeout: float, as_json: bool) -> None:
    """Give NOTEBOOK a new kernel: what runs is cancelled, and what cells defined is gone.

    \b
      quire restart sales
      quire restart sales --runtime gpu

    Waits until the new kernel is there. What waits to be run is run in it.
    """
    info = await workspace.find(notebook)
    event = RestartRequested(runtime=runtime)
    (asked,) = await workspace.submit(info.log, [Draft(id=new_id(), event=event)])
    meant = _meant(await workspace.read(info.log), runtime)
    began = await _begun(workspace, info.log, asked.seq, meant, timeout) if timeout else []
    if as_json:
        print_json({"log": info.log, "seq": asked.seq, "restarted": began})
        return
    for each in began:
        click.echo(f"{plain(each)} has a new kernel for {plain(info.name)}", err=True)
    if not timeout:
        click.echo(f"Asked for a new kernel for {plain(info.name)} [{info.log}]", err=True)


def _meant(now: Notebook, wanted: str | None) -> set[RuntimeId]:
    return {each.id for each in now.runtimes.values() if wanted in (None, each.id, each.name, each.language)}


async def _begun(
    workspace: Workspace, log: LogId, since: int, meant: set[RuntimeId], timeout: float
) -> list[RuntimeId]:
    """Wait until those runtimes have begun anew."""
    began: list[RuntimeId] = []
    try:
        async with asyncio.timeout(timeout):
            async for page in workspace.follow(log, since):
                began += [each for entry in page if (each := _restarted(entry)) in meant and each is not None]
                if meant <= set(began):
                    break
    except TimeoutError:
        missing = ", ".join(sorted(meant - set(began)))
        told = f"{missing} did not begin anew within {timeout:g} seconds: it may be gone, or cut off"
        raise Unavailable(f"{told}. `quire runtime --list` tells how it is.") from None
    return began


def _restarted(entry: Entry) -> RuntimeId | None:
    return entry.event.runtime if isinstance(entry.event, KernelRestarted) else None
