"""A verdict as people read it: the cell, where it stands, and a small difference."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from ....formats.terminal_safe import one_line, plain
from ..compare import OutputDifference
from ..verdict import CellVerdict, NotebookVerdict

MOST_LINES = 24
"""Of a difference."""
MOST_COLUMNS = 400
MOST_COMPARED = 150
"""Lines of longer texts, from the first that differs. From 200 on, difflib takes lines that are frequent for noise."""
_ESCAPES = re.compile(r"\x1b\[[0-9;:]*m")
_TRACEBACK_LINES = 12


def failure_lines(verdict: CellVerdict, path: str) -> list[str]:
    """Return why a cell failed: a heading with its place, and what was expected beside what came."""
    lines = [f"{path}:{verdict.line}: {one_line(verdict.name)}: {plain(verdict.fault)}"]
    for each in verdict.differences:
        lines += _indented(difference_lines(each))
    lines += _indented(traceback_lines(verdict.traceback))
    return lines


def difference_lines(difference: OutputDifference) -> list[str]:
    """Return one difference, as a unified diff where both sides are texts."""
    lines = [f"{difference.medium}: {plain(difference.fault)}"]
    if difference.expected is None and difference.actual is None:
        return lines
    before, after = _around(_lines(difference.expected), _lines(difference.actual))
    found = list(difflib.unified_diff(before, after, "stored", "now", n=2, lineterm=""))
    shown = [_cut(line) for line in found[2:] or _same_but_for_ends(difference)]
    lines += shown[:MOST_LINES]
    if len(shown) > MOST_LINES:
        lines.append(f"… {len(shown) - MOST_LINES:,} more lines")
    return lines


def traceback_lines(traceback: Sequence[str]) -> list[str]:
    """Return the end of a traceback, without colours."""
    lines = [line for part in traceback for line in _ESCAPES.sub("", part).split("\n")]
    shown = [_cut(line) for line in lines[-_TRACEBACK_LINES:]]
    return ["…", *shown] if len(lines) > len(shown) else shown


def notebook_lines(verdict: NotebookVerdict) -> Iterator[str]:
    """Yield all that is wrong with a notebook."""
    for fault in verdict.faults:
        yield plain(fault) if verdict.status == "error" else f"{verdict.path}: {plain(fault)}"
    for cell in verdict.failed:
        # Cells that never ran say all the same.
        if cell.status == "failed":
            yield from failure_lines(cell, verdict.path)
    if left := [cell for cell in verdict.cells if cell.status == "not_run"]:
        yield (
            f"{verdict.path}:{left[0].line}: {left[0].fault} {len(left)} in all."
            if len(left) > 1
            else (f"{verdict.path}:{left[0].line}: {one_line(left[0].name)}: {left[0].fault}")
        )


def _around(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """Cut two texts to where they begin to differ: to compare all of two long ones takes minutes."""
    if max(len(before), len(after)) <= MOST_COMPARED:
        return before, after
    pairs = enumerate(zip(before, after, strict=False))
    first = next((number for number, (one, other) in pairs if one != other), min(len(before), len(after)))
    start = max(0, first - 2)
    return before[start : start + MOST_COMPARED], after[start : start + MOST_COMPARED]


def _lines(text: str | None) -> list[str]:
    return [] if text is None else text.split("\n")


def _same_but_for_ends(difference: OutputDifference) -> list[str]:
    return [f"-{difference.expected!r}", f"+{difference.actual!r}"]


def _cut(line: str) -> str:
    text = plain(_ESCAPES.sub("", line))
    return text if len(text) <= MOST_COLUMNS else text[: MOST_COLUMNS - 1] + "…"


def _indented(lines: Sequence[str]) -> list[str]:
    # Not by blanks: a line of an output must not begin with `::`, which a runner would take for a command.
    return [f"  │ {line}".rstrip() for line in lines]
