"""`quire undo`."""

from __future__ import annotations

import click

from ....core.edits.undo_plan import UndoneChange, UndoPlan
from ....core.errors import BadInput
from ....core.ids import CellId
from ....core.notebook.notebook import Notebook
from ....formats.terminal_safe import one_line, plain
from ....workspace.protocol import Workspace
from ....workspace.undo import editors
from .. import EXIT_STATUS
from ..actor_argument import known_actor
from ..options import NUMBER
from ..printer import counted, print_json
from ..screen import terminal_prompter
from ..workspace_command import notebook_argument, with_workspace

_DEPENDS = {
    "text": "wrote inside its text",
    "cell": "wrote in a cell that it added",
    "ran": "ran what it wrote",
    "placed": "put it after a cell that it added or moved",
    "changed": "changed a cell that it added",
    "commented": "commented on a cell that it added",
}


@click.command("undo", epilog=EXIT_STATUS)
@notebook_argument
@click.option("--by", metavar="ACTOR", required=True, help="Whose edits: kind:name, or a name that is known here.")
@click.option(
    "--since", metavar="SEQ", type=NUMBER, default=0, help="Only what was done after event SEQ (`quire log`)."
)
@click.option("--dry-run", is_flag=True, help="Say what would be taken back, and change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask whether to go on.")
@with_workspace
async def undo_verb(
    workspace: Workspace, notebook: str, by: str, since: int, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Take back all that ACTOR did to the cells of NOTEBOOK, and keep what everybody else did.

    \b
      quire undo sales --by agent:codex --dry-run
      quire undo sales --by codex --since 120

    Lists what is taken back and which edits of others depend on it, and asks. What others typed stays, whatever the
    order of edits was; a cell that ACTOR added goes unless others typed in it, one that ACTOR removed comes back. It is
    recorded as edits of yours: `quire undo --by` yourself takes it back. What ran cannot be undone.
    """
    info = await workspace.find(notebook)
    actor = await known_actor(workspace, by, also=[each.actor for each in await editors(workspace, info.log)])
    plan = await workspace.plan_undo(info.log, actor, since)
    now = await workspace.read(info.log)
    if not as_json:
        _tell(now, plan)
    if dry_run or not plan.changes:
        if as_json:
            print_json({"log": info.log, "plan": plan, "entries": []})
        return
    _confirm(plan, yes=yes)
    done = await workspace.undo(info.log, actor, since, seq=plan.seq)
    proposal = done.proposal
    if as_json:
        made = proposal.proposal if proposal is not None else None
        print_json({"log": info.log, "plan": done.plan, "proposal": made, "entries": done.entries})
    elif proposal is not None:
        told = f"Proposed as {proposal.proposal}: somebody has to say yes"
        click.echo(f"{told} (`quire proposals show {proposal.proposal}`)", err=True)
    else:
        click.echo(f"Undone, by {counted(len(done.entries), 'event')} of {workspace.identity.actor}.", err=True)


def _confirm(plan: UndoPlan, *, yes: bool) -> None:
    if yes:
        return
    if terminal_prompter() is None:
        raise BadInput("There is no terminal to ask on whether to undo this. Pass --yes, or --dry-run to only look.")
    click.confirm(f"Undo {counted(len(plan.undone), 'change')} of {plain(plan.actor)}?", abort=True, err=True)


# ---- What is told first


def _tell(now: Notebook, plan: UndoPlan) -> None:
    since = f" since event {plan.since}" if plan.since else ""
    who = plain(plan.actor)
    if not plan.changes:
        click.echo(f"There is nothing of {who}{since} to undo in {plain(now.name)}.", err=True)
        return
    click.echo(f"Taken back of {who}{since}:")
    for undone in plan.undone:
        click.echo(f"  {_cell(now, undone.cell)}: {_undone(undone)}")
    if plan.dependents:
        click.echo("Depends on it, and stays as it is:")
    for edit in plan.dependents:
        times = f", {edit.count} times" if edit.count > 1 else ""
        click.echo(f"  {_cell(now, edit.cell)}: {plain(edit.by)} {_DEPENDS[edit.what]}{times} (event {edit.seq})")
    if plan.executions:
        click.echo(f"What ran cannot be undone: {counted(plan.executions, 'execution')} followed.")


def _cell(now: Notebook, cell: CellId) -> str:
    found, place = now.cells[cell], [each.id for each in now.live_cells]
    number = f"cell {place.index(cell) + 1}" if cell in place else "removed cell"
    first = found.source.strip().partition("\n")[0]
    shown = one_line(found.name or first)[:40]
    return f"{number} [{plain(cell)}]{f' {shown}' if shown else ''}"


def _undone(undone: UndoneChange) -> str:
    match undone.part:
        case "added":
            return f"goes, with {counted(undone.removes, 'character')}"
        case "removed":
            return f"comes back, with {counted(undone.restores, 'character')}"
        case "text":
            stays = "; the cell stays for what others typed in it" if undone.stays else ""
            return f"{counted(undone.removes, 'character')} go, {undone.restores:,} come back{stays}"
        case "place":
            return "goes back to where it was"
        case _:
            return f"its {undone.part} {'are' if undone.part == 'tags' else 'is'} set back"
