"""A diff as values that a page can draw: the rows of `quire diff`, in the same order, with what each cell showed.

Outputs are given as executions, so that the page draws them as it draws them in a notebook. They are compared by the
hashes of their blobs: no blob is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

import msgspec

from ...core.diff import diff as d
from ...core.diff.diff import AnyOperation, diff
from ...core.events import CellKind
from ...core.ids import CellId
from ...core.notebook.notebook import Execution, Notebook
from ...core.sheet.conversion import blobs_of_cell, sheet_of
from ...core.sheet.sheet import Sheet
from .change_rows import ChangeRow, DiffTextLine, LinePair, Sign, rows, source_pairs, value_changes

RowState: TypeAlias = Literal["same", "changed", "added", "removed", "moved"]


class DiffLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a source, in parts: every second one is a word in which it differs. Joined, they are the line."""

    sign: Sign
    parts: tuple[str, ...]


class DiffPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two lines side by side; null where one side has none."""

    old: DiffLine | None
    new: DiffLine | None


class DiffFact(msgspec.Struct, frozen=True, kw_only=True):
    """A name, tags or a value of the metadata, as it was and as it is; empty where it is not there."""

    path: str
    old: str
    new: str


class DiffCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of one side. `number` counts from 1."""

    id: CellId
    number: int
    kind: CellKind
    source: str
    execution: Execution | None = None
    """What it showed, in rows that are not the same."""


class DiffRow(msgspec.Struct, frozen=True, kw_only=True):
    """A cell as it was and as it is, with what changed; null on the side that does not have it."""

    cell: CellId
    """Its id as it is, or as it was last."""
    state: RowState
    """A cell that was moved may have changed as well: then it has lines, facts or outputs, too."""
    name: str | None
    tags: tuple[str, ...]
    old: DiffCell | None
    new: DiffCell | None
    lines: tuple[DiffPair, ...] = ()
    """The whole source line by line, where it differs."""
    facts: tuple[DiffFact, ...] = ()
    outputs_differ: bool = False


class DiffRows(msgspec.Struct, frozen=True, kw_only=True):
    """Every cell of both notebooks from the top down, a removed one where it was, and facts of the notebooks themselves."""

    rows: tuple[DiffRow, ...]
    facts: tuple[DiffFact, ...]
    language: str
    """Of the code of the new side, in lower case."""


def diff_rows(old: Notebook, new: Notebook, first: int | None = None) -> DiffRows:
    """Return how two notebooks differ, cell by cell; the lines of the first changes only, if so many are asked for."""
    sheets = comparable_sheet(old), comparable_sheet(new)
    found = diff(*sheets)
    of_notebook = [each for each in found.operations if isinstance(each, d.MetadataSetOp | d.ExtraSet)]
    return DiffRows(
        rows=tuple(_rows(rows(found, *sheets), old, new, first)),
        facts=_facts(of_notebook),
        language=sheets[1].language,
    )


def comparable_sheet(notebook: Notebook) -> Sheet:
    """Return the notebook as a file has it, with the hash of each blob in place of its bytes."""
    # A string in JSON: so it can be read as whatever the blob is said to be.
    refs = (ref for cell in notebook.live_cells for ref in blobs_of_cell(cell))
    return sheet_of(notebook, {ref.hash: f'"{ref.hash}"'.encode() for ref in refs})


def _rows(found: Iterable[ChangeRow], old: Notebook, new: Notebook, first: int | None) -> Iterator[DiffRow]:
    left = first
    for row in found:
        made = _row(row, old, new, with_lines=left is None or left > 0)
        if left is not None and made.state != "same":
            left -= 1
        yield made


def _row(row: ChangeRow, old: Notebook, new: Notebook, *, with_lines: bool) -> DiffRow:
    state = _state(row)
    changed = state != "same"
    return DiffRow(
        cell=row.cell.id,
        state=state,
        name=row.cell.name,
        tags=row.cell.tags,
        old=_side(old, row.old.id, row.old_number, with_outputs=changed) if row.old is not None else None,
        new=_side(new, row.new.id, row.new_number, with_outputs=changed) if row.new is not None else None,
        lines=tuple(_pair(pair) for pair in source_pairs(row)) if with_lines else (),
        facts=_facts(row.operations),
        outputs_differ=_outputs_differ(row),
    )


def _state(row: ChangeRow) -> RowState:
    if row.old is None:
        return "added"
    if row.new is None:
        return "removed"
    if row.moved:
        return "moved"
    return "changed" if row.operations else "same"


def _side(notebook: Notebook, id: CellId, number: int, *, with_outputs: bool) -> DiffCell:
    cell = notebook.cells[id]
    execution = cell.execution if with_outputs and cell.runs else None
    return DiffCell(id=id, number=number, kind=cell.kind, source=cell.source, execution=execution)


def _outputs_differ(row: ChangeRow) -> bool:
    if row.old is not None and row.new is not None:
        return any(isinstance(operation, d.OutputsChanged) for operation in row.operations)
    return bool(row.cell.outputs)


def _pair(pair: LinePair) -> DiffPair:
    return DiffPair(old=_line(pair.old), new=_line(pair.new))


def _line(line: DiffTextLine | None) -> DiffLine | None:
    if line is None:
        return None
    ends = (0, *(end for span in line.marks for end in span), len(line.text))
    parts = tuple(line.text[start:end] for start, end in pairwise(ends))
    return DiffLine(sign=line.sign, parts=parts)


def _facts(operations: Sequence[AnyOperation]) -> tuple[DiffFact, ...]:
    return tuple(_each_fact(operations))


def _each_fact(operations: Iterable[AnyOperation]) -> Iterable[DiffFact]:
    for operation in operations:
        for path, was, now in value_changes(operation):
            yield DiffFact(path=path, old=was, new=now)
