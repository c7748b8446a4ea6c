"""`quire logbook run`."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ....core.errors import Unavailable, answer
from ....core.ids import LogId
from ....core.notebook.logbook_record import run_or_logbook, steps_of, tally_of
from ....formats.terminal_safe import plain
from ....logbooks.run_request import LogbookRequest
from ....logbooks.template_files import Template, path_from
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json
from ..run.papermill_options import Pairs, values_of
from ..screen import terminal_prompter
from ..workspace_command import with_workspace
from .template_verbs import logbook_root, template_named

_NO_VALUES: dict[str, Any] = {"parameters_base64": (), "parameters_yaml": ()}


@click.command("run", cls=Pairs, epilog=EXIT_STATUS)
@click.argument("template")
@click.option("-p", "--parameters", metavar="NAME VALUE", multiple=True, help="Fill a parameter; also NAME=VALUE.")
@click.option("-r", "--parameters_raw", metavar="NAME VALUE", multiple=True, help="The same, taken as text.")
@click.option("-f", "--parameters_file", metavar="FILE", multiple=True, help="Parameters from a YAML or JSON file.")
@click.option("--request", default="", metavar="TEXT", help="What was asked for, in the user's own words: kept whole.")
@click.option("-k", "--kernel", metavar="NAME", help="A Jupyter kernel.  [default: the active environment's Python]")
@click.option("--timeout", metavar="SECONDS", type=click.FloatRange(min=0), help="Stop the whole run after so long.")
@click.option("--execution-timeout", metavar="SECONDS", type=click.FloatRange(min=0), help="Stop a step after so long.")
@click.option("--step-by-step", is_flag=True, help="Lay it out, to be done by you, or by an agent.")
@click.option("--approve-each-step", is_flag=True, help="Propose each step, and wait for somebody's yes.")
@with_workspace
async def run_verb(workspace: Workspace, template: str, as_json: bool, **options: Any) -> int:
    """Run the TEMPLATE of that name, or at that path: its code in order, its prose kept.

    \b
      quire logbook run EXAMPLE_TEMPLATE -p name World --request "Please greet the world"

    Parameters without a value are asked for on a terminal; elsewhere they are refused by name before anything runs. The run is
    recorded as any other (`quire runs`), and its file is rewritten after each step: logbooks/runs/DAY/UUID.md, whose path is
    printed. Cells run in the folder that logbooks/ is in.

    With --step-by-step it becomes a notebook, whose steps are run, changed, skipped or answered: on a terminal you are asked at each;
    elsewhere its name is printed, and an agent or the browser goes on. With --approve-each-step no step is done before somebody has
    accepted it (`quire proposals accept`, or in the browser); agents that work in it have to ask as well.
    """
    root = logbook_root()
    found = template_named(root, template)
    if options["step_by_step"] or options["approve_each_step"]:
        return await _run_by_steps(workspace, found, root, options, as_json=as_json)
    return await _run_headless(workspace, found, root, options, as_json=as_json)


async def _values(options: Mapping[str, Any]) -> dict[str, Any]:
    return await values_of({**options, **_NO_VALUES})


async def _request(template: Template, root: Path, options: Mapping[str, Any]) -> LogbookRequest:
    return LogbookRequest(
        template=template,
        root=root,
        values=await _values(options),
        request=options["request"],
        approve=options["approve_each_step"],
        kernel=options["kernel"],
        timeout=options["timeout"] or None,
        execution_timeout=options["execution_timeout"] or None,
    )


async def _run_by_steps(
    workspace: Workspace, template: Template, root: Path, options: Mapping[str, Any], *, as_json: bool
) -> int:
    from msgspec.structs import replace

    from ....logbooks.approved_run import propose_steps
    from ....logbooks.run_mark import with_prompted
    from ....logbooks.step_run import begin_steps
    from ..auto_runtime import runtimes_beside
    from ..printer import tell
    from .step_prompts import work_through

    ask = terminal_prompter()
    request = await _request(template, root, options)
    request = replace(request, values=with_prompted(template, request.values, ask))
    made = await begin_steps(workspace, request, dt.datetime.now().astimezone())
    file = path_from(Path.cwd(), made.file)
    tell(f"began {made.name} [{made.log}]")
    if options["approve_each_step"]:
        async with runtimes_beside(workspace):
            await propose_steps(workspace, made.log, root, tell)
    elif ask is not None and not as_json:
        await work_through(workspace, made.log, root)
    return await _tell_steps(workspace, made.log, file, as_json=as_json)


async def _tell_steps(workspace: Workspace, log: LogId, file: str, *, as_json: bool) -> int:
    """Say how far a logbook is, and print its file: exit status 1 where a step failed, and all are answered."""
    now = await workspace.read(log)
    steps = steps_of(now)
    run, tally = run_or_logbook(now), tally_of(steps)
    status = run.status if run is not None else "running"
    if as_json:
        print_json({"run": log, "name": now.name, "status": status, "file": file, "tally": tally})
    else:
        told = f"{tally.steps} steps, {tally.open} to do, {tally.deviated} deviated, {tally.skipped} skipped, {tally.failed} failed"
        click.echo(f"{status}: {told}", err=True)
        click.echo(plain(file))
    return int(status == "error")


async def _run_headless(
    workspace: Workspace, template: Template, root: Path, options: Mapping[str, Any], *, as_json: bool
) -> int:
    from ....actors.runtime.run_cell import StopReason
    from ....logbooks.headless_run import plan_logbook, run_logbook
    from ....runs.run_file import ended
    from ..run import run_progress
    from ..run.run_verb import listen, say, status_of

    request = await _request(template, root, options)
    plan = await plan_logbook(request, os.environ, dt.datetime.now().astimezone(), terminal_prompter())
    for warning in plan.run.warnings:
        say(warning)
    stopping = StopReason()
    listen(stopping)
    error, written = None, None
    with contextlib.ExitStack() as closing:
        closing.callback(run_progress.close)
        try:
            outcome, written = await run_logbook(workspace, plan, stopping, run_progress.make({}, plan.run))
        except Unavailable as fault:
            outcome, error = await ended(workspace, plan.run), fault
            if outcome is None:
                raise
    if error is not None:
        say(str(error))
    run_progress.tell(outcome, plan.run, as_json=False) if not as_json else run_progress.close()
    file = path_from(Path.cwd(), written) if written is not None else None
    if as_json:
        print_json({"outcome": outcome, "file": file})
    elif file is not None:
        click.echo(plain(file))
    return status_of(outcome) if error is None else answer(error).exit_status
