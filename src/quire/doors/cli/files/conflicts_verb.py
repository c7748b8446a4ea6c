"""`quire conflicts list|show|resolve`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import cast

import click
import msgspec

from ....core.diff.file_conflicts import Side, taking
from ....core.events import ConflictResolved, KnownEvent
from ....core.ids import ConflictId, LogId, resolve
from ....core.notebook.notebook import FileConflict, Notebook
from ....core.visible import visible, visible_line
from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json, table
from ..submission import submit
from ..workspace_command import names_of_logs, with_workspace


class ConflictEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A conflict, and where it was raised."""

    log: LogId
    id: ConflictId
    conflict: FileConflict
    notebook: Notebook

    @property
    def file(self) -> str:
        """The file that the notebook is bound to."""
        return self.notebook.binding.path if self.notebook.binding is not None else "no file"


@click.group("conflicts", epilog=EXIT_STATUS)
def conflicts_verb() -> None:
    """Decide where a notebook and its file changed the same lines.

    \b
      quire conflicts list
      quire conflicts show 01M7GFVPH9
      quire conflicts resolve 01M7GFVPH9 --take file

    The notebook's text stands meanwhile, on both sides. A conflict ends by itself when the cell says what the file wanted,
    from whichever side, or is removed.
    """


@conflicts_verb.command("list", epilog=EXIT_STATUS)
@click.argument("notebook", required=False, shell_complete=names_of_logs)
@with_workspace
async def list_verb(workspace: Workspace, notebook: str | None, as_json: bool) -> None:
    """List the conflicts that are open, everywhere or in NOTEBOOK.

    \b
      quire conflicts list sales

    With --json, an array of objects.
    """
    only = (await workspace.find(notebook)).log if notebook is not None else None
    found = [each async for each in _conflicts(workspace, only)]
    if as_json:
        print_json([_shown(each) for each in found])
    elif found:
        click.echo(table(("conflict", "notebook", "cell", "file", "the log says", "the file said"), _rows(found)))
    else:
        click.echo("There are no conflicts.", err=True)


def _rows(found: list[ConflictEntry]) -> list[tuple[str, ...]]:
    return [
        (
            each.id,
            each.notebook.name,
            each.conflict.cell,
            each.file,
            visible_line(each.conflict.ours, 30) or "nothing",
            visible_line(each.conflict.theirs, 30) or "nothing",
        )
        for each in found
    ]


def _shown(found: ConflictEntry) -> dict[str, object]:
    told = msgspec.to_builtins(found.conflict)
    return {"log": found.log, "notebook": found.notebook.name, "conflict": found.id, "file": found.file, **told}


@conflicts_verb.command("show", epilog=EXIT_STATUS)
@click.argument("conflict")
@with_workspace
async def show_verb(workspace: Workspace, conflict: str, as_json: bool) -> None:
    """Print what each side says in CONFLICT (an id, or its beginning), in full.

    \b
      quire conflicts show 01M7GFVPH9
    """
    found = await _find(workspace, conflict)
    if as_json:
        print_json(_shown(found))
        return
    for line in _told(found):
        click.echo(line)
    click.echo(f"Decided by: quire conflicts resolve {found.id} [--take log|file]", err=True)


def _told(found: ConflictEntry) -> Iterator[str]:
    conflict, cell = found.conflict, found.notebook.cells[found.conflict.cell]
    yield f"{found.id} in cell {conflict.cell} of {plain(found.notebook.name)} [{found.log}] and {plain(found.file)}"
    sides = {"both had": conflict.base, "the log says": conflict.ours, "the file said": conflict.theirs}
    if cell.source not in (conflict.ours, conflict.theirs):
        sides["the cell says now"] = cell.source
    for side, text in sides.items():
        yield f"  {side}:" if text else f"  {side}: nothing"
        yield from (f"        {line}" for line in visible(text).split("\n")) if text else ()


@conflicts_verb.command("resolve", epilog=EXIT_STATUS)
@click.argument("conflict")
@click.option(
    "--take",
    type=click.Choice(("log", "file")),
    help="Take what this side says; nothing where it had removed the cell.  [default: the cell as it is now]",
)
@with_workspace
async def resolve_verb(workspace: Workspace, conflict: str, take: str | None, as_json: bool) -> None:
    """End CONFLICT (an id, or its beginning): the cell is as it should be, or as one side has it.

    \b
      quire conflicts resolve 01M7GFVPH9 --take file

    To put something together from both, edit the cell, on either side, and then resolve. What was not taken stays in the log.
    """
    found = await _find(workspace, conflict)
    events: list[KnownEvent] = [*taking(found.notebook, found.id, cast("Side | None", take))]
    if not (events and workspace.identity.asks):
        # Of what is only proposed, the mirror sees that it ended the conflict, once somebody said yes.
        events.append(ConflictResolved(conflict=found.id))
    entries = await submit(workspace, found.log, events, as_json=as_json)
    if entries is None:
        return
    if as_json:
        told = {"log": found.log, "conflict": found.id, "cell": found.conflict.cell, "taken": take}
        print_json({**told, "seq": entries[-1].seq})
    else:
        click.echo(f"Resolved {found.id} in {plain(found.notebook.name)} [{found.log}]", err=True)


async def _find(workspace: Workspace, conflict: str) -> ConflictEntry:
    found = {each.id: each async for each in _conflicts(workspace)}
    return found[resolve(conflict, found, "open conflict")]


async def _conflicts(workspace: Workspace, only: LogId | None = None) -> AsyncIterator[ConflictEntry]:
    for info in await workspace.logs("notebook"):
        if only not in (None, info.log):
            continue
        if not await workspace.entries(info.log, types=("conflict_raised",), limit=1):
            continue
        notebook = await workspace.read(info.log)
        for id, conflict in notebook.conflicts.items():
            yield ConflictEntry(log=info.log, id=id, conflict=conflict, notebook=notebook)
