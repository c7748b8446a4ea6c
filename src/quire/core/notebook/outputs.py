"""How outputs fold: streams, displays and errors of a running execution.

A part of `reduce`. A chunk already seen adds nothing, so a runtime may send its spool
again (rule 7).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec.structs import replace

from .. import events as e
from ..events import Output, Stream
from ..ids import CellId, ExecutionId
from .notebook import INLINE_TEXT, Cell, Execution, Notebook

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
