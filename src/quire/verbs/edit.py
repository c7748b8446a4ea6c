"""Changing cells: a batch of edits, all of it or nothing, made at once or proposed.

What is sent together is recorded together, with the requests to run what changed. Somebody
who is first with the text of a cell makes the batch be looked at again as the notebook is
then: it goes through if nothing in it was made against that text, else the answer is the
same as if they had been first all along.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

import msgspec

from ..core import events as e
from ..core.edits.edit_plan import EditPlan, Past, plan, stale_bases
from ..core.edits.operations import Insert, Operation
from ..core.errors import Conflict, NotFound, QuireError, Refused
from ..core.events import KnownEvent
from ..core.ids import CellId, ExecutionId, LogId, new_cell_ids
from ..core.notebook.notebook import Notebook
from ..core.notebook.source_history import CHANGING, Sources
from ..core.rules.acceptance import SubmissionContext
from ..core.rules.cell_rules import completed
from ..core.text import source_hash
from ..workspace.clock import now
from .answers.answer import Here, VerbAnswer
from .answers.edit_answer import EditOutcome, answered
from .arguments import Cells, EditArguments
from .create import check_may_make, made
from .execution_wait import Tell, ended
from .resolve import opened
from .run import chosen, outdated, requested, submitted

ATTEMPTS = 30
"""So often a batch is looked at again, when others change the notebook at the same time."""
_PAGE = 2000

T = TypeVar("T")
R = TypeVar("R")


async def edit(here: Here, wanted: EditArguments, tell: Tell | None = None) -> VerbAnswer:
    """Change cells of a notebook, or make it; run what is wanted, and wait for the end."""
    log = await _log_or_none(here, wanted.notebook, wanted.edits)
    done = await (_made(here, wanted) if log is None else _edited(here, log, wanted))
    runs = done.proposal is None and bool(done.executions)
    await here.at(done.log, "running" if runs else "editing", next(iter(done.touched), None))
    if not runs:
        return answered(wanted, done, await here.workspace.read(done.log), None)
    found = await ended(here, done.log, done.executions, done.since, wanted.seconds, tell)
    return answered(wanted, done, found.notebook, found)


async def _log_or_none(here: Here, name: str, operations: Sequence[Operation]) -> LogId | None:
    """The notebook that is meant; None: there is none, and the batch makes one."""
    try:
        return await opened(here, name)
    except NotFound:
        if not all(isinstance(operation, Insert) for operation in operations):
            raise
        check_may_make(here, name)
        return None


# ---- A notebook that is there


async def _edited(here: Here, log: LogId, wanted: EditArguments) -> EditOutcome:
    async def prepare(before: Notebook) -> _PreparedEdit:
        planned = await planned_now(here, log, before, wanted.edits, check=wanted.check)
        return _prepared(after_it(here, before, planned), wanted.run, planned)

    return await retry_on_conflict(
        here, log, prepare, lambda before, prepared: _recorded(here, log, before, prepared, wanted.why)
    )


async def retry_on_conflict(
    here: Here,
    log: LogId,
    prepare: Callable[[Notebook], Awaitable[T]],
    record: Callable[[Notebook, T], Awaitable[R]],
) -> R:
    """Record what was prepared for the notebook as it is; prepare it anew for as long as others change that meanwhile."""
    left = ATTEMPTS
    while True:
        before = await here.workspace.read(log)
        prepared = await prepare(before)
        try:
            return await record(before, prepared)
        except (Refused, Conflict, NotFound):
            left -= 1
            if not left or (await here.workspace.read(log)).seq == before.seq:
                raise


async def planned_now(
    here: Here, log: LogId, notebook: Notebook, operations: Sequence[Operation], *, check: bool
) -> EditPlan:
    """What a batch comes to in a notebook as it is, or all that speaks against it."""
    past = await _past(here, log, notebook, operations)
    return plan(notebook, operations, _new_ids(notebook, operations), past, check=check)


def _new_ids(notebook: Notebook, operations: Sequence[Operation]) -> Iterator[CellId]:
    count = sum(isinstance(operation, Insert) for operation in operations)
    return iter(new_cell_ids(count, notebook.cells, os.urandom))


async def _past(here: Here, log: LogId, notebook: Notebook, operations: Sequence[Operation]) -> Past:
    """What cells said that were read by whoever made the batch, where they say something else now."""
    wanted = stale_bases(notebook, operations)
    found: dict[tuple[CellId, str], str | None] = {}
    following = {cell: Sources(cell) for cell, _ in wanted}
    since = 0
    while len(found) < len(wanted) and since < notebook.seq:
        page = await here.workspace.entries(log, since, notebook.seq, limit=_PAGE, types=CHANGING)
        for cell, sources in following.items():
            bases = [base for each, base in wanted if each == cell]
            for source in sources.read(page):
                hash = source_hash(source)
                found.update({(cell, base): source for base in bases if hash.startswith(base)})
        since = page[-1].seq if len(page) == _PAGE else notebook.seq
    return found


def after_it(here: Here, before: Notebook, planned: EditPlan) -> Notebook:
    """The notebook as it will be."""
    asking = SubmissionContext(actor=here.workspace.identity.actor, at=now(), seq=before.seq)
    return completed(before, planned.changes, asking)[1].notebook()


class _PreparedEdit(msgspec.Struct, frozen=True, kw_only=True):
    """What is about to be recorded."""

    planned: EditPlan
    runs: tuple[KnownEvent, ...] = ()
    """What asks for the cells that are to run, as they will be."""
    executions: tuple[ExecutionId, ...] = ()
    """What comes of it, and what is under way already."""


def _prepared(after: Notebook, run: Cells, planned: EditPlan) -> _PreparedEdit:
    if not run:
        return _PreparedEdit(planned=planned)
    cells = chosen(after, run, planned.changed)
    requests, executions = requested(after, cells)
    return _PreparedEdit(planned=planned, runs=(*outdated(cells, requests), *requests), executions=tuple(executions))


async def _recorded(here: Here, log: LogId, before: Notebook, prepared: _PreparedEdit, why: str = "") -> EditOutcome:
    """Record the changes and the requests: together, or one after the other where only the runs are asked about."""
    asks = here.workspace.identity.asks
    parted = "run" in asks and "edit" not in asks
    # Nobody can be asked about taking something back.
    runs = [each for each in prepared.runs if not asks or isinstance(each, e.ExecutionRequested)]
    proposal, seq = await submitted(here, log, before, [*prepared.planned.changes, *([] if parted else runs)], why)
    done = msgspec.structs.replace(_done(here, log, prepared.planned, before), seq=seq, proposal=proposal)
    if proposal is not None:
        return done
    if parted and runs:
        return await _asked(here, done, runs, why)
    return msgspec.structs.replace(done, executions=prepared.executions)


def _done(here: Here, log: LogId, planned: EditPlan, before: Notebook) -> EditOutcome:
    unread = [before.cells[id] for id in planned.unread]
    return EditOutcome(
        log=log,
        since=before.seq,
        seq=before.seq,
        unread={cell.id: cell.author for cell in unread if cell.edited_by != here.workspace.identity.actor},
        touched=planned.touched,
        changed=planned.changed,
        removed=planned.removed,
        inserted=tuple(planned.inserted.values()),
    )


async def _asked(here: Here, done: EditOutcome, runs: Sequence[KnownEvent], why: str) -> EditOutcome:
    """The edit is made, whatever becomes of the runs: they wait for somebody's yes."""
    try:
        proposal, seq = await submitted(here, done.log, await here.workspace.read(done.log), runs, why)
    except QuireError as error:
        return msgspec.structs.replace(done, not_run=str(error))
    return msgspec.structs.replace(done, proposal=proposal, seq=seq, only_runs=True)


# ---- A notebook that is not there


async def _made(here: Here, wanted: EditArguments) -> EditOutcome:
    found = await made(here, wanted)
    notebook = await here.workspace.read(found.log)
    cells = tuple(notebook.order)
    planned = EditPlan(changes=(), touched=cells, changed=cells, removed=(), inserted=dict(enumerate(cells, 1)))
    done = await _recorded(here, found.log, notebook, _prepared(notebook, wanted.run, planned), wanted.why)
    return msgspec.structs.replace(done, made=True, path=found.path)
