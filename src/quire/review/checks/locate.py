"""On which line of its file a cell stands, and each line of it, whatever the format."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import msgspec

from ...core.ids import CellId
from ...core.sheet.sheet import Sheet
from ...formats import registry


class CellLines(msgspec.Struct, frozen=True, kw_only=True):
    """Where a cell stands in its file."""

    start: int
    """The line of its first line, from 1."""
    is_one_line: bool = False
    """Whether all of its source stands on that line: an .ipynb may hold it as one text."""

    def line(self, of_cell: int) -> int:
        """Return the line of the file for a line of the cell, both from 1."""
        return self.start if self.is_one_line else self.start + of_cell - 1


NOWHERE = CellLines(start=1, is_one_line=True)


def lines_of(sheet: Sheet, text: str, path: str) -> dict[CellId, CellLines]:
    """Return where each cell stands. One that cannot be found stands where the one before it does."""
    is_ipynb = registry.format_of(path) == "ipynb"
    lines = text.splitlines()
    found: dict[CellId, CellLines] = {}
    start, last = 0, NOWHERE
    for cell in sheet.cells:
        source = cell.source.split("\n")
        at = _find_in_json(lines, source, start) if is_ipynb else _find_in_text(lines, source, start)
        if at is not None:
            last = CellLines(start=at + 1, is_one_line=is_ipynb and _is_one_line(lines[at], source))
            start = at + (1 if last.is_one_line else len(source))
        found[cell.id] = last
    return found


def _find_in_text(lines: Sequence[str], source: Sequence[str], start: int) -> int | None:
    """Find the lines of a cell, which may be indented, or commented as a script has magics and prose."""
    if not any(line.strip() for line in source):
        return None
    for at in range(start, len(lines) - len(source) + 1):
        if all(_reads(lines[at + number], line) for number, line in enumerate(source)):
            return at
    first = next(line for line in source if line.strip())
    return next((at for at in range(start, len(lines)) if _reads(lines[at], first)), None)


def _reads(line: str, wanted: str) -> bool:
    return (
        line.rstrip().endswith(wanted.rstrip())
        and line.strip(" \t#>")[: len(wanted.strip())] == wanted.strip(" \t#>")[: len(wanted.strip())]
    )


def _find_in_json(lines: Sequence[str], source: Sequence[str], start: int) -> int | None:
    forms = list(_in_json(source))
    if not forms:
        return None
    return next((at for at in range(start, len(lines)) if any(form in lines[at] for form in forms)), None)


def _in_json(source: Sequence[str]) -> Iterator[str]:
    """The first line of a source as JSON writes it, with and without escapes for what is not ASCII."""
    if source == [""]:
        return
    for ascii in (False, True):
        written = json.dumps(source[0], ensure_ascii=ascii)
        yield written if len(source) == 1 else written[:-1] + "\\n"


def _is_one_line(line: str, source: Sequence[str]) -> bool:
    return len(source) == 1 or any(
        json.dumps("\n".join(source[:2]), ensure_ascii=ascii)[1:-1] in line for ascii in (False, True)
    )
