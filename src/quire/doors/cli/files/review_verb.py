"""`quire review`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json, tell
from ..workspace_command import with_workspace

_LIMIT_SECONDS = 900.0


@click.command("review", epilog=EXIT_STATUS)
@click.argument("revisions", metavar="BASE...HEAD")
@click.option("--local", is_flag=True, help="Print the review, and tell the forge nothing.")
@click.option("--remote", help="The remote.  [default: origin]")
@click.option("--forge", type=click.Choice(("gitea", "github", "gitlab", "none")), help="What the remote's host runs.")
@click.option("-p", "--parameter", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="For both runs.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=_LIMIT_SECONDS,
    show_default=True,
    help="Stop a validation run after so long.",
)
@with_workspace
async def review_verb(
    workspace: Workspace,
    revisions: str,
    local: bool,
    as_json: bool,
    parameters: tuple[tuple[str, str], ...],
    **more: Any,
) -> int:
    """Judge a change that is there already: its notebooks run before and after, results side by side.

    \b
      quire review origin/main...HEAD

    The review is printed as Markdown. If the remote is on a forge and a token is there, the pull request of the branch gets
    it as one comment, and its head one status; both are kept current by later calls. With three dots the base is the last
    commit that both have in common. Exit status 1: a notebook does not run, or a check did not pass.
    """
    from ....core.params.parameters import Text
    from ....review.pull_requests.propose_change import ProposeOptions
    from ....review.pull_requests.review_change import review_change

    options = ProposeOptions(parameters={name: Text(value) for name, value in parameters}, **more)
    made = await review_change(workspace, Path.cwd(), revisions, options, tell, local=local)
    if as_json:
        print_json(made)
    else:
        click.echo(plain(made.text))
    return 0 if made.status == "success" else 1
