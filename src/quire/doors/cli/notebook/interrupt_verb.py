"""`quire interrupt`."""

from __future__ import annotations

import click

from ....core.errors import NotFound, Refused
from ....core.events import Entry, InterruptRequested
from ....core.notebook.cell_lookup import find_cell
from ....core.notebook.notebook import Execution, Notebook
from ....formats.terminal_safe import plain
from ....workspace.lanes.runtime_info import open_executions, stop_execution, unheard
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json
from ..workspace_command import notebook_argument, with_workspace


@click.command("interrupt", epilog=EXIT_STATUS)
@notebook_argument
@click.argument("cell", required=False)
@click.option("--all", "everything", is_flag=True, help="Also take back what waits to be run.")
@with_workspace
async def interrupt_verb(
    workspace: Workspace, notebook: str, cell: str | None, everything: bool, as_json: bool
) -> None:
    """Stop what runs in NOTEBOOK, or the execution of one CELL: an id, its beginning, a name or a number.

    \b
      quire interrupt sales
      quire interrupt sales 3

    A cell that waits is taken back. The kernel goes on and keeps what cells defined; `quire restart` gives another.
    Returns when it was asked for: `quire log NOTEBOOK --follow` shows how it ends.
    """
    info = await workspace.find(notebook)
    now = await workspace.read(info.log)
    _check(now)
    stopped: list[tuple[Execution, Entry]] = []
    for execution in _meant(now, cell, everything=everything):
        stopped.append((execution, await stop_execution(workspace, info.log, execution.id)))
    silent = await unheard(workspace, info.log, (execution for execution, _ in stopped))
    if as_json:
        print_json([_shown(*each) | _unanswered(silent.get(each[0].id)) for each in stopped])
        return
    for execution, entry in stopped:
        told = "Interrupted" if isinstance(entry.event, InterruptRequested) else "Took back"
        click.echo(
            f"{told} cell {plain(execution.cell)} [{execution.id}], asked for by {plain(execution.by)}", err=True
        )
        if execution.id in silent:
            click.echo(f"quire: {plain(silent[execution.id])}", err=True)


def _unanswered(why: str | None) -> dict[str, object]:
    return {"unanswered": why} if why is not None else {}


def _check(now: Notebook) -> None:
    if now.run is not None and now.run.is_open:
        raise Refused(f"{now.name!r} is a run that goes on: stop all of it with `quire cancel`.")


def _meant(now: Notebook, cell: str | None, *, everything: bool) -> list[Execution]:
    found = open_executions(now)
    if cell is not None:
        cells = list(now.live_cells)
        wanted = cells[find_cell(cells, cell)].id
        found = [each for each in found if each.cell == wanted]
    elif not everything:
        found = [each for each in found if each.state != "queued"]
    if not found:
        where = f"cell {cell!r} of {now.name!r}" if cell is not None else repr(now.name)
        waits = " What waits is taken back with --all." if cell is None and now.executions else ""
        raise NotFound(f"Nothing runs in {where}.{waits} `quire show {now.name}` shows how its cells are.")
    return found


def _shown(execution: Execution, entry: Entry) -> dict[str, object]:
    did = "interrupted" if isinstance(entry.event, InterruptRequested) else "taken back"
    return {"log": entry.log, "execution": execution.id, "cell": execution.cell, "did": did, "seq": entry.seq}
