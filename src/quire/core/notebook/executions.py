"""How executions fold: requests that wait, run and end, what they stand on, and what they show.

A part of `reduce`. Everything here changes the notebook that it is given, which a Fold owns. A chunk of outputs
already seen adds nothing, so a runtime may send its spool again (rule 7).
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeAlias

from msgspec.structs import replace

from .. import events as e
from ..events import Entry, Output, Stream
from ..ids import CellId, ExecutionId
from ..text import source_hash as hash_of
from .notebook import INLINE_TEXT, Cell, Execution, ExecutionState, Input, Notebook, Result

SCRATCHES = 10
"""How many pieces of code that was executed without a cell are kept once they are over. The log has all."""


def queue(
    now: Notebook,
    entry: Entry,
    execution: ExecutionId,
    cell: CellId,
    source_hash: str,
    *,
    wants: str | None = None,
    needs: ExecutionId | None = None,
) -> None:
    """A request waits in its cell."""
    needed = now.execution(needs) if needs is not None else None
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
        needs=needs,
        blocked=needed is not None and needed.blocked,
    )
    now.executions[execution] = cell
    set_cell(now, cell, queued=queued)


def queue_effect(now: Notebook, entry: Entry, effect: e.RunCell) -> None:
    """The effect of an accepted proposal waits as if it had been requested."""
    if effect.source is None:
        queue(now, entry, effect.execution, effect.cell, effect.source_hash, needs=effect.needs)
    else:
        add_scratch(now, entry, scratch_of(effect, effect.source))


def scratch_of(effect: e.RunCell, source: str) -> e.ScratchRequested:
    """What asks for code without a cell, as a proposal shows it."""
    return e.ScratchRequested(execution=effect.execution, cell=effect.cell, source=source, kind=effect.cell_kind)


def add_scratch(now: Notebook, entry: Entry, event: e.ScratchRequested) -> None:
    """Code without a cell waits: behind all cells, and in nobody's view."""
    _forget_scratches(now)
    now.cells[event.cell] = Cell(
        id=event.cell,
        kind=event.kind,
        source=event.source,
        added_by=entry.by,
        edited_by=entry.by,
        changed_seq=entry.seq,
        removed=True,
        scratch=True,
    )
    now.order.append(event.cell)
    queue(now, entry, event.execution, event.cell, hash_of(event.source), wants=event.runtime)


def _forget_scratches(now: Notebook) -> None:
    """Only the last ones that are over stay. They stand at the end: nothing goes behind them but more of them."""
    kept = 0
    for place in range(len(now.order) - 1, -1, -1):
        cell = now.cells[now.order[place]]
        if not cell.scratch:
            return
        if cell.queued is not None or (cell.execution is not None and cell.execution.is_open):
            continue
        kept += 1
        if kept > SCRATCHES:
            forget_displays(now, cell)
            del now.order[place], now.cells[cell.id]


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
        queue(now, entry, event.execution, event.cell, event.source_hash)
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
        # Code without a cell is forgotten after a while; that it defined a name is not.
        cell = now.cells.get(definer) if definer is not None else None
        execution = cell.execution if cell is not None else None
        if definer == event.cell and execution is not None:
            # `x = x + 1`, run again, still stands on whatever it stood on before.
            reads = (execution.reads or {}) | reads
        elif definer is not None:
            reads[definer] = execution.fingerprint if execution is not None else ""
    return reads


def end(now: Notebook, entry: Entry, execution: ExecutionId, *, state: ExecutionState, **fields: Any) -> None:
    """An execution is over: it ran, or it never will. What needed it to end well is not to begin."""
    cell = now.cells[now.executions.pop(execution)]
    fields |= {"state": state, "finished_at": entry.at}
    if cell.queued is not None and cell.queued.id == execution:
        is_told = cell.queued.blocked
        set_cell(now, cell.id, missed=replace(cell.queued, **fields), queued=None)
    elif cell.execution is not None:
        is_told = False
        set_cell(now, cell.id, execution=replace(cell.execution, **fields), missed=None)
    else:
        return
    if state != "ok" and not is_told:
        _block(now, execution)


def _block(now: Notebook, failed: ExecutionId) -> None:
    """What needs it is blocked, and what needs that. A need was there first, so one look in order is enough."""
    blocked = {failed}
    for id, cell in now.executions.items():
        waits = now.cells[cell].queued
        if waits is not None and waits.id == id and waits.needs in blocked:
            blocked.add(id)
            set_cell(now, cell, queued=replace(waits, blocked=True))


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


def fingerprint(hash_of_source: str, reads: dict[CellId, str]) -> str:
    """Name an execution by all that it stands on: its source and the executions it reads from."""
    return sha256("\n".join([hash_of_source, *sorted(reads.values())]).encode()).hexdigest()


# ---- Outputs: streams, displays and errors of a running execution


Own: TypeAlias = Callable[[Execution], list[Output]]
"""Gives the outputs of an execution as a list that nobody else holds."""


def set_cell(now: Notebook, cell: CellId, **fields: Any) -> None:
    """Put new values into a cell."""
    now.cells[cell] = replace(now.cells[cell], **fields)


def _unseen(now: Notebook, execution: ExecutionId, chunk: int) -> tuple[Cell, Execution] | None:
    cell = now.cells[now.executions[execution]]
    if cell.execution is None or chunk <= cell.execution.chunk:
        return None
    return cell, cell.execution


def add_output(own: Own, now: Notebook, event: e.OutputAdded) -> None:
    """An execution shows something."""
    found = _unseen(now, event.execution, event.chunk)
    if found is None:
        return
    cell, execution = found
    outputs = own(execution)
    outputs.append(event.output)
    if isinstance(event.output, e.Display) and event.output.display_id is not None:
        note_display(now, event.output.display_id, cell.id)
    set_cell(now, cell.id, execution=replace(execution, outputs=outputs, chunk=event.chunk))


def note_display(now: Notebook, display_id: str, cell: CellId) -> None:
    """The cell shows a display that may be updated."""
    shown = now.displays.get(display_id, [])
    if cell not in shown:
        now.displays[display_id] = [*shown, cell]


def forget_displays(now: Notebook, cell: Cell) -> None:
    """The cell no longer shows the displays of its last execution."""
    for output in cell.execution.outputs if cell.execution is not None else ():
        if isinstance(output, e.Display) and output.display_id in now.displays:
            shown = [each for each in now.displays.pop(output.display_id) if each != cell.id]
            if shown:
                now.displays[output.display_id] = shown


def append_stream(own: Own, now: Notebook, event: e.StreamAppended) -> None:
    """An execution prints."""
    found = _unseen(now, event.execution, event.chunk)
    if found is None:
        return
    cell, execution = found
    outputs = own(execution)
    last = outputs[-1] if outputs else None
    if isinstance(last, Stream) and last.name == event.name:
        outputs[-1] = _print(last, event)
    else:
        outputs.append(_print(Stream(name=event.name), event))
    set_cell(now, cell.id, execution=replace(execution, outputs=outputs, chunk=event.chunk))


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


def update_display(own: Own, now: Notebook, event: e.DisplayUpdated) -> None:
    """Displays of one id show something else."""
    found = _unseen(now, event.execution, event.chunk)
    if found is None:
        return
    cell, execution = found
    set_cell(now, cell.id, execution=replace(execution, chunk=event.chunk))
    for shown in now.displays.get(event.display_id, ()):
        _show_again(own, now, now.cells[shown], event)


def _show_again(own: Own, now: Notebook, cell: Cell, event: e.DisplayUpdated) -> None:
    if cell.execution is None:
        return
    outputs = own(cell.execution)
    for number, output in enumerate(outputs):
        if isinstance(output, e.Display) and output.display_id == event.display_id:
            outputs[number] = replace(output, data=event.data, blobs=event.blobs, metadata=event.metadata)
    set_cell(now, cell.id, execution=replace(cell.execution, outputs=outputs))


def clear_outputs(own: Own, now: Notebook, event: e.OutputsCleared) -> None:
    """An execution takes back what it showed."""
    found = _unseen(now, event.execution, event.chunk)
    if found is not None:
        cell, execution = found
        forget_displays(now, cell)
        outputs = own(execution)
        outputs.clear()
        set_cell(now, cell.id, execution=replace(execution, outputs=outputs, chunk=event.chunk))
