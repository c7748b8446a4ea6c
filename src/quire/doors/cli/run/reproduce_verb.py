"""`quire reproduce`."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ....core.params.parameters import Text
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import print_json
from ..screen import terminal_prompter
from ..workspace_command import at_option, names_of_logs, with_workspace
from .papermill_options import Pairs, pair_of
from .run_verb import listen, say

if TYPE_CHECKING:
    from ....actors.runtime.run_notebook import RunPlan
    from ....core.results import Outcome


@click.command("reproduce", cls=Pairs, epilog=EXIT_STATUS)
@click.argument("run", shell_complete=names_of_logs)
@click.option("--with-current-source", is_flag=True, help="Run the source as it is now, with the recorded parameters.")
@click.option("-p", "--parameters", metavar="NAME VALUE", multiple=True, help="Another value; also NAME=VALUE.")
@click.option("-k", "--kernel", metavar="NAME", help="A Jupyter kernel.  [default: as recorded]")
@click.option(
    "--cwd", type=click.Path(path_type=Path, file_okay=False), help="Where cells run.  [default: as recorded]"
)
@click.option("--progress-bar/--no-progress-bar", default=True, help="Say on stderr which cell runs.")
@click.option("--log-output/--no-log-output", default=False, help="Print what cells print, on stderr.")
@click.option("--execution-timeout", metavar="SECONDS", type=click.FloatRange(min=0), help="Stop a cell after so long.")
@click.option("--timeout", metavar="SECONDS", type=click.FloatRange(min=0), help="Stop the whole run after so long.")
@at_option
@json_option
def reproduce_verb(at: str | None, **options: Any) -> int | None:
    """Run RUN again (an id, the beginning of one, or a name), and say what is the same and what is not.

    \b
      quire reproduce 01M7GFVPH9

    The same cells run with the same parameters in the same kernel and, where they are there, the same folder and
    interpreter; nothing but the record is compared with. Every cell and result that differs is named, and what changed around it:
    source, parameters, packages, input files. docs/how-to/reproduce-a-run.md says what counts as the same.

    The new run is recorded, with a link to RUN. Exit status 0: status, cells and results are the same; 1: they are not.
    """
    return _reproduce(at=at, **options)


@with_workspace
async def _reproduce(workspace: Workspace, as_json: bool, **options: Any) -> int:
    from ....actors.runtime.run_cell import StopReason
    from ....runs.reproduce.reproduce_plan import ReproduceRequest, plan_reproduction
    from ....runs.reproduce.reproduction import compare_with_record

    request = ReproduceRequest(
        run=options["run"],
        with_current_source=options["with_current_source"],
        values={name: Text(value) for name, value in map(pair_of, options["parameters"])},
        kernel=options["kernel"],
        cwd=options["cwd"],
        execution_timeout=options["execution_timeout"] or None,
        timeout=options["timeout"] or None,
    )
    now = dt.datetime.now().astimezone()
    planned = await plan_reproduction(workspace, request, os.environ, now, terminal_prompter())
    for warning in planned.plan.warnings:
        say(warning)
    stopping = StopReason()
    listen(stopping)
    outcome = await _run(workspace, planned.plan, stopping, options)
    found, compared = await compare_with_record(workspace, planned, outcome)
    if as_json:
        print_json(found)
    else:
        from .reproduce_lines import reproduction_lines
        from .runs_verb import print_lines

        print_lines(reproduction_lines(found, compared))
    return 130 if outcome.status == "cancelled" and stopping.why == "cancelled" else int(not found.same)


async def _run(workspace: Workspace, plan: RunPlan, stopping: Any, options: dict[str, Any]) -> Outcome:
    from ....runs.run_file import run_file
    from . import run_progress

    with contextlib.ExitStack() as closing:
        closing.callback(run_progress.close)
        return await run_file(workspace, plan, stopping, run_progress.make(options, plan))
