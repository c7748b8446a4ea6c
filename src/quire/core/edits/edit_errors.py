"""What is wrong with an edit, told so that it can be repaired without reading the notebook again."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ..diff.line_diff import changes, lines_of
from ..errors import BadInput, NotFound, QuireError, Refused
from ..ids import CellId
from ..notebook.notebook import Cell, Notebook
from ..python.parse import PythonFault
from ..text import source_hash
from ..visible import visible

Past: TypeAlias = Mapping[tuple[CellId, str], str | None]
"""A cell and the beginning of a hash, to the source that it is of, which the cell once had; None: it never had one."""
CONTEXT = 3
_MOST_PLACES = 10
_MOST_LINES = 2000
"""So many lines are looked at for one that was meant."""
_SHORT = 12


def stale(cell: Cell, base: str, past: Past) -> QuireError:
    """An edit was made against a source that the cell does not have."""
    now = source_hash(cell.source)
    details: dict[str, Any] = {"cell": cell.id, "source": cell.source, "source_hash": now, "changed_by": cell.edited_by}
    had = past.get((cell.id, base))
    if had is None:
        return BadInput(
            f"Cell {cell.id!r} never had a source whose hash begins with {base!r}. Its hash is {now[:_SHORT]}; its source is "
            "in `source`. Send the edit again with that base if it still makes sense.",
            **details,
        )
    return Refused(
        f"Cell {cell.id!r} was changed by {cell.author} since you read it. Its source is in `source`, what changed in "
        f"`difference`. Send the edit again, made against that, with base {now[:_SHORT]}.",
        **details,
        base=had,
        difference=unified(had, cell.source),
    )


def was_removed(notebook: Notebook, name: str) -> QuireError | None:
    """Somebody took out the cell that is meant; None: there is no such cell among those either."""
    for place, id in enumerate(notebook.order):
        cell = notebook.cells[id]
        if cell.removed and not cell.scratch and (name in (cell.id, cell.name) or _begins(cell, name)):
            before = next((each for each in reversed(notebook.order[:place]) if not notebook.cells[each].removed), None)
            return Refused(
                f"Cell {cell.id!r} was removed since you read it. What it said is in `source`: insert it again"
                f" after {before or 'top'!r} if it is still needed.",
                cell=cell.id,
                source=cell.source,
                removed=True,
                after=before or "top",
            )
    return None


def _begins(cell: Cell, name: str) -> bool:
    return len(name) >= 4 and cell.id.startswith(name)


def not_once(cell: Cell, source: str, old: str) -> QuireError:
    """The text to replace is not there, or more than once. `source` is what the edits before it made of the cell."""
    lines = _lines_with(source, old)
    details = {"cell": cell.id, "source": cell.source, "source_hash": source_hash(cell.source), "lines": lines}
    where = f"cell {cell.id!r}{', as the edits before this one leave it' if source != cell.source else ''}"
    if lines:
        shown = ", ".join(map(str, lines[:_MOST_PLACES])) + (" …" if len(lines) > _MOST_PLACES else "")
        return BadInput(
            f"`old` stands {len(lines)} times in {where}, in lines {shown}. Add what stands around the one you mean.",
            **details,
        )
    near = _nearest_line(source, old)
    hint = f" Nearest is line {near[0]}: {near[1]!r}." if near is not None else ""
    return BadInput(f"`old` does not stand in {where}.{hint} Its source is in `source`.", **details)


def _lines_with(source: str, old: str) -> list[int]:
    """The line of each place, also of those that overlap."""
    found: list[int] = []
    line, seen = 1, 0
    at = source.find(old)
    while at >= 0 and len(found) < 1000:
        line += source.count("\n", seen, at)
        seen = at
        found.append(line)
        at = source.find(old, at + 1)
    return found


def _nearest_line(source: str, old: str) -> tuple[int, str] | None:
    wanted = next((line.strip() for line in lines_of(old) if line.strip()), "")[:200]
    lines = [line[:200] for line in lines_of(source)[:_MOST_LINES]]
    close = difflib.get_close_matches(wanted, [line.strip() for line in lines], n=1, cutoff=0.5)
    return next(((n, line) for n, line in enumerate(lines, 1) if close and line.strip() == close[0]), None)


def not_python(cell: CellId | None, source: str, fault: PythonFault, otherwise: str = "") -> QuireError:
    """No kernel could read what a cell would say; `otherwise` is what else can be done about it."""
    line = lines_of(source)[fault.line - 1] if fault.line <= source.count("\n") + 1 else ""
    start = max(0, fault.column - 1 - 60)
    shown = line[start : start + 120]
    caret = "".join("\t" if char == "\t" else " " for char in visible(shown[: fault.column - 1 - start])) + "^"
    what = f"What cell {cell!r} would say" if cell is not None else "The new cell"
    return BadInput(
        f"{what} is not Python: line {fault.line}, column {fault.column}: {fault.message}.\n"
        f"    {visible(shown)}\n    {caret}\nSend it again without the fault{otherwise}.",
        cell=cell,
        line=fault.line,
        column=fault.column,
        fault=fault.message,
    )


def contradiction(one: int, other: int, what: str) -> BadInput:
    """Two edits of one batch cannot both be."""
    first, second = sorted((one, other))
    if first == second:
        return BadInput(f"Edit {first} contradicts itself: {what}.", edits=[first])
    return BadInput(
        f"Edits {first} and {second} contradict each other: {what}. Send one of them.", edits=[first, second]
    )


def gathered(faults: Sequence[tuple[int, QuireError]], count: int) -> QuireError:
    """All that is wrong, as one error: of the one that is, or of the gravest kind."""
    if len(faults) == 1:
        number, error = faults[0]
        told = f"Edit {number}: {error}" if count > 1 and "edits" not in error.details else str(error)
        return type(error)(f"{told} Nothing was changed.", **{"edit": number, **error.details})
    kind = next((kind for kind in (BadInput, NotFound) if any(isinstance(error, kind) for _, error in faults)), Refused)
    lines = "\n".join(f"Edit {number}: {error}" for number, error in faults)
    return kind(
        f"{len(faults)} things are wrong with the batch. Nothing was changed.\n{lines}",
        faults=[
            {"edit": number, "error": type(error).__name__, "message": str(error), **error.details}
            for number, error in faults
        ],
    )


def unified(old: str, new: str) -> str:
    """What changed between two texts, as people know it from patches."""
    before, after = lines_of(old), lines_of(new)
    return "\n".join(_unified(before, after))


def _unified(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    found = changes(before, after)
    ends = [change.old_start for change in found[1:]] + [len(before)]
    shown = 0
    for change, end in zip(found, ends, strict=False):
        start = max(shown, change.old_start - CONTEXT)
        if start > shown or not shown:
            yield f"@@ line {change.new_start + 1} @@"
        yield from (f" {line}" for line in before[start : change.old_start])
        yield from (f"-{line}" for line in before[change.old_start : change.old_end])
        yield from (f"+{line}" for line in after[change.new_start : change.new_end])
        shown = min(change.old_end + CONTEXT, end)
        yield from (f" {line}" for line in before[change.old_end : shown])
