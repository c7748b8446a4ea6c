"""`quire edit`."""

from __future__ import annotations

from pathlib import Path

import click

from ...core.errors import BadInput
from ...core.events import SourceEdited
from ...core.finding import find_cell
from ...core.text import source_hash
from ...disk import read_text
from ...files.plain import plain
from ...workspace.workspace import Workspace
from . import EXIT_STATUS
from .asking import somebody
from .output import print_json
from .submitting import submit
from .verb import notebook_argument, with_workspace


@click.command("edit", epilog=EXIT_STATUS)
@notebook_argument
@click.argument("cell")
@click.option(
    "--file", type=click.Path(path_type=Path, allow_dash=True), help="What it is to say; `-`: standard input."
)
@click.option("--base", metavar="HASH", help="The hash of the text that was read: refused if it has moved on.")
@with_workspace
async def edit_verb(
    workspace: Workspace, notebook: str, cell: str, file: Path | None, base: str | None, as_json: bool
) -> None:
    """Change what CELL of NOTEBOOK (or of a run that is over) says.

    \b
      quire edit 01M7GFVPH9 5 --file fixed.py
      echo "total = 0" | quire edit sales total --file -

    CELL is an id or its beginning, a name, or a number as `quire show` counts. Without --file your editor opens ($VISUAL or
    $EDITOR). A cell that somebody else changes meanwhile is refused, with its text.
    """
    info = await workspace.find(notebook)
    cells = list((await workspace.read(info.log)).live_cells)
    found = cells[find_cell(cells, cell)]
    text = _text(found.source, file)
    event = SourceEdited(cell=found.id, text=text, base_hash=base or source_hash(found.source))
    entries = await submit(workspace, info.log, [event], as_json=as_json)
    if entries is None:
        return
    if as_json:
        told = {"log": info.log, "cell": found.id, "seq": entries[-1].seq, "source_hash": source_hash(text)}
        print_json(told)
    else:
        click.echo(f"Changed cell {found.id} of {plain(info.name)} [{info.log}]", err=True)


def _text(source: str, file: Path | None) -> str:
    if file is not None:
        # A cell has no newline at its end where a file has one.
        return read_text(file).replace("\r\n", "\n").removesuffix("\n")
    if somebody() is None:
        raise BadInput("Nobody is there to type. Name the file with the new text, or `-`: --file.")
    text = click.edit(source)
    if text is None:
        raise BadInput("The editor was left without saving: nothing was changed.")
    return text.removesuffix("\n")
