"""Which parts of a template are steps: each cell of code, and each prose that asks for something by itself.

Prose under a heading is a step where no code follows in its section: nothing else would answer it. Prose that leads to
code introduces that; prose before the first heading of a section says what the logbook is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from ..core.ids import CellId
from ..core.notebook.logbook_record import INJECTED, StepKind, StepMark, as_metadata, step_in
from ..core.sheet.sheet import Sheet, SheetCell, derived_ids
from ..core.text import source_hash
from ..formats.logbook.fences import blocks

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+\S")


class ProsePart(NamedTuple):
    """A stretch of prose: at most one heading, and what stands under it."""

    text: str
    level: int
    """Of its heading; 0: it has none."""
    has_text: bool
    """Whether anything stands under the heading."""


def marked(sheet: Sheet, *, by_steps: bool) -> Sheet:
    """Return the sheet of a run with a mark on each cell. `by_steps`: prose is parted, and asks for an answer."""
    cells = list(_parted(sheet.cells) if by_steps else ((cell, cell.id) for cell in sheet.cells))
    kinds = _kinds([cell for cell, _ in cells], by_steps=by_steps)
    made = (
        cell if INJECTED in cell.tags else _with_mark(cell, kind, origin)
        for (cell, origin), kind in zip(cells, kinds, strict=True)
    )
    return replace(sheet, cells=tuple(made))


def kind_of(cell: SheetCell) -> StepKind:
    """Return what a marked cell is."""
    mark = step_in(cell.metadata)
    return mark.kind if mark is not None else "text"


def _with_mark(cell: SheetCell, kind: StepKind, origin: CellId) -> SheetCell:
    mark = StepMark(kind=kind, hash=source_hash(cell.source), part=origin)
    return replace(cell, metadata=cell.metadata | as_metadata(mark))


def _parted(cells: Sequence[SheetCell]) -> Iterator[tuple[SheetCell, CellId]]:
    """Each cell, prose by its headings, with the id of the template's cell."""
    taken = [cell.id for cell in cells]
    for cell in cells:
        parts = prose_parts(cell.source) if cell.kind == "markdown" else []
        if len(parts) < 2:
            yield cell, cell.id
            continue
        ids = list(derived_ids((("markdown", f"{cell.id}\0{part.text}") for part in parts[1:]), taken))
        taken += ids
        for id, part in zip((cell.id, *ids), parts, strict=True):
            yield SheetCell(id=id, kind="markdown", source=part.text), cell.id


def prose_parts(source: str) -> list[ProsePart]:
    """Return prose, parted before each heading. A `#` inside a fence or a comment is no heading."""
    lines = source.split("\n")
    hidden = _hidden_lines(source)
    starts = [number for number, line in enumerate(lines) if number not in hidden and _HEADING.match(line)]
    bounds = [*dict.fromkeys((0, *starts)), len(lines)]
    parts = ["\n".join(lines[start:end]).strip("\n") for start, end in pairwise(bounds)]
    return [_part(text) for text in parts if text.strip()]


def _part(text: str) -> ProsePart:
    found = _HEADING.match(text)
    rest = text.partition("\n")[2] if found is not None else text
    return ProsePart(text, len(found[1]) if found is not None else 0, bool(rest.strip()))


def _hidden_lines(source: str) -> set[int]:
    """The lines that are inside a fence."""
    found: set[int] = set()
    for block in blocks(source):
        if block.kind != "prose":
            first = source.count("\n", 0, block.start)
            found.update(range(first, first + source.count("\n", block.start, block.end) + 1))
    return found


def _kinds(cells: Sequence[SheetCell], *, by_steps: bool) -> list[StepKind]:
    kinds: list[StepKind] = []
    for index, cell in enumerate(cells):
        if cell.kind in ("code", "sql"):
            kinds.append("code")
        else:
            kinds.append("prose" if by_steps and _asks(cells, index) else "text")
    return kinds


def _asks(cells: Sequence[SheetCell], index: int) -> bool:
    """Whether a cell of prose asks for something that nothing else in its section answers."""
    cell = cells[index]
    if cell.kind == "prompt":
        return True
    if cell.kind != "markdown":
        return False
    part = next(iter(prose_parts(cell.source)), None)
    if part is None or not part.has_text or part.level == 1 or not _is_under_heading(cells, index, part):
        return False
    for other in cells[index + 1 :]:
        if INJECTED in other.tags:
            continue
        if other.kind in ("code", "sql"):
            return False
        if other.kind == "markdown" and any(each.level for each in prose_parts(other.source)[:1]):
            break
    return True


def _is_under_heading(cells: Sequence[SheetCell], index: int, part: ProsePart) -> bool:
    """Whether a heading below the title stands above it: what comes before says what the logbook is for."""
    if part.level > 1:
        return True
    above = [each.level for cell in cells[:index] if cell.kind == "markdown" for each in prose_parts(cell.source)]
    has_code = any(cell.kind in ("code", "sql") and INJECTED not in cell.tags for cell in cells[:index])
    return has_code or any(level > 1 for level in above)
