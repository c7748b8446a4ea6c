"""`quire propose`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ....core.errors import BadInput
from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..files.mirror_verb import folder_of_files
from ..options import validation_arguments, validation_options
from ..printer import counted, print_json, tell
from ..workspace_command import names_of_logs, with_workspace

if TYPE_CHECKING:
    from ....review.pull_requests.propose_change import ProposedChange


@click.command("propose", epilog=EXIT_STATUS)
@click.argument("sources", nargs=-1, metavar="[SOURCE]…", shell_complete=names_of_logs)
@click.option("--why", default="", help="For whoever is to say yes.")
@click.option("--pull-request", is_flag=True, help="Push a branch, and open or update its pull request.")
@click.option("--branch", help="The branch.  [default: the one checked out, else agent/<slug>]")
@click.option("--title", help="Of the pull request.  [default: the commit's subject]")
@click.option("--body", help="What stands above the results; `@FILE` reads it from a file.")
@click.option("--message", help="Of the commit.  [default: a conventional commit]")
@click.option("--refs", multiple=True, metavar="ISSUE", help="The description ends in `Refs #ISSUE`; may be repeated.")
@click.option("--base", help="The branch to merge into.  [default: the remote's]")
@validation_options
@click.option("--merge", is_flag=True, help="Merge the pull request, unless a status of its head is red.")
@with_workspace
async def propose_verb(workspace: Workspace, sources: tuple[str, ...], as_json: bool, **options: Any) -> int | None:
    """Propose a change: inside the workspace, or as a pull request.

    \b
      quire propose 01M7GFVPH9 --why "months without sales"
      quire propose notebooks/fleet.py --pull-request --title "Lower the threshold" --refs 155

    Without --pull-request SOURCE is a run, and nothing leaves the machine: what was changed in its notebook since it ended
    becomes one proposal to its source, without the parameters that were put in for the run. Somebody else says yes:
    `quire proposals accept`. Where the source is a file that no notebook is bound to, one is made and bound to it.

    With --pull-request SOURCE is one or more files, or a notebook, a run that was fixed, or a proposal; without it all
    notebooks that changed. They are committed to a branch, with the .ipynb of each script, and run at the base and at the
    head with the same parameters. The pull request shows results before and after, outputs that changed and checks; a second
    call updates it. The work tree stays as it is. Exit status 1: a notebook does not run, or a check did not pass.
    """
    if options["merge"] and not options["pull_request"]:
        return await _merge(sources, options, workspace, as_json)
    if options["pull_request"]:
        return await _as_pull_request(workspace, sources, options, as_json)
    if len(sources) != 1:
        raise BadInput("Name one run: `quire propose RUN`. For changed files: quire propose [FILE]… --pull-request.")
    if Path(sources[0]).is_file():
        told = f"{sources[0]} is a file, and inside the workspace a fixed run is proposed"
        raise BadInput(f"{told}. Add --pull-request to propose the file on a branch of its own.")
    await _in_workspace(workspace, sources[0], options["why"], as_json)
    return None


async def _in_workspace(workspace: Workspace, run: str, why: str, as_json: bool) -> None:
    from ....runs.fix.fix_proposal import propose

    info = await workspace.find(run)
    made = await propose(workspace, folder_of_files(), info.log, why)
    if as_json:
        print_json(made)
        return
    name = plain(made.name)
    if made.was_made:
        click.echo(
            f"Bound {name} [{made.log}] to {plain(made.path or '')}; `quire mirror` keeps them the same", err=True
        )
    click.echo(f"Proposed {counted(made.changes, 'change')} to {name} [{made.log}]: {made.proposal}", err=True)
    click.echo(f"  to look at it    quire proposals show {made.proposal}", err=True)
    click.echo(f"  to say yes       quire proposals accept {made.proposal}", err=True)


async def _as_pull_request(
    workspace: Workspace, sources: tuple[str, ...], options: dict[str, Any], as_json: bool
) -> int:
    from ....review.pull_requests.propose_change import propose_change

    wanted = _wanted(options)
    made = await propose_change(workspace, folder_of_files(), Path.cwd(), list(sources), wanted, tell)
    if options["merge"]:
        return await _merge((), options | {"branch": made.branch, "base": made.base}, workspace, as_json)
    if as_json:
        print_json(made)
    else:
        _print(made)
    return 0 if made.status == "success" else 1


def _wanted(options: dict[str, Any]) -> Any:
    from ....disk import read_text
    from ....review.pull_requests.propose_change import ProposeOptions

    body: str | None = options["body"]
    if body is not None and body.startswith("@"):
        body = read_text(Path(body[1:]))
    if options["why"]:
        body = f"{options['why']}\n\n{body}" if body else options["why"]
    names = ("branch", "title", "message", "refs", "base")
    return ProposeOptions(body=body, **validation_arguments(options), **{name: options[name] for name in names})


def _print(made: ProposedChange) -> None:
    for check in made.checks:
        click.echo(f"  {'ok    ' if check.passed else 'FAILED'}  {plain(check.name)}", err=True)
    click.echo(made.url or made.report or made.branch)


async def _merge(sources: tuple[str, ...], options: dict[str, Any], workspace: Workspace, as_json: bool) -> int:
    from ....review.pull_requests.merge_change import merge_change

    if len(sources) > 1:
        raise BadInput("One pull request is merged at a time: quire propose --merge --branch BRANCH.")
    branch = options["branch"] or next(iter(sources), None)
    made = await merge_change(
        workspace.identity, Path.cwd(), branch, options["base"], options["remote"], options["forge"], tell
    )
    if as_json:
        print_json(made)
    else:
        click.echo(made.url)
    return 0
