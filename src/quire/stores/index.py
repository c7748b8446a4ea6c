"""The index: what `quire sql` asks about, as rows made from folded logs.

Rows are a cache, made by `index_log` from the one reducer and thrown away with a change
of INDEX. TABLES describes the columns once, for every database and for the docs; the
views of the same names are all that a query can see.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, TypeAlias

import msgspec

from ..core.codec import type_of
from ..core.column_values import column_value
from ..core.events import (
    Display,
    DisplayUpdated,
    Entry,
    Fault,
    FileMerged,
    Output,
    ProposalAccepted,
    ProposalSubject,
    Raised,
    RevisionsSubject,
    ScratchRequested,
    Stream,
)
from ..core.ids import MIRROR, WORKSPACE_LOG, CellId, CommentId, ExecutionId, LogId, ProposalId, actor_kind
from ..core.notebook.comments import threads
from ..core.notebook.directory import Directory, Schedule
from ..core.notebook.logbook_record import logbook_of, run_or_logbook, steps_of, tally_of
from ..core.notebook.notebook import Cell, Comment, Execution, Notebook, Proposal, Review, Run
from ..core.notebook.reduce import REDUCER, Fold
from ..core.notebook.reviews import subject_log
from ..core.notebook.staleness import stale_cells
from ..core.text import source_hash

INDEX = REDUCER * 100 + 6
"""The version of what is below; goes up with every change of it, and with the reducer's."""

Row: TypeAlias = tuple[Any, ...]

TABLES: dict[str, dict[str, str]] = {
    "cells": {
        "log": "text",
        "cell": "text",
        "place": "integer",
        "kind": "text",
        "name": "text",
        "tags": "text",
        "source": "text",
        "source_hash": "text",
        "state": "text",
        "stale": "boolean",
        "added_by": "text",
        "edited_by": "text",
        "metadata": "text",
    },
    "executions": {
        "log": "text",
        "execution": "text",
        "cell": "text",
        "state": "text",
        "actor": "text",
        "on_behalf_of": "text",
        "runtime": "text",
        "count": "integer",
        "requested_at": "text",
        "started_at": "text",
        "finished_at": "text",
        "seconds": "real",
        "source_hash": "text",
        "ename": "text",
        "evalue": "text",
    },
    "outputs": {
        "log": "text",
        "execution": "text",
        "number": "integer",
        "cell": "text",
        "kind": "text",
        "name": "text",
        "text": "text",
        "data": "text",
        "blobs": "text",
    },
    "runs": {
        "run": "text",
        "name": "text",
        "status": "text",
        "path": "text",
        "notebook": "text",
        "parameters": "text",
        "environment": "text",
        "actor": "text",
        "on_behalf_of": "text",
        "runtime": "text",
        "requested_at": "text",
        "started_at": "text",
        "finished_at": "text",
        "seconds": "real",
        "failed_cell": "text",
        "ename": "text",
        "evalue": "text",
        "reproduces": "text",
        "python": "text",
        "platform": "text",
        "packages": "text",
        "revision": "text",
        "dirty": "boolean",
        "schedule": "text",
        "due": "text",
        "attempt": "integer",
        "asked_by": "text",
        "template": "text",
        "mode": "text",
        "steps": "integer",
        "open_steps": "integer",
        "deviated": "integer",
        "skipped": "integer",
        "failed": "integer",
    },
    "inputs": {"log": "text", "path": "text", "digest": "text", "size": "integer"},
    "packages": {"environment": "text", "name": "text", "version": "text"},
    "results": {
        "log": "text",
        "name": "text",
        "kind": "text",
        "value": "text",
        "blob": "text",
        "execution": "text",
        "cell": "text",
        "at": "text",
    },
    "run_values": {
        "log": "text",
        "kind": "text",
        "name": "text",
        "type": "text",
        "number": "real",
        "text": "text",
    },
    "proposals": {
        "log": "text",
        "proposal": "text",
        "state": "text",
        "actor": "text",
        "on_behalf_of": "text",
        "at": "text",
        "why": "text",
        "changes": "integer",
        "effects": "integer",
        "expires_at": "text",
        "decided_by": "text",
    },
    "conflicts": {
        "log": "text",
        "conflict": "text",
        "cell": "text",
        "seq": "integer",
        "ours": "text",
        "theirs": "text",
    },
    "comments": {
        "log": "text",
        "comment": "text",
        "thread": "text",
        "reply_to": "text",
        "cell": "text",
        "actor": "text",
        "on_behalf_of": "text",
        "at": "text",
        "text": "text",
        "edited": "boolean",
        "resolved_by": "text",
    },
    "reviews": {
        "log": "text",
        "name": "text",
        "kind": "text",
        "subject": "text",
        "proposal": "text",
        "path": "text",
        "base": "text",
        "head": "text",
        "answer": "text",
        "actor": "text",
        "on_behalf_of": "text",
        "at": "text",
        "answered_by": "text",
        "answered_at": "text",
    },
    "changes": {
        "log": "text",
        "seq": "integer",
        "at": "text",
        "actor": "text",
        "on_behalf_of": "text",
        "type": "text",
    },
    "bindings": {"log": "text", "path": "text"},
    "schedules": {
        "schedule": "text",
        "state": "text",
        "due_when": "text",
        "timezone": "text",
        "path": "text",
        "output": "text",
        "plan": "text",
        "actor": "text",
        "on_behalf_of": "text",
        "added_at": "text",
        "skipped_until": "text",
        "skipped_reason": "text",
        "skipped_why": "text",
    },
    "names": {"actor": "text", "name": "text"},
}
"""The tables that rows go into, with their columns. `names` feeds the view `actors`."""

KEYS: dict[str, tuple[str, ...]] = {
    "cells": ("log", "cell"),
    "executions": ("log", "execution"),
    "outputs": ("log", "execution", "number"),
    "runs": ("run",),
    "inputs": ("log", "path"),
    "packages": ("environment", "name"),
    "results": ("log", "name"),
    "run_values": ("log", "kind", "name"),
    "proposals": ("log", "proposal"),
    "conflicts": ("log", "conflict"),
    "comments": ("log", "comment"),
    "reviews": ("log",),
    "changes": ("log",),
    "bindings": ("log",),
    "schedules": ("schedule",),
    "names": ("actor",),
}
OF_WORKSPACE = ("schedules", "names")
"""The tables whose rows are of the workspace log. They stay: nothing in it is taken away."""

REPLACED = ("cells", "inputs", "results", "run_values", "conflicts", "reviews", "bindings")
"""The tables whose rows of a log are all made anew when it grows."""

ORDERS: dict[str, tuple[str, ...]] = {
    "packages": ("name", "version", "environment"),
    "run_values": ("kind", "name", "type", "number", "log"),
}
"""What else a table is looked up by: a database keeps an index on these columns."""


class IndexRows(msgspec.Struct, kw_only=True):
    """Rows to put in. Of the logs in `logs` the old rows in REPLACED go first; of `shown`, the old outputs."""

    logs: list[LogId] = []
    shown: list[tuple[LogId, ExecutionId]] = []
    cells: list[Row] = []
    executions: list[Row] = []
    outputs: list[Row] = []
    runs: list[Row] = []
    inputs: list[Row] = []
    packages: list[Row] = []
    """Of no log: they are read from blobs when somebody asks for them (workspace/package_index.py)."""
    results: list[Row] = []
    run_values: list[Row] = []
    proposals: list[Row] = []
    conflicts: list[Row] = []
    comments: list[Row] = []
    reviews: list[Row] = []
    changes: list[Row] = []
    bindings: list[Row] = []
    schedules: list[Row] = []
    names: list[Row] = []

    def table(self, name: str) -> list[Row]:
        """The rows of one table."""
        return getattr(self, name)

    def extend(self, more: IndexRows) -> None:
        """Add the rows of another log."""
        self.logs += more.logs
        self.shown += more.shown
        for name in TABLES:
            self.table(name).extend(more.table(name))

    def without(self, gone: set[LogId]) -> IndexRows:
        """The same without the rows of some logs."""
        if not gone:
            return self
        kept = IndexRows(
            logs=[log for log in self.logs if log not in gone],
            shown=[each for each in self.shown if each[0] not in gone],
        )
        for name in TABLES:
            rows = self.table(name)
            setattr(kept, name, rows if name in OF_WORKSPACE else [row for row in rows if row[0] not in gone])
        return kept

    def replaced(self, newer: IndexRows) -> IndexRows:
        """What a table holds after `newer` was put in. Databases do the same with deletes and upserts."""
        gone, shown = set(newer.logs), set(newer.shown)
        merged = IndexRows()
        for name, columns in TABLES.items():
            kept = self.table(name)
            if name in REPLACED:
                kept = [row for row in kept if row[0] not in gone]
            elif name == "outputs":
                kept = [row for row in kept if (row[0], row[1]) not in shown]
            width = [list(columns).index(column) for column in KEYS[name]]
            rows = {tuple(row[each] for each in width): row for row in (*kept, *newer.table(name))}
            setattr(merged, name, list(rows.values()))
        return merged


def index_log(log: LogId, start: Notebook, entries: Iterable[Entry]) -> IndexRows:
    """Return the rows for what `entries` add to a log that had folded to `start`."""
    rows = IndexRows(logs=[log])
    folding = Fold(start)
    before, said_before = dict(start.proposals), dict(start.comments)
    touched: dict[ExecutionId, CellId] = {}
    for entry in entries:
        if _is_change(entry):
            rows.changes = [(log, entry.seq, entry.at, entry.actor, entry.on_behalf_of, type_of(entry.event))]
        execution = getattr(entry.event, "execution", None)
        cell = folding.now.executions.get(execution) if execution is not None else None
        if isinstance(entry.event, ProposalAccepted | ScratchRequested):
            _add_scratches(rows, log, folding.now, touched)
        folding.add(entry)
        if isinstance(entry.event, ProposalAccepted):
            touched.update({effect.execution: effect.cell for effect in entry.event.effects or ()})
        if isinstance(entry.event, DisplayUpdated):
            touched.update(_shown(folding.now, entry.event.display_id))
        if execution is not None:
            touched[execution] = cell or folding.now.executions.get(execution) or entry.event.cell  # type: ignore[union-attr]
            if execution not in folding.now.executions:  # it ended: a later one of its cell may take its place
                _add_execution(rows, log, folding.now.cells[touched.pop(execution)], execution)
    for execution, cell in touched.items():
        _add_execution(rows, log, folding.now.cells[cell], execution)
    _add_notebook(rows, log, folding.now)
    _add_proposals(rows, log, before, folding.now)
    _add_comments(rows, log, said_before, folding.now)
    return rows


def _is_change(entry: Entry) -> bool:
    """Whether a person or an agent changed something: not a runtime at work, nor a file that is as the log is."""
    if isinstance(entry.event, FileMerged):
        return bool(entry.event.changes)
    return actor_kind(entry.actor) not in ("runtime", "system") or entry.actor == MIRROR


def table_of(log: LogId) -> dict[str, str]:
    """The tables with rows of a log, each with the column that names it."""
    if log == WORKSPACE_LOG:
        return dict.fromkeys(OF_WORKSPACE, "")
    return {name: columns[0] for name, columns in KEYS.items() if name not in (*OF_WORKSPACE, "packages")}


def first_difference(one: IndexRows, other: IndexRows) -> str | None:
    """Return the first table whose rows differ, in whatever order they come."""
    for name in TABLES:
        rows, others = (sorted(map(_comparable, each.table(name))) for each in (one, other))
        if rows != others:
            return name
    return None


def _comparable(row: Row) -> str:
    # PostgreSQL keeps no NUL in text, and SQLite no booleans.
    values = [int(value) if isinstance(value, bool) else value for value in row]
    return repr([value.replace("\0", "\N{SYMBOL FOR NULL}") if isinstance(value, str) else value for value in values])


def _add_scratches(rows: IndexRows, log: LogId, now: Notebook, touched: dict[ExecutionId, CellId]) -> None:
    """What was executed without a cell may be forgotten with the next event."""
    for execution in [id for id, cell in touched.items() if now.cells[cell].scratch and id not in now.executions]:
        _add_execution(rows, log, now.cells[touched.pop(execution)], execution)


def _shown(now: Notebook, display_id: str) -> Iterator[tuple[ExecutionId, CellId]]:
    """The executions that show a display, wherever they are."""
    for cell in now.displays.get(display_id, ()):
        execution = now.cells[cell].execution
        if execution is not None:
            yield execution.id, cell


def index_directory(directory: Directory) -> IndexRows:
    """Return the rows for the workspace log."""
    return IndexRows(
        names=[(actor, known.name) for actor, known in directory.actors.items()],
        schedules=[_schedule_row(name, schedule) for name, schedule in directory.schedules.items()],
    )


def _schedule_row(name: str, schedule: Schedule) -> Row:
    plan, skipped = schedule.plan, schedule.skipped
    state = "removed" if schedule.removed is not None else "paused" if schedule.paused is not None else "active"
    return (
        name,
        state,
        plan.when,
        plan.timezone,
        plan.path,
        plan.output,
        msgspec.json.encode(plan).decode(),
        schedule.by,
        schedule.on_behalf_of,
        schedule.added_at,
        schedule.skipped_until,
        skipped.reason if skipped is not None else None,
        skipped.why if skipped is not None else None,
    )


def _add_notebook(rows: IndexRows, log: LogId, now: Notebook) -> None:
    stale = stale_cells(now)
    rows.cells.extend(_cell_row(log, place, cell, cell.id in stale) for place, cell in enumerate(now.live_cells, 1))
    for result in now.results.values():
        blob = result.blob.hash if result.blob is not None else None
        value = _json(result.value)
        rows.results.append((log, result.name, result.kind, value, blob, result.execution, result.cell, result.at))
    for id, conflict in now.conflicts.items():
        rows.conflicts.append((log, id, conflict.cell, conflict.seq, conflict.ours, conflict.theirs))
    if now.binding is not None:
        rows.bindings.append((log, now.binding.path))
    run = run_or_logbook(now)
    if run is not None:
        rows.runs.append(_run_row(log, now, run))
        rows.inputs.extend((log, file.path, file.digest, file.size) for file in run.inputs)
        rows.run_values.extend(_run_values(log, now, run))
    if now.review is not None:
        rows.reviews.append(_review_row(log, now.name, now.review))


def _add_proposals(rows: IndexRows, log: LogId, before: dict[ProposalId, Proposal], now: Notebook) -> None:
    for id, proposal in now.proposals.items():
        if before.get(id) != proposal:
            rows.proposals.append(_proposal_row(log, id, proposal))


def _add_comments(rows: IndexRows, log: LogId, before: dict[CommentId, Comment], now: Notebook) -> None:
    if before == now.comments:
        return
    for thread in threads(now.comments):
        for id, said in thread.comments.items():
            if before.get(id) != said:
                rows.comments.append(_comment_row(log, thread.id, id, said))


def _comment_row(log: LogId, thread: CommentId, id: CommentId, said: Comment) -> Row:
    return (
        log,
        id,
        thread,
        said.reply_to,
        said.cell,
        said.by,
        said.on_behalf_of,
        said.at,
        said.text,
        said.edited,
        said.resolved_by,
    )


def _review_row(log: LogId, name: str, review: Review) -> Row:
    subject = review.subject
    is_file = isinstance(subject, RevisionsSubject)
    return (
        log,
        name,
        subject.__struct_config__.tag,
        subject_log(subject),
        subject.proposal if isinstance(subject, ProposalSubject) else None,
        *((subject.path, subject.base, subject.head) if is_file else (None, None, None)),
        review.answer,
        review.by,
        review.on_behalf_of,
        review.at,
        review.answered_by,
        review.answered_at,
    )


def _proposal_row(log: LogId, id: ProposalId, proposal: Proposal) -> Row:
    return (
        log,
        id,
        proposal.state,
        proposal.by,
        proposal.on_behalf_of,
        proposal.at,
        proposal.why,
        len(proposal.changes),
        len(proposal.effects),
        proposal.expires_at,
        proposal.decided_by,
    )


def _cell_row(log: LogId, place: int, cell: Cell, stale: bool) -> Row:
    return (
        log,
        cell.id,
        place,
        cell.kind,
        cell.name,
        _json(cell.tags),
        cell.source,
        source_hash(cell.source),
        cell.state,
        stale,
        cell.added_by,
        cell.edited_by,
        _json(cell.metadata),
    )


def _run_row(log: LogId, now: Notebook, run: Run) -> Row:
    return (
        log,
        now.name,
        run.status,
        run.source.path,
        run.source.notebook,
        _json(run.parameters),
        _json(run.environment),
        run.by,
        run.on_behalf_of,
        run.runtime,
        run.at,
        run.started_at,
        run.finished_at,
        _seconds(run.started_at, run.finished_at),
        run.failed_cell,
        *_fault(run.fault),
        run.source.reproduces,
        _text(run.environment.get("python")),
        _text(run.environment.get("platform")),
        run.packages.hash if run.packages is not None else None,
        run.revision.commit if run.revision is not None else None,
        run.revision.dirty if run.revision is not None else None,
        *((run.due.schedule, run.due.due, run.due.attempt, run.due.asked_by) if run.due is not None else [None] * 4),
        *_logbook_columns(now),
    )


def _logbook_columns(now: Notebook) -> Row:
    """What a run of a logbook is of, and how many of its steps went how."""
    mark = logbook_of(now)
    if mark is None:
        return (None,) * 7
    tally = tally_of(steps_of(now))
    return (mark.template, mark.mode, tally.steps, tally.open, tally.deviated, tally.skipped, tally.failed)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _run_values(log: LogId, now: Notebook, run: Run) -> Iterator[Row]:
    """The parameters and results of a run, by what they sort by; of a blob, only that it is there."""
    for name, value in run.parameters.items():
        yield (log, "parameter", name, *msgspec.structs.astuple(column_value(value)))
    for result in now.results.values():
        if result.blob is None:
            yield (log, "result", result.name, *msgspec.structs.astuple(column_value(result.value)))
        else:
            yield (log, "result", result.name, "other", None, "")


def _add_execution(rows: IndexRows, log: LogId, cell: Cell, execution: ExecutionId) -> None:
    for each in (cell.execution, cell.queued, cell.missed):
        if each is not None and each.id == execution:
            rows.executions.append(_execution_row(log, each))
            rows.shown.append((log, execution))
            rows.outputs.extend(_output_rows(log, each))


def _execution_row(log: LogId, execution: Execution) -> Row:
    return (
        log,
        execution.id,
        execution.cell,
        execution.state,
        execution.by,
        execution.on_behalf_of,
        execution.runtime,
        execution.count,
        execution.at,
        execution.started_at,
        execution.finished_at,
        _seconds(execution.started_at, execution.finished_at),
        execution.source_hash,
        *_fault(execution.fault),
    )


def _output_rows(log: LogId, execution: Execution) -> Iterator[Row]:
    for number, output in enumerate(execution.outputs):
        yield (log, execution.id, number, execution.cell, *_output_columns(output))


def _output_columns(output: Output) -> Row:
    match output:
        case Stream():
            blob = {"text/plain": output.blob.hash} if output.blob is not None else {}
            return "stream", output.name, output.head + output.tail, None, _json(blob)
        case Display():
            blobs = {media: blob.hash for media, blob in output.blobs.items()}
            text = output.data.get("text/plain")
            main = next(iter([*output.blobs, *output.data]), None)
            return "display", main, text if isinstance(text, str) else None, _json(output.data), _json(blobs)
        case Raised():
            return "error", output.ename, output.evalue, _json(output.traceback), _json({})


def _fault(fault: Fault | None) -> tuple[str | None, str | None]:
    return (fault.ename, fault.evalue) if fault is not None else (None, None)


def _seconds(start: str | None, end: str | None) -> float | None:
    if start is None or end is None:
        return None
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
