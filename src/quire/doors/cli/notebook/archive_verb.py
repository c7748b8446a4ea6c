"""`quire archive`."""

from __future__ import annotations

import click

from ....core.events import Draft, NotebookArchived
from ....formats.terminal_safe import plain
from ....workspace.clock import new_id
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json
from ..workspace_command import notebook_argument, with_workspace


@click.command("archive", epilog=EXIT_STATUS)
@notebook_argument
@click.option("--undo", is_flag=True, help="Take it out again.")
@with_workspace
async def archive_verb(workspace: Workspace, notebook: str, undo: bool, as_json: bool) -> None:
    """Put NOTEBOOK away: it stays on record, but is not changed or run until it is taken out again.

    \b
      quire archive sales
    """
    info = await workspace.find(notebook)
    (entry,) = await workspace.submit(info.log, [Draft(id=new_id(), event=NotebookArchived(archived=not undo))])
    if as_json:
        print_json({"log": info.log, "name": info.name, "archived": not undo, "seq": entry.seq})
    else:
        click.echo(f"{'Took out' if undo else 'Put away'} {plain(info.name)} [{info.log}]", err=True)
