"""`quire run` and `quire cancel`."""

from __future__ import annotations

import asyncio
import base64
import binascii
import datetime as dt
import os
import signal
import sys
from pathlib import Path
from typing import Any, cast

import click

from ...core.errors import BadInput
from ...core.events import Draft, RunCancelRequested, RunFinished
from ...core.outcome import Outcome
from ...core.params import Text
from ...disk import read_text
from ...files.plain import one_line, plain
from ...workspace.clock import new_id
from ...workspace.workspace import Workspace
from . import EXIT_STATUS
from .output import print_json
from .verb import with_workspace

_PAIRS = ("-p", "--parameters", "-r", "--parameters_raw")
_EXIT = {"success": 0, "cancelled": 130}


class _Pairs(click.Command):
    """Takes `-p NAME VALUE` as papermill does, and `-p NAME=VALUE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        made: list[str] = []
        rest = iter(args)
        for word in rest:
            made.append(word)
            if word in _PAIRS:
                name = next(rest, None)
                if name is not None and "=" not in name:
                    value = next(rest, None)
                    name = name if value is None else f"{name}={value}"
                made += [name] if name is not None else []
        return super().parse_args(ctx, made)


@click.command("run", cls=_Pairs, epilog=EXIT_STATUS)
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("output", required=False)
@click.option("-p", "--parameters", metavar="NAME VALUE", multiple=True, help="Fill a parameter; also NAME=VALUE.")
@click.option("-r", "--parameters_raw", metavar="NAME VALUE", multiple=True, help="The same, taken as text.")
@click.option("-f", "--parameters_file", metavar="FILE", multiple=True, help="Parameters from a YAML or JSON file.")
@click.option("-y", "--parameters_yaml", metavar="YAML", multiple=True, help="Parameters as YAML or JSON.")
@click.option("-b", "--parameters_base64", metavar="TEXT", multiple=True, help="Parameters as YAML in Base64.")
@click.option("-k", "--kernel", metavar="NAME", help="A Jupyter kernel.  [default: the active environment's Python]")
@click.option("-l", "--language", metavar="NAME", help="The language, where the notebook does not say it.")
@click.option("--cwd", type=click.Path(path_type=Path, file_okay=False), help="The folder that cells run in.")
@click.option("--start-timeout", type=click.FloatRange(min=0), default=60, help="Seconds for the kernel to start.")
@click.option("--execution-timeout", type=click.FloatRange(min=0), help="Stop a cell after so many seconds.")
@click.option("--timeout", type=click.FloatRange(min=0), help="Stop the whole run after so many seconds.")
@click.option("--report-mode/--no-report-mode", default=False, help="Hide the sources in the output.")
@click.option("--log-output/--no-log-output", default=False, help="Print what cells print, on stderr.")
@click.option("--progress-bar/--no-progress-bar", default=True, help="Say on stderr which cell runs.")
@with_workspace
async def run_verb(workspace: Workspace, source: Path, output: str | None, as_json: bool, **options: Any) -> int:
    """Run a notebook from top to bottom with parameters and keep the record.

    \b
      quire run sales.py runs/october.ipynb -p month 2026-10 -p top=5

    SOURCE is a notebook in any format; `quire params SOURCE` lists what it takes. OUTPUT (.ipynb, .html or .md) may be a
    template: runs/{month}.ipynb. Without it the record stays in the store. Progress goes to stderr; the source is never changed.
    """
    from ...actors.runtime.execution import Stopping
    from ...runs.run import run_file
    from ...runs.wish import Wish, prepare
    from ...workspace.local import LocalWorkspace

    wish = Wish(
        source=source,
        output=output,
        values=_values(options),
        kernel=options["kernel"],
        language=options["language"],
        cwd=options["cwd"],
        start_timeout=options["start_timeout"],
        execution_timeout=options["execution_timeout"],
        timeout=options["timeout"],
        report_mode=options["report_mode"],
    )
    prepared = prepare(wish, os.environ, dt.datetime.now().astimezone())
    for warning in prepared.warnings:
        click.echo(f"quire: {plain(warning)}", err=True)
    stopping = Stopping()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.ask, "cancelled")
    progress = _progress(options, len(prepared.order.sheet.cells))
    outcome = await run_file(cast("LocalWorkspace", workspace), prepared, stopping, progress)
    _tell(outcome, as_json=as_json)
    return _EXIT.get(outcome.status, 1)


def _values(options: dict[str, Any]) -> dict[str, Any]:
    """The values that were given; what stands further to the right in papermill's order has the last word."""
    values: dict[str, Any] = {}
    for text in options["parameters_base64"]:
        values |= _mapping(_decoded(text), "--parameters_base64")
    for name in options["parameters_file"]:
        values |= _mapping(read_text(Path(name)), name)
    for text in options["parameters_yaml"]:
        values |= _mapping(text, "--parameters_yaml")
    for pair in options["parameters"]:
        name, value = _pair(pair)
        values[name] = Text(value)
    for pair in options["parameters_raw"]:
        name, value = _pair(pair)
        values[name] = value
    return values


def _pair(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise BadInput(f"Parameter {given!r} has no value. Write -p NAME VALUE, or -p NAME=VALUE.")
    return name, value


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise BadInput("--parameters_base64 is not YAML in Base64.") from None


def _mapping(text: str, what: str) -> dict[str, Any]:
    import yaml

    try:
        found: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadInput(f"{what} is not YAML: {one_line(str(error), 200)}.") from None
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in cast("dict[Any, Any]", found)):
        raise BadInput(f"{what} is to be names with values, such as {{top: 5}}.")
    return cast("dict[str, Any]", found)


def _progress(options: dict[str, Any], cells: int) -> Any:
    from ...actors.runtime.execution import Ran
    from ...actors.runtime.messages import Message
    from ...core.sheet import SheetCell
    from ...runs.run import Progress

    class Lines(Progress):
        """A line for each cell, and what it prints if somebody wants that."""

        def heard(self, message: Message) -> None:
            if options["log_output"] and message.type == "stream":
                click.echo(plain(str(message.content.get("text", ""))), nl=False, err=True)

        async def cell_ended(self, index: int, cell: SheetCell, ran: Ran) -> None:
            if options["progress_bar"]:
                told = cell.name or one_line(cell.source, 48)
                click.echo(f"{index + 1:>4}/{cells}  {ran.status:<9}  {told}", err=True)

    return Lines()


def _tell(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        print_json(outcome)
        return
    failed = outcome.failed_cell
    if failed is not None:
        click.echo(
            f"quire: cell {failed.index + 1} ({failed.id}): {failed.ename}: {one_line(failed.evalue, 200)}", err=True
        )
        for line in failed.traceback if sys.stderr.isatty() else ():
            click.echo(plain(line), err=True)
    where = f", written to {outcome.output}" if outcome.output else ""
    seconds = f" in {outcome.duration_seconds:.2f} s" if outcome.duration_seconds is not None else ""
    click.echo(f"{outcome.status}{seconds}: run {outcome.run}{where}", err=True)
    for name, value in outcome.scraps.items():
        click.echo(f"{name} = {value!r}")


@click.command("cancel", epilog=EXIT_STATUS)
@click.argument("run")
@click.option("--why", default="", help="For the record.")
@with_workspace
async def cancel_verb(workspace: Workspace, run: str, why: str, as_json: bool) -> None:
    """Ask a RUN to stop, wherever it runs. Its cell is interrupted, and what it showed so far is kept.

    \b
      quire cancel 01M7GFVPH9 --why "wrong month"
    """
    info = await workspace.find(run)
    notebook = await workspace.read(info.log)
    queued = notebook.run is not None and notebook.run.status == "queued"
    event = RunFinished(status="cancelled") if queued else RunCancelRequested(why=why)
    await workspace.submit(info.log, [Draft(id=new_id(), event=event)])
    if as_json:
        print_json({"run": info.log, "status": "cancelled" if queued else "cancelling"})
    else:
        click.echo(f"Run {info.log} {'is cancelled' if queued else 'is asked to stop'}.", err=True)
