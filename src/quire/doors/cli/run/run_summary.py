"""What `quire run` says when the run is over: which cell failed and where, what to do next, the results."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator

import click

from ....actors.runtime.run_notebook import RunPlan
from ....core.outcome import FailedCell, Outcome
from ....disk import STANDARD
from ....formats.terminal_safe import one_line, plain
from ....formats.value_text import value_text
from ....runs.locations import is_remote
from ..printer import counted, print_json, spent
from ..screen import coloured

_ARROW = "-->"
_SAID = {
    "timeout": "took too long and was stopped",
    "cancelled": "was running when the run was cancelled",
    "dead_kernel": "lost its kernel",
    "lost": "was running when its runtime was lost",
}


def say(outcome: Outcome, plan: RunPlan, *, as_json: bool) -> None:
    """Say how the run ended, on stderr, and print the results or the outcome."""
    is_terminal = sys.stderr.isatty()
    for line in _lines(outcome, plan, whole=is_terminal):
        # Whoever closed it does not want to know, and the exit status tells all the same.
        with contextlib.suppress(OSError):
            click.echo(line, err=True, color=None if coloured(sys.stderr) else False)
    try:
        if as_json:
            print_json(outcome)
        else:
            # With OUTPUT `-` stdout has the notebook, and nothing else.
            for name, value in outcome.scraps.items():
                click.echo(plain(f"{name} = {value_text(value)}"), err=outcome.output == str(STANDARD))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _lines(outcome: Outcome, plan: RunPlan, *, whole: bool) -> Iterator[str]:
    failed = outcome.failed_cell
    if failed is not None:
        yield f"quire: {_which(failed, plan)} {_what(failed, outcome.status)}"
        yield from _where(failed, whole=whole)
    elif outcome.fault is not None and outcome.fault.ename == "ResultError":
        yield f"quire: {one_line(outcome.fault.evalue, 400)}"
    yield _summary(outcome)
    if outcome.status != "success":
        yield from _next(outcome, plan)
    if plan.keep and outcome.status != "dead_kernel":
        yield from _kept(outcome)


def _which(failed: FailedCell, plan: RunPlan) -> str:
    cells = plan.sheet.cells
    name = next((cell.name for cell in cells if cell.id == failed.id and cell.name), None)
    told = f"{failed.id}, {one_line(name)}" if name is not None else failed.id
    return f"cell {failed.index + 1} of {len(cells)} ({told})"


def _what(failed: FailedCell, status: str) -> str:
    said = one_line(failed.evalue, 400)
    fault = one_line(f"{failed.ename}: {said}" if said else failed.ename, 400)
    if status == "error":
        return f"raised {fault}"
    if not fault:
        return "was next when the run was stopped"
    # How a kernel says that it was interrupted is what had been asked for.
    return _SAID.get(status, status) + (f": {one_line(failed.evalue, 400)}" if failed.ename == "DeadKernel" else "")


def _where(failed: FailedCell, *, whole: bool) -> Iterator[str]:
    """The line that failed; with `whole`, each frame that is not a library's, in which it stands as well."""
    from ....formats.traceback import source_lines, trace

    found = trace(failed.traceback)
    if not whole or not found.frames:
        yield from (f"  {line}" for line in source_lines(failed.source, found.lines))
        return
    for frame in found.frames:
        for line in frame.split("\n"):
            yield click.style(f"  {line}", fg="red") if _ARROW in line[:12] else f"  {line}"
    if found.left_out:
        yield click.style(f"  and {counted(found.left_out, 'frame')} of libraries", dim=True)


def _summary(outcome: Outcome) -> str:
    status = click.style(outcome.status, fg="green" if outcome.status == "success" else "red", bold=True)
    seconds = f" in {spent(outcome.duration_seconds)}" if outcome.duration_seconds is not None else ""
    written = outcome.output if outcome.output_fault is None else None
    where = f", written to {plain(written)}" if written else ""
    return f"{status}{seconds}, {counted(outcome.cells_executed, 'cell')}: run {outcome.run}{where}"


def _next(outcome: Outcome, plan: RunPlan) -> Iterator[str]:
    """What to do now, ready to be copied."""
    failed = outcome.failed_cell
    if failed is not None:
        yield f"  what it showed   quire output {outcome.run} {failed.index + 1}"
    else:
        yield f"  why              quire runs show {outcome.run}"
    if outcome.cells_executed and plan.input_path and plan.input_path != str(STANDARD):
        # With the same parameters; from this cell on if its kernel was to live on, else from the top.
        what = "to go on        " if plan.keep else "to run it again "
        # An address may be shown without what it takes to write there.
        output = outcome.output if outcome.output is not None and not is_remote(outcome.output) else None
        places = " ".join(plain(shlex.quote(each)) for each in (plan.input_path, output) if each is not None)
        yield f"  {what} quire run {places} --resume {outcome.run}"


def _kept(outcome: Outcome) -> Iterator[str]:
    """How to go on in the kernel, which lives: for a day, if nobody uses it."""
    yield f"  to work in it    quire serve, then quire open {outcome.run}"
    yield f"  to pass it on    quire propose {outcome.run}   (what was changed in it, to its source)"
    yield f"  to end it        quire cancel {outcome.run}"
