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

from . import events as e
from .errors import Unavailable
from .events import Entry
from .ids import CellId, ExecutionId, RuntimeId
from .notebook import (
    INLINE_TEXT,
    Binding,
    Cell,
    Comment,
    Execution,
    FileConflict,
    Input,
    Notebook,
    Output,
    Proposal,
    ProposalState,
    Result,
    Run,
    Runtime,
    Stream,
)
from .stale import fingerprint
from .text import apply

REDUCER = 1

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
    "moments",
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
            _append_stream(folding, now, event)
        case e.SourceEdited():
            _edit_source(now, entry, event)
        case e.OutputAdded():
            _add_output(folding, now, event)
        case e.DisplayUpdated():
            _update_display(folding, now, event)
        case e.ExecutionRequested():
            _queue(now, entry, event.execution, event.cell, event.source_hash, event.runtime)
        case e.ExecutionClaimed():
            _change(now, event.execution, state="claimed", runtime=event.runtime, epoch=event.epoch)
        case e.ExecutionStarted():
            _start(now, entry, event)
        case e.ExecutionFinished():
            _end(now, entry, event.execution, state=event.status, count=event.count, fault=event.fault)
        case e.OutputsCleared():
            _clear_outputs(folding, now, event)
        case e.ResultRecorded():
            _record_result(now, entry, event)
        case e.CellAdded():
            _add_cell(now, entry, event)
        case e.CellRemoved():
            _set_cell(now, event.cell, removed=True, changed_seq=entry.seq)
        case e.CellMoved():
            _move_cell(now, entry, event)
        case e.CellKindChanged():
            _set_cell(now, event.cell, kind=event.kind, changed_seq=entry.seq, gap_seq=entry.seq)
        case e.CellNamed():
            _set_cell(now, event.cell, name=event.name)
        case e.CellTagged():
            _set_cell(now, event.cell, tags=event.tags)
        case e.CellMetadataSet():
            metadata = _merged(now.cells[event.cell].metadata, event.values, event.removed)
            _set_cell(now, event.cell, metadata=metadata)
        case e.ExecutionSkipped():
            if event.execution not in now.executions:
                _queue(now, entry, event.execution, event.cell, "", None)
            _end(now, entry, event.execution, state="skipped", why=event.why)
        case e.ExecutionCancelled():
            _end(now, entry, event.execution, state="cancelled", why=event.why)
        case e.InterruptRequested():
            _change(now, event.execution, interrupted_by=entry.by)
        case e.InputAnswered():
            _answer_input(now, entry, event)
        case e.Unknown():
            now.skipped += 1
        case e.PayloadRedacted():
            now.redactions.append(event.seq)
        case _:
            _apply_rare(folding, now, entry, event)


_Rare = (
    e.NotebookCreated
    | e.NotebookRenamed
    | e.NotebookArchived
    | e.MetadataSet
    | e.FileBound
    | e.FileMerged
    | e.ConflictRaised
    | e.ConflictResolved
    | e.MomentNamed
    | e.RunRequested
    | e.RunClaimed
    | e.RunStarted
    | e.RunFinished
    | e.RuntimeAttached
    | e.RuntimeDetached
    | e.KernelStarted
    | e.KernelRestarted
    | e.ProposalMade
    | e.ProposalAccepted
    | e.ProposalDeclined
    | e.ProposalWithdrawn
    | e.ProposalExpired
    | e.CommentAdded
    | e.CommentEdited
    | e.CommentResolved
    | e.WorkspaceEvent
)


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
        case e.MomentNamed():
            now.moments[event.name] = event.seq
        case e.RunRequested():
            _request_run(now, entry, event)
        case e.RunClaimed():
            _change_run(now, status="claimed", runtime=event.runtime, epoch=event.epoch)
        case e.RunStarted():
            _start_run(now, entry, event)
        case e.RunFinished():
            _change_run(
                now, status=event.status, finished_at=entry.at, failed_cell=event.failed_cell, fault=event.fault
            )
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
        case e.ProposalMade():
            _make_proposal(now, entry, event)
        case e.ProposalAccepted():
            _accept_proposal(folding, now, entry, event)
        case e.ProposalDeclined():
            _decide(now, entry, event.proposal, "declined")
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
            )
        case e.CommentEdited():
            now.comments[event.comment] = replace(now.comments[event.comment], text=event.text, edited=True)
        case e.CommentResolved():
            by = entry.by if event.resolved else None
            now.comments[event.comment] = replace(now.comments[event.comment], resolved_by=by)
        case e.ActorKnown() | e.RoleSet() | e.PolicySet() | e.TokenCreated() | e.TokenRevoked() | e.LogImported():
            pass  # of the workspace log; `directory` folds them
        case _:
            assert_never(event)


def _merged(old: dict[str, Any], values: dict[str, Any], removed: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in (old | values).items() if name not in removed}


# ---- Cells


def _set_cell(now: Notebook, cell: CellId, **fields: Any) -> None:
    now.cells[cell] = replace(now.cells[cell], **fields)


def _edit_source(now: Notebook, entry: Entry, event: e.SourceEdited) -> None:
    cell = now.cells[event.cell]
    edit = event.edit if event.applied is None else event.applied
    source = event.text if event.text is not None else apply(cell.source, edit)
    if source == cell.source:
        return  # both removed the same, say: nobody changed anything
    now.cells[event.cell] = replace(cell, source=source, edited_by=entry.by, changed_seq=entry.seq)


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
        changed_seq=entry.seq,
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
            _set_cell(now, now.order[place], gap_seq=entry.seq)
        _place(now.order, event.cell, event.after)
        _set_cell(now, event.cell, changed_seq=entry.seq)


def _place(order: list[CellId], cell: CellId, after: CellId | None) -> None:
    if order and order[-1] == after:  # a notebook is mostly written from top to bottom
        order.append(cell)
    else:
        order.insert(0 if after is None else order.index(after) + 1, cell)


def _apply_changes(folding: Fold, now: Notebook, entry: Entry, changes: tuple[e.CellChange, ...]) -> None:
    for change in changes:
        _apply(folding, now, entry, change)


def _merge_file(folding: Fold, now: Notebook, entry: Entry, event: e.FileMerged) -> None:
    _apply_changes(folding, now, entry, event.changes)
    binding = now.binding or Binding(path=event.path)
    now.binding = replace(binding, digest=event.digest, merged_seq=entry.seq)


# ---- Executions


def _queue(
    now: Notebook, entry: Entry, execution: ExecutionId, cell: CellId, source_hash: str, wants: str | None
) -> None:
    queued = Execution(
        id=execution,
        cell=cell,
        source_hash=source_hash,
        cell_kind=now.cells[cell].kind,
        state="queued",
        by=entry.by,
        on_behalf_of=entry.behalf,
        at=entry.at,
        wants=wants,
    )
    now.executions[execution] = cell
    _set_cell(now, cell, queued=queued)


def _change(now: Notebook, execution: ExecutionId, **fields: Any) -> None:
    """Change an open execution, wherever its cell keeps it."""
    cell = now.cells[now.executions[execution]]
    if cell.queued is not None and cell.queued.id == execution:
        _set_cell(now, cell.id, queued=replace(cell.queued, **fields))
    elif cell.execution is not None:
        _set_cell(now, cell.id, execution=replace(cell.execution, **fields))


def _start(now: Notebook, entry: Entry, event: e.ExecutionStarted) -> None:
    if event.execution not in now.executions:  # in a run, cells start without a request of their own
        _queue(now, entry, event.execution, event.cell, event.source_hash, None)
    cell = now.cells[event.cell]
    assert cell.queued is not None  # noqa: S101 - `rules` starts only what waits
    _forget_displays(now, cell)
    reads = _reads(now, event)
    execution = replace(
        cell.queued,
        state="running",
        epoch=event.epoch,
        started_at=entry.at,
        started_seq=entry.seq,
        defines=event.defines,
        reads=reads,
        fingerprint=fingerprint(event.source_hash, reads or {}),
    )
    _set_cell(now, event.cell, execution=execution, queued=None, missed=None)
    now.definers.update(dict.fromkeys(event.defines or (), event.cell))


def _reads(now: Notebook, event: e.ExecutionStarted) -> dict[CellId, str] | None:
    if event.uses is None:
        return None
    reads: dict[CellId, str] = {}
    for name in event.uses:
        definer = now.definers.get(name)
        execution = now.cells[definer].execution if definer is not None else None
        if definer == event.cell and execution is not None:
            # `x = x + 1`, run again, still stands on whatever it stood on before.
            reads = (execution.reads or {}) | reads
        elif definer is not None:
            reads[definer] = execution.fingerprint if execution is not None else ""
    return reads


def _end(now: Notebook, entry: Entry, execution: ExecutionId, **fields: Any) -> None:
    cell = now.cells[now.executions.pop(execution)]
    if cell.queued is not None and cell.queued.id == execution:
        missed = replace(cell.queued, finished_at=entry.at, **fields)
        _set_cell(now, cell.id, missed=missed, queued=None)
    elif cell.execution is not None:
        _set_cell(now, cell.id, execution=replace(cell.execution, finished_at=entry.at, **fields), missed=None)


def _answer_input(now: Notebook, entry: Entry, event: e.InputAnswered) -> None:
    execution = now.execution(event.execution)
    if execution is not None:
        typed = Input(prompt=event.prompt, answer=event.answer, by=entry.by)
        _change(now, event.execution, inputs=(*execution.inputs, typed))


def _record_result(now: Notebook, entry: Entry, event: e.ResultRecorded) -> None:
    now.results[event.name] = Result(
        name=event.name,
        kind=event.kind,
        value=event.value,
        blob=event.blob,
        execution=event.execution,
        cell=now.executions.get(event.execution),
        at=entry.at,
    )


# ---- Outputs. A chunk already seen adds nothing, so a runtime may send its spool again (rule 7).


def _unseen(now: Notebook, execution: ExecutionId, chunk: int) -> tuple[Cell, Execution] | None:
    cell = now.cells[now.executions[execution]]
    if cell.execution is None or chunk <= cell.execution.chunk:
        return None
    return cell, cell.execution


def _add_output(folding: Fold, now: Notebook, event: e.OutputAdded) -> None:
    found = _unseen(now, event.execution, event.chunk)
    if found is None:
        return
    cell, execution = found
    outputs = folding.outputs(execution)
    outputs.append(event.output)
    if isinstance(event.output, e.Display) and event.output.display_id is not None:
        _note_display(now, event.output.display_id, cell.id)
    _set_cell(now, cell.id, execution=replace(execution, outputs=outputs, chunk=event.chunk))


def _note_display(now: Notebook, display_id: str, cell: CellId) -> None:
    shown = now.displays.get(display_id, [])
    if cell not in shown:
        now.displays[display_id] = [*shown, cell]


def _forget_displays(now: Notebook, cell: Cell) -> None:
    for output in cell.execution.outputs if cell.execution is not None else ():
        if isinstance(output, e.Display) and output.display_id in now.displays:
            shown = [each for each in now.displays.pop(output.display_id) if each != cell.id]
            if shown:
                now.displays[output.display_id] = shown


def _append_stream(folding: Fold, now: Notebook, event: e.StreamAppended) -> None:
    found = _unseen(now, event.execution, event.chunk)
    if found is None:
        return
    cell, execution = found
    outputs = folding.outputs(execution)
    last = outputs[-1] if outputs else None
    if isinstance(last, Stream) and last.name == event.name:
        outputs[-1] = _print(last, event)
    else:
        outputs.append(_print(Stream(name=event.name), event))
    _set_cell(now, cell.id, execution=replace(execution, outputs=outputs, chunk=event.chunk))


def _print(stream: Stream, event: e.StreamAppended) -> Stream:
    head, omitted, tail, offset = stream.head, stream.omitted, stream.tail, event.offset
    tail_at = len(head) + omitted
    if offset <= len(head):
        head, omitted, tail = head[:offset] + event.text, 0, ""
    elif tail_at <= offset <= stream.length:
        tail = tail[: offset - tail_at] + event.text
    else:  # into what is left out, or past the end: what lies between is in the blob only
        omitted, tail = offset - len(head), event.text
    head, omitted, tail = _fit(head, omitted, tail)
    return Stream(name=stream.name, head=head, omitted=omitted, tail=tail, blob=event.blob)


def _fit(head: str, omitted: int, tail: str) -> tuple[str, int, str]:
    """Cut a text in its middle to what stays inline."""
    if len(head) + len(tail) <= INLINE_TEXT:
        return head, omitted, tail
    half = INLINE_TEXT // 2
    if not omitted:
        text = head + tail
        return text[:half], len(text) - 2 * half, text[-half:]
    return head[:half], omitted + max(0, len(head) - half) + max(0, len(tail) - half), tail[-half:]


def _update_display(folding: Fold, now: Notebook, event: e.DisplayUpdated) -> None:
    found = _unseen(now, event.execution, event.chunk)
    if found is None:
        return
    cell, execution = found
    _set_cell(now, cell.id, execution=replace(execution, chunk=event.chunk))
    for shown in now.displays.get(event.display_id, ()):
        _show_again(folding, now, now.cells[shown], event)


def _show_again(folding: Fold, now: Notebook, cell: Cell, event: e.DisplayUpdated) -> None:
    if cell.execution is None:
        return
    outputs = folding.outputs(cell.execution)
    for number, output in enumerate(outputs):
        if isinstance(output, e.Display) and output.display_id == event.display_id:
            outputs[number] = replace(output, data=event.data, blobs=event.blobs, metadata=event.metadata)
    _set_cell(now, cell.id, execution=replace(cell.execution, outputs=outputs))


def _clear_outputs(folding: Fold, now: Notebook, event: e.OutputsCleared) -> None:
    found = _unseen(now, event.execution, event.chunk)
    if found is not None:
        cell, execution = found
        _forget_displays(now, cell)
        outputs = folding.outputs(execution)
        outputs.clear()
        _set_cell(now, cell.id, execution=replace(execution, outputs=outputs, chunk=event.chunk))


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
    )


def _change_run(now: Notebook, **fields: Any) -> None:
    if now.run is not None:
        now.run = replace(now.run, **fields)


def _start_run(now: Notebook, entry: Entry, event: e.RunStarted) -> None:
    if now.run is not None:
        environment = now.run.environment | event.environment
        now.run = replace(now.run, status="running", started_at=entry.at, environment=environment)


def _new_kernel(now: Notebook, runtime: RuntimeId, kernel: str, restarts: int) -> None:
    known = now.runtimes.get(runtime, Runtime(id=runtime))
    now.runtimes[runtime] = replace(known, kernel=kernel, restarts=known.restarts + restarts)
    now.definers = {}


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
        _queue(now, entry, effect.execution, effect.cell, effect.source_hash, None)
    _decide(now, entry, event.proposal, "accepted")


def _decide(now: Notebook, entry: Entry, proposal: e.ProposalId, state: ProposalState) -> None:
    now.proposals[proposal] = replace(
        now.proposals[proposal], state=state, decided_by=entry.by, changes=(), effects=(), why=""
    )
