"""`quire schedule add`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ....core.errors import BadInput
from ....core.values import Json
from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..files.mirror_verb import folder_of_files
from ..printer import print_json
from ..workspace_command import with_workspace


@click.command("add", epilog=EXIT_STATUS)
@click.argument("when", metavar="WHEN")
@click.argument("notebook", metavar="NOTEBOOK")
@click.option("--name", metavar="NAME", help="What it is called.  [default: the notebook's name]")
@click.option("-p", "--parameter", "parameters", metavar="NAME VALUE", nargs=2, multiple=True, help="Fill a parameter.")
@click.option("--output", metavar="PATH", help="The file that each run leaves, inside the workspace's folder.")
@click.option("--timezone", metavar="ZONE", help="Of the times in WHEN: Europe/Zurich.  [default: UTC]")
@click.option(
    "--missed", type=click.Choice(("skip", "once", "all")), help="Times without a scheduler.  [default: once]"
)
@click.option("--overlap", type=click.Choice(("skip", "queue", "cancel")), help="While a run goes on.  [default: skip]")
@click.option("--retries", metavar="N", type=click.IntRange(0, 100), help="Try a run again that failed.  [default: 0]")
@click.option("--retry-wait", metavar="TIME", help="Before the second attempt; then twice as long.  [default: 60s]")
@click.option("--jitter", metavar="TIME", help="Begin up to so much later, so that not all begin at once.")
@click.option("--timeout", metavar="TIME", help="Stop a run after so long.  [default: no limit]")
@click.option("--result", "results", metavar="NAME", multiple=True, help="A run without this result has failed.")
@click.option("--webhook", "webhooks", metavar="URL", multiple=True, help="Tell it of failure and recovery.")
@click.option("--commit", metavar="BRANCH", help="Commit outputs to this branch, as the schedule.")
@click.option("--report", is_flag=True, help="Publish outputs as `quire report` does.")
@click.option("--keep", metavar="TIME", help="How long the kernel of a run lives that failed: 1h.")
@click.option("--ask", "asks", type=click.Choice(("edit",)), multiple=True, help="What its runs only propose.")
@with_workspace
async def add_verb(workspace: Workspace, when: str, notebook: str, as_json: bool, **options: Any) -> None:
    """Run NOTEBOOK by the clock from now on.

    \b
      quire schedule add "0 6 * * *" fleet.py -p run_id '{{date}}' --output 'runs/fleet_{{date}}.ipynb'
      quire schedule add "every 15m" probe.py --timezone Europe/Zurich --webhook https://hooks.example.org/x
      quire schedule add "in 2 hours" report.md

    WHEN is a cron line (five fields, or @daily), `every 15m`, `in 2 hours` or `at 2026-12-01T06:00`. Parameters and the output may have
    {{date}}, {{time}}, {{run_number}} and {{schedule}}; parameters also {{previous.results.NAME}}, with `or 0` behind it for the
    first run. The schedule acts as schedule:NAME for whoever adds it. Prints its name.
    """
    from ....core.events import Draft, ScheduleAdded
    from ....core.ids import WORKSPACE_LOG, check_schedule_name
    from ....core.schedule.timetable import settled
    from ....verbs.schedules.schedule_list import entry_of
    from ....verbs.schedules.schedule_plan import plan_of
    from ....verbs.schedules.sync_schedules import given_scopes
    from ....workspace.clock import new_id

    now = datetime.now(UTC)
    folder = folder_of_files()
    name = check_schedule_name(options["name"] or Path(notebook).stem)
    fields = _fields(settled(when, now), _from_folder(folder, notebook), options)
    event = ScheduleAdded(
        schedule=name, plan=plan_of(name, fields, folder), scopes=given_scopes(workspace), asks=options["asks"]
    )
    await workspace.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=event)])
    entry = await entry_of(workspace, name, (await workspace.directory()).schedules[name], now)
    if as_json:
        print_json(entry)
        return
    click.echo(plain(name))
    from .schedule_verb import local_time

    coming = ", ".join(local_time(each, entry.plan.timezone) for each in entry.next[:3]) or "never again"
    click.echo(f"quire: due {coming} ({entry.plan.timezone}), while `quire serve` or `quire scheduler` runs", err=True)


def _from_folder(folder: Path, notebook: str) -> str:
    """A path as it is typed is one from where we are; recorded it is one from the workspace's folder on."""
    given = Path(notebook)
    return str(given if given.is_absolute() else Path.cwd() / given) if (Path.cwd() / given).exists() else notebook


def _fields(when: str, path: str, options: dict[str, Any]) -> dict[str, Json]:
    """The options as `schedules.yaml` has them."""
    retries = {"times": options["retries"] or 0} | ({"wait": options["retry_wait"]} if options["retry_wait"] else {})
    if options["retry_wait"] and not options["retries"]:
        raise BadInput("--retry-wait is how long to wait before trying again: give --retries as well.")
    fields: dict[str, Json] = {
        "schedule": when,
        "path": path,
        "parameters": {name: _value(text) for name, text in options["parameters"]},
        "output_path": options["output"],
        "retries": retries if options["retries"] else None,
        "results": list(options["results"]),
        "notify": [{"webhook": address} for address in options["webhooks"]],
        "report": options["report"] or None,
    }
    for name in ("timezone", "missed", "overlap", "jitter", "timeout", "commit", "keep"):
        fields[name] = options[name]
    return {name: value for name, value in fields.items() if value not in (None, [], {})}


def _value(text: str) -> Json:
    """A value as it is typed: a number, true, null, a list or an object as JSON has them, else text."""
    import msgspec

    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
