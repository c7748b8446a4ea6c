"""`quire logbook adopt` and `learn`: runs that were made by hand, and what runs teach a template."""

from __future__ import annotations

from pathlib import Path

import click

from ....core.errors import BadInput
from ....core.ids import LogId
from ....core.notebook.logbook_record import steps_of, tally_of
from ....formats.logbook.run_export import log_of
from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..files.mirror_verb import folder_of_files
from ..printer import counted, print_json
from ..workspace_command import names_of_logs, with_workspace
from .template_verbs import logbook_root


@click.command("adopt", epilog=EXIT_STATUS)
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@with_workspace
async def adopt_verb(workspace: Workspace, file: Path, as_json: bool) -> None:
    """Check a run that was made by hand (logbooks/runs/DAY/UUID.md), and record it under its UUID.

    \b
      quire logbook adopt logbooks/runs/2026-11-19/01a1f5ed-7bc6-9a11-dcf9-9b5dd647f93e.md

    Its frontmatter is to be whole, every step of the template answered, and code that was changed shown beside the template's,
    with the reason. Everything that is not so is named with its line, and nothing is recorded. The file stays as it is.
    """
    from ....logbooks.adopted_run import adopt_run

    log = await adopt_run(workspace, logbook_root(), file)
    now = await workspace.read(log)
    tally = tally_of(steps_of(now))
    if as_json:
        print_json({"run": log, "name": now.name, "tally": tally})
    else:
        told = (
            f"{counted(tally.steps, 'step')}, {tally.deviated} deviated, {tally.skipped} skipped, {tally.failed} failed"
        )
        click.echo(f"Adopted {plain(now.name)} as run {log}: {told}", err=True)


@click.command("learn", epilog=EXIT_STATUS)
@click.argument("run", shell_complete=names_of_logs)
@click.option("--why", default="", help="For whoever is to say yes.")
@with_workspace
async def learn_verb(workspace: Workspace, run: str, why: str, as_json: bool) -> None:
    """Propose what RUN (an id, a UUID or its file) did otherwise as a change of its template.

    \b
      quire logbook learn 01M7GFVPH9 --why "the greeting was too short"

    Where a value stands in what was changed, the template's {name} comes back. Somebody else says yes: `quire proposals accept`,
    or in the browser; `quire mirror`, or a server, then writes the template's file.
    """
    from ....logbooks.template_proposal import propose_to_template

    log = LogId((await workspace.find(log_of(Path(run).stem) or run)).log)
    root, folder = logbook_root(), folder_of_files()
    if root.resolve() != folder.resolve():
        told = f"The templates here lie in {root}, and the files of this workspace in {folder}"
        raise BadInput(f"{told}. Change the template by hand, or use the workspace of that folder.")
    made = await propose_to_template(workspace, root, log, why)
    if as_json:
        print_json(made)
        return
    click.echo(f"Proposed {counted(made.changes, 'change')} to {plain(made.template)}: {made.proposal}", err=True)
    for cell in made.literal:
        click.echo(f"  {cell} has the values of this run in it: put {{name}} where they stand", err=True)
    click.echo(f"  to look at it    quire proposals show {made.proposal}", err=True)
    click.echo(f"  to say yes       quire proposals accept {made.proposal}", err=True)
