"""What a notebook's metadata says of the run of a logbook: where it came from, and how each step was answered.

A headless run of a logbook is the log of a run; one that is done step by step, or that was made by hand and adopted, is the
log of a notebook. Both carry a `LogbookMark` in their metadata and a `StepMark` in that of each step's cell, all under
KEY. What is derived from them is here, so that every reader of a log derives the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from ..events import RunSource
from ..ids import CellId
from ..text import source_hash
from ..values import Json
from .notebook import Cell, Notebook, Run

KEY = "quire.logbook"
"""Under which both marks stand, in the metadata of a log and of its cells."""
INJECTED = "injected-parameters"
"""The tag of the cell that gives parameters their values: no step."""
MAY_RAISE = "raises-exception"
"""The tag of a cell whose error is no failure."""

LogbookMode: TypeAlias = Literal["headless", "steps", "adopted"]
StepKind: TypeAlias = Literal["code", "prose", "text"]
"""`text` is prose that asks for nothing: a title, or what introduces the code below it."""
StepAnswer: TypeAlias = Literal["open", "done", "skipped", "failed"]
StepState: TypeAlias = Literal["open", "running", "done", "skipped", "failed"]

M = TypeVar("M", bound=msgspec.Struct)


class ProductFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that a run made, changed or removed."""

    path: str
    change: Literal["made", "changed", "removed"]
    digest: str | None = None
    """The SHA-256 of its bytes; None: it is gone."""
    size: int = 0
    diff: str = ""
    """From what it was to what it is, line by line; empty of what is no text."""


class LogbookMark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is true of a run of a logbook as a whole. It is written once, but for `files`."""

    template: str
    """The path of the template, from the workspace's folder on."""
    digest: str = ""
    """The SHA-256 of its text."""
    revision: str | None = None
    """The commit that has the template as it was run; None: none has."""
    request: str = ""
    """What the user asked for, in their own words, whole."""
    executed_at: str = ""
    """When it began, in local time with its offset."""
    mode: LogbookMode = "steps"
    parameters: dict[str, Json] = {}
    """Every parameter with its value, tagged."""
    sources: dict[str, str] = {}
    """Where a value comes from that somebody worked out."""
    approve: bool = False
    """Whether each step waits for somebody's yes."""
    laid: int = 0
    """The number of the event with which the template's cells were all there, as they were laid out."""
    export: str | None = None
    """The path of the Markdown file that is written of it, from the workspace's folder on."""
    actor: str | None = None
    """Of an adopted run: who its file says has made it. Nobody vouches for that."""
    language: str = "python"
    front: dict[str, Json] = {}
    """What else the template's frontmatter says."""
    files: tuple[ProductFile, ...] = ()


class StepMark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is said of one step, beside what its cell shows."""

    kind: StepKind = "code"
    hash: str = ""
    """Of the template's source, with the values in it; empty: the step is not the template's."""
    part: str = ""
    """The id of the template's cell, of which this is all or a part."""
    answer: StepAnswer = "open"
    why: str = ""
    """Why it was skipped, added, changed, or counts as failed."""
    did: str = ""
    """What was done, of a prose step."""
    evidence: str = ""
    """What shows that it was done."""


class LogbookStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step as it stands."""

    number: int
    cell: CellId
    kind: StepKind
    state: StepState
    deviated: bool = False
    """Whether it says something else than the template."""
    added: bool = False
    left_out: bool = False
    """Whether somebody removed it."""
    by_choice: bool = False
    """Whether somebody decided to skip it: it was not only never reached."""
    why: str = ""
    did: str = ""
    evidence: str = ""
    fault: str = ""
    """What its code raised."""


class LogbookTally(msgspec.Struct, frozen=True, kw_only=True):
    """How many steps there are of each kind."""

    steps: int = 0
    open: int = 0
    deviated: int = 0
    """Changed, added or left out."""
    skipped: int = 0
    failed: int = 0


# ---- Marks


def logbook_of(notebook: Notebook) -> LogbookMark | None:
    """Return what a log says of the run of a logbook; None where it is none."""
    found = notebook.metadata.get(KEY)
    if found is None and notebook.run is not None:
        found = notebook.run.metadata.get(KEY)
    return _read(found, LogbookMark)


def step_of(cell: Cell) -> StepMark | None:
    """Return what a cell says of the step that it is; None where it says nothing."""
    return step_in(cell.metadata)


def step_in(metadata: dict[str, Json]) -> StepMark | None:
    """Return what a cell's metadata says of a step."""
    return _read(metadata.get(KEY), StepMark)


def as_metadata(mark: LogbookMark | StepMark) -> dict[str, Json]:
    """Return a mark as it stands in metadata."""
    return {KEY: msgspec.to_builtins(mark)}


def _read(found: Any, kind: type[M]) -> M | None:
    """Anybody may write metadata: what is no mark says nothing."""
    try:
        return msgspec.convert(found, kind) if isinstance(found, dict) else None
    except msgspec.ValidationError:
        return None


# ---- Steps


def steps_of(notebook: Notebook) -> list[LogbookStep]:
    """Return the steps of a logbook's run from top to bottom, with those that were added or left out."""
    return list(_steps(notebook))


def _steps(notebook: Notebook) -> Iterator[LogbookStep]:
    number = 0
    for id in notebook.order:
        cell = notebook.cells[id]
        mark = step_of(cell)
        if not _is_step(cell, mark):
            continue
        number += 1
        yield _step(number, cell, mark or StepMark())


def _is_step(cell: Cell, mark: StepMark | None) -> bool:
    if cell.scratch or INJECTED in cell.tags:
        return False
    if mark is not None and mark.hash:
        return mark.kind != "text"
    return cell.runs and not cell.removed and not cell.after_run


def _step(number: int, cell: Cell, mark: StepMark) -> LogbookStep:
    is_added = not mark.hash
    # What somebody does in a run's notebook once it is over is no part of the run.
    is_removed = cell.removed and not cell.after_run
    is_changed = not is_added and not cell.removed and not cell.after_run and source_hash(cell.source) != mark.hash
    return LogbookStep(
        number=number,
        cell=cell.id,
        kind=mark.kind,
        state="skipped" if is_removed else _state(cell, mark),
        deviated=is_changed,
        added=is_added,
        left_out=is_removed,
        by_choice=mark.answer == "skipped",
        why=mark.why or _skipped_why(cell),
        did=mark.did,
        evidence=mark.evidence,
        fault=_fault(cell),
    )


def _state(cell: Cell, mark: StepMark) -> StepState:
    if mark.answer == "failed" or mark.kind == "prose" or not cell.runs:
        return mark.answer
    match cell.state:
        case "queued" | "running":
            return "running"
        case "ok":
            return "done"
        case "never_run":
            return mark.answer if mark.answer == "skipped" else "open"
        case "skipped":
            return "skipped"
        case "error" if MAY_RAISE in cell.tags:
            return "done"
        case _:
            # Somebody who gave a failed step up says so, and why.
            return "skipped" if mark.answer == "skipped" else "failed"


def _skipped_why(cell: Cell) -> str:
    return cell.missed.why if cell.missed is not None else ""


def _fault(cell: Cell) -> str:
    fault = cell.execution.fault if cell.execution is not None else None
    return f"{fault.ename}: {fault.evalue}" if fault is not None else ""


def tally_of(steps: list[LogbookStep]) -> LogbookTally:
    """Count steps."""
    return LogbookTally(
        steps=len(steps),
        open=sum(each.state in ("open", "running") for each in steps),
        deviated=sum(each.deviated or each.added or each.left_out for each in steps),
        skipped=sum(each.state == "skipped" and not each.left_out for each in steps),
        failed=sum(each.state == "failed" for each in steps),
    )


# ---- As a run


def run_or_logbook(notebook: Notebook) -> Run | None:
    """Return what makes a notebook a run, also where it is a logbook that is done step by step; None: it is none."""
    mark = logbook_of(notebook) if notebook.run is None else None
    if mark is None or notebook.created_by is None or notebook.created_at is None:
        return notebook.run
    steps = steps_of(notebook)
    failed = next((each for each in steps if each.state == "failed"), None)
    is_open = any(each.state in ("open", "running") for each in steps)
    status = "running" if is_open else "error" if failed is not None else "success"
    execution = notebook.cells[failed.cell].execution if failed is not None else None
    return Run(
        source=RunSource(path=mark.template, digest=mark.digest),
        parameters=mark.parameters,
        metadata=notebook.metadata,
        by=notebook.created_by,
        at=notebook.created_at,
        status=status,
        started_at=notebook.created_at,
        finished_at=None if is_open else notebook.updated_at,
        failed_cell=failed.cell if failed is not None and not is_open else None,
        fault=execution.fault if execution is not None and not is_open else None,
    )
