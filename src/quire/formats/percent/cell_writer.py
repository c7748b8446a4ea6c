"""A cell as the lines of a percent file.

Written as Jupytext writes it; then read again. Where that gives another cell (Jupytext
loses it there), the next way is tried that Jupytext reads right: another escape, triple
quotes around a Markdown cell, code in comments with `active="ipynb,quire"`. Some ends of
cells only Quire puts back: blank ones (`quire.end`) and open fences (`quire.closed`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...core.events import CellKind
from ...core.sheet.sheet import SheetCell
from ...core.values import Json
from .cell_blocks import LAYOUT, NOT_IN_SCRIPT, Manner, blocks_of, is_active
from .cell_marker import CLOSED, END, is_marker, write_options
from .file_header import is_encoding
from .magics import (
    LANGUAGES,
    Quotes,
    commented,
    is_continued,
    is_magic,
    is_plus,
    uncommented,
    uncommented_once,
)

LEFT_OUT = ("autoscroll", "collapsed", "scrolled", "trusted", "execution", "ExecuteTime", *LAYOUT)
"""Metadata of cells that Jupytext does not write either: the state of somebody's screen, and layout."""
# Markers, strings that go on, fences, and line ends of another sort.
_SPECIAL = re.compile("%%|\"\"\"|'''|```|~~~|<codecell>|In\\[|\r")
# Metadata that decides how a cell is read.
_STEERING = frozenset(("active", "run_control"))
_QUOTES = ('"""', "'''")
_FENCE_RUN = re.compile("`{3,}|~{3,}")


class CellSpelling(NamedTuple):
    """How a cell was written before it changed."""

    head: tuple[str, ...] | None = None
    """Its marker, or nothing for a cell at the top without one; None when that cannot be kept."""
    quoted: str = ""
    """The quotes around its text."""
    lines: Mapping[str, str] = {}
    """The lines of its text, as they stood in the file."""


class CellPosition(NamedTuple):
    """Where in the file a cell stands."""

    first: bool = False
    last: bool = False


_PLAIN = CellSpelling()
_ANYWHERE = CellPosition()


def carried(cell: SheetCell, manner: Manner) -> dict[str, Json]:
    """Return the metadata of a cell that the file says, name and tags among it."""
    if not (cell.metadata or cell.tags or cell.name):
        return {}
    metadata = {key: value for key, value in cell.metadata.items() if key != "tags" and _is_written(key, manner)}
    more: dict[str, Json] = {}
    if cell.name and _is_written("name", manner):
        more["name"] = cell.name
    if cell.tags and _is_written("tags", manner):
        more["tags"] = list(cell.tags)
    if not more or not metadata:
        return more or metadata
    # Notebooks sort their keys: so does Jupytext, then.
    return dict(sorted((metadata | more).items())) if list(metadata) == sorted(metadata) else more | metadata | more


def _is_written(key: str, manner: Manner) -> bool:
    if not manner.cell_filter:
        return key not in LEFT_OUT
    words = [word.strip() for word in manner.cell_filter.split(",")]
    if f"-{key}" in words or key in LAYOUT:
        return False
    return "all" in words or key in words or f"+{key}" in words or ("-all" not in words and key not in LEFT_OUT)


def key_of(cell: SheetCell, manner: Manner) -> tuple[str, str, str]:
    """Return a key that is the same for cells which the writer writes alike."""
    metadata = carried(cell, manner)
    return cell.kind, plain_ends(cell.source), json.dumps(metadata, sort_keys=True) if metadata else ""


def plain_ends(text: str) -> str:
    """Return a text with line ends of one sort: a file has no others."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def write_cell(
    cell: SheetCell, manner: Manner, place: CellPosition = _ANYWHERE, old: CellSpelling = _PLAIN
) -> list[str]:
    """Return the lines of a cell, without the blank ones behind it."""
    ordinary = _ordinary(cell, manner) if old is _PLAIN else None
    if ordinary and not (place.first and is_encoding(ordinary[0])):
        return ordinary
    wanted = key_of(cell, manner)
    lines: list[str] = []
    for lines in _ways(cell, manner, old):
        if reads_as(lines, wanted, manner, place):
            return lines
    return lines


def _ordinary(cell: SheetCell, manner: Manner) -> list[str] | None:
    """The lines of a cell in which nothing can be taken for something else, as most are. No need to read it again."""
    source = cell.source
    if _SPECIAL.search(source) or manner.quotes:
        return None
    metadata = carried(cell, manner)
    if not (_STEERING.isdisjoint(metadata) and not any(tag.startswith("active-") for tag in cell.tags)):
        return None
    lines = source.split("\n")
    if cell.kind != "code":
        body = [commented(line) for line in lines]
        return None if any(map(is_magic, body)) else [write_options(cell.kind, metadata), *body]
    if not source:
        return [write_options(None, metadata)]
    if not lines[-1].strip() or any(is_magic(line) or is_plus(line) for line in lines):
        return None
    return [_marker(None, metadata, {}, 0, lines), *lines]


def reads_as(lines: Sequence[str], wanted: tuple[str, str, str], manner: Manner, place: CellPosition) -> bool:
    """Return whether lines are read as the cell with this key and nothing else, whatever follows."""
    if not lines or (place.first and is_encoding(lines[0])):
        return False
    follows: list[str] = []
    if not place.last:
        # A later cell may close any fence that is still open.
        longest = [max(runs, key=len) for runs in _fence_runs(lines)]
        follows = ["", "# %%", *longest, *map(commented, longest)]
    block = next(blocks_of([*lines, *follows], manner))
    return block.stop == len(lines) + (not place.last) and key_of(block.cell, manner) == wanted


def _fence_runs(lines: Sequence[str]) -> Iterator[list[str]]:
    for mark in "`~":
        runs = [run for line in lines if mark * 3 in line for run in _FENCE_RUN.findall(line) if run[0] == mark]
        if runs:
            yield runs


def _ways(cell: SheetCell, manner: Manner, old: CellSpelling) -> Iterator[list[str]]:
    """Every way to write a cell, the plainest first, and last one that can always be read."""
    metadata = carried(cell, manner)
    source = plain_ends(cell.source)
    if old.head is not None:
        for _, body in _bodies(cell.kind, source, metadata, manner, old):
            yield [*old.head, *body]
    text, end = _without_end(source)
    for level in range(3):
        said = metadata if level == 0 else {"tags": metadata["tags"]} if level == 1 and "tags" in metadata else {}
        mark = None if _is_code(cell.kind, said) else cell.kind
        for words, body in _bodies(cell.kind, source, said, manner, old):
            yield [_marker(mark, metadata, words, level, body), *body]
        for words, body in _bodies(cell.kind, text, said, manner, old) if end else ():
            yield [_marker(mark, metadata, words | {END: end}, level, body), *body]
        for words, body in _odd_bodies(cell.kind, source, said, old):
            yield [write_options(None if mark == "raw" else mark, metadata, words, level=level), *body]
    mark = None if cell.kind == "code" else cell.kind
    for words, body in _last_bodies(cell.kind, source):
        for level in range(3):
            yield [write_options(mark, metadata, words, level=level), *body]


def _odd_bodies(
    kind: CellKind, source: str, metadata: dict[str, Json], old: CellSpelling
) -> Iterator[tuple[dict[str, Json], list[str]]]:
    """Ways that change how a cell looks to others, for texts that would be cut in two otherwise."""
    lines = source.split("\n")
    if kind == "code" and "active" not in metadata:
        # Not live in the script any more, but whole.
        for body in _commented_bodies(source, old):
            yield {"active": NOT_IN_SCRIPT}, body
    if kind == "raw":
        # Jupytext looks for fences in Markdown and raw cells, and takes any type that it does not know for raw.
        yield {"cell_type": "text"}, _escaped_prose(lines)
        yield {"cell_type": "text"}, _loose(lines)


def _last_bodies(kind: CellKind, source: str) -> Iterator[tuple[dict[str, Json], list[str]]]:
    """What Jupytext does not read as it was: with open fences closed, and the whole text in the marker."""
    lines = source.split("\n")
    longest = [max(runs, key=len) for runs in _fence_runs(lines)] if kind == "markdown" else []
    for ends in (longest, longest[::-1]) if longest else ():
        yield {CLOSED: "\n".join(ends)}, _loose([*lines, *ends])
    yield {END: source}, [] if kind == "code" else ["#"]


def _is_code(kind: CellKind, metadata: dict[str, Json]) -> bool:
    """Whether a cell is written as code: also a raw one that is live in scripts and not in notebooks."""
    return kind == "code" or (kind == "raw" and not is_active("ipynb", metadata) and metadata.get("active") != "")


def _bodies(
    kind: CellKind, source: str, metadata: dict[str, Json], manner: Manner, old: CellSpelling
) -> Iterator[tuple[dict[str, Json], list[str]]]:
    """The ways to write the text of a cell, each with the words that its marker says then."""
    if not _is_code(kind, metadata):
        for body in _prose_bodies(source, manner, old):
            yield {}, body
        return
    lines = source.split("\n") if source else []
    if not is_active("py", metadata):
        for body in _commented_bodies(source, old):
            yield {}, body
        return
    if kind == "code" and manner.names_languages and (language := _language(lines, manner)):
        yield language, [old.lines.get(line, commented(line)) for line in lines[1:]]
        yield language, _loose(lines[1:])
    yield {}, _code_lines(lines, kind, manner, old.lines)


def _marker(
    mark: str | None, metadata: dict[str, Json], words: dict[str, Json], level: int, body: Sequence[str]
) -> str:
    line = write_options(mark, metadata, words, level=level)
    if mark is not None or words or not body or not body[0].strip():
        return line
    # Code that is indented has its marker right above it, so that editors fold both.
    return body[0][: len(body[0]) - len(body[0].lstrip(" \t"))] + line


def _without_end(source: str) -> tuple[str, str]:
    """The text and the blank lines at its end."""
    lines = source.split("\n")
    count = len(lines)
    while count and not lines[count - 1].strip():
        count -= 1
    if count == len(lines) or source == "":
        return source, ""
    body = "\n".join(lines[:count])
    return body, source[len(body) :]


# Code.


def _language(lines: Sequence[str], manner: Manner) -> dict[str, Json]:
    """The words that say the language of a cell that begins with its magic."""
    if not lines or not lines[0].startswith("%%"):
        return {}
    name, blank, arguments = lines[0][2:].partition(" ")
    if name == "python" or (name not in LANGUAGES and name not in manner.magics) or len(lines) < 2:
        return {}
    return {"magic_args": arguments, "language": name} if blank else {"language": name}


def _code_lines(lines: Sequence[str], kind: CellKind, manner: Manner, spelled: Mapping[str, str]) -> list[str]:
    if not spelled and not any(is_magic(line) or is_plus(line) for line in lines):
        return list(lines)
    writer = _CodeWriter(kind, manner, spelled)
    return [writer.write(line) for line in lines]


class _CodeWriter:
    """Writes lines of code one by one, each so that it is read as itself where it stands."""

    def __init__(self, kind: CellKind, manner: Manner, spelled: Mapping[str, str]) -> None:
        self._kind = kind
        self._manner = manner
        self._spelled = spelled
        # What a reader knows: strings in the file, and in the file without the comment marks of magics.
        self._quotes = Quotes()
        self._inner = Quotes()
        self._goes_on = False

    def write(self, line: str) -> str:
        chosen = next((way for way in self._ways(line) if self._read(way) == line), line)
        if self._takes_off(chosen):
            self._goes_on = is_continued(chosen)
        self._quotes.read(chosen)
        self._inner.read(line)
        return chosen

    def _ways(self, line: str) -> Iterator[str]:
        if line in self._spelled:
            yield self._spelled[line]
        if self._manner.comment_magics and self._quotes.open is None and (self._goes_on or is_magic(line)):
            inner = line.lstrip()
            if not self._goes_on:
                yield f"{line[: len(line) - len(inner)]}# {inner}"
            yield f"# {line}"
            yield f"# # {line}"
        yield line
        yield f"# {line}"

    def _takes_off(self, line: str) -> bool:
        """Whether a reader takes a comment mark off, because the line is a magic."""
        return self._manner.comment_magics and self._quotes.open is None and (self._goes_on or is_magic(line))

    def _read(self, line: str) -> str | None:
        """What a reader makes of the line; None when it begins a cell."""
        if self._quotes.open is None and is_marker(line):
            return None
        read = uncommented_once(line) if self._takes_off(line) else line
        if (
            self._kind == "code"
            and self._inner.open is None
            and is_plus(read)
            and is_plus(inner := uncommented_once(read))
        ):
            return inner
        return read


# Markdown, raw, SQL and prompts.


def _prose_bodies(source: str, manner: Manner, old: CellSpelling) -> Iterator[list[str]]:
    lines = source.split("\n")
    yield from _quoted_bodies(source, old.quoted or manner.quotes)
    yield [old.lines.get(line, commented(line)) for line in lines]
    yield _escaped_prose(lines)
    yield from _quoted_bodies(source, *_QUOTES)
    yield _loose(lines)


def _commented_bodies(source: str, old: CellSpelling) -> Iterator[list[str]]:
    """Code that is not live in scripts."""
    lines = source.split("\n") if source else []
    yield [old.lines.get(line, commented(line)) for line in lines]
    yield from _quoted_bodies(source, *_QUOTES)
    yield _loose(lines)


def _loose(lines: Sequence[str]) -> list[str]:
    """As comments, but for lines that would begin a cell. No Python, but read right everywhere."""
    return [line if is_marker(commented(line)) else commented(line) for line in lines]


def _quoted_bodies(source: str, *quotes: str) -> Iterator[list[str]]:
    """As a string, in each of these quotes that it does not contain."""
    for each in quotes:
        if each and each[-3:] not in source:
            raw = "r" if "\\" in source and each[0] not in "rR" else ""
            yield f"{raw}{each}\n{source}\n{each[-3:]}".split("\n")


def _escaped_prose(lines: Sequence[str]) -> list[str]:
    """As comments, with one more mark where a reader takes a heading for a magic."""
    written: list[str] = []
    goes_on = False
    for line in lines:
        way = commented(line)
        if (goes_on or is_magic(way)) and uncommented(uncommented_once(way)) != line:
            way = f"# {way}"
        goes_on = (goes_on or is_magic(way)) and is_continued(way)
        written.append(way)
    return written
