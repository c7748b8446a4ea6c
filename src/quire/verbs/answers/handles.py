"""What somebody means by a handle or by a cell: outputs of one execution, or a source, as they were."""

from __future__ import annotations

import msgspec

from ...core.errors import BadInput, NotFound
from ...core.events import ExecutionStarted, Output, OutputsImported
from ...core.ids import CellId, LogId
from ...core.notebook.cell_lookup import find_cell
from ...core.notebook.notebook import Cell, Execution, Notebook
from ...formats.agent_text.render_context import Handle, handle, parse_handle, short_ids, shown_outputs
from ..find import NotebookSource
from .answer import Here

_STARTS = ("execution_started", "outputs_imported", "execution_finished")


class ResolvedHandle(msgspec.Struct, frozen=True, kw_only=True):
    """Outputs of an execution, or the source of a cell."""

    cell: Cell
    called: str
    """The handle, in full."""
    outputs: tuple[tuple[int, Output], ...] = ()
    """With their numbers."""
    source: str | None = None
    media: str | None = None
    is_open: bool = False
    """Whether there may be more of it."""
    is_imported: bool = False
    """Whether the outputs came with a file: no kernel of ours made them."""

    def of_output(self, number: int, media: str | None = None) -> str:
        """The handle of one of the outputs."""
        named = parse_handle(self.called)
        return handle(named.cell, named.seq, number, media) if named is not None else self.called


async def meant(here: Here, reading: NotebookSource, of: str) -> ResolvedHandle:
    """Return what a handle names, or the name, id or number of a cell: what that showed last."""
    live = list(reading.notebook.live_cells)
    wanted = parse_handle(of)
    is_name = wanted is None or any(cell.name == of for cell in live)
    if wanted is None or is_name or wanted == Handle(cell=wanted.cell):
        return _last(reading.notebook, _cell(reading.notebook, of))
    if wanted.number is None and wanted.seq is not None:
        return await _source(here, reading, wanted, wanted.seq)
    cell, execution = await _executed(here, reading, wanted)
    return _some(reading.notebook, cell, execution, wanted)


def _cell(notebook: Notebook, name: str) -> Cell:
    """The cell of that name, id or number; also one that is gone, by its id."""
    gone = [cell for cell in notebook.cells.values() if cell.removed and cell.id.startswith(name)]
    live = list(notebook.live_cells)
    try:
        return live[find_cell(live, name)]
    except NotFound:
        if len(gone) == 1:
            return gone[0]
        raise


def _last(notebook: Notebook, cell: Cell) -> ResolvedHandle:
    """What a cell showed last, or, if it shows nothing by itself, what it says."""
    short = short_ids(notebook)[cell.id]
    if not cell.runs:
        return ResolvedHandle(cell=cell, called=handle(short, notebook.seq), source=cell.source)
    execution = cell.execution
    called = handle(short, execution.started_seq if execution is not None else None)
    outputs = tuple(enumerate(shown_outputs(execution)))
    is_open, is_imported = cell.state in ("queued", "running"), execution is not None and execution.imported
    return ResolvedHandle(cell=cell, called=called, outputs=outputs, is_open=is_open, is_imported=is_imported)


def _some(notebook: Notebook, cell: Cell, execution: Execution | None, wanted: Handle) -> ResolvedHandle:
    outputs = list(enumerate(shown_outputs(execution)))
    first = wanted.number or 0
    last = wanted.last if wanted.last is not None else first if wanted.number is not None else len(outputs)
    found = tuple(outputs[first : last + 1])
    short = short_ids(notebook).get(cell.id, cell.id)
    seq = execution.started_seq if execution is not None else None
    if not found:
        numbers = f"0 to {len(outputs) - 1}" if outputs else "none at all"
        raise NotFound(f"Cell {short!r} has no output {first} there: it has {numbers}. Read it: output(of={short!r}).")
    called = handle(short, seq, wanted.number, last=wanted.last)
    is_open = execution is not None and execution.is_open
    is_imported = execution is not None and execution.imported
    media = wanted.media
    return ResolvedHandle(
        cell=cell, called=called, outputs=found, media=media, is_open=is_open, is_imported=is_imported
    )


async def _source(here: Here, reading: NotebookSource, wanted: Handle, seq: int) -> ResolvedHandle:
    notebook = await _at(here, reading, seq)
    cell = _cell(notebook, wanted.cell)
    return ResolvedHandle(cell=cell, called=handle(short_ids(notebook)[cell.id], seq), source=cell.source)


async def _at(here: Here, reading: NotebookSource, seq: int) -> Notebook:
    if seq == reading.notebook.seq:
        return reading.notebook
    if not 0 < seq < reading.notebook.seq:
        raise BadInput(f"There is no number {seq} here: the notebook is at {reading.notebook.seq}. Read it again.")
    if reading.log is None:
        raise NotFound(f"A file has no past, so there is nothing at {seq}. Read it again.")
    return await here.workspace.read(reading.log, seq)


# ---- Executions


async def _executed(here: Here, reading: NotebookSource, wanted: Handle) -> tuple[Cell, Execution | None]:
    """The execution that a handle names: the last of its cell, or an older one out of the log."""
    if wanted.seq is None:
        cell = _cell(reading.notebook, wanted.cell)
        return cell, cell.execution
    for cell in reading.notebook.cells.values():
        ran = cell.execution
        if ran is not None and ran.started_seq == wanted.seq and cell.id.startswith(wanted.cell):
            return cell, ran
    if reading.log is None or not 0 < wanted.seq <= reading.notebook.seq:
        raise _no_execution(reading.notebook, wanted)
    return await _older(here, reading.log, reading.notebook, wanted, wanted.seq)


async def _older(here: Here, log: LogId, notebook: Notebook, wanted: Handle, seq: int) -> tuple[Cell, Execution]:
    (entry,) = await here.workspace.entries(log, seq - 1, seq)
    event = entry.event
    if not isinstance(event, ExecutionStarted | OutputsImported) or not event.cell.startswith(wanted.cell):
        raise _no_execution(notebook, wanted)
    then = await here.workspace.read(log, await _end(here, log, event, seq, notebook.seq))
    cell = then.cells[event.cell]
    if cell.execution is None or cell.execution.id != event.execution:
        raise _no_execution(notebook, wanted)
    return cell, cell.execution


async def _end(here: Here, log: LogId, event: ExecutionStarted | OutputsImported, seq: int, head: int) -> int:
    """The last number at which the cell still showed this execution, as far as that is known."""
    finished = seq if isinstance(event, OutputsImported) else None
    at = seq
    while page := await here.workspace.entries(log, at, types=_STARTS):
        for entry in page:
            if _begins(entry.event, event.cell):
                return entry.seq - 1
            if getattr(entry.event, "execution", None) == event.execution:
                finished = entry.seq
        at = page[-1].seq
    return finished or head


def _begins(event: object, cell: CellId) -> bool:
    return isinstance(event, ExecutionStarted | OutputsImported) and event.cell == cell


def _no_execution(notebook: Notebook, wanted: Handle) -> NotFound:
    told = f"No execution of {wanted.cell!r} began at {wanted.seq}, so there is no output of it"
    return NotFound(f"{told}. The notebook is at {notebook.seq}: read the cell again for its handles.")
