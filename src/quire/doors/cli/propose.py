"""`quire propose`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from ...core.ids import LogId
from ...files.plain import plain
from ...workspace.bodies import RunProposed
from ...workspace.workspace import Workspace
from . import EXIT_STATUS
from .mirror import folder_of_files
from .output import counted, print_json
from .verb import names_of_logs, with_workspace

if TYPE_CHECKING:
    from ...workspace.local import LocalWorkspace
    from ...workspace.remote import RemoteWorkspace


@click.command("propose", epilog=EXIT_STATUS)
@click.argument("run", shell_complete=names_of_logs)
@click.option("--why", default="", help="For whoever is to say yes.")
@with_workspace
async def propose_verb(workspace: Workspace, run: str, why: str, as_json: bool) -> None:
    """Propose to the source of RUN what was changed in its notebook since it ended.

    \b
      quire propose 01M7GFVPH9 --why "months without sales"

    All cells that were changed, added, removed or moved become one proposal, without the parameters that were put in for
    the run. Somebody else says yes: `quire proposals accept`. Where the source is a file that no notebook is bound to, one
    is made and bound to it; what is accepted comes into the file while `quire mirror` or a server runs. A source that was
    changed in the same cells is refused, with the difference.
    """
    info = await workspace.find(run)
    made = await _proposed(workspace, info.log, why)
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


async def _proposed(workspace: Workspace, log: LogId, why: str) -> RunProposed:
    at = click.get_current_context().params.get("at") or ""
    if at.partition("://")[0] in ("http", "https"):
        return await cast("RemoteWorkspace", workspace).propose(log, why)
    from ...runs.proposing import propose

    return await propose(cast("LocalWorkspace", workspace), folder_of_files(), log, why)
