"""A diff as text for the terminal: a header for each cell that changed, its lines, its outputs.

Without colour the text is stable: the same notebooks give the same lines, also to programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ...core.diff import diff as d
from ...core.diff.diff import PARTS, Diff, Part
from ...core.sheet.sheet import Sheet, SheetCell
from ...core.values import Json
from ...core.visible import visible, visible_line
from ..output_text import output_lines
from ..terminal_safe import one_line, plain
from .change_rows import ChangeRow, DiffTextLine, Gap, Sign, rows, unified, unified_texts, value_changes

MOST_OUTPUT_LINES = 40
"""Of an output that changed so many lines are shown."""
_WIDEST = 400
_INK = {"-": "31", "+": "32", "bold": "1", "dim": "2", "moved": "36", "changed": "33"}
_RESET = "\x1b[0m"


def render_text(
    diff: Diff,
    old: Sheet,
    new: Sheet,
    *,
    colour: bool = False,
    context: int = 3,
    parts: Sequence[Part] = PARTS,
) -> str:
    """Return what changed from `old` to `new`, for people; nothing when nothing did."""
    lines = _Text(diff.only(*parts), old, new, context, colour=colour, outputs="outputs" in parts).lines()
    # Half a surrogate pair is no text that a terminal could take.
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace").decode()


class _Text:
    """Draws one diff."""

    def __init__(self, diff: Diff, old: Sheet, new: Sheet, context: int, *, colour: bool, outputs: bool) -> None:
        self._diff, self._old, self._new = diff, old, new
        self._context, self._colour = context, colour
        self._with_outputs = outputs

    def lines(self) -> Iterator[str]:
        first = True
        for block in self._blocks():
            if not first:
                yield ""
            first = False
            yield from block

    def _blocks(self) -> Iterator[list[str]]:
        if notebook := list(self._notebook()):
            yield [self._ink("notebook", "bold"), *notebook]
        shown = False
        for row in rows(self._diff, self._old, self._new):
            if row.operations:
                shown = True
                yield [self._header(row), *self._body(row)]
        if not shown and not notebook:
            yield from ([_ids_changed(op)] for op in self._diff.operations if isinstance(op, d.IdsChanged))

    def _notebook(self) -> Iterator[str]:
        for operation in self._diff.operations:
            if isinstance(operation, d.MetadataSetOp | d.ExtraSet):
                yield from self._values(operation)

    # ---- A cell

    def _header(self, row: ChangeRow) -> str:
        facts = [f"cell {row.new_number}" if row.new is not None else f"old cell {row.old_number}", row.kinds]
        if name := row.cell.name:
            facts.append(one_line(name))
        if row.cell.tags:
            facts[-1] += f" [{', '.join(one_line(tag) for tag in row.cell.tags)}]"
        said, ink = _fate(row)
        head = self._ink(" · ".join(facts), "bold")
        return f"{head} · {self._ink(said, ink)}" if said else head

    def _body(self, row: ChangeRow) -> Iterator[str]:
        if row.old is None or row.new is None:
            yield from self._whole(row.cell, "+" if row.old is None else "-")
            return
        if not any(isinstance(operation, d.SourceEditedOp) for operation in row.operations):
            # Which cell it is, where its text did not change.
            yield self._ink(f"    {visible_line(row.new.source, 72)}".rstrip(), "dim")
        for operation in row.operations:
            yield from self._changed(operation, row.old, row.new)

    def _whole(self, cell: SheetCell, sign: Sign) -> Iterator[str]:
        """A cell that only one notebook has."""
        if cell.source:
            yield from (self._line(DiffTextLine(sign, line)) for line in cell.source.split("\n"))
        if self._with_outputs and (outputs := output_lines(cell.outputs)):
            yield self._ink("  output", "dim")
            yield from self._at_most(DiffTextLine(sign, line) for line in outputs)

    def _changed(self, operation: d.AnyOperation, old: SheetCell, new: SheetCell) -> Iterator[str]:
        match operation:
            case d.SourceEditedOp():
                yield from self._drawn(unified_texts(old.source, new.source, self._context))
            case d.OutputsChanged():
                yield self._ink("  output", "dim")
                yield from self._outputs(old.outputs, new.outputs)
            case d.CountChanged():
                pass  # the header says it
            case _:
                yield from self._values(operation)

    def _outputs(self, old: list[Json], new: list[Json]) -> Iterator[str]:
        before, after = output_lines(old), output_lines(new)
        if before == after:
            yield self._ink("    reads the same; its metadata or media differ", "dim")
        else:
            yield from self._at_most(unified(before, after, min(self._context, 1)))

    # ---- Lines

    def _values(self, operation: d.AnyOperation) -> Iterator[str]:
        for path, was, now in value_changes(operation):
            if was:
                yield self._line(DiffTextLine("-", f"{path}: {was}"))
            if now:
                yield self._line(DiffTextLine("+", f"{path}: {now}"))

    def _drawn(self, lines: Iterable[DiffTextLine | Gap], show: Callable[[str], str] = visible) -> Iterator[str]:
        for line in lines:
            if isinstance(line, Gap):
                yield self._ink(f"    ⋯ {line.lines} lines", "dim")
            else:
                yield self._line(line, show)

    def _at_most(self, lines: Iterable[DiffTextLine | Gap]) -> Iterator[str]:
        found = list(lines)
        yield from self._drawn(found[:MOST_OUTPUT_LINES], plain)
        if len(found) > MOST_OUTPUT_LINES:
            yield self._ink(f"    … {len(found) - MOST_OUTPUT_LINES} more lines", "dim")

    def _line(self, line: DiffTextLine, show: Callable[[str], str] = visible) -> str:
        line = _window(line)
        if not line.text:
            return f"  {line.sign}".rstrip()
        if not self._colour or line.sign == " ":
            return f"  {line.sign} {show(line.text)}"
        parts: list[str] = []
        at = 0
        for start, end in line.marks:
            parts += (show(line.text[at:start]), "\x1b[7m", show(line.text[start:end]), "\x1b[27m")
            at = end
        return f"  \x1b[{_INK[line.sign]}m{line.sign} {''.join(parts)}{show(line.text[at:])}{_RESET}"

    def _ink(self, text: str, ink: str) -> str:
        return f"\x1b[{_INK[ink]}m{text}{_RESET}" if self._colour and ink else text


def _fate(row: ChangeRow) -> tuple[str, str]:
    """What became of the cell as a whole, and in which colour."""
    if row.old is None:
        return "added", "+"
    if row.new is None:
        return "removed", "-"
    said = [f"moved from {row.old_number}"] if row.moved else []
    for operation in row.operations:
        if isinstance(operation, d.CountChanged):
            said.append(f"count {operation.was or '-'} → {operation.count or '-'}")
    return " · ".join(said), "moved" if row.moved else "dim"


def _ids_changed(operation: d.IdsChanged) -> str:
    count = len(operation.ids)
    return f"Only the id{'s' * (count != 1)} of {count} cell{'s' * (count != 1)} changed."


def _window(line: DiffTextLine) -> DiffTextLine:
    """The part of a very long line in which it differs."""
    if len(line.text) <= _WIDEST:
        return line
    start = max(0, line.marks[0][0] - _WIDEST // 4) if line.marks else 0
    end = start + _WIDEST
    head, tail = "…" * (start > 0), "…" * (end < len(line.text))
    shift = len(head) - start
    marks = tuple((max(a, start) + shift, min(b, end) + shift) for a, b in line.marks if min(b, end) > max(a, start))
    return DiffTextLine(line.sign, f"{head}{line.text[start:end]}{tail}", marks)
