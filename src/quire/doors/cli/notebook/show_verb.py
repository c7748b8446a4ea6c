"""`quire show`."""

from __future__ import annotations

from typing import cast

import click

from ....core.errors import BadInput
from ....core.events import RuntimeDetached
from ....core.ids import LogId
from ....core.notebook.staleness import stale_cells
from ....formats.agent_text.render import VIEWS, View, render
from ....formats.terminal_safe import one_line
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..options import NUMBER
from ..printer import print_json
from ..workspace_command import notebook_argument, with_workspace


@click.command("show", epilog=EXIT_STATUS)
@notebook_argument
@click.option("--seq", metavar="N", type=NUMBER, help="As it was after event N.")
@click.option("--view", type=click.Choice(VIEWS), help="How much of it.  [default: outline; of cells, full]")
@click.option("--cell", "cells", metavar="CELL", multiple=True, help="Only this one, or from one to another: A..B.")
@click.option("--since", metavar="N", type=NUMBER, help="Only what changed after event N.")
@click.option("--budget", metavar="TOKENS", type=click.IntRange(min=100), help="As an agent reads it, for so much.")
@with_workspace
async def show_verb(
    workspace: Workspace,
    notebook: str,
    seq: int | None,
    view: str | None,
    cells: tuple[str, ...],
    since: int | None,
    budget: int | None,
    as_json: bool,
) -> None:
    """Print NOTEBOOK (a name, an id or its beginning) as it is, or as it was.

    \b
      quire show sales --seq 120 --view full
      quire show sales --cell total --budget 1000

    `outline` has one line per cell, `source` also what is written, `full` also what came out. With --budget it is the text that
    agents get (docs/reference/agent-text.md). With --json, the whole folded notebook and the stale cells.
    """
    wanted = cast("View | None", view)
    is_part = bool(cells) or since is not None or budget is not None
    if is_part and (seq is not None or as_json):
        raise BadInput(
            "--cell, --since and --budget are for a text of the notebook as it is: without --seq and --json."
        )
    if is_part:
        from ....verbs.answers.answer import Here
        from ....verbs.read import text_of

        shown = await text_of(Here(workspace=workspace), notebook, wanted, cells, since, budget)
        click.echo(shown.text, nl=False)
        return
    info = await workspace.find(notebook)
    found = await workspace.read(info.log, seq)
    if as_json:
        print_json({"log": info.log, "notebook": found, "stale": sorted(stale_cells(found))})
    else:
        click.echo(render(info.log, found, view=wanted or "outline", numbered=True), nl=False)
        if seq is None and not found.runtimes and (why := await _why_no_kernel(workspace, info.log)):
            click.echo(f"its kernel ended: {why}")


async def _why_no_kernel(workspace: Workspace, log: LogId) -> str:
    """Why the kernel that was there last is not any more, where that was said."""
    last = await workspace.entries(log, types=("runtime_detached",), newest_first=True, limit=1)
    event = last[0].event if last else None
    return one_line(event.why, 400) if isinstance(event, RuntimeDetached) else ""
