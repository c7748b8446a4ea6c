"""A diff in the order in which people read it: cell by cell, line by line, word by word.

What the terminal and the page show is the same; they only draw it differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias, cast

from ...core.diff import diff as d
from ...core.diff.align import in_order
from ...core.diff.diff import AnyOperation, CellAddedOp, CellMovedOp, Diff, cell_of
from ...core.diff.line_diff import LineChange, changes, lines_of, words_of
from ...core.sheet.equality import as_text
from ...core.sheet.sheet import Sheet, SheetCell
from ...core.text import difference
from ...core.values import Json
from ..output_text import size_of

Sign: TypeAlias = Literal[" ", "-", "+"]
Span: TypeAlias = tuple[int, int]
_LONG_LINE = 2000
_MOST_LINES_PAIRED = 200
_MOSTLY_OTHER = 0.7


class ChangeRow(NamedTuple):
    """A cell as it was and as it is, with what changed; numbers count from 1."""

    old: SheetCell | None
    new: SheetCell | None
    old_number: int
    new_number: int
    operations: list[AnyOperation]

    @property
    def cell(self) -> SheetCell:
        """The cell as it is, or as it was last."""
        cell = self.new or self.old
        assert cell is not None  # noqa: S101 - a row has at least one
        return cell

    @property
    def kinds(self) -> str:
        """Its kind, or both where it changed."""
        if self.old is not None and self.new is not None and self.old.kind != self.new.kind:
            return f"{self.old.kind} → {self.new.kind}"
        return self.cell.kind

    @property
    def moved(self) -> bool:
        """Whether it stands elsewhere now."""
        return any(isinstance(operation, CellMovedOp) for operation in self.operations)


class DiffTextLine(NamedTuple):
    """A line of a text: both have it, or one of them; `marks` are the words in which it differs."""

    sign: Sign
    text: str
    marks: tuple[Span, ...] = ()


class LinePair(NamedTuple):
    """Two lines side by side; None where one has nothing."""

    old: DiffTextLine | None
    new: DiffTextLine | None


class Gap(NamedTuple):
    """So many lines that both have are left out."""

    lines: int


def rows(diff: Diff, old: Sheet, new: Sheet) -> list[ChangeRow]:
    """Return every cell of both notebooks, top down; a removed one stands where it was."""
    of_old, of_new = _by_cell(diff)
    partner = {j: i for i, j in diff.alignment.pairs}
    removed = _removed_after(diff)
    found: list[ChangeRow] = []
    for j in range(-1, len(new.cells)):
        if j >= 0:
            cell, i = new.cells[j], partner.get(j)
            before = old.cells[i] if i is not None else None
            told = [*(of_old.get(before.id, ()) if before else ()), *of_new.get(cell.id, ())]
            found.append(ChangeRow(before, cell, i + 1 if i is not None else 0, j + 1, told))
        for i in removed.get(j, ()):
            found.append(ChangeRow(old.cells[i], None, i + 1, 0, of_old.get(old.cells[i].id, [])))
    return found


def _by_cell(diff: Diff) -> tuple[dict[str, list[AnyOperation]], dict[str, list[AnyOperation]]]:
    """Operations by the cell's old id, and those that use its new one."""
    of_old: dict[str, list[AnyOperation]] = {}
    of_new: dict[str, list[AnyOperation]] = {}
    for operation in diff.operations:
        cell = cell_of(operation)
        if cell is not None:
            into = of_new if isinstance(operation, CellAddedOp | CellMovedOp) else of_old
            into.setdefault(cell, []).append(operation)
    return of_old, of_new


def _removed_after(diff: Diff) -> dict[int, list[int]]:
    """New index (-1: the top) to the removed cells that stood below the cell that is there."""
    stays = {i: j for i, j in diff.alignment.pairs if j not in diff.alignment.moved}
    removed = set(diff.alignment.removed)
    found: dict[int, list[int]] = {}
    after = -1
    for i in sorted(removed | stays.keys()):
        if i in removed:
            found.setdefault(after, []).append(i)
        else:
            after = stays[i]
    return found


def pairs(old: str, new: str) -> list[LinePair]:
    """Return two texts line by line, side by side."""
    return list(_paired(_shown_lines(old, new), _shown_lines(new, old)))


def source_pairs(row: ChangeRow) -> list[LinePair]:
    """Return the source of a row's cell line by line, side by side; nothing where it did not change."""
    if row.old is not None and row.new is not None:
        edited = any(isinstance(operation, d.SourceEditedOp) for operation in row.operations)
        return pairs(row.old.source, row.new.source) if edited else []
    if not row.cell.source:
        return []
    lines = row.cell.source.split("\n")
    if row.old is None:
        return [LinePair(None, DiffTextLine("+", line)) for line in lines]
    return [LinePair(DiffTextLine("-", line), None) for line in lines]


def unified(old: Sequence[str], new: Sequence[str], context: int) -> Iterator[DiffTextLine | Gap]:
    """Return two texts as one, with `context` lines around each change."""
    return _near_changes(_one_below_the_other(_paired(old, new)), context)


def unified_texts(old: str, new: str, context: int) -> Iterator[DiffTextLine | Gap]:
    """The same, of texts with any line ends."""
    return unified(_shown_lines(old, new), _shown_lines(new, old), context)


def _shown_lines(text: str, other: str) -> list[str]:
    """The lines; a carriage return is only worth showing where not all lines of both texts have it."""
    if "\r" not in text:
        return lines_of(text)
    if all(each.count("\r\n") == each.count("\n") == each.count("\r") for each in (text, other)):
        return lines_of(text.replace("\r\n", "\n"))
    return [line[:-1] + "␍" if line.endswith("\r") else line for line in lines_of(text)]


def _paired(old: Sequence[str], new: Sequence[str]) -> Iterator[LinePair]:
    i = 0
    for change in (*changes(old, new), LineChange(len(old), len(old), len(new), len(new))):
        yield from (LinePair(DiffTextLine(" ", line), DiffTextLine(" ", line)) for line in old[i : change.old_start])
        yield from _changed_lines(old[change.old_start : change.old_end], new[change.new_start : change.new_end])
        i = change.old_end


def _changed_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[LinePair]:
    """Lines that were edited beside each other, the others alone."""
    i = j = 0
    for next_i, next_j in (*_alike(old, new), (len(old), len(new))):
        for k in range(max(next_i - i, next_j - j)):
            before = DiffTextLine("-", old[i + k]) if i + k < next_i else None
            after = DiffTextLine("+", new[j + k]) if j + k < next_j else None
            yield LinePair(before, after)
        if next_i < len(old) and next_j < len(new):
            left, right = _marks(old[next_i], new[next_j])
            yield LinePair(DiffTextLine("-", old[next_i], left), DiffTextLine("+", new[next_j], right))
        i, j = next_i + 1, next_j + 1


def _alike(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    if len(old) == len(new) == 1:
        return [(0, 0)]
    if max(len(old), len(new)) > _MOST_LINES_PAIRED:
        return []
    return in_order([("", line) for line in old], [("", line) for line in new])


def _marks(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Where two versions of a line differ; nothing when hardly a word is left."""
    if max(len(old), len(new)) > _LONG_LINE:
        left, right = _stretch(old, new)
    else:
        before, after = words_of(old), words_of(new)
        found = changes(before, after)
        left = tuple(_span(before, change.old_start, change.old_end) for change in found)
        right = tuple(_span(after, change.new_start, change.new_end) for change in found)
    left, right = tuple(filter(_has_length, left)), tuple(filter(_has_length, right))
    if _part(left, old) > _MOSTLY_OTHER and _part(right, new) > _MOSTLY_OTHER:
        return (), ()
    return left, right


def _stretch(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    edit = difference(old, new)
    left = tuple((splice.at, splice.at + splice.remove) for splice in edit)
    return left, tuple((splice.at, splice.at + len(splice.insert)) for splice in edit[:1])


def _span(words: list[str], start: int, end: int) -> Span:
    at = sum(map(len, words[:start]))
    return at, at + sum(map(len, words[start:end]))


def _has_length(span: Span) -> bool:
    return span[1] > span[0]


def _part(spans: tuple[Span, ...], line: str) -> float:
    return sum(end - start for start, end in spans) / max(1, len(line.strip()))


def _one_below_the_other(paired: Iterator[LinePair]) -> Iterator[DiffTextLine]:
    """All removed lines of a change first, then all added ones."""
    added: list[DiffTextLine] = []
    for old, new in paired:
        if old is not None and old.sign == " ":
            yield from added
            added = []
            yield old
            continue
        if old is not None:
            yield old
        if new is not None:
            added.append(new)
    yield from added


def _near_changes(lines: Iterator[DiffTextLine], context: int) -> Iterator[DiffTextLine | Gap]:
    """Leave out what is further than `context` from a change."""
    kept: list[DiffTextLine] = []
    seen = False
    for line in lines:
        if line.sign == " ":
            kept.append(line)
            continue
        yield from _between(kept, context if seen else 0, context)
        kept, seen = [], True
        yield line
    yield from _between(kept, context if seen else 0, 0)


def _between(lines: list[DiffTextLine], head: int, tail: int) -> Iterator[DiffTextLine | Gap]:
    # A line that says "1 line" takes as much room as the line.
    if len(lines) <= head + tail + 1:
        yield from lines
        return
    yield from lines[:head]
    yield Gap(len(lines) - head - tail)
    yield from lines[len(lines) - tail :]


def value_changes(operation: d.AnyOperation) -> Iterator[tuple[str, str, str]]:
    """Return path, old and new value for each value that an operation sets; what is not there is empty."""
    match operation:
        case d.CellNamedOp():
            yield "name", operation.was or "", operation.name or ""
        case d.CellTaggedOp():
            yield "tags", ", ".join(operation.was), ", ".join(operation.tags)
        case d.CountChanged():
            yield "count", _number(operation.was), _number(operation.count)
        case d.MetadataSetOp() | d.CellMetadataSetOp():
            yield from _keys("metadata", operation)
        case d.ExtraSet() | d.CellExtraSet():
            yield from _keys("fields", operation)
        case d.AttachmentsSet():
            yield from _attachments(operation)
        case _:
            pass


def _number(count: int | None) -> str:
    return "" if count is None else str(count)


def _keys(field: str, operation: d.KeysSet) -> Iterator[tuple[str, str, str]]:
    """Values by path, and of each only what differs."""
    before, after = dict(_flat(operation.was, field)), dict(_flat(operation.values, field))
    for path in dict.fromkeys((*before, *after)):
        if before.get(path) != after.get(path):
            yield path, before.get(path, ""), after.get(path, "")


def _attachments(operation: d.AttachmentsSet) -> Iterator[tuple[str, str, str]]:
    sizes = [
        {
            name: ", ".join(f"{media}, {size_of(media, text)}" for media, text in _flat(bundle))
            for name, bundle in each.items()
        }
        for each in (operation.was, operation.values)
    ]
    for name in dict.fromkeys((*sizes[0], *sizes[1])):
        yield f"attachment {name}", sizes[0].get(name, ""), sizes[1].get(name, "")


def _flat(value: Json, path: str = "", depth: int = 6) -> Iterator[tuple[str, str]]:
    """The values inside a JSON value, each with its path and as JSON text."""
    if isinstance(value, dict) and depth:
        for key, inner in cast("dict[str, Json]", value).items():
            yield from _flat(inner, f"{path}.{key}" if path else key, depth - 1)
    else:
        yield path, as_text(value, ascii=False)
