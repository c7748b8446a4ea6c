"""What changed in a notebook, the way `git diff` shows a text: signs in the first column, a cell for each hunk.

So pagers that colour or search what git prints do it here as well. `quire diff` has more to show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import islice
from typing import NamedTuple

from ..core.diff import diff as d
from ..core.diff.diff import AnyOperation, Diff
from ..core.sheet.sheet import Sheet
from ..core.visible import visible
from ..formats.diff_view.change_rows import ChangeRow, DiffTextLine, Gap, rows, unified_texts, value_changes
from ..formats.terminal_safe import one_line, plain

_CONTEXT = 3
_LONGEST_VALUE = 200
_MOST_LINES = 20_000
_RESET = "\x1b[m"
_INK = {"head": "\x1b[1m", "hunk": "\x1b[36m", "@": "\x1b[36m", "-": "\x1b[31m", "+": "\x1b[32m", " ": ""}


class Side(NamedTuple):
    """Where a file is and its mode, as git writes it; the mode is None where there is no file."""

    name: str
    mode: str | None


class DiffHeader(NamedTuple):
    """What git tells of a file before it shows what is in it."""

    old: Side
    new: Side
    more: str = ""
    """Lines of git's own about a rename or a copy."""

    def lines(self) -> Iterator[str]:
        """The names, and below them what changed of the file itself."""
        yield f"diff --git a/{self.old.name} b/{self.new.name}"
        if self.old.mode is None:
            yield f"new file mode {self.new.mode}"
        elif self.new.mode is None:
            yield f"deleted file mode {self.old.mode}"
        elif self.old.mode != self.new.mode:
            yield f"old mode {self.old.mode}"
            yield f"new mode {self.new.mode}"
        # The index line is there for outputs alone as well, and those are no change.
        yield from (line for line in self.more.splitlines() if line and not line.startswith("index "))

    def names(self) -> Iterator[str]:
        """The two lines above the first hunk."""
        yield "--- /dev/null" if self.old.mode is None else f"--- a/{self.old.name}"
        yield "+++ /dev/null" if self.new.mode is None else f"+++ b/{self.new.name}"


def unified_text(changes: Diff, old: Sheet, new: Sheet, header: DiffHeader, *, colour: bool) -> str:
    """Return the changes of a notebook as text; nothing when there are none, of the file neither."""
    return _below(header, _lines(changes, old, new, colour=colour), colour=colour)


def text_by_line(old: str, new: str, header: DiffHeader, *, colour: bool) -> str:
    """Return the changes of any other text, line by line."""
    from difflib import unified_diff

    # Only where git sees line ends, and with them: a missing last one is a difference.
    before, after = StringIO(old).readlines(), StringIO(new).readlines()
    if max(len(before), len(after)) > _MOST_LINES:
        return _below(header, ["The files differ, and are too long to be compared by line."], colour=colour)
    hunks = islice(unified_diff(before, after), 2, None)
    return _below(header, (shown for line in hunks for shown in _as_git_has_it(line, colour)), colour=colour)


def _as_git_has_it(line: str, colour: bool) -> Iterator[str]:
    yield _inked(visible(line.removesuffix("\n")), line[0], colour)
    if not line.endswith("\n"):
        yield "\\ No newline at end of file"


def _below(header: DiffHeader, lines: Iterable[str], *, colour: bool) -> str:
    hunks = list(lines)
    heads = [*header.lines(), *(header.names() if hunks else ())]
    if len(heads) == 1:
        return ""
    return "".join(f"{line}\n" for line in (*(_inked(plain(head), "head", colour) for head in heads), *hunks))


def _lines(changes: Diff, old: Sheet, new: Sheet, *, colour: bool) -> Iterator[str]:
    yield from _hunk("notebook", [line for change in changes.operations for line in _of_notebook(change)], colour)
    for row in rows(changes, old, new):
        if row.operations:
            yield from _hunk(_title(row), list(_of_cell(row)) or [DiffTextLine(" ", "")], colour)


def _hunk(title: str, lines: list[DiffTextLine | Gap], colour: bool) -> Iterator[str]:
    if not lines:
        return
    yield _inked(f"@@ {title} @@", "hunk", colour)
    for line in lines:
        yield _inked(f"@@ {title} @@", "hunk", colour) if isinstance(line, Gap) else _drawn(line, colour)


def _title(row: ChangeRow) -> str:
    cell = row.cell
    told = [f"cell {row.new_number or row.old_number}", cell.kind]
    if cell.name:
        told.append(one_line(cell.name))
    told += ["added"] * (row.old is None) + ["removed"] * (row.new is None)
    told += [f"moved from {row.old_number}"] * row.moved
    told += ["outputs changed"] * any(isinstance(change, d.OutputsChanged) for change in row.operations)
    return " · ".join(told)


def _of_notebook(change: AnyOperation) -> Iterator[DiffTextLine]:
    if isinstance(change, d.MetadataSetOp | d.ExtraSet):
        yield from _values(change)


def _of_cell(row: ChangeRow) -> Iterator[DiffTextLine | Gap]:
    if row.old is None or row.new is None:
        sign = "+" if row.old is None else "-"
        yield from (DiffTextLine(sign, line) for line in row.cell.source.split("\n"))
        return
    for change in row.operations:
        if isinstance(change, d.SourceEditedOp):
            yield from unified_texts(row.old.source, row.new.source, _CONTEXT)
        elif not isinstance(change, d.CountChanged):
            yield from _values(change)


def _values(change: AnyOperation) -> Iterator[DiffTextLine]:
    """Values that changed, each with its path: names, tags, metadata."""
    for path, was, now in value_changes(change):
        if was:
            yield DiffTextLine("-", f"{path}: {was[:_LONGEST_VALUE]}")
        if now:
            yield DiffTextLine("+", f"{path}: {now[:_LONGEST_VALUE]}")


def _drawn(line: DiffTextLine, colour: bool) -> str:
    if not colour or line.sign == " ":
        return f"{line.sign}{_shown(line.text)}"
    parts: list[str] = []
    at = 0
    for start, end in line.marks:
        parts += (_shown(line.text[at:start]), "\x1b[7m", _shown(line.text[start:end]), "\x1b[27m")
        at = end
    return f"{_INK[line.sign]}{line.sign}{''.join(parts)}{_shown(line.text[at:])}{_RESET}"


def _shown(text: str) -> str:
    return visible(text).replace("\n", "\\n")


def _inked(text: str, ink: str, colour: bool) -> str:
    return f"{_INK[ink]}{text}{_RESET}" if colour else text
