"""`quire bind` and `quire mirror`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from ....connection import find_folder, new_folder
from ....core.errors import BadInput
from ....core.events import Draft, FileBound
from ....formats import registry
from ....formats.terminal_safe import plain
from ....workspace.clock import new_id
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json, tell
from ..workspace_command import names_of_logs, notebook_argument, with_workspace


@click.command("bind", epilog=EXIT_STATUS)
@notebook_argument
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--off", is_flag=True, help="Let go of the file. Both stay as they are.")
@with_workspace
async def bind_verb(workspace: Workspace, notebook: str, file: Path | None, off: bool, as_json: bool) -> None:
    """Make NOTEBOOK and FILE one: what happens to either happens to both, while `quire mirror` or a server runs.

    \b
      quire bind sales notebooks/sales.py

    FILE lies in the workspace's folder and is .ipynb, .py or .md. If it is not there, it is written. If it is, what it says
    comes into the notebook; the log keeps what the notebook said before.
    """
    if off == (file is not None):
        raise BadInput("Name the file, or pass --off: `quire bind NOTEBOOK FILE`, `quire bind NOTEBOOK --off`.")
    info = await workspace.find(notebook)
    path = _path(file) if file is not None else None
    event = FileBound(path=path, format=registry.format_of(path) if path is not None else None)
    (entry,) = await workspace.submit(info.log, [Draft(id=new_id(), event=event)])
    if as_json:
        print_json({"log": info.log, "name": info.name, "path": path, "seq": entry.seq})
    elif path is None:
        click.echo(f"{plain(info.name)} [{info.log}] is bound to no file now", err=True)
    else:
        click.echo(
            f"Bound {plain(info.name)} [{info.log}] to {plain(path)}; `quire mirror` keeps them the same", err=True
        )


def _path(file: Path) -> str:
    from ....actors.mirror import path_in

    return path_in(folder_of_files(), file)


@click.command("mirror", epilog=EXIT_STATUS)
@click.argument("notebooks", nargs=-1, metavar="[NOTEBOOK]…", shell_complete=names_of_logs)
@click.option("--all", "every", is_flag=True, help="Every notebook that is bound to a file, or will be.")
@with_workspace
async def mirror_verb(workspace: Workspace, notebooks: tuple[str, ...], every: bool, as_json: bool) -> None:
    """Keep notebooks and the files they are bound to the same, until Ctrl-C.

    \b
      quire mirror sales
      quire mirror --all

    Changes of both sides are merged by cell. Where both changed the same lines the notebook's text stands, and a conflict
    keeps both. What a person should know goes to stderr; with --json, one JSON value per line on stdout.
    """
    from ....actors.mirror import mirror

    if every == bool(notebooks):
        raise BadInput("Name the notebooks, or pass --all: `quire mirror NOTEBOOK…`, `quire mirror --all`.")
    folder = folder_of_files()
    logs = None if every else [(await workspace.find(name)).log for name in notebooks]

    def ready() -> None:
        if as_json:
            print_json({"ready": True, "folder": str(folder)})
        else:
            click.echo(f"Mirroring in {folder}; Ctrl-C ends it", err=True)

    await mirror(workspace, folder, logs, tell=partial(tell, as_json=as_json), ready=ready)


def folder_of_files() -> Path:
    """The folder that paths of files are relative to: the one that `.quire/` is in."""
    at = click.get_current_context().params.get("at") or ""
    here = Path.cwd()
    if at and "://" not in at:
        here = Path(at).absolute()
        return here.parent if here.name == ".quire" else here
    return (find_folder(here) or new_folder(here)).parent
