"""What a run came to: the same for `--json`, Python and whoever reads its log."""

from __future__ import annotations

from datetime import datetime

import msgspec

from .errors import NotFound
from .ids import CellId, LogId
from .notebook.notebook import Cell, Notebook
from .values import Json


class FailedCell(msgspec.Struct, frozen=True, kw_only=True):
    """The cell that was running when a run did not succeed."""

    index: int
    """Among the cells of the output notebook, from 0."""
    id: CellId
    source: str
    ename: str
    evalue: str
    traceback: tuple[str, ...]


class RunFault(msgspec.Struct, frozen=True, kw_only=True):
    """What was wrong with a run as a whole."""

    ename: str
    evalue: str


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended. Anything but `success` is an error to whoever called."""

    status: str
    run: LogId | None
    """None: nothing was run, its parameters were only put in."""
    output: str | None
    duration_seconds: float | None
    cells_executed: int
    failed_cell: FailedCell | None
    scraps: dict[str, Json]
    """The results: name to value, tagged where JSON has no such value; of a blob, its hash."""
    fault: RunFault | None = None
    """What was wrong with the run as a whole, and with no cell of it: a kernel that cannot start, a result that is missing."""
    interpreter: str | None = None
    output_fault: str | None = None
    """Why the output is not what the log says; None: it is."""


def outcome_of(log: LogId, notebook: Notebook, output: str | None = None) -> Outcome:
    """Read the outcome of a run out of the notebook that its log folds to."""
    run = notebook.run
    if run is None:
        raise NotFound(f"{notebook.name!r} is a notebook, not a run: it has no outcome.")
    interpreter = run.environment.get("interpreter")
    fault = run.fault if run.failed_cell is None else None
    return Outcome(
        status=run.status,
        run=log,
        output=output,
        duration_seconds=_seconds(run.started_at or run.at, run.finished_at),
        cells_executed=sum(_ran_here(cell) for cell in notebook.live_cells),
        failed_cell=_failed_cell(notebook),
        scraps={name: _value(notebook, name) for name in notebook.results},
        fault=RunFault(ename=fault.ename, evalue=fault.evalue) if fault is not None else None,
        interpreter=interpreter if isinstance(interpreter, str) else None,
    )


def _ran_here(cell: Cell) -> bool:
    return cell.execution is not None and not cell.execution.imported


def _seconds(start: str, end: str | None) -> float | None:
    if end is None:
        return None
    return round((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds(), 3)


def _value(notebook: Notebook, name: str) -> Json:
    result = notebook.results[name]
    return result.value if result.blob is None else {"blob": result.blob.hash, "media": result.blob.media}


def _failed_cell(notebook: Notebook) -> FailedCell | None:
    run = notebook.run
    if run is None or run.failed_cell is None:
        return None
    for index, cell in enumerate(notebook.live_cells):
        if cell.id == run.failed_cell:
            fault = run.fault
            return FailedCell(
                index=index,
                id=cell.id,
                source=cell.source,
                ename=fault.ename if fault is not None else "",
                evalue=fault.evalue if fault is not None else "",
                traceback=fault.traceback if fault is not None else (),
            )
    return None
