"""`quire log`."""

from __future__ import annotations

import click

from ....core.events import Entry
from ....core.ids import WORKSPACE_LOG, LogId
from ....formats.event_line import describe, type_of
from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..options import NUMBER
from ..printer import print_json
from ..workspace_command import notebook_argument, with_workspace


@click.command("log", epilog=EXIT_STATUS)
@notebook_argument
@click.option("--since", metavar="SEQ", type=NUMBER, default=0, help="Only events after this number.")
@click.option("--until", metavar="SEQ", type=NUMBER, help="Only events up to this number.")
@click.option("-n", "--last", metavar="COUNT", type=NUMBER, help="Only the last so many.")
@click.option("-f", "--follow", is_flag=True, help="Go on printing what comes, until interrupted.")
@with_workspace
async def log_verb(
    workspace: Workspace,
    notebook: str,
    since: int,
    until: int | None,
    last: int | None,
    follow: bool,
    as_json: bool,
) -> None:
    """Print what happened in NOTEBOOK (a name, an id or its beginning), event by event.

    \b
      quire log sales --follow

    One line per event: number, time, actor, event. NOTEBOOK may be `workspace`, for what is
    true across notebooks. With --json, an array of entries; with --follow, one per line.
    """
    log = WORKSPACE_LOG if notebook == WORKSPACE_LOG else (await workspace.find(notebook)).log
    if last is not None:
        head = (await workspace.find(log)).head.seq
        since = max(since, (until or head) - last)
    if follow:
        async for page in workspace.follow(log, since):
            for entry in page:
                _print(entry, as_json=as_json)
        return
    if as_json:
        print_json([entry async for entry in _entries(workspace, log, since, until)])
        return
    async for entry in _entries(workspace, log, since, until):
        _print(entry, as_json=False)


async def _entries(workspace: Workspace, log: LogId, since: int, until: int | None):
    while page := await workspace.entries(log, since, until):
        for entry in page:
            yield entry
        since = page[-1].seq


def _print(entry: Entry, *, as_json: bool) -> None:
    if as_json:
        print_json(entry)
        return
    who = plain(entry.by) + (f" for {plain(entry.on_behalf_of)}" if entry.on_behalf_of else "")
    number = click.style(f"{entry.seq:>6}", dim=True)
    time = click.style(entry.at[:19].replace("T", " "), dim=True)
    mark = click.style(" redacted", fg="red") if entry.redacted else ""
    said = f"{click.style(type_of(entry.event), bold=True)}{mark}  {describe(entry.event)}"
    click.echo(f"{number}  {time}  {click.style(f'{who:<22}', fg='cyan')}  {said}")
