"""`quire proposals list|show|accept|decline`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import click
import msgspec

from ....core import events as e
from ....core.events import Draft, ProposalMade, RunCell
from ....core.ids import LogId, ProposalId, resolve
from ....core.notebook.notebook import Notebook, Proposal
from ....core.text import source_hash
from ....core.visible import visible
from ....formats.event_line import describe, type_of
from ....formats.terminal_safe import NO_REASON, plain, reason_line
from ....workspace.clock import new_id
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import counted, print_json, table
from ..workspace_command import names_of_logs, with_workspace


class ProposalEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal, and where it was made."""

    log: LogId
    notebook: str
    made: ProposalMade
    now: Proposal


@click.group("proposals", epilog=EXIT_STATUS)
def proposals_verb() -> None:
    """Answer what somebody wants to change or run, and waits for a yes.

    \b
      quire proposals list
      quire proposals show 01M7GFVPH9
      quire proposals accept 01M7GFVPH9

    Accepting and declining need QUIRE_TOKEN with the scope approve, and somebody else than who made the proposal.
    """


# ---- list


@proposals_verb.command("list", epilog=EXIT_STATUS)
@click.argument("notebook", required=False, shell_complete=names_of_logs)
@click.option("--all", "everything", is_flag=True, help="Also those that were answered.")
@with_workspace
async def list_verb(workspace: Workspace, notebook: str | None, everything: bool, as_json: bool) -> None:
    """List the proposals that wait, everywhere or in NOTEBOOK.

    \b
      quire proposals list sales

    With --json, an array of objects.
    """
    only = (await workspace.find(notebook)).log if notebook is not None else None
    found = [each async for each in _proposals(workspace, only) if everything or each.now.state == "open"]
    if as_json:
        print_json([_shown(each) for each in found])
    elif found:
        click.echo(table(("proposal", "notebook", "by", "for", "asks for", "state", "why"), list(map(_row, found))))
    else:
        click.echo("Nothing waits for a yes.", err=True)


def _row(found: ProposalEntry) -> tuple[str, ...]:
    asks = _asked(found.made)
    behalf = found.now.on_behalf_of or ""
    return (
        found.made.proposal,
        found.notebook,
        found.now.by,
        behalf,
        asks,
        found.now.state,
        reason_line(found.made.why, 50),
    )


def _asked(made: ProposalMade) -> str:
    parts = [(made.changes, "change"), (made.effects, "run")]
    return ", ".join(counted(len(each), what) for each, what in parts if each)


def _shown(found: ProposalEntry) -> dict[str, object]:
    told = msgspec.to_builtins(found.made)
    state = {"state": found.now.state, "decided_by": found.now.decided_by}
    by = {"by": found.now.by, "on_behalf_of": found.now.on_behalf_of, "at": found.now.at}
    return {"log": found.log, "notebook": found.notebook, **told, **by, **state}


# ---- show


@proposals_verb.command("show", epilog=EXIT_STATUS)
@click.argument("proposal")
@with_workspace
async def show_verb(workspace: Workspace, proposal: str, as_json: bool) -> None:
    """Print all that PROPOSAL (an id, or its beginning) asks for, text in full.

    \b
      quire proposals show 01M7GFVPH9

    The numbers are for `quire proposals accept --only`.
    """
    found = await _find(workspace, proposal)
    if as_json:
        print_json(_shown(found))
        return
    notebook = await workspace.read(found.log)
    for line in _told(found, notebook):
        click.echo(line)
    if found.now.state == "open":
        click.echo(f"Accepted by: quire proposals accept {found.made.proposal}", err=True)


def _told(found: ProposalEntry, notebook: Notebook) -> Iterator[str]:
    made, now = found.made, found.now
    behalf = f" for {plain(now.on_behalf_of)}" if now.on_behalf_of is not None else ""
    answered = f"{now.state} by {plain(now.decided_by)}" if now.decided_by is not None else now.state
    yield f"{made.proposal} in {plain(found.notebook)} [{found.log}], {answered}"
    yield f"  by {plain(now.by)}{behalf}, {now.at[:19].replace('T', ' ')}: {_reason(made.why)}"
    for number, change in enumerate(made.changes, 1):
        yield f"{number:>4}  {type_of(change)} {describe(change)}"
        yield from _text(change)
    for number, effect in enumerate(made.effects, 1 + len(made.changes)):
        what = effect.cell if effect.source is None else "code without a cell"
        needs = ", once the one before has ended well" if effect.needs is not None else ""
        yield f"{number:>4}  run {what} ({effect.cell_kind}) as {effect.source_hash[:12]}{needs}"
        yield from _source(effect, notebook)


def _reason(why: str) -> str:
    """The reason, indented so that no line of it passes for a part of the proposal."""
    return visible(why).replace("\n", "\n        ") or NO_REASON


def _text(change: e.CellChange) -> Iterator[str]:
    """What is written, whole: nobody says yes to what they have not seen."""
    match change:
        case e.CellAdded():
            yield from _indented("+ ", change.source)
        case e.SourceEdited(text=str(text)):
            yield from _indented("= ", text)
        case e.SourceEdited():
            for splice in change.edit:
                yield f"        at {splice.at}, {counted(splice.remove, 'character')} out, in:"
                yield from _indented("+ ", splice.insert)
        case _:
            pass


def _source(effect: RunCell, notebook: Notebook) -> Iterator[str]:
    cell = notebook.cells.get(effect.cell)
    if effect.source is not None:
        yield from _indented("> ", effect.source)
    elif cell is not None and source_hash(cell.source) == effect.source_hash:
        yield from _indented("> ", cell.source)
    else:
        yield "        as it is after the changes above"


def _indented(mark: str, text: str) -> Iterator[str]:
    for line in visible(text).split("\n") if text else ():
        yield f"        {mark}{line}"


# ---- accept and decline


@proposals_verb.command("accept", epilog=EXIT_STATUS)
@click.argument("proposal")
@click.option(
    "--only", metavar="N", type=click.IntRange(1), multiple=True, help="Only this part, as `show` numbers it."
)
@with_workspace
async def accept_verb(workspace: Workspace, proposal: str, only: tuple[int, ...], as_json: bool) -> None:
    """Say yes to PROPOSAL: its changes are made as they apply now, and its runs are queued.

    \b
      QUIRE_TOKEN=… quire proposals accept 01M7GFVPH9 --only 1 --only 2

    Needs a token with the scope approve. What was shown is what happens: a run whose source changed since is refused.
    """
    found = await _find(workspace, proposal)
    selection = tuple(number - 1 for number in only) or None
    event = e.ProposalAccepted(proposal=found.made.proposal, selection=selection)
    await _answer(workspace, found, event, "accepted", as_json=as_json)


@proposals_verb.command("decline", epilog=EXIT_STATUS)
@click.argument("proposal")
@click.option("--why", default="", help="For the record, and for who asked.")
@with_workspace
async def decline_verb(workspace: Workspace, proposal: str, why: str, as_json: bool) -> None:
    """Say no to PROPOSAL.

    \b
      QUIRE_TOKEN=… quire proposals decline 01M7GFVPH9 --why "the old name is used elsewhere"

    Needs a token with the scope approve.
    """
    found = await _find(workspace, proposal)
    event = e.ProposalDeclined(proposal=found.made.proposal, why=why)
    await _answer(workspace, found, event, "declined", as_json=as_json)


async def _answer(
    workspace: Workspace, found: ProposalEntry, event: e.ProposalEvent, answered: str, *, as_json: bool
) -> None:
    (entry,) = await workspace.submit(found.log, [Draft(id=new_id(), event=event)])
    if as_json:
        print_json({"log": found.log, "proposal": found.made.proposal, "state": answered, "seq": entry.seq})
    else:
        click.echo(f"{answered.capitalize()}: {found.made.proposal} in {plain(found.notebook)} [{found.log}]", err=True)


# ---- Finding them


async def _find(workspace: Workspace, proposal: str) -> ProposalEntry:
    found = {each.made.proposal: each async for each in _proposals(workspace)}
    return found[resolve(proposal, found, "proposal")]


async def _proposals(workspace: Workspace, only: LogId | None = None) -> AsyncIterator[ProposalEntry]:
    for info in await workspace.logs():
        if info.kind == "workspace" or only not in (None, info.log):
            continue
        made = await _made(workspace, info.log)
        if not made:
            continue
        notebook = await workspace.read(info.log)
        for proposal, now in notebook.proposals.items():
            if proposal in made:
                yield ProposalEntry(log=info.log, notebook=notebook.name, made=made[proposal], now=now)


async def _made(workspace: Workspace, log: LogId) -> dict[ProposalId, ProposalMade]:
    """What was proposed in a log: of what is decided, only the log tells."""
    made: dict[ProposalId, ProposalMade] = {}
    since = 0
    while page := await workspace.entries(log, since, types=("proposal_made",)):
        made |= {entry.event.proposal: entry.event for entry in page if isinstance(entry.event, ProposalMade)}
        since = page[-1].seq
    return made
