"""Percent text in cells: where each begins and ends, and what it holds.

As Jupytext reads it, line by line. A marker inside a triple-quoted string begins no cell,
nor does one inside a fence of a Markdown cell, as long as some later line closes the fence.
Two differences, both in what a line is: lines end at line ends, not also at form feeds and
the separators of Unicode, and a value in a marker that JSON cannot hold is no value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from ...core.events import CellKind
from ...core.ids import CellId
from ...core.sheet.sheet import SheetCell
from ...core.values import Json
from .cell_marker import CLOSED, END, Options, is_marker, read_options
from .magics import (
    LANGUAGES,
    Quotes,
    is_magic,
    is_plus,
    quotes_of,
    uncomment_magics,
    uncomment_plus,
    uncommented,
)

NOT_IN_SCRIPT = "ipynb,quire"
"""The value of `active` for code that only comments can carry. To Jupytext, a cell for notebooks only."""
LAYOUT = ("cell_marker", "lines_to_next_cell", "lines_to_end_of_cell_marker", "skipline", "noskipline")
"""Metadata with which Jupytext tells how a file looks, not what it says; the file itself remembers it."""
_KINDS = ("code", "markdown", "raw", "sql", "prompt")
_TRIPLE = ('"""', "'''")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")


class Manner(NamedTuple):
    """What the header of a file says about how its cells are written."""

    comment_magics: bool = True
    magics: tuple[str, ...] = ()
    """Cell magics that are languages, beside those that everybody knows."""
    names_languages: bool = True
    """Whether a cell of another language is written as one, and not as code with a magic."""
    quotes: str = ""
    """The quotes for the text of Markdown and raw cells; comments when there are none."""
    cell_filter: str = ""
    """Which metadata of cells is written."""


class CellBlock(NamedTuple):
    """The lines of one cell, and what they mean."""

    start: int
    """Its first line: the marker, if it has one."""
    body: int
    """The first line of its text."""
    end: int
    """The line behind its text."""
    stop: int
    """The first line of the next cell: blank lines may stand between."""
    options: Options
    cell: SheetCell
    quoted: str
    """The triple quotes around its text, with a prefix if they have one; empty for comments and for code."""


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their ends, of whatever sort these are."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def blocks_of(lines: Sequence[str], manner: Manner, start: int = 0) -> Iterator[CellBlock]:
    """Give the cells of a file, one after the other."""
    fences = _Fences(lines, comments=True), _Fences(lines, comments=False)
    while start < len(lines):
        block = _block(lines, start, fences, manner)
        yield block
        start = block.stop


def _block(lines: Sequence[str], start: int, fences: tuple[_Fences, _Fences], manner: Manner) -> CellBlock:
    has_marker = is_marker(lines[start])
    options = read_options(lines[start]) if has_marker else Options(None, {}, {})
    metadata = dict(options.metadata)
    language: Any = metadata.get("language")
    language = metadata.pop("language") if isinstance(language, str) else ""
    has_fences = options.kind in ("markdown", "raw") or metadata.get("cell_type") in (None, "markdown", "raw")
    kind, in_script = _kind(options.kind, metadata)
    fence_finder = fences[in_script] if has_fences and kind in ("markdown", "raw") else None
    stop = _stop(lines, start, quotes_of(language or "python"), fence_finder)
    end = _end(lines, start, stop)
    body = start + has_marker
    source, quoted = _source(lines[body:end], kind, metadata, language, manner, in_script=in_script)
    cell = _cell(kind, source, language, metadata, options.held, manner)
    return CellBlock(start, body, end, stop, options, cell, quoted)


# Where a cell ends.


def _stop(lines: Sequence[str], start: int, quotes: Quotes, fences: _Fences | None) -> int:
    """The line where the next cell begins."""
    fence: tuple[str, int] | None = None
    for index in range(start, len(lines)):
        line = lines[index]
        inside = quotes.open is not None
        quotes.read(line)
        if inside:
            continue
        if fences and ("```" in line or "~~~" in line or fence):
            if fence:
                fence = None if fences.closes(index, fence) else fence
                continue
            if (fence := fences.opened(index)) is not None:
                continue
        if index > start and is_marker(line):
            return index
    return len(lines)


def _end(lines: Sequence[str], start: int, stop: int) -> int:
    """The line behind the last that belongs to the cell: one or two blank lines part it from the next."""
    if stop - start >= 3 and not lines[stop - 1].strip() and not lines[stop - 2].strip() and lines[stop - 3].strip():
        return stop - 2
    return stop if lines[stop - 1] else stop - 1


class _Fences:
    """Knows the fences of a file, and which of them some later line closes."""

    def __init__(self, lines: Sequence[str], *, comments: bool) -> None:
        self._lines = lines
        self._comments = comments
        self._closers: dict[str, list[int]] | None = None

    def opened(self, index: int) -> tuple[str, int] | None:
        """The fence that opens in a line and is closed later on."""
        found = self._fence(index)
        if found is None or (found[0] == "`" and "`" in found[2]):
            return None
        mark, length, _ = found
        return (mark, length) if self._longest(mark, index + 1) >= length else None

    def closes(self, index: int, fence: tuple[str, int]) -> bool:
        """Whether a line closes a fence."""
        found = self._fence(index)
        return found is not None and found[0] == fence[0] and found[1] >= fence[1] and not found[2].strip()

    def _fence(self, index: int) -> tuple[str, int, str] | None:
        line = self._lines[index]
        match = _FENCE.match(uncommented(line) if self._comments else line)
        return (match[1][0], len(match[1]), match[2]) if match else None

    def _longest(self, mark: str, index: int) -> int:
        """The longest closing fence from a line on. Looked up: a file may open many that nothing closes."""
        if self._closers is None:
            self._closers = {each: self._from_the_end(each) for each in "`~"}
        return self._closers[mark][index]

    def _from_the_end(self, mark: str) -> list[int]:
        longest = [0] * (len(self._lines) + 1)
        for index in range(len(self._lines) - 1, -1, -1):
            longest[index] = longest[index + 1]
            found = self._fence(index) if mark * 3 in self._lines[index] else None
            if found is not None and found[0] == mark and not found[2].strip():
                longest[index] = max(longest[index], found[1])
        return longest


# What a cell holds.


def _kind(marked: str | None, metadata: dict[str, Json]) -> tuple[CellKind, bool]:
    """The kind of a cell, and whether it is a raw cell that is code in scripts."""
    named: Any = metadata.pop("cell_type", None)
    if marked is not None or named is not None:
        kind = marked or named
        return kind if kind in _KINDS else "raw", False
    if is_active("ipynb", metadata):
        return "code", False
    if metadata.get("active") == "":
        del metadata["active"]
    return "raw", is_active("py", metadata)


def is_active(ending: str, metadata: dict[str, Json], default: bool = True) -> bool:
    """Whether a cell is live in files of an ending, by what Jupytext looks at: `active`, tags, frozen."""
    if not metadata:
        return default
    control: Any = metadata.get("run_control")
    if isinstance(control, dict) and cast("dict[str, Json]", control).get("frozen") is True:
        return ending == "ipynb"
    tags: Any = metadata.get("tags")
    for tag in cast("list[Any]", tags) if isinstance(tags, list) else []:
        if isinstance(tag, str) and tag.startswith("active-"):
            return ending in tag.split("-")
    active: Any = metadata.get("active")
    return ending in re.split(r"[.,]", active) if isinstance(active, str) else default


def _source(
    lines: Sequence[str], kind: CellKind, metadata: dict[str, Json], language: str, manner: Manner, *, in_script: bool
) -> tuple[str, str]:
    """The text of a cell, and the quotes that stood around it."""
    ours = kind in ("sql", "prompt")
    if ours or not is_active("py", metadata, kind == "code"):
        unquoted = _unquoted(lines)
        if unquoted is not None:
            return unquoted
    foreign = language not in ("", "python")
    if ours or not is_active("py", metadata) or (foreign and "active" not in metadata):
        return "\n".join(lines if in_script else map(uncommented, lines)), ""
    if manner.comment_magics and not foreign and any(map(is_magic, lines)):
        lines = list(uncomment_magics(lines, Quotes()))
    if kind == "code" and any(map(is_plus, lines)):
        lines = list(uncomment_plus(lines, Quotes()))
    return "\n".join(lines if kind == "code" or in_script else map(uncommented, lines)), ""


def _unquoted(lines: Sequence[str]) -> tuple[str, str] | None:
    """What stands between triple quotes, and the quotes, when nothing else does."""
    first = next((line for line in lines if line.strip()), "").lstrip()
    if not first.startswith(('"', "'", "r", "R")):
        return None
    text = "\n".join(lines).strip()
    for prefix in ("", "r", "R"):
        for triple in _TRIPLE:
            left = prefix + triple
            if text.startswith(left) and text.endswith(triple) and len(text) >= len(left) + 3:
                inner = text[len(left) : -3].removeprefix("\n").removesuffix("\n")
                return inner.removesuffix("\n"), left
    return None


def _cell(
    kind: CellKind,
    source: str,
    language: str,
    metadata: dict[str, Json],
    held: dict[str, Json],
    manner: Manner,
) -> SheetCell:
    if language and language != "python":
        source = _with_magic(source, language, metadata, manner)
    if metadata.get("active") == NOT_IN_SCRIPT:
        del metadata["active"]
    source = _with_own_end(source, metadata)
    for key in LAYOUT:
        metadata.pop(key, None)
    metadata.update(held)
    name, tags = _text(metadata.get("name")), metadata.pop("tags", None)
    if name:
        del metadata["name"]
    tags = cast("list[Any]", tags) if isinstance(tags, list) else [tags]
    return SheetCell(
        id=CellId(""),
        kind=kind,
        source=source,
        name=name or None,
        tags=tuple(_text(tag) for tag in tags if tag is not None),
        metadata=metadata,
    )


def _with_own_end(source: str, metadata: dict[str, Json]) -> str:
    """The text with the end that it had before the format made another of it."""
    end: Any = metadata.get(END)
    if isinstance(end, str):
        del metadata[END]
        source += end
    closed: Any = metadata.get(CLOSED)
    if isinstance(closed, str) and closed and source.endswith(f"\n{closed}"):
        del metadata[CLOSED]
        source = source[: -len(closed) - 1]
    return source


def _text(value: Json) -> str:
    """A name or a tag, which have to be text in a notebook."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _with_magic(source: str, language: str, metadata: dict[str, Json], manner: Manner) -> str:
    """The source of a cell of another language as a notebook has it: below its magic."""
    if language.lower() == "python" or (language not in LANGUAGES and language not in manner.magics):
        metadata["language"] = language
        return source
    if "magic_args" in metadata:
        return f"%%{language} {metadata.pop('magic_args')}\n{source}"
    return f"%%{language}\n{source}"
