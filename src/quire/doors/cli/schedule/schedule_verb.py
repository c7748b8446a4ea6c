"""`quire schedule`, and its verbs that look and that stop: list, history, pause, resume, remove."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json, spent, table
from ..workspace_command import with_workspace
from .add_verb import add_verb
from .now_verb import now_verb
from .sync_verb import sync_verb

if TYPE_CHECKING:
    from ....core.events import ScheduleEvent
    from ....verbs.schedules.schedule_list import ScheduleEntry

MARKS = {"success": "+", "queued": ".", "claimed": ".", "running": ".", "cancelled": "-"}
"""How an outcome looks in a row of them; anything else is an x."""


@click.group("schedule", epilog=EXIT_STATUS)
def schedule_verb() -> None:
    """Run notebooks by the clock: add schedules, look at them, stop them.

    \b
      quire schedule add "0 6 * * *" fleet.py -p run_id '{{date}}' --output 'runs/fleet_{{date}}.ipynb'
      quire schedule list

    They run while a scheduler lives: `quire serve` has one, `quire scheduler` is one.
    """


schedule_verb.add_command(add_verb)
schedule_verb.add_command(sync_verb)
schedule_verb.add_command(now_verb)


@schedule_verb.command("list", epilog=EXIT_STATUS)
@click.option("--all", "removed", is_flag=True, help="Also those that were removed.")
@with_workspace
async def list_verb(workspace: Workspace, removed: bool, as_json: bool) -> None:
    """List schedules: when they are due next, and how their last runs ended.

    \b
      quire schedule list

    Times are those of the schedule's zone. A run that succeeded is +, one that failed x, one that was cancelled -, and one
    that goes on a dot; the newest is on the right.
    """
    from ....verbs.schedules.schedule_list import list_schedules

    entries = await list_schedules(workspace, datetime.now(UTC), removed=removed)
    if as_json:
        print_json(entries)
        return
    if not entries:
        click.echo('quire: there are no schedules. `quire schedule add "0 6 * * *" NOTEBOOK` adds one.', err=True)
        return
    columns = ("name", "state", "schedule", "zone", "next", "runs", "notebook")
    click.echo(table(columns, [_row(entry) for entry in entries]))
    for entry in entries:
        if entry.fault is not None:
            click.echo(f"quire: {entry.name}: {plain(entry.fault)}", err=True)


def _row(entry: ScheduleEntry) -> tuple[Any, ...]:
    marks = "".join(MARKS.get(run.status, "x") for run in reversed(entry.last[:12]))
    coming = local_time(entry.next[0], entry.plan.timezone) if entry.next else ""
    return (entry.name, entry.state, entry.plan.when, entry.plan.timezone, coming, marks, entry.plan.path)


def local_time(at: str, zone: str) -> str:
    """Return a moment as the clock of a zone shows it."""
    from ....core.errors import BadInput
    from ....verbs.schedules.time_zone import find_zone

    try:
        return f"{datetime.fromisoformat(at).astimezone(find_zone(zone)):%Y-%m-%d %H:%M}"
    except BadInput:
        return at


@schedule_verb.command("history", epilog=EXIT_STATUS)
@click.argument("name")
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many runs."
)
@with_workspace
async def history_verb(workspace: Workspace, name: str, limit: int, as_json: bool) -> None:
    """List the runs of a schedule, the newest first, with what became of them.

    \b
      quire schedule history fleet

    How a run ended and whether somebody could be told of it are apart: `delivered` has the latter.
    """
    from ....verbs.schedules.schedule_history import history_of

    runs = await history_of(workspace, name, limit)
    if as_json:
        print_json(runs)
        return
    rows = [
        (run.run[:10], run.due[:16].replace("T", " "), run.attempt, run.status, spent(run.seconds), _delivered(run))
        for run in runs
    ]
    click.echo(table(("run", "due (UTC)", "attempt", "status", "took", "delivered"), rows))


def _delivered(run: Any) -> str:
    return ", ".join(f"{each.kind}{'' if each.delivered else ' failed'}" for each in run.deliveries)


@schedule_verb.command("pause", epilog=EXIT_STATUS)
@click.argument("name")
@click.option("--why", metavar="TEXT", default="", help="The reason, for whoever looks at it.")
@with_workspace
async def pause_verb(workspace: Workspace, name: str, why: str, as_json: bool) -> None:
    """Begin no runs of a schedule until it is resumed. What goes on goes on.

    \b
      quire schedule pause fleet --why "the sensors are away"
    """
    from ....core.events import SchedulePaused

    await _say(workspace, SchedulePaused(schedule=name, why=why), "paused", as_json=as_json)


@schedule_verb.command("resume", epilog=EXIT_STATUS)
@click.argument("name")
@with_workspace
async def resume_verb(workspace: Workspace, name: str, as_json: bool) -> None:
    """Let a schedule go on that was paused. What would have been due meanwhile is not run.

    \b
      quire schedule resume fleet
    """
    from ....core.events import ScheduleResumed

    await _say(workspace, ScheduleResumed(schedule=name), "resumed", as_json=as_json)


@schedule_verb.command("remove", epilog=EXIT_STATUS)
@click.argument("name")
@with_workspace
async def remove_verb(workspace: Workspace, name: str, as_json: bool) -> None:
    """Remove a schedule. Its runs stay.

    \b
      quire schedule remove fleet
    """
    from ....core.events import ScheduleRemoved

    await _say(workspace, ScheduleRemoved(schedule=name), "removed", as_json=as_json)


async def _say(workspace: Workspace, event: ScheduleEvent, done: str, *, as_json: bool) -> None:
    from ....core.events import Draft
    from ....core.ids import WORKSPACE_LOG
    from ....workspace.clock import new_id

    (entry,) = await workspace.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=event)])
    if as_json:
        print_json({"schedule": event.schedule, "state": done, "by": entry.actor, "at": entry.at})
    else:
        click.echo(f"Schedule {plain(event.schedule)} is {done}.", err=True)
