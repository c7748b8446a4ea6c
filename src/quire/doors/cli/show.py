"""`quire show`."""

from __future__ import annotations

from typing import cast

import click

from ...core.stale import stale_cells
from ...files.agent import VIEWS, View, render
from ...workspace.workspace import Workspace
from . import EXIT_STATUS
from .options import NUMBER
from .output import print_json
from .verb import notebook_argument, with_workspace


@click.command("show", epilog=EXIT_STATUS)
@notebook_argument
@click.option("--seq", metavar="N", type=NUMBER, help="As it was after event N.")
@click.option("--view", type=click.Choice(VIEWS), default="outline", show_default=True, help="How much of it.")
@with_workspace
async def show_verb(workspace: Workspace, notebook: str, seq: int | None, view: str, as_json: bool) -> None:
    """Print NOTEBOOK (a name, an id or its beginning) as it is, or as it was.

    \b
      quire show sales --seq 120 --view full

    `outline` has one line per cell, `source` also what is written, `full` also what came out.
    With --json, the whole folded notebook and the stale cells.
    """
    info = await workspace.find(notebook)
    found = await workspace.read(info.log, seq)
    if as_json:
        print_json({"log": info.log, "notebook": found, "stale": sorted(stale_cells(found))})
    else:
        click.echo(render(info.log, found, cast("View", view)), nl=False)
