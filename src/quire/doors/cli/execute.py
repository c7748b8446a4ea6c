"""`quire execute`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

import click

from ...core import events as e
from ...core.errors import NotFound
from ...core.events import Entry, ExecutionRequested
from ...core.finding import find_cell
from ...core.ids import ExecutionId, LogId
from ...core.notebook import Execution
from ...core.text import source_hash
from ...files.plain import one_line
from ...workspace.clock import new_id
from ...workspace.workspace import Workspace
from . import EXIT_STATUS
from .cell_output import Printing, print_output
from .output import print_json
from .submitting import submit
from .verb import notebook_argument, with_workspace

PATIENCE_SECONDS = 10.0
"""After so long without anybody who takes it, it is said who could."""
_ENDED = e.ExecutionFinished | e.ExecutionSkipped | e.ExecutionCancelled


@click.command("execute", epilog=EXIT_STATUS)
@notebook_argument
@click.argument("cells", nargs=-1, required=True, metavar="CELL…")
@click.option("--runtime", metavar="NAME", help="Which runtime: its name, id or language.  [default: any]")
@with_workspace
async def execute_verb(
    workspace: Workspace, notebook: str, cells: tuple[str, ...], runtime: str | None, as_json: bool
) -> int:
    """Run CELLs of NOTEBOOK (or of a run that is over) in its living kernel, one after the other, and print what they show.

    \b
      quire execute 01M7GFVPH9 total report

    A cell is an id or its beginning, a name, or a number as `quire show` counts. A server, or `quire runtime`, runs them. It
    stops at the first that does not end well: exit status 1. With --json, one object per line and cell.
    """
    info = await workspace.find(notebook)
    for cell in cells:
        execution = await _executed(workspace, info.log, cell, runtime, as_json=as_json)
        if execution is None:
            return 0
        if as_json:
            print_json(execution)
        else:
            await _show(workspace, execution)
        if execution.state != "ok":
            return 1
    return 0


async def _executed(
    workspace: Workspace, log: LogId, cell: str, runtime: str | None, *, as_json: bool
) -> Execution | None:
    """Ask for a cell, and wait for its end; None when that waits for somebody's yes."""
    cells = list((await workspace.read(log)).live_cells)
    found = cells[find_cell(cells, cell)]
    id = ExecutionId(new_id())
    request = ExecutionRequested(execution=id, cell=found.id, source_hash=source_hash(found.source), runtime=runtime)
    entries = await submit(workspace, log, [request], as_json=as_json)
    if entries is None:
        return None
    seq = await _end_of(workspace, log, id, entries[-1].seq)
    cell_then = (await workspace.read(log, seq)).cells[found.id]
    for each in (cell_then.execution, cell_then.missed):
        if each is not None and each.id == id:
            return each
    raise NotFound(f"Execution {id} ended, and cell {found.id} does not tell of it. Run `quire verify {log}`.")


async def _end_of(workspace: Workspace, log: LogId, id: ExecutionId, since: int) -> int:
    """Wait for the end of an execution, and return its number."""
    waiting = asyncio.ensure_future(_tell_if_nobody_comes(log))
    try:
        async for entry in _entries(workspace, log, since):
            if getattr(entry.event, "execution", None) == id:
                waiting.cancel()
            if isinstance(entry.event, _ENDED) and entry.event.execution == id:
                return entry.seq
    finally:
        waiting.cancel()
    raise NotFound(f"Log {log} came to an end before execution {id} did.")


async def _entries(workspace: Workspace, log: LogId, since: int) -> AsyncIterator[Entry]:
    async for page in workspace.follow(log, since):
        for entry in page:
            yield entry


async def _tell_if_nobody_comes(log: LogId) -> None:
    await asyncio.sleep(PATIENCE_SECONDS)
    told = f"nobody has taken it yet: `quire serve`, or `quire runtime --for {log}`, runs it"
    click.echo(f"quire: {told}; Ctrl-C waits no longer", err=True)


async def _show(workspace: Workspace, execution: Execution) -> None:
    printing = Printing()
    for output in execution.outputs:
        await print_output(workspace, output, printing)
    printing.finish()
    sys.stdout.flush()
    if execution.state != "ok":
        why = execution.why or (f"{execution.fault.ename}: {execution.fault.evalue}" if execution.fault else "")
        click.echo(f"quire: cell {execution.cell} ended as {execution.state}: {one_line(why, 400)}", err=True)
