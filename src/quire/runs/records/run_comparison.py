"""Two runs side by side: what they were given, what they ran, what came of it, and how long it took."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from ...core.column_values import ColumnValue, column_value
from ...core.diff.diff import AnyOperation, Diff, diff
from ...core.ids import CellId, LogId
from ...core.notebook.notebook import Notebook, Run
from ...core.results import outcome_of
from ...core.sheet.equality import same
from ...core.sheet.sheet import Sheet, SheetCell
from ...core.values import Json
from ...formats.papermill import TAG as INJECTED
from .recorded_environment import revision_text
from .run_records import RUNS, CellRecord, RunRecord, language_of, record_of, run_of


class ValuePair(msgspec.Struct, frozen=True, kw_only=True):
    """A value in two runs. What a run does not have is not there in JSON."""

    a: Json = msgspec.UNSET
    b: Json = msgspec.UNSET
    same: bool
    difference: float | msgspec.UnsetType = msgspec.UNSET
    """What was added from a to b, of two numbers that differ."""
    relative: float | msgspec.UnsetType = msgspec.UNSET
    """The same as a part of a: 0.1 for a tenth more."""


class TimePair(msgspec.Struct, frozen=True, kw_only=True):
    """How long one cell took in two runs; a number that is null: the cell is in one of them only."""

    a_number: int | None
    b_number: int | None
    cell: CellId
    label: str
    a_seconds: float | None
    b_seconds: float | None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs side by side."""

    a: LogId
    b: LogId
    a_seq: int
    """The number in its log at which the run left its notebook; what came later is not compared."""
    b_seq: int
    same: bool
    """Whether parameters, sources and results are; environment and timing are no difference."""
    status: ValuePair
    parameters: dict[str, ValuePair]
    sources: tuple[AnyOperation, ...]
    """The operations that turn the cells of a into those of b, the injected parameters left out."""
    results: dict[str, ValuePair]
    environment: dict[str, ValuePair]
    packages: dict[str, ValuePair] | None
    """The packages that differ, with both versions; null where those of one run are not known."""
    inputs: dict[str, ValuePair]
    """The files that they declare to read, by their SHA-256."""
    duration_seconds: ValuePair
    timing: tuple[TimePair, ...]


class ComparedFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison for those who read the cells elsewhere: of the sources, only how many operations differ."""

    a: LogId
    b: LogId
    a_seq: int
    b_seq: int
    same: bool
    status: ValuePair
    parameters: dict[str, ValuePair]
    sources: int
    results: dict[str, ValuePair]
    environment: dict[str, ValuePair]
    packages: dict[str, ValuePair] | None
    inputs: dict[str, ValuePair]
    duration_seconds: ValuePair
    timing: tuple[TimePair, ...]


class ComparedRuns(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison, with what it takes to draw its sources."""

    comparison: Comparison
    sources: Diff
    sheets: tuple[Sheet, Sheet]


Packages: TypeAlias = Mapping[str, str] | None


def compare(
    a: tuple[LogId, Notebook], b: tuple[LogId, Notebook], packages: tuple[Packages, Packages] = (None, None)
) -> ComparedRuns:
    """Put two runs side by side, with the packages of each where they are known."""
    runs = run_of(a[1]), run_of(b[1])
    records = record_of(*a), record_of(*b)
    sheets = sheet_that_ran(a[1]), sheet_that_ran(b[1])
    found = diff(*sheets)
    # Values of parameters may stand in the text: what was run is the same when the file was.
    is_one_file = runs[0].source.digest is not None and runs[0].source.digest == runs[1].source.digest
    sources = Diff((), found.alignment) if is_one_file else found.only("sources")
    parameters = _pairs(runs[0].parameters, runs[1].parameters)
    results = _pairs(*(_results(notebook) for _, notebook in (a, b)))
    comparison = Comparison(
        a=a[0],
        b=b[0],
        a_seq=a[1].seq,
        b_seq=b[1].seq,
        same=not sources and all(pair.same for pair in (*parameters.values(), *results.values())),
        status=_pair(records[0].outcome.status, records[1].outcome.status),
        parameters=parameters,
        sources=sources.operations,
        results=results,
        environment=_pairs(_environment(runs[0]), _environment(runs[1])),
        packages=_changed_packages(*packages),
        inputs=_pairs(*({file.path: file.digest for file in run.inputs} for run in runs)),
        duration_seconds=_pair(records[0].outcome.duration_seconds, records[1].outcome.duration_seconds),
        timing=tuple(_timing(records, sheets, found)),
    )
    return ComparedRuns(comparison=comparison, sources=sources, sheets=sheets)


def facts_of(comparison: Comparison) -> ComparedFacts:
    """Return a comparison without its operations."""
    fields: dict[str, Any] = {**msgspec.structs.asdict(comparison), "sources": len(comparison.sources)}
    return ComparedFacts(**fields)


def sheet_that_ran(notebook: Notebook) -> Sheet:
    """The cells of a run as they were written: without outputs, and without the parameters put in."""
    return Sheet(
        cells=tuple(
            SheetCell(id=cell.id, kind=cell.kind, source=cell.source, name=cell.name, tags=cell.tags)
            for cell in notebook.live_cells
            if INJECTED not in cell.tags
        )
    )


def _pairs(a: Mapping[str, Json], b: Mapping[str, Json]) -> dict[str, ValuePair]:
    return {name: _pair(a.get(name, msgspec.UNSET), b.get(name, msgspec.UNSET)) for name in dict.fromkeys([*a, *b])}


def _pair(a: Json, b: Json) -> ValuePair:
    if a is msgspec.UNSET or b is msgspec.UNSET:
        return ValuePair(a=a, b=b, same=False)
    difference, relative = (msgspec.UNSET, msgspec.UNSET) if same(a, b) else _change(column_value(a), column_value(b))
    return ValuePair(a=a, b=b, same=same(a, b), difference=difference, relative=relative)


def _change(a: ColumnValue, b: ColumnValue) -> tuple[float | msgspec.UnsetType, float | msgspec.UnsetType]:
    """How far two numbers are from one another; nothing of what is no number, or too large to say."""
    if a.type != "number" or b.type != "number" or a.number is None or b.number is None:
        return msgspec.UNSET, msgspec.UNSET
    difference = b.number - a.number
    if not math.isfinite(difference):
        return msgspec.UNSET, msgspec.UNSET
    relative = difference / abs(a.number) if a.number else math.inf
    return difference, relative if math.isfinite(relative) else msgspec.UNSET


def _changed_packages(a: Packages, b: Packages) -> dict[str, ValuePair] | None:
    if a is None or b is None:
        return None
    return {name: pair for name, pair in sorted(_pairs(a, b).items()) if not pair.same}


def _results(notebook: Notebook) -> dict[str, Json]:
    """The values, and of blobs their hashes: the same bytes are the same result."""
    return outcome_of(LogId(""), notebook).scraps


def _environment(run: Run) -> dict[str, Json]:
    """What was found, without what is another in every run."""
    found = {name: value for name, value in run.environment.items() if name not in ("kernel_id", "language_info")}
    if language_of(run):
        found["language"] = language_of(run)
    if run.revision is not None:
        found["revision"] = revision_text(run.revision)
    return found


def _timing(records: tuple[RunRecord, RunRecord], sheets: tuple[Sheet, Sheet], found: Diff) -> Iterator[TimePair]:
    """The cells of b in their order, each with its own in a; then those that only a has."""
    old, new = ({cell.id: cell for cell in record.cells if cell.kind in RUNS} for record in records)
    was = {sheets[1].cells[j].id: sheets[0].cells[i].id for i, j in found.alignment.pairs}
    for cell in new.values():
        # The cell with the parameters put in is in no sheet: it is itself by its id.
        yield _time_pair(old.pop(was.get(cell.id, cell.id), None), cell)
    yield from (_time_pair(cell, None) for cell in old.values())


def _time_pair(old: CellRecord | None, new: CellRecord | None) -> TimePair:
    shown = new or old
    if shown is None:
        raise ValueError("a pair of nothing")
    return TimePair(
        a_number=old.number if old is not None else None,
        b_number=new.number if new is not None else None,
        cell=shown.id,
        label=shown.name or shown.first_line,
        a_seconds=old.seconds if old is not None else None,
        b_seconds=new.seconds if new is not None else None,
    )
