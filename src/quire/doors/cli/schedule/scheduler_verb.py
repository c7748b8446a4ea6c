"""`quire scheduler`."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress

import click

from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..files.mirror_verb import folder_of_files
from ..printer import print_json, tell
from ..workspace_command import wait_option, with_workspace


@click.command("scheduler", epilog=EXIT_STATUS)
@click.option("--once", is_flag=True, help="Begin what is due now, and end.")
@wait_option
@with_workspace
async def scheduler_verb(workspace: Workspace, once: bool, as_json: bool) -> None:
    """Begin runs when their schedules are due, until it is ended.

    \b
      quire scheduler

    `quire serve` does the same beside serving. Any number of them may live at once: there is one run for each due time. Runs are processes
    of their own and outlive it. What happens goes to stderr. Ctrl-C or SIGTERM ends it.
    """
    from ....verbs.schedules.run_scheduler import KeepingClock, make_scheduler

    local = workspace.beside_store()
    scheduler = make_scheduler(local, folder_of_files(), tell, KeepingClock(local))
    if once:
        until = await scheduler.look()
        await scheduler.settle()
        if as_json:
            print_json({"next": until.isoformat() if until is not None else None})
        return
    working = asyncio.ensure_future(scheduler.run())
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, working.cancel)
    tell("The scheduler runs; Ctrl-C ends it")
    with suppress(asyncio.CancelledError):
        await working
