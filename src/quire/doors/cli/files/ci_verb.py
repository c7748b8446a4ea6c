"""`quire ci`."""

from __future__ import annotations

import click

from ....formats.terminal_safe import plain
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import print_json


@click.group("ci", epilog=EXIT_STATUS)
def ci_verb() -> None:
    """Write the workflow that executes and checks the notebooks of a repository.

    \b
      quire ci init gitea
    """


@ci_verb.command("init", epilog=EXIT_STATUS)
@click.argument("forge", type=click.Choice(("gitea", "github", "gitlab")))
@click.option("--force", is_flag=True, help="Replace a workflow that says something else.")
@json_option
def init_verb(forge: str, force: bool, as_json: bool) -> None:
    """Write the workflow for the CI of FORGE, which on every push and pull request executes all notebooks in notebooks/.

    \b
      quire ci init gitea

    The workflow is called Notebook CI, its job notebook-smoke: it looks at all notebooks, executes and checks them, and keeps
    the executed ones; on the default branch they are published by `quire report`. A cell that fails makes the status of the
    commit red, and `quire propose --merge` refuses.
    """
    from ....git.repository import the_repository
    from ....review.ci.workflow import CiKind, write_workflow

    kinds: dict[str, CiKind] = {"gitea": "gitea", "github": "github", "gitlab": "gitlab"}
    made = write_workflow(kinds[forge], the_repository().top, force=force)
    if as_json:
        print_json(made)
        return
    click.echo(plain(made.path))
    click.echo(made.next_step, err=True)
