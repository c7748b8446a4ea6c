"""`quire schedule sync`."""

from __future__ import annotations

from pathlib import Path

import click

from ....core.errors import NotFound
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..files.mirror_verb import folder_of_files
from ..printer import print_json, table
from ..workspace_command import with_workspace

FILE = "schedules.yaml"


@click.command("sync", epilog=EXIT_STATUS)
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--remove", "removes", is_flag=True, help="Remove the schedules that are not in the file.")
@with_workspace
async def sync_verb(workspace: Workspace, file: Path | None, dry_run: bool, removes: bool, as_json: bool) -> None:
    """Make schedules what FILE says. Without FILE: schedules.yaml in the workspace's folder.

    \b
      quire schedule sync --dry-run

    The file maps names to `schedule`, `type: notebook`, `path`, `parameters` and `output_path`, and to what `quire schedule add`
    has options for: timezone, missed, overlap, retries, jitter, timeout, results, notify, commit, report and keep. All of it is
    applied or, with the first mistake, nothing. What is as the file says already is left alone.
    """
    from ....disk import in_thread
    from ....formats.schedules_yaml import read_schedules
    from ....verbs.schedules.sync_schedules import sync_schedules

    folder = folder_of_files()
    path = file or folder / FILE
    if not path.is_file():
        raise NotFound(f"There is no file {path}. Name one, or write {FILE}.")
    text = await in_thread(path.read_text, "utf-8")
    wanted = read_schedules(text, str(path))
    done = await sync_schedules(workspace, folder, wanted, removes=removes, dry_run=dry_run)
    if as_json:
        print_json(done)
    else:
        click.echo(table(("schedule", "action"), [(each.schedule, each.action) for each in done]))
