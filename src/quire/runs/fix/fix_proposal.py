"""What was fixed in a run becomes a proposal to its source: one, with all of it, for somebody else's yes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from ...actors.mirror.from_file import changes
from ...core.errors import BadInput, Conflict, Refused
from ...core.events import CellChange, Draft, ProposalMade, SourceEdited
from ...core.ids import LogId, ProposalId
from ...core.notebook.notebook import Notebook
from ...core.sheet.sheet import Sheet
from ...workspace.clock import new_id
from ...workspace.protocol import Workspace
from ...workspace.wire.bodies import RunProposed
from ..records.run_records import run_of
from ..records.run_snapshot import as_left
from .run_fix import Fix, as_written, fix_of, fixed, written
from .run_source import source_of


async def propose(workspace: Workspace, folder: Path | None, log: LogId, why: str = "") -> RunProposed:
    """Propose to the source of a run what was changed in its notebook since it ended.

    `folder` is the one that paths of files are relative to; None: files are not to be looked at. A server does it with
    its own files.
    """
    return await workspace.propose(log, why, lambda: _propose(workspace, folder, log, why))


async def _propose(workspace: Workspace, folder: Path | None, log: LogId, why: str) -> RunProposed:
    now = await workspace.read(log)
    run = run_of(now)
    if run.is_open:
        raise Refused(f"Run {log} is {run.status}: its cells can be changed, and a fix proposed, once it is over.")
    fix = fix_of(await as_left(workspace, log, now), now)
    if fix.is_empty:
        raise BadInput(f"Run {log} is as it ended: no cell of it says anything else. Change one, then propose it.")

    def check(sheet: Sheet, path: str) -> None:
        fixed(fix, as_written(sheet), frozenset(), path)

    found = await source_of(workspace, folder, log, run, check)
    source = await workspace.read(found.log)
    name = found.path or source.name
    made = ProposalMade(
        proposal=ProposalId(new_id()), why=_why(log, now, fix, why), changes=_changes(fix, source, found.log, name)
    )
    (last,) = await workspace.entries(log, now.seq - 1, now.seq)
    (entry,) = await workspace.submit(found.log, [Draft(id=new_id(), event=made, cause=last.id)])
    return RunProposed(
        run=log,
        log=found.log,
        name=source.name,
        path=found.path,
        was_made=found.was_made,
        proposal=made.proposal,
        changes=len(made.changes),
        seq=entry.seq,
    )


def _changes(fix: Fix, source: Notebook, log: LogId, name: str) -> tuple[CellChange, ...]:
    if source.run is not None:
        raise BadInput(f"{name!r} is a run itself, which is no source. Propose from there: `quire propose {log}`.")
    ours = written(source)
    wanted = changes(source, ours, fixed(fix, ours, frozenset(source.cells), name))
    if not wanted:
        raise BadInput(f"{name} says already what was fixed in the run: nothing is left to propose.")
    for proposal, waiting in source.proposals.items():
        if waiting.state == "open" and as_asked(waiting.changes) == wanted:
            told = f"Proposal {proposal} by {waiting.by} asks {name} for the same already."
            raise Conflict(f"{told} `quire proposals show {proposal}` shows it.", proposal=proposal)
    return wanted


def as_asked(changes: tuple[CellChange, ...]) -> tuple[CellChange, ...]:
    """Return changes as they were sent, without the differences that the workspace keeps with them."""
    return tuple(replace(each, applied=None) if isinstance(each, SourceEdited) else each for each in changes)


def _why(log: LogId, now: Notebook, fix: Fix, why: str) -> str:
    """For whom it may concern: from which run it is, and whose work."""
    authors = ", ".join(dict.fromkeys(_authors(now, fix)))
    told = f"fixed in run {log}{f' by {authors}' if authors else ''}"
    return f"{why} ({told})" if why else told


def _authors(now: Notebook, fix: Fix) -> Iterator[str]:
    """Who wrote the cells that are not as they ran."""
    before = {cell.id: cell.source for cell in fix.before.cells}
    return (now.cells[cell.id].author for cell in fix.after.cells if before.get(cell.id) != cell.source)
