"""How a log becomes a notebook: one branch per event.

`fold` and `reduce` are pure and total on accepted events. They copy the notebook once,
not once per event: `Fold` owns what it builds and copies a part only when that part was
handed out since. Change what a branch does, or what Notebook holds, and REDUCER goes up
by one: snapshots of another number are not read (rule 1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from msgspec.structs import replace

from .. import events as e
from ..errors import Unavailable
from ..events import Entry, Output
from ..ids import MIRROR, CellId, ExecutionId, RuntimeId
from ..text import apply
from . import executions
from .executions import set_cell
from .notebook import (
    Binding,
    Cell,
    Comment,
    Execution,
    FileConflict,
    Notebook,
    Proposal,
    ProposalState,
    Review,
    Run,
    Runtime,
)

REDUCER = 10

_CONTAINERS = (
    "cells",
    "order",
    "executions",
    "displays",
    "definers",
    "runtimes",
    "results",
    "proposals",
    "comments",
    "conflicts",
    "redactions",
)


def fold(entries: Iterable[Entry], start: Notebook | None = None) -> Notebook:
    """Return the notebook that `entries` make of `start` (of nothing when None)."""
    folding = Fold(start)
    for entry in entries:
        folding.add(entry)
    return folding.notebook()


def reduce(notebook: Notebook, entry: Entry) -> Notebook:
    """Return the notebook as it is after `entry`."""
    return fold((entry,), notebook)


class Fold:
    """A notebook on its way through a log. Takes entries, hands out values."""

    def __init__(self, start: Notebook | None = None) -> None:
        self._now = start or Notebook()
        self._owned = start is None
        self._own_outputs: set[tuple[CellId, ExecutionId]] = set()

    @property
    def now(self) -> Notebook:
        """The notebook to look at before the next `add`, which may change it. Do not keep it."""
        return self._now

    def notebook(self) -> Notebook:
        """Hand the notebook out for good: from here on it is the receiver's, and never changes."""
        self._owned = False
        self._own_outputs.clear()
        return self._now

    def add(self, entry: Entry) -> None:
        """Take the next entry of the log."""
        now = self._now
        if entry.seq != now.seq + 1:
            raise Unavailable(
                f"Log {entry.log}: event {now.seq + 1} is missing before {entry.seq}. "
                f"Run `quire verify {entry.log}` to see what happened to it."
            )
        if not self._owned:
            self._now = now = replace(now, **{name: getattr(now, name).copy() for name in _CONTAINERS})
            self._owned = True
        now.seq = entry.seq
        now.updated_at = entry.at
        _apply(self, now, entry, entry.event)

    def outputs(self, execution: Execution) -> list[Output]:
        """The outputs of `execution`, as a list that nobody else holds."""
        key = (execution.cell, execution.id)
        if key in self._own_outputs:
            return execution.outputs
        self._own_outputs.add(key)
        return execution.outputs.copy()


def _apply(folding: Fold, now: Notebook, entry: Entry, event: e.AnyEvent) -> None:
    # A match tries its cases in order: the events that fill logs come first.
    match event:
        case e.StreamAppended():
            executions.append_stream(folding.outputs, now, event)
        case e.SourceEdited():
            _edit_source(now, entry, event)
        case e.OutputAdded():
            executions.add_output(folding.outputs, now, event)
        case e.DisplayUpdated():
            executions.update_display(folding.outputs, now, event)
        case e.ExecutionRequested():
            executions.queue(
                now, entry, event.execution, event.cell, event.source_hash, wants=event.runtime, needs=event.needs
            )
        case e.ScratchRequested():
            executions.add_scratch(now, entry, event)
        case e.ExecutionClaimed():
            executions.change(now, event.execution, state="claimed", runtime=event.runtime, epoch=event.epoch)
        case e.ExecutionStarted():
            executions.start(now, entry, event)
        case e.ExecutionFinished():
            executions.end(now, entry, event.execution, state=event.status, count=event.count, fault=event.fault)
        case e.OutputsCleared():
            executions.clear_outputs(folding.outputs, now, event)
        case e.ResultRecorded():
            executions.record_result(now, entry, event)
        case e.CellAdded():
            _add_cell(now, entry, event)
        case e.CellRemoved():
            _change_cell(now, event.cell, removed=True, changed_seq=entry.seq)
        case e.CellMoved():
            _move_cell(now, entry, event)
        case e.CellKindChanged():
            _change_cell(now, event.cell, kind=event.kind, changed_seq=entry.seq, gap_seq=entry.seq)
        case e.CellNamed():
            _change_cell(now, event.cell, name=event.name)
        case e.CellTagged():
            _change_cell(now, event.cell, tags=event.tags)
        case e.CellMetadataSet():
            metadata = _merged(now.cells[event.cell].metadata, event.values, event.removed)
            _change_cell(now, event.cell, metadata=metadata)
        case e.ExecutionSkipped():
            if event.execution not in now.executions:
                executions.queue(now, entry, event.execution, event.cell, "")
            executions.end(now, entry, event.execution, state="skipped", why=event.why)
        case e.ExecutionCancelled():
            executions.end(now, entry, event.execution, state="cancelled", why=event.why)
        case e.InterruptRequested():
            executions.change(now, event.execution, interrupted_by=entry.by)
        case e.InputAnswered():
            executions.answer_input(now, entry, event)
        case e.Unknown():
            now.skipped += 1
        case e.PayloadRedacted():
            now.redactions.append(event.seq)
        case _:
            _apply_rare(folding, now, entry, event)


_Rare = e.RunEvent | e.ProposalEvent | e.CommentEvent | e.ReviewEvent | e.FileEvent | e.PlainEvent | e.WorkspaceEvent


def _apply_rare(folding: Fold, now: Notebook, entry: Entry, event: _Rare) -> None:
    match event:
        case e.NotebookCreated():
            now.name, now.metadata = event.name, event.metadata
            now.created_by, now.created_at = entry.by, entry.at
        case e.NotebookRenamed():
            now.name = event.name
        case e.NotebookArchived():
            now.archived = event.archived
        case e.MetadataSet():
            now.metadata = _merged(now.metadata, event.values, event.removed)
        case e.FileBound():
            now.binding = None if event.path is None else Binding(path=event.path, format=event.format)
        case e.FileMerged():
            _merge_file(folding, now, entry, event)
        case e.ConflictRaised():
            now.conflicts[event.conflict] = FileConflict(
                cell=event.cell, base=event.base, ours=event.ours, theirs=event.theirs, seq=entry.seq
            )
        case e.ConflictResolved():
            now.conflicts.pop(event.conflict, None)
        case e.OutputsImported():
            executions.take_over(now, entry, event)
        case e.RunRequested():
            _request_run(now, entry, event)
        case e.RunClaimed():
            _change_run(now, status="claimed", runtime=event.runtime, epoch=event.epoch)
        case e.RunStarted():
            _start_run(now, entry, event)
        case e.EnvironmentRecorded():
            _change_run(now, packages=event.packages, revision=event.revision, inputs=event.inputs)
        case e.RunCancelRequested():
            _cancel_run(now, entry)
        case e.RunFinished():
            _change_run(
                now,
                status=event.status,
                finished_at=entry.at,
                finished_seq=entry.seq,
                failed_cell=event.failed_cell,
                fault=event.fault,
                widgets=event.widgets,
            )
        case e.RunDelivered():
            _change_run(now, deliveries=(*(now.run.deliveries if now.run is not None else ()), event))
        case e.RuntimeAttached():
            now.runtimes[event.runtime] = Runtime(
                id=event.runtime, name=event.name, language=event.language, environment=event.environment
            )
        case e.RuntimeDetached():
            now.runtimes.pop(event.runtime, None)
        case e.KernelStarted():
            _new_kernel(now, event.runtime, event.kernel, restarts=0)
        case e.KernelRestarted():
            _new_kernel(now, event.runtime, event.kernel, restarts=1)
        case e.RestartRequested():
            pass  # `kernel_restarted` says that it was done
        case e.ProposalMade():
            _make_proposal(now, entry, event)
        case e.ProposalAccepted():
            _accept_proposal(folding, now, entry, event)
        case e.ProposalDeclined():
            _decide(now, entry, event.proposal, "declined", event.why)
        case e.ProposalWithdrawn():
            _decide(now, entry, event.proposal, "withdrawn")
        case e.ProposalExpired():
            _decide(now, entry, event.proposal, "expired")
        case e.CommentAdded():
            now.comments[event.comment] = Comment(
                by=entry.by,
                on_behalf_of=entry.behalf,
                at=entry.at,
                text=event.text,
                cell=event.cell,
                reply_to=event.reply_to,
                line=event.line,
                source_hash=event.source_hash,
            )
        case e.CommentEdited():
            now.comments[event.comment] = replace(now.comments[event.comment], text=event.text, edited=True)
        case e.CommentResolved():
            by = entry.by if event.resolved else None
            now.comments[event.comment] = replace(now.comments[event.comment], resolved_by=by)
        case e.ReviewOpened():
            now.name = event.name
            now.created_by, now.created_at = entry.by, entry.at
            now.review = Review(subject=event.subject, by=entry.by, on_behalf_of=entry.behalf, at=entry.at)
        case e.CellReviewed():
            _review_cell(now, entry, event)
        case e.ReviewAnswered():
            _answer_review(now, entry, event)
        case e.ActorKnown() | e.RoleSet() | e.PolicySet() | e.TokenCreated() | e.TokenRevoked() | e.LogImported():
            pass  # of the workspace log; `directory` folds them
        case e.LogPruned() | e.ActorPaused() | e.ActorResumed():
            pass  # so are these
        case e.ScheduleAdded() | e.ScheduleChanged() | e.SchedulePaused() | e.ScheduleResumed():
            pass
        case e.ScheduleRemoved() | e.ScheduleAsked() | e.ScheduleSkipped():
            pass
        case _:
            assert_never(event)


def _merged(old: dict[str, Any], values: dict[str, Any], removed: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in (old | values).items() if name not in removed}


# ---- Cells


def _change_cell(now: Notebook, cell: CellId, **fields: Any) -> None:
    """Somebody changes a cell; in a run that is over, it is marked as no longer what ran."""
    if _is_after_run(now):
        fields["after_run"] = True
    set_cell(now, cell, **fields)


def _is_after_run(now: Notebook) -> bool:
    return now.run is not None and not now.run.is_open


def _edit_source(now: Notebook, entry: Entry, event: e.SourceEdited) -> None:
    cell = now.cells[event.cell]
    edit = event.edit if event.applied is None else event.applied
    source = event.text if event.text is not None else apply(cell.source, edit)
    if source == cell.source:
        return  # both removed the same, say: nobody changed anything
    _change_cell(now, event.cell, source=source, edited_by=entry.by, edited_from=_file_of(entry), changed_seq=entry.seq)


def _add_cell(now: Notebook, entry: Entry, event: e.CellAdded) -> None:
    before = now.cells.get(event.cell)
    if before is not None:
        now.order.remove(event.cell)
    now.cells[event.cell] = Cell(
        id=event.cell,
        kind=event.kind,
        source=event.source,
        name=event.name,
        tags=event.tags,
        metadata=event.metadata,
        added_by=entry.by,
        edited_by=entry.by,
        edited_from=_file_of(entry),
        changed_seq=entry.seq,
        after_run=_is_after_run(now),
        execution=before and before.execution,
        queued=before and before.queued,
        missed=before and before.missed,
    )
    _place(now.order, event.cell, event.after)


def _move_cell(now: Notebook, entry: Entry, event: e.CellMoved) -> None:
    if event.after != event.cell:
        place = now.order.index(event.cell)
        del now.order[place]
        if place < len(now.order):
            set_cell(now, now.order[place], gap_seq=entry.seq)
        _place(now.order, event.cell, event.after)
        _change_cell(now, event.cell, changed_seq=entry.seq)


def _place(order: list[CellId], cell: CellId, after: CellId | None) -> None:
    if order and order[-1] == after:  # a notebook is mostly written from top to bottom
        order.append(cell)
    else:
        order.insert(0 if after is None else order.index(after) + 1, cell)


def _apply_changes(folding: Fold, now: Notebook, entry: Entry, changes: tuple[e.CellChange, ...]) -> None:
    for change in changes:
        _apply(folding, now, entry, change)


def _file_of(entry: Entry) -> str | None:
    """The file that a change came from: only the mirror itself can say so, for nobody else signs as it."""
    return entry.event.path if isinstance(entry.event, e.FileMerged) and entry.by == MIRROR else None


def _merge_file(folding: Fold, now: Notebook, entry: Entry, event: e.FileMerged) -> None:
    _apply_changes(folding, now, entry, event.changes)
    binding = now.binding or Binding(path=event.path)
    now.binding = replace(binding, digest=event.digest, merged_seq=entry.seq)


# ---- Runs and runtimes


def _request_run(now: Notebook, entry: Entry, event: e.RunRequested) -> None:
    now.name = event.name
    now.created_by, now.created_at = entry.by, entry.at
    now.run = Run(
        source=event.source,
        parameters=event.parameters,
        environment=event.environment,
        policy=dict(event.policy),
        metadata=event.metadata,
        wants=event.runtime,
        by=entry.by,
        on_behalf_of=entry.behalf,
        at=entry.at,
        due=event.due,
    )


def _change_run(now: Notebook, **fields: Any) -> None:
    if now.run is not None:
        now.run = replace(now.run, **fields)


def _start_run(now: Notebook, entry: Entry, event: e.RunStarted) -> None:
    if now.run is not None:
        environment = now.run.environment | event.environment
        now.run = replace(now.run, status="running", started_at=entry.at, environment=environment)


def _cancel_run(now: Notebook, entry: Entry) -> None:
    if now.run is not None and now.run.cancelled_by is None:
        now.run = replace(now.run, cancelled_by=entry.by)


def _new_kernel(now: Notebook, runtime: RuntimeId, kernel: str, restarts: int) -> None:
    known = now.runtimes.get(runtime, Runtime(id=runtime))
    is_new = not _has_kernel(now, kernel)
    now.runtimes[runtime] = replace(known, kernel=kernel, restarts=known.restarts + restarts)
    if is_new:
        now.definers = {}


def _has_kernel(now: Notebook, kernel: str) -> bool:
    """Whether somebody goes on with a kernel that ran cells here: what they defined is there."""
    own = now.run.environment.get("kernel_id") if now.run is not None else None
    return kernel == own or any(each.kernel == kernel for each in now.runtimes.values())


# ---- Proposals


def _make_proposal(now: Notebook, entry: Entry, event: e.ProposalMade) -> None:
    now.proposals[event.proposal] = Proposal(
        by=entry.by,
        on_behalf_of=entry.behalf,
        at=entry.at,
        seq=entry.seq,
        why=event.why,
        changes=event.changes,
        effects=event.effects,
        expires_at=event.expires_at,
    )


def _accept_proposal(folding: Fold, now: Notebook, entry: Entry, event: e.ProposalAccepted) -> None:
    _apply_changes(folding, now, entry, event.applied or ())
    for effect in event.effects or ():
        executions.queue_effect(now, entry, effect)
    _decide(now, entry, event.proposal, "accepted")


def _decide(now: Notebook, entry: Entry, proposal: e.ProposalId, state: ProposalState, why: str = "") -> None:
    now.proposals[proposal] = replace(
        now.proposals[proposal],
        state=state,
        decided_by=entry.by,
        decided_at=entry.at,
        decided_why=why,
        changes=(),
        effects=(),
        why="",
    )


# ---- Reviews


def _review_cell(now: Notebook, entry: Entry, event: e.CellReviewed) -> None:
    if now.review is None:
        return
    mine = {cell: version for cell, version in now.review.reviewed.get(entry.by, {}).items() if cell != event.cell}
    if event.reviewed:
        mine[event.cell] = event.version
    now.review = replace(now.review, reviewed=now.review.reviewed | {entry.by: mine})


def _answer_review(now: Notebook, entry: Entry, event: e.ReviewAnswered) -> None:
    if now.review is not None:
        now.review = replace(
            now.review, answer=event.answer, answered_by=entry.by, answered_at=entry.at, answered_why=event.why
        )
