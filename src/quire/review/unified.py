"""What changed in a notebook, the way `git diff` shows a text: signs in the first column, a cell for each hunk.

So pagers that colour or search what git prints do it here as well. `quire diff` has more to show.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..core import diff as d
from ..core.diff import AnyOperation, Diff
from ..core.sheet import Sheet
from ..files.change_rows import Gap, Line, Row, rows, unified_texts, value_changes
from ..files.plain import one_line, plain

_CONTEXT = 3
_LONGEST_VALUE = 200
_RESET = "\x1b[m"
_INK = {"head": "\x1b[1m", "hunk": "\x1b[36m", "-": "\x1b[31m", "+": "\x1b[32m", " ": ""}


class Side(NamedTuple):
    """A notebook and where it is; `name` is None where there is none."""

    name: str | None
    sheet: Sheet


def unified_text(changes: Diff, old: Side, new: Side, *, colour: bool) -> str:
    """Return the changes as text; nothing when there are none."""
    if not changes and (old.name is None) == (new.name is None):
        return ""
    return "".join(f"{line}\n" for line in _lines(changes, old, new, colour=colour))


def _lines(changes: Diff, old: Side, new: Side, *, colour: bool) -> Iterator[str]:
    a, b = f"a/{old.name or new.name}", f"b/{new.name or old.name}"
    for head in (
        f"diff --git {a} {b}",
        f"--- {a if old.name else '/dev/null'}",
        f"+++ {b if new.name else '/dev/null'}",
    ):
        yield _inked(plain(head).replace("\n", "\\n"), "head", colour)
    yield from _hunk("notebook", [line for change in changes.operations for line in _of_notebook(change)], colour)
    for row in rows(changes, old.sheet, new.sheet):
        if row.operations:
            yield from _hunk(_title(row), list(_of_cell(row)) or [Line(" ", "")], colour)


def _hunk(title: str, lines: list[Line | Gap], colour: bool) -> Iterator[str]:
    if not lines:
        return
    yield _inked(f"@@ {title} @@", "hunk", colour)
    for line in lines:
        yield _inked(f"@@ {title} @@", "hunk", colour) if isinstance(line, Gap) else _drawn(line, colour)


def _title(row: Row) -> str:
    cell = row.cell
    told = [f"cell {row.new_number or row.old_number}", cell.kind]
    if cell.name:
        told.append(one_line(cell.name))
    told += ["added"] * (row.old is None) + ["removed"] * (row.new is None)
    told += [f"moved from {row.old_number}"] * row.moved
    told += ["outputs changed"] * any(isinstance(change, d.OutputsChanged) for change in row.operations)
    return " · ".join(told)


def _of_notebook(change: AnyOperation) -> Iterator[Line]:
    if isinstance(change, d.MetadataSet | d.ExtraSet):
        yield from _values(change)


def _of_cell(row: Row) -> Iterator[Line | Gap]:
    if row.old is None or row.new is None:
        sign = "+" if row.old is None else "-"
        yield from (Line(sign, line) for line in row.cell.source.split("\n"))
        return
    for change in row.operations:
        if isinstance(change, d.SourceEdited):
            yield from unified_texts(row.old.source, row.new.source, _CONTEXT)
        elif not isinstance(change, d.CountChanged):
            yield from _values(change)


def _values(change: AnyOperation) -> Iterator[Line]:
    """Values that changed, each with its path: names, tags, metadata."""
    for path, was, now in value_changes(change):
        if was:
            yield Line("-", f"{path}: {was[:_LONGEST_VALUE]}")
        if now:
            yield Line("+", f"{path}: {now[:_LONGEST_VALUE]}")


def _drawn(line: Line, colour: bool) -> str:
    if not colour or line.sign == " ":
        return f"{line.sign}{_shown(line.text)}"
    parts: list[str] = []
    at = 0
    for start, end in line.marks:
        parts += (_shown(line.text[at:start]), "\x1b[7m", _shown(line.text[start:end]), "\x1b[27m")
        at = end
    return f"{_INK[line.sign]}{line.sign}{''.join(parts)}{_shown(line.text[at:])}{_RESET}"


def _shown(text: str) -> str:
    return plain(text).replace("\n", "\\n")


def _inked(text: str, ink: str, colour: bool) -> str:
    return f"{_INK[ink]}{text}{_RESET}" if colour else text
