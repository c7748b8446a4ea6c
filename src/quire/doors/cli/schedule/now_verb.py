"""`quire schedule now`."""

from __future__ import annotations

import click

from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..files.mirror_verb import folder_of_files
from ..printer import print_json, tell
from ..workspace_command import with_workspace


@click.command("now", epilog=EXIT_STATUS)
@click.argument("name")
@click.option("--no-wait", is_flag=True, help="Leave it to a scheduler, and do not wait for the end.")
@with_workspace
async def now_verb(workspace: Workspace, name: str, no_wait: bool, as_json: bool) -> int:
    """Run a schedule once, out of turn, with its own rights and parameters, and wait for the end.

    \b
      quire schedule now fleet

    It begins at once, unless a run of the schedule goes on: then after that. At a server's address it is left to the server's
    scheduler. Exits with 1 if the run does not succeed.
    """
    from ....core.events import Draft, ScheduleAsked
    from ....core.ids import WORKSPACE_LOG, due_run
    from ....core.results import outcome_of
    from ....runs.records.run_snapshot import as_left
    from ....verbs.schedules.follow_run import run_ended
    from ....verbs.schedules.run_scheduler import make_scheduler
    from ....verbs.schedules.schedule_list import find_schedule
    from ....workspace.clock import new_id
    from ....workspace.local import LocalWorkspace

    schedule = await find_schedule(workspace, name)
    (asked,) = await workspace.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=ScheduleAsked(schedule=name))])
    run = due_run(schedule.id, asked.at)
    if no_wait:
        print_json({"schedule": name, "run": run}) if as_json else click.echo(run)
        return 0
    if isinstance(workspace, LocalWorkspace):
        scheduler = make_scheduler(workspace, folder_of_files(), tell)
        await run_ended(workspace, run, name, asked.at, scheduler)
    else:
        await run_ended(workspace, run, name, asked.at)
    outcome = outcome_of(run, await as_left(workspace, run), None)
    if as_json:
        print_json(outcome)
    else:
        click.echo(run)
        click.echo(f"quire: {plain(name)} ended: {outcome.status}", err=True)
    return 0 if outcome.status == "success" else 1
