"""`quire export` and `quire import`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from ...core.errors import BadInput, Conflict, Unavailable
from ...files.plain import plain
from ...workspace.bundle import Carried
from ...workspace.workspace import Workspace
from . import EXIT_STATUS
from .output import counted, print_json
from .verb import notebook_argument, with_workspace

ENDING = ".quire"


@click.command("export", epilog=EXIT_STATUS)
@notebook_argument
@click.argument("output", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace OUTPUT if it is there.")
@with_workspace
async def export_verb(workspace: Workspace, notebook: str, output: Path, force: bool, as_json: bool) -> None:
    """Write NOTEBOOK (or a run) into OUTPUT, a `.quire` bundle: its whole log, and its blobs.

    \b
      quire export sales sales.quire
    """
    if output.suffix != ENDING:
        raise BadInput(f"{output}: the ending says the format, and here that is {ENDING}.")
    if output.exists() and not force:
        raise Conflict(f"{output} is there already. Choose another name, or pass --force.")
    info = await workspace.find(notebook)
    try:
        carried = await _write_whole(workspace, info.log, output)
    except OSError as error:
        raise Unavailable(f"{output} cannot be written: {error.strerror or error}.") from error
    _tell(carried, f"Exported to {output}", as_json=as_json)


async def _write_whole(workspace: Workspace, log: str, output: Path) -> Carried:
    """Whole or not at all: a temporary file beside it, fsync, rename."""
    handle, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            carried = await workspace.export_bundle((await workspace.find(log)).log, file)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(output)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return carried


@click.command("import", epilog=EXIT_STATUS)
@click.argument("source", type=click.Path(path_type=Path, dir_okay=False))
@with_workspace
async def import_verb(workspace: Workspace, source: Path, as_json: bool) -> None:
    """Take in SOURCE, a `.quire` bundle. It is verified first; all of it comes in, or nothing.

    \b
      quire import sales.quire

    Its events are shown as imported: nobody from elsewhere passes for an actor from here.
    """
    try:
        with source.open("rb") as file:
            carried = await workspace.import_bundle(file)
    except OSError as error:
        raise BadInput(f"{source} cannot be read: {error.strerror or error}.") from error
    _tell(carried, "Imported", as_json=as_json)


def _tell(carried: Carried, did: str, *, as_json: bool) -> None:
    if as_json:
        print_json(carried)
        return
    click.echo(
        f"{did}: {plain(carried.name)} [{carried.log}], {counted(carried.events, 'event')}, {counted(carried.blobs, 'blob')}",
        err=True,
    )
    for hash in carried.missing_blobs:
        click.echo(f"quire: blob {hash} is missing; what it held cannot be shown.", err=True)
