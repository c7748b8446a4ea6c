"""`quire run` and `quire cancel`."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ....actors.runtime.retry import OUTAGE_SECONDS
from ....core.errors import BadInput, Unavailable, answer
from ....core.events import Draft, RunCancelRequested, RunFinished
from ....core.results import Outcome
from ....formats.terminal_safe import plain
from ....workspace.clock import new_id
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import print_json
from ..screen import terminal_prompter
from ..workspace_command import at_option, with_workspace
from .papermill_options import LEVELS, Pairs, check_stdout, papermills, values_of

if TYPE_CHECKING:
    from ....actors.runtime.run_cell import StopReason
    from ....actors.runtime.run_notebook import RunObserver, RunPlan
    from ....runs.request import RunRequest

_EXIT = {"success": 0, "cancelled": 130}


@click.command("run", cls=Pairs, epilog=EXIT_STATUS)
@click.argument("source", type=click.Path(allow_dash=True), required=False)
@click.argument("output", required=False)
@papermills
@click.option("--timeout", metavar="SECONDS", type=click.FloatRange(min=0), help="Stop the whole run after so long.")
@click.option("--from", "start", metavar="CELL", help="Run from this cell on: its id, name or number.")
@click.option("--only", metavar="TAG", multiple=True, help="Run only the cells with this tag.")
@click.option("--keep", is_flag=True, help="Leave the kernel alive, to go on in it: with --resume, or as a notebook.")
@click.option(
    "--grace",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    hidden=True,
    help="How long the kernel outlives a client that was killed.  [default: 10]",
)
@click.option(
    "--wait",
    "outage_seconds",
    metavar="SECONDS",
    type=click.FloatRange(0, 86_400),
    default=OUTAGE_SECONDS,
    show_default=True,
    help="How long to wait, while it runs, for a database, server or disk that takes nothing.",
)
@click.option("--resume", metavar="RUN", help="Go on with a run that failed, in its kernel if that still lives.")
@at_option
@json_option
def run_verb(at: str | None, **options: Any) -> int | None:
    """Run a notebook from top to bottom with parameters and keep the record.

    \b
      quire run sales.py runs/october.ipynb -p month 2026-10 -p top=5

    SOURCE is a notebook in any format; `quire params SOURCE` lists what it takes. OUTPUT (.ipynb, .html or .md) may be a
    template: runs/{month}.ipynb. Without it the record stays in the store. `-` is standard input, or standard output. Progress
    goes to stderr; the source is never changed.

    With --resume SOURCE may be left out: it is what the earlier run was of. Cells that succeeded there, and did not
    change, are not run again; parameters that are not given are as they were. Cells tagged parameters always run.
    """
    runs = not options["help_notebook"] and not options["prepare_only"]
    if options["source"] is None and (options["resume"] is None or not runs):
        raise BadInput("There is no notebook to run. Name one: quire run SOURCE [OUTPUT].")
    check_stdout(options)
    if options["help_notebook"]:
        return asyncio.run(_help(**options))
    if options["prepare_only"]:
        return asyncio.run(_prepare_only(**options))
    return _run(at=at, **options)


@with_workspace
async def _run(workspace: Workspace, as_json: bool, **options: Any) -> int:
    from ....actors.runtime.run_cell import StopReason
    from ....runs.request import plan_run
    from ....runs.run_file import ended, run_file
    from . import run_progress

    plan = await plan_run(
        workspace, await _request(options), os.environ, dt.datetime.now().astimezone(), terminal_prompter()
    )
    _tell_start(plan, options)
    stopping = StopReason()
    listen(stopping)
    error = None
    with contextlib.ExitStack() as closing:
        progress = _progress(options, plan, closing)
        try:
            outcome = await run_file(workspace, plan, stopping, progress)
        except Unavailable as fault:
            # The log may tell of it all the same: of a kernel that could not start, for one.
            outcome, error = await ended(workspace, plan), fault
            if outcome is None and stopping.why == "cancelled":
                say(str(fault))
                return _EXIT["cancelled"]
            if outcome is None:
                raise
    if said := str(error or outcome.output_fault or ""):
        say(said)
    run_progress.tell(outcome, plan, as_json)
    return status_of(outcome) if error is None else answer(error).exit_status


def listen(stopping: StopReason) -> None:
    """Come to a clean end when told to: by Ctrl-C, by the system, or because the terminal is gone."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Whoever ran it under nohup wants it to go on.
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stopping.signal)


def status_of(outcome: Outcome) -> int:
    """Return the exit status for how a run ended."""
    if outcome.output_fault is not None and outcome.status == "success":
        return answer(Unavailable("")).exit_status
    return _EXIT.get(outcome.status, 1)


async def _request(options: Mapping[str, Any]) -> RunRequest:
    from ....runs.request import RunRequest

    return RunRequest(
        source=options["source"],
        output=options["output"],
        values=await values_of(options),
        kernel=options["kernel"],
        language=options["language"],
        cwd=options["cwd"],
        start_timeout=options["start_timeout"],
        execution_timeout=options["execution_timeout"] or None,  # 0 is no limit, as papermill has it; here and below
        timeout=options["timeout"] or None,
        report_mode=options["report_mode"],
        inject_input_path=options["inject_input_path"] or options["inject_paths"],
        inject_output_path=options["inject_output_path"] or options["inject_paths"],
        request_save_on_cell_execute=options["request_save_on_cell_execute"],
        autosave_cell_every=options["autosave_cell_every"],
        engine=options["engine"],
        keep=options["keep"],
        start=options["start"],
        only=frozenset(options["only"]),
        resume=options["resume"],
        outage_seconds=options["outage_seconds"],
        **({"grace_seconds": options["grace"]} if options["grace"] is not None else {}),
    )


# ---- Without a run


async def _help(as_json: bool, **options: Any) -> int:
    """papermill's `--help-notebook`: exit status 1 where nothing is declared, as papermill has it."""
    from ....runs.request import read_source
    from .params_verb import tell

    return int(not tell(await read_source(await _request(options)), Path(options["source"]), as_json=as_json))


async def _prepare_only(as_json: bool, **options: Any) -> int:
    from ....runs.api import write_prepared
    from ....runs.request import prepare_only

    if options["output"] is None:
        raise BadInput("--prepare-only writes the notebook with its parameters. Name the OUTPUT to write.")
    filled = await prepare_only(await _request(options), dt.datetime.now().astimezone())
    _warn(filled.warnings, options)
    outcome = await write_prepared(filled)
    if as_json:
        print_json(outcome)
    elif filled.output != "-":
        say(f"written to {filled.output}; nothing was run.")
    return 0


# ---- What is said


def say(text: str) -> None:
    """Tell a person something, on stderr."""
    click.echo(f"quire: {plain(text)}", err=True)


def _warn(warnings: tuple[str, ...], options: Mapping[str, Any]) -> None:
    if LEVELS[options["log_level"]] <= LEVELS["WARNING"]:
        for warning in warnings:
            say(warning)


def _tell_start(plan: RunPlan, options: Mapping[str, Any]) -> None:
    _warn(plan.warnings, options)
    if LEVELS[options["log_level"]] <= LEVELS["DEBUG"]:
        say(f"input {plan.input_path}, output {plan.output or 'only in the store'}, run {plan.log}")
        say(f"kernel {plan.spec.name} ({plan.spec.interpreter or plan.spec.argv[0]}) in {plan.cwd}")


def _progress(options: Mapping[str, Any], plan: RunPlan, closing: contextlib.ExitStack) -> RunObserver:
    """Whoever looks on: a person, and the files that what cells print goes to."""
    from . import run_progress

    closing.callback(run_progress.close)
    view = run_progress.make(options, plan)
    if options["stdout_file"] is None and options["stderr_file"] is None:
        return view
    from ....actors.runtime.run_notebook import RunObservers
    from ....runs.progress import Files, open_file

    names = {name: options[f"{name}_file"] for name in ("stdout", "stderr") if options[f"{name}_file"] is not None}
    files = {name: sys.stdout if file == "-" else open_file(file, closing) for name, file in names.items()}
    return RunObservers([view, Files(plan.secrets, files, view.warn)])


@click.command("cancel", epilog=EXIT_STATUS)
@click.argument("run")
@click.option("--why", default="", help="For the record.")
@with_workspace
async def cancel_verb(workspace: Workspace, run: str, why: str, as_json: bool) -> None:
    """Ask a RUN to stop, wherever it runs. Its cell is interrupted, and what it showed so far is kept.

    \b
      quire cancel 01M7GFVPH9 --why "wrong month"

    Of a run that is over, and whose kernel was left alive (--keep), the kernel is ended.
    """
    from ....runs.resume import end_kept

    info = await workspace.find(run)
    notebook = await workspace.read(info.log)
    if await end_kept(info.log, notebook):
        if as_json:
            print_json({"run": info.log, "status": "kernel ended"})
        else:
            click.echo(f"The kernel of run {info.log} is ended.", err=True)
        return
    queued = notebook.run is not None and notebook.run.status == "queued"
    event = RunFinished(status="cancelled") if queued else RunCancelRequested(why=why)
    await workspace.submit(info.log, [Draft(id=new_id(), event=event)])
    if as_json:
        print_json({"run": info.log, "status": "cancelled" if queued else "cancelling"})
    else:
        click.echo(f"Run {info.log} {'is cancelled' if queued else 'is asked to stop'}.", err=True)
