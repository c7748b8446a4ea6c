"""How executions fold: requests that wait, run and end, and what they stand on.

A part of `reduce`. Everything here changes the notebook that it is given, which a Fold owns.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from . import events as e
from .events import Entry
from .ids import CellId, ExecutionId
from .notebook import Execution, Input, Notebook, Result
from .outputs import forget_displays, set_cell
from .stale import fingerprint


def queue(
    now: Notebook, entry: Entry, execution: ExecutionId, cell: CellId, source_hash: str, wants: str | None
) -> None:
    """A request waits in its cell."""
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
    set_cell(now, cell, queued=queued)


def change(now: Notebook, execution: ExecutionId, **fields: Any) -> None:
    """Change an open execution, wherever its cell keeps it."""
    cell = now.cells[now.executions[execution]]
    if cell.queued is not None and cell.queued.id == execution:
        set_cell(now, cell.id, queued=replace(cell.queued, **fields))
    elif cell.execution is not None:
        set_cell(now, cell.id, execution=replace(cell.execution, **fields))


def start(now: Notebook, entry: Entry, event: e.ExecutionStarted) -> None:
    """A request begins."""
    if event.execution not in now.executions:  # in a run, cells start without a request of their own
        queue(now, entry, event.execution, event.cell, event.source_hash, None)
    cell = now.cells[event.cell]
    assert cell.queued is not None  # noqa: S101 - `rules` starts only what waits
    forget_displays(now, cell)
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
    set_cell(now, event.cell, execution=execution, queued=None, missed=None)
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


def end(now: Notebook, entry: Entry, execution: ExecutionId, **fields: Any) -> None:
    """An execution is over: it ran, or it never will."""
    cell = now.cells[now.executions.pop(execution)]
    if cell.queued is not None and cell.queued.id == execution:
        missed = replace(cell.queued, finished_at=entry.at, **fields)
        set_cell(now, cell.id, missed=missed, queued=None)
    elif cell.execution is not None:
        set_cell(now, cell.id, execution=replace(cell.execution, finished_at=entry.at, **fields), missed=None)


def take_over(now: Notebook, entry: Entry, event: e.OutputsImported) -> None:
    """A file says what a cell showed. When it ran, and on what it stood, nobody here knows."""
    cell = now.cells[event.cell]
    forget_displays(now, cell)
    raised = next((output for output in event.outputs if isinstance(output, e.Raised)), None)
    execution = Execution(
        id=event.execution,
        cell=event.cell,
        source_hash=event.source_hash,
        cell_kind=cell.kind,
        state="ok" if raised is None else "error",
        by=entry.by,
        on_behalf_of=entry.behalf,
        at=entry.at,
        started_seq=entry.seq,
        count=event.count,
        fingerprint=fingerprint(event.source_hash, {}),
        outputs=list(event.outputs),
        fault=raised and e.Fault(ename=raised.ename, evalue=raised.evalue, traceback=raised.traceback),
        imported=True,
    )
    set_cell(now, event.cell, execution=execution, missed=None)
    for result in event.results:
        now.results[result.name] = Result(
            name=result.name,
            kind=result.kind,
            value=result.value,
            blob=result.blob,
            execution=event.execution,
            cell=event.cell,
            at=entry.at,
        )


def answer_input(now: Notebook, entry: Entry, event: e.InputAnswered) -> None:
    """Somebody typed what a kernel asked for."""
    execution = now.execution(event.execution)
    if execution is not None:
        typed = Input(prompt=event.prompt, answer=event.answer, by=entry.by)
        change(now, event.execution, inputs=(*execution.inputs, typed))


def record_result(now: Notebook, entry: Entry, event: e.ResultRecorded) -> None:
    """A cell recorded a value."""
    now.results[event.name] = Result(
        name=event.name,
        kind=event.kind,
        value=event.value,
        blob=event.blob,
        execution=event.execution,
        cell=now.executions.get(event.execution),
        at=entry.at,
    )
