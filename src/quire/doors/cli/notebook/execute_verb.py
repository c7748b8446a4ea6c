"""`quire execute`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Sequence
from math import inf

import click

from ....core import events as e
from ....core.errors import BadInput, NotFound, QuireError
from ....core.events import Entry, ExecutionRequested, ScratchRequested
from ....core.ids import ExecutionId, LogId, new_cell_id
from ....core.notebook.cell_lookup import find_cell
from ....core.notebook.notebook import Execution
from ....core.text import source_hash
from ....formats.terminal_safe import one_line
from ....workspace.clock import new_id
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..auto_runtime import runtimes_beside
from ..printer import print_json
from ..submission import submit
from ..workspace_command import notebook_argument, with_workspace
from .output_verb import OutputPrinter, print_output

PATIENCE_SECONDS = 10.0
"""After so long without anybody who takes it, it is said who could."""
LOOK_SECONDS = 1.0
"""How often to look whether there is no room for a runtime, while nobody has taken it."""
_ENDED = e.ExecutionFinished | e.ExecutionSkipped | e.ExecutionCancelled


@click.command("execute", epilog=EXIT_STATUS)
@notebook_argument
@click.argument("cells", nargs=-1, metavar="[CELL…]")
@click.option("-c", "--code", metavar="CODE", help="Run this instead, without a cell; - reads it from stdin.")
@click.option("--runtime", metavar="NAME", help="Which runtime: its name, id or language.  [default: any]")
@with_workspace
async def execute_verb(
    workspace: Workspace,
    notebook: str,
    cells: tuple[str, ...],
    code: str | None,
    runtime: str | None,
    as_json: bool,
) -> int:
    """Run CELLs of NOTEBOOK (or of a run that is over) in its living kernel, one after the other, and print what they show.

    \b
      quire execute 01M7GFVPH9 total report
      quire execute sales -c "frame.describe()"

    A cell is an id or its beginning, a name, or a number as `quire show` counts. It stops at the first that does not end
    well: exit status 1. CODE is no cell afterwards, but the log tells of it. A server, or `quire runtime`, runs them; where
    neither is there and the store is in a folder, a runtime is started, which stays for a while. With --json, one object per
    line and cell.
    """
    if bool(cells) == (code is not None):
        raise BadInput("Name the cells to run, or give code to run without one: -c CODE.")
    info = await workspace.find(notebook)
    wanted: Sequence[str | None] = cells if code is None else [None]
    source = sys.stdin.read() if code == "-" else code or ""
    async with runtimes_beside(workspace) as is_served:
        for cell in wanted:
            asked = await _asked(workspace, info.log, cell, source, runtime)
            patient = is_served and runtime is None
            execution = await _executed(workspace, info.log, asked, as_json=as_json, patient=patient)
            if execution is None:
                return 0
            if as_json:
                print_json(execution)
            else:
                await _show(workspace, execution)
            if execution.state != "ok":
                return 1
    return 0


async def run_and_show(workspace: Workspace, log: LogId, asked: ExecutionRequested) -> bool:
    """Ask for a cell, print what it shows, and return whether it ended well; False too while it waits for a yes."""
    async with runtimes_beside(workspace) as is_served:
        execution = await _executed(workspace, log, asked, as_json=False, patient=is_served)
        if execution is not None:
            await _show(workspace, execution)
        return execution is not None and execution.state == "ok"


async def _asked(
    workspace: Workspace, log: LogId, cell: str | None, code: str, runtime: str | None
) -> ExecutionRequested | ScratchRequested:
    """What asks for a cell as it is now, or for code without one."""
    now = await workspace.read(log)
    id = ExecutionId(new_id())
    if cell is None:
        new = new_cell_id(now.cells, os.urandom)
        return ScratchRequested(execution=id, cell=new, source=code, runtime=runtime)
    cells = list(now.live_cells)
    found = cells[find_cell(cells, cell)]
    return ExecutionRequested(execution=id, cell=found.id, source_hash=source_hash(found.source), runtime=runtime)


async def _executed(
    workspace: Workspace, log: LogId, asked: ExecutionRequested | ScratchRequested, *, as_json: bool, patient: bool
) -> Execution | None:
    """Ask for it, and wait for its end; None when that waits for somebody's yes."""
    entries = await submit(workspace, log, [asked], as_json=as_json)
    if entries is None:
        return None
    seq = await _end_of(workspace, log, asked.execution, entries[-1].seq, inf if patient else PATIENCE_SECONDS)
    cell_then = (await workspace.read(log, seq)).cells[asked.cell]
    for each in (cell_then.execution, cell_then.missed):
        if each is not None and each.id == asked.execution:
            return each
    raise NotFound(
        f"Execution {asked.execution} ended, and cell {asked.cell} does not tell of it. Run `quire verify {log}`."
    )


async def _end_of(workspace: Workspace, log: LogId, id: ExecutionId, since: int, patience: float) -> int:
    """Wait for the end of an execution, and return its number."""
    waiting = asyncio.gather(_tell_if_nobody_comes(log, patience), _tell_if_full(workspace, log))
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


async def _tell_if_nobody_comes(log: LogId, patience: float) -> None:
    await asyncio.sleep(patience)
    told = f"nobody has taken it yet: `quire serve`, or `quire runtime --for {log}`, runs it"
    click.echo(f"quire: {told}; Ctrl-C waits no longer", err=True)


async def _tell_if_full(workspace: Workspace, log: LogId) -> None:
    """Say once that there is no room for a runtime, however long it takes until that is so."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        with contextlib.suppress(QuireError):  # what is wrong is told where it is waited for
            if (why := await workspace.why_waiting(log)) is not None:
                click.echo(f"quire: {why}", err=True)
                return


async def _show(workspace: Workspace, execution: Execution) -> None:
    printing = OutputPrinter()
    for output in execution.outputs:
        await print_output(workspace, output, printing)
    printing.finish()
    sys.stdout.flush()
    if execution.state != "ok":
        why = execution.why or (f"{execution.fault.ename}: {execution.fault.evalue}" if execution.fault else "")
        click.echo(f"quire: cell {execution.cell} ended as {execution.state}: {one_line(why, 400)}", err=True)
