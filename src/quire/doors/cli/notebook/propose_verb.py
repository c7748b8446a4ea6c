"""`quire propose`."""

from __future__ import annotations

import click

from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..files.mirror_verb import folder_of_files
from ..printer import counted, print_json
from ..workspace_command import names_of_logs, with_workspace


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
