"""`quire review`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ....core.errors import BadInput
from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..options import validation_arguments, validation_options
from ..printer import print_json, tell
from ..workspace_command import with_workspace


@click.command("review", epilog=EXIT_STATUS)
@click.argument("revisions", metavar="BASE...HEAD")
@click.option("--local", is_flag=True, help="Print the review, and tell the forge nothing.")
@click.option("--comments", is_flag=True, help="Print what was written on the pull request, and run nothing.")
@validation_options
@with_workspace
async def review_verb(
    workspace: Workspace, revisions: str, local: bool, comments: bool, as_json: bool, **options: Any
) -> int:
    """Judge a change that is there already: its notebooks run before and after, results side by side.

    \b
      quire review origin/main...HEAD
      quire review origin/main...HEAD --comments

    The review is printed as Markdown. If the remote is on a forge and a token is there, the pull request of the branch gets
    it as one comment, and its head one status; both are kept current by later calls. With three dots the base is the last
    commit that both have in common. Exit status 1: a notebook does not run, or a check did not pass.

    With --comments nothing is run: comments, reviews and, where the forge's API has them, comments on lines are read from
    the forge and printed, the oldest first. Agents read them with the tool `wait`.
    """
    if comments:
        if local:
            raise BadInput("Comments are read from the forge, and --local leaves it alone. Leave one of them out.")
        await _print_comments(revisions, options, as_json)
        return 0
    from ....review.pull_requests.propose_change import ProposeOptions
    from ....review.pull_requests.review_change import review_change

    wanted = ProposeOptions(**validation_arguments(options))
    made = await review_change(workspace, Path.cwd(), revisions, wanted, tell, local=local)
    if as_json:
        print_json(made)
    else:
        click.echo(plain(made.text))
    return 0 if made.status == "success" else 1


async def _print_comments(revisions: str, options: dict[str, Any], as_json: bool) -> None:
    from ....review.pull_requests.conversation import comment_lines
    from ....review.pull_requests.review_change import read_comments

    found = await read_comments(Path.cwd(), revisions, options["remote"], options["forge"])
    if as_json:
        print_json(found)
        return
    click.echo("\n".join(comment_lines(found.comments)) or "Nobody has written anything there.")
