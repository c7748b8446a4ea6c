"""`quire export` and `quire import`: bundles with the whole log, and notebooks in any format."""

from __future__ import annotations

from pathlib import Path

import click

from ....core.errors import BadInput, Conflict
from ....disk import read_text, write_text, writing
from ....formats import registry
from ....formats.terminal_safe import plain
from ....workspace.bundle import BundleContents
from ....workspace.protocol import Workspace
from ...transfer import export_notebook, import_notebook
from .. import EXIT_STATUS
from ..options import NUMBER
from ..printer import counted, print_json
from ..workspace_command import notebook_argument, with_workspace

BUNDLE = ".quire"


@click.command("export", epilog=EXIT_STATUS)
@notebook_argument
@click.argument("output", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace OUTPUT if it is there.")
@click.option("--seq", type=NUMBER, help="Write the notebook as it was at that number. Not for a bundle.")
@click.option(
    "--comments/--no-comments", help="Show comments and their answers on a page (.html).  [default: --no-comments]"
)
@with_workspace
async def export_verb(
    workspace: Workspace, notebook: str, output: Path, force: bool, seq: int | None, comments: bool, as_json: bool
) -> None:
    """Write NOTEBOOK (or a run) into OUTPUT. Its ending says the format.

    \b
      quire export sales sales.quire     the whole log, and its blobs: to be imported elsewhere
      quire export sales sales.ipynb     the notebook as it is, with its outputs
      quire export sales sales.html      a page to look at; --comments shows what was said about its cells

    Also .py (percent) and .md (logbook); docs/reference/formats.md says what each carries.
    """
    if output.exists() and not force:
        raise Conflict(f"{output} is there already. Choose another name, or pass --force.")
    if output.suffix != BUNDLE:
        carried = await _export_notebook(workspace, notebook, output, seq, comments=comments)
    elif comments:
        raise BadInput("A bundle holds the whole log, comments included. Leave --comments out.")
    elif seq is not None:
        raise BadInput("A bundle holds the whole log. Leave --seq out, or choose another format.")
    else:
        info = await workspace.find(notebook)
        with writing(output) as file:
            carried = await workspace.export_bundle(info.log, file)
    _tell(carried, f"Exported to {output}", as_json=as_json)


async def _export_notebook(
    workspace: Workspace, name: str, output: Path, seq: int | None, *, comments: bool
) -> BundleContents:
    registry.format_of(str(output))
    text, carried = await export_notebook(workspace, await workspace.find(name), str(output), seq, comments=comments)
    write_text(output, text)
    return carried


@click.command("import", epilog=EXIT_STATUS)
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--name", help="What the notebook is called here.  [default: as the file]")
@with_workspace
async def import_verb(workspace: Workspace, source: Path, name: str | None, as_json: bool) -> None:
    """Take in SOURCE: a `.quire` bundle with its whole log, or a notebook in any format.

    \b
      quire import sales.quire
      quire import sales.ipynb --name sales-2026

    A bundle is verified first; all of it comes in, or nothing. Its events are shown as imported: nobody from elsewhere
    passes for an actor from here. Of a notebook file you are the author; its outputs are marked as imported.
    """
    if source.suffix != BUNDLE:
        carried = await import_notebook(workspace, read_text(source), str(source), name or source.stem)
    elif name is not None:
        raise BadInput("A bundle brings its name along. Leave --name out.")
    else:
        carried = await _import_bundle(workspace, source)
    _tell(carried, "Imported", as_json=as_json)


async def _import_bundle(workspace: Workspace, source: Path) -> BundleContents:
    try:
        with source.open("rb") as file:
            return await workspace.import_bundle(file)
    except OSError as error:
        raise BadInput(f"{source} cannot be read: {error.strerror or error}.") from error


def _tell(carried: BundleContents, did: str, *, as_json: bool) -> None:
    if as_json:
        print_json(carried)
        return
    click.echo(
        f"{did}: {plain(carried.name)} [{carried.log}], {counted(carried.events, 'event')}, {counted(carried.blobs, 'blob')}",
        err=True,
    )
    for hash in carried.missing_blobs:
        click.echo(f"quire: blob {hash} is missing; what it held cannot be shown.", err=True)
