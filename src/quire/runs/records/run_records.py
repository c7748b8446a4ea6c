"""What is known of runs that were recorded: a list of them, and one in full. `run_comparison` has two side by side.

Everything here is made from the index or from the notebook that a run's log folds to;
nothing is fetched, and nothing is printed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any, cast

import msgspec

from ...core.errors import BadInput, NotFound
from ...core.events import CellKind, Fault, GitRevision, InputFile, RunSource
from ...core.ids import ActorId, CellId, LogId, RuntimeId
from ...core.notebook.logbook_record import LogbookMark, LogbookStep, logbook_of, run_or_logbook, steps_of
from ...core.notebook.notebook import Cell, Notebook, Run
from ...core.results import Outcome, outcome_of
from ...core.values import Json

STATUSES = ("queued", "running", "success", "error", "timeout", "cancelled", "dead_kernel", "lost")
"""What a run can be; one that a runtime has just taken is running."""
RUNS = ("code", "sql")
"""The kinds of cells that run."""


# ---- A list


class RunEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A run, as one line of a list."""

    run: LogId
    name: str
    status: str
    path: str | None
    requested_at: str
    started_at: str | None
    finished_at: str | None
    duration_seconds: float | None
    cells: int
    """Those that can run."""
    cells_executed: int
    parameters: dict[str, Json]
    by: ActorId
    template: str | None = None
    """Of a run of a logbook: the path of its template."""


# Cells of a run are claimed with the run. What is executed in its notebook later was claimed by itself, by a runtime.
# In a logbook that is done step by step all are.
_BY_THE_RUN = "log = run AND started_at IS NOT NULL AND (runtime IS NULL OR mode IN ('steps', 'adopted'))"
_COLUMNS = "run, name, status, path, requested_at, started_at, finished_at, seconds, parameters, actor, template, mode"


def listing(status: str | None = None, source: str | None = None, limit: int | None = None) -> str:
    """The question that lists runs, the last one first. `source` leaves only those that `matches` may take."""
    wanted = ["1 = 1"]
    if status is not None:
        wanted.append("status IN ('claimed', 'running')" if status == "running" else f"status = {_quoted(status)}")
    if source is not None:
        name = _quoted(PurePath(source).name)
        wanted.append(f"(path = {name} OR substr(path, length(path) - length({name})) = '/' || {name})")
    most = f" LIMIT {limit}" if limit is not None and source is None else ""
    code = f"kind IN ({', '.join(map(_quoted, RUNS))})"
    return (  # what is not ours is quoted
        f"SELECT {_COLUMNS}, (SELECT count(*) FROM cells WHERE log = run AND {code}) AS cells,"  # noqa: S608
        f" (SELECT count(DISTINCT cell) FROM executions WHERE {_BY_THE_RUN}) AS executed"
        f" FROM (SELECT {_COLUMNS} FROM runs WHERE {' AND '.join(wanted)} ORDER BY requested_at DESC, run DESC{most}) AS r"
        " ORDER BY requested_at DESC, run DESC"
    )


def _quoted(text: str) -> str:
    if "\0" in text:
        raise BadInput(f"{text!r} cannot be looked for: it holds a character that no text has.")
    return "'" + text.replace("'", "''") + "'"


def listed(rows: Iterable[Sequence[Any]]) -> Iterator[RunEntry]:
    """Read the answer to `listing`."""
    for run, name, status, path, requested, started, finished, seconds, parameters, actor, template, _, *counts in rows:
        cells, executed = counts
        yield RunEntry(
            run=run,
            name=name,
            status=_status(status),
            path=path,
            requested_at=requested,
            started_at=started,
            finished_at=finished,
            duration_seconds=seconds,
            cells=cells,
            cells_executed=executed,
            parameters=json.loads(parameters),
            by=actor,
            template=template,
        )


def listed_of(log: LogId, notebook: Notebook) -> RunEntry:
    """The same line of one run, for who may not ask the index."""
    run = run_of(notebook)
    cells = [cell for cell in notebook.live_cells if cell.kind in RUNS]
    return RunEntry(
        run=log,
        name=notebook.name,
        status=_status(run.status),
        path=run.source.path,
        requested_at=run.at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        duration_seconds=seconds_between(run.started_at, run.finished_at),
        cells=len(cells),
        cells_executed=sum(cell.execution is not None for cell in cells),
        parameters=run.parameters,
        by=run.by,
        template=mark.template if (mark := logbook_of(notebook)) is not None else None,
    )


def matches(path: str | None, source: str) -> bool:
    """Whether a run was of this file. Both may be relative, to other folders: the shorter is to end the longer."""
    if path is None:
        return False
    one, other = PurePath(path).parts, PurePath(source).parts
    most = min(len(one), len(other))
    return most > 0 and one[-most:] == other[-most:]


def _status(status: str) -> str:
    return "running" if status == "claimed" else status


# ---- One


class CellRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of a run: how it ended, and how long it took."""

    number: int
    """From the top, counted from 1."""
    id: CellId
    name: str | None
    kind: CellKind
    state: str
    seconds: float | None
    first_line: str
    carried: bool = False
    """Whether what it shows was taken over from the run that this one resumed."""


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a run but what its cells showed."""

    outcome: Outcome
    name: str
    source: RunSource
    """The file and its digest. With both a path and a notebook, the notebook is the run that was resumed."""
    resumed: LogId | None
    reproduces: LogId | None
    by: ActorId
    on_behalf_of: ActorId | None
    runtime: RuntimeId | None
    cancelled_by: ActorId | None
    requested_at: str
    started_at: str | None
    finished_at: str | None
    parameters: dict[str, Json]
    environment: dict[str, Json]
    packages: dict[str, str] | None
    """Every package that was installed for its kernel, with its version; null: not known, as with other languages' kernels."""
    revision: GitRevision | None
    """Where the repository of its source stood."""
    inputs: tuple[InputFile, ...]
    """The files that it declares to read, with their SHA-256."""
    fault: Fault | None
    cells: tuple[CellRecord, ...]
    changed_since: tuple[CellId, ...] = ()
    """The cells that somebody added, changed or removed once it was over: `cells` has them as they ran."""
    logbook: LogbookMark | None = None
    """Of a run of a logbook: its template, what the user asked for, and the like."""
    steps: tuple[LogbookStep, ...] = ()
    """And how each step was answered."""


def run_of(notebook: Notebook) -> Run:
    """What makes a notebook a run, or a logbook that is done step by step; NotFound when it is none."""
    run = run_or_logbook(notebook)
    if run is None:
        raise NotFound(f"{notebook.name!r} is a notebook, not a run. `quire runs list` lists the runs.")
    return run


def record_of(
    log: LogId, notebook: Notebook, now: Notebook | None = None, packages: dict[str, str] | None = None
) -> RunRecord:
    """Read the record of a run out of the notebook that it left; `now` is what has become of that.

    The packages are in a blob, and read before: recorded_environment.py.
    """
    run = run_of(notebook)
    outcome = outcome_of(log, notebook)
    return RunRecord(
        outcome=msgspec.structs.replace(outcome, status=_status(outcome.status)),
        name=notebook.name,
        source=run.source,
        resumed=run.source.notebook if run.source.path is not None else None,
        reproduces=run.source.reproduces,
        by=run.by,
        on_behalf_of=run.on_behalf_of,
        runtime=run.runtime,
        cancelled_by=run.cancelled_by,
        requested_at=run.at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        parameters=run.parameters,
        environment=run.environment,
        packages=packages,
        revision=run.revision,
        inputs=run.inputs,
        fault=run.fault,
        cells=tuple(_cell_record(number, cell) for number, cell in enumerate(notebook.live_cells, 1)),
        changed_since=tuple(id for id in now.order if now.cells[id].after_run) if now is not None else (),
        logbook=(mark := logbook_of(notebook)),
        steps=tuple(steps_of(notebook)) if mark is not None else (),
    )


def _cell_record(number: int, cell: Cell) -> CellRecord:
    execution = cell.execution
    return CellRecord(
        number=number,
        id=cell.id,
        name=cell.name,
        kind=cell.kind,
        state=cell.state if cell.runs else "",
        seconds=seconds_between(execution.started_at, execution.finished_at) if execution is not None else None,
        first_line=next((line.strip() for line in cell.source.split("\n") if line.strip()), "")[:200],
        carried=execution is not None and execution.imported,
    )


def seconds_between(start: str | None, end: str | None) -> float | None:
    """From one time to another, both as the workspace stamps them."""
    if start is None or end is None:
        return None
    return round((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds(), 6)


def language_of(run: Run) -> str:
    """The language with its version, as the kernel told it."""
    told: Any = run.environment.get("language_info")
    fields = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    name = fields.get("name") or run.environment.get("language") or ""
    return f"{name} {fields.get('version', '')}".strip()
