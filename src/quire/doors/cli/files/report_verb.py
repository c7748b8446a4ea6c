"""`quire report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json, tell
from ..workspace_command import with_workspace
from .mirror_verb import folder_of_files


@click.command("report", epilog=EXIT_STATUS)
@click.argument("notebooks", nargs=-1, required=True, metavar="NOTEBOOK…")
@click.option("--commit", metavar="BRANCH", help="The branch; `here`: runs/ on the current one.  [default: reports]")
@click.option("--to", metavar="ADDRESS", help="Object storage instead of git: s3://bucket/prefix.")
@click.option("--index", type=click.Choice(("markdown", "html")), help="[default: markdown on a branch, else html]")
@click.option("--keep-last", metavar="N", type=click.IntRange(1), help="Keep N of each notebook.  [default: all]")
@click.option("--remote", help="The remote.  [default: origin]")
@click.option("--push/--no-push", default=True, help="Whether the branch goes to the remote.  [default: --push]")
@with_workspace
async def report_verb(workspace: Workspace, notebooks: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Publish executed notebooks, with an index of all that is published.

    \b
      quire report runs/fleet.ipynb
      quire report 01M7GFVPH9 --commit here
      quire report runs/fleet.ipynb --to s3://reports/fleet

    NOTEBOOK is an executed file or a run. It goes, with a page of it, to the branch `reports`, which is written without
    touching the work tree and pushed, again where somebody else was first. All reports are kept for ever unless --keep-last
    says otherwise. `[reports]` in quire.toml has commit, to, index and keep_last.
    """
    from ....review.reports.publish import ReportOptions, publish
    from ..settings import read_reports

    given = {name: value for name, value in options.items() if value is not None}
    wanted = ReportOptions(**(read_reports(folder_of_files()) | given))
    made = await publish(workspace, Path.cwd(), notebooks, wanted, tell)
    if as_json:
        print_json(made)
        return
    for path in made.paths:
        click.echo(plain(path))
