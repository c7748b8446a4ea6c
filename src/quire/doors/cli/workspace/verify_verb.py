"""`quire verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from ....core.chain import Flaw, Head
from ....core.errors import BadInput, Refused
from ....core.events import LogPruned
from ....core.ids import WORKSPACE_LOG, LogId
from ....formats.terminal_safe import plain
from ....workspace.protocol import LogVerification, Workspace
from .. import EXIT_STATUS
from ..printer import counted, print_json
from ..workspace_command import names_of_logs, with_workspace


class _VerifyNote(msgspec.Struct):
    log: LogId
    head: Head


@click.command("verify", epilog=EXIT_STATUS)
@click.argument("logs", nargs=-1, metavar="[LOG]...", shell_complete=names_of_logs)
@click.option(
    "--against",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What --json printed earlier: its heads must still be there.",
)
@click.option("--repair", is_flag=True, help="Make snapshots, names and index anew where they do not match their log.")
@with_workspace
async def verify_verb(
    workspace: Workspace, logs: tuple[str, ...], against: Path | None, repair: bool, as_json: bool
) -> int:
    """Check that every LOG (all of them by default) is what was recorded.

    \b
      quire verify --json > heads.json      # keep it somewhere else
      quire verify --against heads.json     # later

    Names the first event that was changed, removed, added or moved. What a chain of hashes
    cannot prove is said in docs/spec.md: keep the heads in another place and compare.
    Logs that were pruned are listed with the heads that they had, as the workspace's log tells.
    Exit status 1 when anything is wrong.
    """
    gone = await _pruned(workspace)
    wanted = [(await workspace.find(name)).log for name in logs] or None
    found: list[LogVerification] = []
    async for each in workspace.verify(wanted):
        found.append(each)
        if not as_json:
            _print(each)
    flaws = [each.flaw for each in found if each.flaw is not None]
    if against is not None:
        flaws += await _compare(workspace, against, gone, as_json=as_json)
    if repair:
        await _repair(workspace, flaws)
    if as_json:
        shown = [
            {"log": each.log, "head": {"seq": each.seq, "hash": each.hash}, **_told(each, at)} for each, at in gone
        ]
        print_json({"ok": not flaws, "logs": found, "flaws": flaws, "pruned": shown})
    else:
        for each, at in gone if not logs else ():
            click.echo(f"gone   {each.log}  {plain(each.name)}  {each.seq} events, {each.hash[:16]}…, pruned {at[:10]}")
        events = sum(each.head.seq for each in found)
        verdict = (
            click.style(f"{len(flaws)} with a fault", fg="red") if flaws else click.style("all as recorded", fg="green")
        )
        pruned = f", {len(gone):,} pruned" if gone else ""
        click.echo(f"{counted(len(found), 'log')}, {counted(events, 'event')}{pruned}: {verdict}", err=True)
    return 1 if flaws else 0


async def _pruned(workspace: Workspace) -> list[tuple[LogPruned, str]]:
    """The logs that were removed, as the workspace's log tells of them, and when that was; the last one first."""
    found: list[tuple[LogPruned, str]] = []
    since = 0
    try:
        while page := await workspace.entries(WORKSPACE_LOG, since, types=("log_pruned",)):
            found += [(entry.event, entry.at) for entry in page if isinstance(entry.event, LogPruned)]
            since = page[-1].seq
    except Refused:
        pass  # who may not read the workspace's log is not told of logs that they may not have been allowed to read
    return found[::-1]


def _told(pruned: LogPruned, at: str) -> dict[str, str | None]:
    return {"name": pruned.name, "status": pruned.status, "pruned_at": at}


def _print(found: LogVerification) -> None:
    mark = click.style("ok   ", fg="green") if found.flaw is None else click.style("FAULT", fg="red")
    said = f"{found.head.seq} events, {found.head.hash[:16]}…" if found.flaw is None else plain(found.flaw.what)
    click.echo(f"{mark}  {found.log}  {plain(found.name)}  {said}")


async def _compare(
    workspace: Workspace, against: Path, gone: list[tuple[LogPruned, str]], *, as_json: bool
) -> list[Flaw]:
    heads = {each.log: each for each, _ in gone}
    flaws = [
        flaw
        for noted in _noted(against)
        if (flaw := await _check_noted(workspace, noted, heads.get(noted.log))) is not None
    ]
    for flaw in flaws if not as_json else ():
        click.echo(f"{click.style('FAULT', fg='red')}  {flaw.log}  {flaw.what}")
    return flaws


def _noted(against: Path) -> list[_VerifyNote]:
    try:
        told: dict[str, Any] = msgspec.json.decode(against.read_bytes())
        return msgspec.convert(told["logs"], list[_VerifyNote])
    except (OSError, msgspec.MsgspecError, KeyError, TypeError) as error:
        raise BadInput(f"{against} is not what `quire verify --json` prints: {error}.") from error


async def _check_noted(workspace: Workspace, noted: _VerifyNote, pruned: LogPruned | None) -> Flaw | None:
    if noted.head.seq == 0:
        return None
    if pruned is not None:
        return _check_gone(noted, pruned)
    entries = await workspace.entries(noted.log, noted.head.seq - 1, noted.head.seq)
    if entries and entries[0].hash == noted.head.hash:
        return None
    told = "is not the one noted" if entries else "is no longer there"
    return Flaw(
        log=noted.log,
        seq=noted.head.seq,
        kind="changed" if entries else "removed",
        what=f"event {noted.head.seq} {told}",
    )


def _check_gone(noted: _VerifyNote, pruned: LogPruned) -> Flaw | None:
    """Of a log that was removed only its last head is known: one that was noted before is no longer to be compared."""
    if noted.head.seq < pruned.seq or (noted.head.seq, noted.head.hash) == (pruned.seq, pruned.hash):
        return None
    what = f"it was pruned at event {pruned.seq}, and the head that was noted, {noted.head.seq}, is another"
    return Flaw(log=noted.log, seq=noted.head.seq, kind="changed", what=what)


async def _repair(workspace: Workspace, flaws: list[Flaw]) -> None:
    for flaw in flaws:
        if flaw.kind in ("snapshot", "index"):
            await workspace.forget_snapshots(flaw.log)
            click.echo(
                f"quire: what was derived from {flaw.log} was thrown away; it is made anew from the log.", err=True
            )
