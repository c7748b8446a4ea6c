"""`quire init`."""

from __future__ import annotations

from pathlib import Path

import click

from ....connection import DATABASE, FOLDER, make_folder
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import print_json


@click.command("init", epilog=EXIT_STATUS)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@json_option
def init_verb(folder: Path, as_json: bool) -> None:
    """Make a workspace in FOLDER: a `.quire/` with the logs and the blobs, ignored by git.

    \b
      quire init

    Every verb finds the nearest `.quire/` upwards, or makes one beside `.git` or
    `pyproject.toml`; so this is only needed to say where. Done twice, it changes nothing.
    """
    import asyncio

    from ....connection import connect

    async def make() -> None:
        workspace = await connect(folder)
        await workspace.close()

    there = (folder / FOLDER / DATABASE).exists()
    folder.mkdir(parents=True, exist_ok=True)
    made = make_folder(folder.absolute() / FOLDER)
    asyncio.run(make())
    if as_json:
        print_json({"workspace": str(made), "created": not there})
    else:
        click.echo(f"{'There is a workspace' if there else 'Made a workspace'} in {made}", err=True)
