"""Asking a person for changes and runs, instead of making them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...core import events as e
from ...core.errors import BadInput
from ...core.events import Draft, ProposalMade, RunCell
from ...core.ids import ExecutionId, LogId, ProposalId
from ...core.notebook.notebook import Cell, Notebook
from ...core.text import source_hash
from ...workspace.clock import new_id
from ..answers.answer import Here, VerbAnswer
from ..answers.edit_answer import answered_fix, answered_proposal
from ..arguments import ProposeArguments
from ..edit import after_it, planned_now, retry_on_conflict
from ..resolve import opened
from ..run import chosen


async def propose(here: Here, wanted: ProposeArguments) -> VerbAnswer:
    """Ask a person for changes and runs; or, of a run that was fixed, for the fix in its source."""
    log = await opened(here, wanted.notebook)
    before = await here.workspace.read(log)
    if wanted.pull_request:
        return await _as_pull_request(here, log, before, wanted)
    if before.run is not None and not wanted.edits and not wanted.run:
        return await _proposed_fix(here, log, wanted.why)

    async def record(before: Notebook, made: ProposalMade) -> VerbAnswer:
        (entry,) = await here.workspace.submit(log, [Draft(id=new_id(), event=made)])
        touched = [each.cell for each in (*made.changes, *made.effects) if each.cell in before.cells]
        await here.at(log, "editing", next(iter(touched), None))
        return answered_proposal(log, wanted, before, made, entry.seq)

    return await retry_on_conflict(here, log, lambda before: _proposal(here, log, before, wanted), record)


async def _as_pull_request(here: Here, log: LogId, before: Notebook, wanted: ProposeArguments) -> VerbAnswer:
    from .pull_request import propose_pull_request

    if wanted.run:
        raise BadInput("A pull request runs the whole notebook, before and after. Leave `run` out.")
    changes: tuple[e.CellChange, ...] = ()
    if wanted.edits:
        changes = (await planned_now(here, log, before, wanted.edits, check=wanted.check)).changes
    return await propose_pull_request(here, log, before, wanted, changes)


async def _proposed_fix(here: Here, log: LogId, why: str) -> VerbAnswer:
    from ...runs.fix.fix_proposal import propose as propose_fix

    return answered_fix(await propose_fix(here.workspace, here.folder, log, why))


async def _proposal(here: Here, log: LogId, before: Notebook, wanted: ProposeArguments) -> ProposalMade:
    changes: tuple[e.CellChange, ...] = ()
    after, changed = before, ()
    if wanted.edits:
        planned = await planned_now(here, log, before, wanted.edits, check=wanted.check)
        changes, changed = planned.changes, planned.changed
        after = after_it(here, before, planned)
    cells = chosen(after, wanted.run, changed) if wanted.run else []
    if not changes and not cells:
        raise BadInput("The proposal asks for nothing: give it `edits` that change something, or cells to `run`.")
    return ProposalMade(proposal=ProposalId(new_id()), why=wanted.why, changes=changes, effects=tuple(_effects(cells)))


def _effects(cells: Iterable[Cell]) -> Iterator[RunCell]:
    """The runs of cells, each for when the one before has ended well."""
    needs: ExecutionId | None = None
    for cell in cells:
        id = ExecutionId(new_id())
        hash = source_hash(cell.source)
        yield RunCell(execution=id, cell=cell.id, source_hash=hash, cell_kind=cell.kind, needs=needs)
        needs = id
