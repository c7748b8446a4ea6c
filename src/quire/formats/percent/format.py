"""Python scripts with cells, as Jupytext's `py:percent` and most editors know them.

    # %% [markdown]
    # # Sales
    # %% tags=["parameters"]
    month = "2026-10"

Reading gives what Jupytext gives, and Jupytext reads what is written here; tests hold both
to it. Jupytext itself is not needed. With the file as it was, what did not change keeps its
bytes.

Not carried: outputs, counts, attachments and ids; `language_info`, widgets and every other
metadata of the notebook but `jupytext`, `kernelspec`, `kernel_info`, `orphan`, `tocdepth`,
`quire` and what `jupytext.notebook_metadata_filter` names; a kernel's name when it is plain
python3 and nothing else asks for a header; the metadata of cells in `cell_writer.LEFT_OUT`
and what `jupytext.cell_metadata_filter` excludes; carriage returns, which are line ends
here. A `.py` file whose header says another format or language is Jupytext's.

The parts: `file_header`, `cell_marker` (the line that begins a cell),
`cell_blocks` (reading), `cell_writer` (writing), `magics`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from ...core.errors import BadInput
from ...core.ids import CellId
from ...core.sheet.equality import same
from ...core.sheet.sheet import Sheet, SheetCell, with_ids
from ...core.values import Json
from .cell_blocks import CellBlock, Manner, blocks_of, lines_of
from .cell_writer import CellPosition, CellSpelling, key_of, reads_as, write_cell
from .file_header import FileHeader, carried, jupytext_of, read_header, said, write_header
from .magics import Quotes

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def read(text: str, path: str) -> Sheet:
    """Return the notebook that the text of a Python script holds."""
    lines = lines_of(text)
    header = read_header(lines, path)
    if _is_jupytexts(header.metadata):
        from . import jupytext

        return jupytext.read(text, path)
    blocks = blocks_of(lines, _manner(header.metadata), header.stop)
    return Sheet(cells=with_ids([*_header_cell(header), *(block.cell for block in blocks)]), metadata=header.metadata)


def write(sheet: Sheet, path: str, like: str | None, was: Sheet | None = None) -> str:
    """Return the notebook as the text of a Python script; `like` is that file as it was."""
    if _is_jupytexts(sheet.metadata):
        from . import jupytext

        return jupytext.write(sheet, path, like, was)
    try:
        return _text(sheet, path) if like is None else _FileUpdate(like, path).write(sheet)
    except RecursionError:
        raise BadInput(f"{path} cannot be written: its metadata is nested too deeply.") from None


def _header_cell(header: FileHeader) -> Iterator[SheetCell]:
    if header.source is not None:
        yield SheetCell(id=CellId(""), kind="raw", source=header.source)


def _is_jupytexts(metadata: dict[str, Json]) -> bool:
    """Whether the header says that this is no percent file, or not Python."""
    form: Any = jupytext_of(metadata).get("text_representation")
    if isinstance(form, dict):
        fields = cast("dict[str, Json]", form)
        if fields.get("extension") == ".py" and fields.get("format_name", "percent") not in ("percent", "hydrogen"):
            return True
    return Sheet(metadata=metadata).language not in ("python", "ipython", "python3")


def _manner(metadata: dict[str, Json]) -> Manner:
    """How the cells are written, as the header says."""
    jupytext = jupytext_of(metadata)
    form: Any = jupytext.get("text_representation")
    hydrogen = isinstance(form, dict) and cast("dict[str, Json]", form).get("format_name") == "hydrogen"
    quotes: Any = jupytext.get("cell_markers")
    magics = f"{jupytext.get('custom_cell_magics', '')},{jupytext.get('custom_language_magics', '')}"
    cell_filter: Any = jupytext.get("cell_metadata_filter")
    return Manner(
        comment_magics=bool(jupytext.get("comment_magics", not hydrogen)),
        magics=tuple(filter(None, magics.split(","))),
        names_languages=not hydrogen,
        quotes=quotes if quotes in ('"""', "'''", 'r"""', "r'''", 'R"""', "R'''") else "",
        cell_filter=cell_filter if isinstance(cell_filter, str) else "",
    )


# A new file.


class _Piece(NamedTuple):
    """A cell as it is going to stand in the file."""

    lines: Sequence[str]
    raw: Sequence[str] | None = None
    """The same lines with their ends, where they stood in the file before."""
    blank: Sequence[str] | None = None
    """The blank lines behind it, with their ends; PEP 8 decides when there is no word on it."""


def _text(sheet: Sheet, path: str) -> str:
    cells, source = _top(sheet, path)
    header = write_header(sheet.metadata, source, path)
    return _lines_text(_parted(header), "\n") + _joined(_new_pieces(cells, _manner(sheet.metadata)), "\n")


def _new_pieces(cells: Sequence[SheetCell], manner: Manner) -> list[_Piece]:
    end = len(cells) - 1
    return [
        _Piece(write_cell(cell, manner, CellPosition(first=not index, last=index == end)))
        for index, cell in enumerate(cells)
    ]


def _parted(header: Sequence[str]) -> Sequence[str]:
    """The header and the line that parts YAML from the cells; nothing parts the others."""
    return [*header, ""] if header and header[-1] == "# ---" else header


def _lines_text(lines: Iterable[str], newline: str) -> str:
    return "".join(line + newline for line in lines)


def _top(sheet: Sheet, path: str) -> tuple[Sequence[SheetCell], str | None]:
    """The cells below the header, and the source of the raw cell that stands in it."""
    cells = sheet.cells
    if not cells or cells[0].kind != "raw" or cells[0].metadata or cells[0].tags or cells[0].name:
        return cells, None
    source = cells[0].source
    if not source.startswith("---\n") or not source.endswith("\n---"):
        return cells, None
    header = read_header(write_header({}, source, path), path)
    return (cells[1:], source) if header.source == source and not header.metadata else (cells, None)


def _joined(pieces: Sequence[_Piece], newline: str) -> str:
    """The text of all cells. Backwards: how many blank lines part two of them depends on the second."""
    texts: list[str] = []
    code = definition = False
    undecided = next((index for index, piece in enumerate(pieces) if piece.blank is None), len(pieces))
    for index in range(len(pieces) - 1, -1, -1):
        lines, raw, blank = pieces[index]
        if blank is None:
            blank = [newline] * (blank_lines(lines, code, definition) if texts else 0)
        texts.append("".join([*(raw if raw is not None else [line + newline for line in lines]), *blank]))
        if index <= undecided:
            continue
        whole = [*lines, *[""] * len(blank)]
        code = code if (found := has_code(whole)) is None else found
        definition = definition if (found := defines(whole)) is None else found
    return "".join(reversed(texts))


# A file that was there.


class _FileUpdate:
    """A file and the notebook that is in it, on the way to another."""

    def __init__(self, like: str, path: str) -> None:
        self._like, self._path = like, path
        self._raw: list[str] = _LINE.findall(like)
        self._newline = "\r\n" if "\r\n" in like else "\n"
        self._lines = lines_of(like)
        self._header = read_header(self._lines, path)
        self._blocks = list(blocks_of(self._lines, _manner(self._header.metadata), self._header.stop))
        found = with_ids([*_header_cell(self._header), *(block.cell for block in self._blocks)])
        self._cells = found[len(found) - len(self._blocks) :]

    def write(self, sheet: Sheet) -> str:
        """Return the file with this notebook in it."""
        cells, source = _top(sheet, self._path)
        manner = _manner(sheet.metadata)
        head = self._head(sheet.metadata, source)
        for pieces in self._ways(cells, manner):
            text = head + _joined(pieces, self._newline)
            if text == self._like or _holds(text, cells, source, self._path, manner):
                return text
        return head + _joined(_new_pieces(cells, manner), self._newline)

    def _head(self, metadata: dict[str, Json], source: str | None) -> str:
        old, asked = self._header, self._header.has_yaml
        if source == old.source and same(said(metadata, asked=asked), said(old.metadata, asked=asked)):
            return "".join(self._raw[: old.stop])
        form: Any = jupytext_of(old.metadata).get("text_representation")
        if form and carried(metadata, asked=asked):
            # It tells of this file, and a notebook does not keep it.
            metadata = metadata | {"jupytext": {"text_representation": form} | jupytext_of(metadata)}
        return _lines_text(_parted(write_header(metadata, source, self._path, asked=asked)), self._newline)

    def _ways(self, cells: Sequence[SheetCell], manner: Manner) -> Iterator[list[_Piece]]:
        """All that is the same as it stood; then without what means something else in its new place."""
        pairs, same_ones = self._pairs(cells, manner)
        end = len(cells) - 1
        for careful in (False, True):
            pieces: list[_Piece] = []
            for index, cell in enumerate(cells):
                place = CellPosition(first=not index, last=index == end)
                piece = self._old_piece(pairs[index], place) if index in same_ones else None
                if piece and careful and not reads_as(piece.lines, key_of(cell, manner), manner, place):
                    piece = None
                pieces.append(piece or self._new_piece(cell, pairs.get(index), place, manner))
            yield pieces

    def _old_piece(self, number: int, place: CellPosition) -> _Piece | None:
        """A cell as it stood; None when it cannot, because only the first goes without a marker."""
        block = self._blocks[number]
        if block.body == block.start and not place.first:
            return None
        raw = self._raw[block.start : block.end]
        if raw and not raw[-1].endswith(("\n", "\r")) and not place.last:
            raw[-1] += self._newline
        return _Piece(self._lines[block.start : block.end], raw, self._blank(block, place))

    def _new_piece(self, cell: SheetCell, number: int | None, place: CellPosition, manner: Manner) -> _Piece:
        """A cell written in the manner of the one whose place it takes."""
        if number is None:
            return _Piece(write_cell(cell, manner, place))
        block = self._blocks[number]
        return _Piece(write_cell(cell, manner, place, self._spelling(block, place)), blank=self._blank(block, place))

    def _blank(self, block: CellBlock, place: CellPosition) -> Sequence[str] | None:
        """The blank lines behind a cell: those that stood there, if it did not become or cease to be the last."""
        if place.last == (block.stop == len(self._lines)):
            return self._raw[block.end : block.stop]
        return [] if place.last else None

    def _spelling(self, block: CellBlock, place: CellPosition) -> CellSpelling:
        raw = self._lines[block.body : block.end]
        source = block.cell.source.split("\n")
        # The magic of a language stands in the marker, not in the text.
        extra = len(source) - len(raw)
        pairs = {} if block.quoted or extra not in (0, 1) else dict(zip(source[extra:], raw, strict=True))
        if block.body > block.start:
            return CellSpelling((self._lines[block.start],), block.quoted, pairs)
        return CellSpelling(() if place.first else None, block.quoted, pairs)

    def _pairs(self, cells: Sequence[SheetCell], manner: Manner) -> tuple[dict[int, int], set[int]]:
        """Which old cell stands behind which new one, and which of the new are the same as before."""
        keys = [key_of(cell, manner) for cell in cells]
        old_keys = [key_of(cell, manner) for cell in self._cells]
        ids = {cell.id: number for number, cell in enumerate(self._cells)}
        free = set(range(len(old_keys)))
        pairs: dict[int, int] = {}

        def pair(index: int, number: int | None) -> None:
            if number in free and index not in pairs:
                free.discard(number)
                pairs[index] = number

        for index, cell in enumerate(cells):
            number = ids.get(cell.id)
            if number is not None and old_keys[number] == keys[index]:
                pair(index, number)
        by_key: dict[tuple[str, str, str], list[int]] = {}
        for number in sorted(free, reverse=True):
            by_key.setdefault(old_keys[number], []).append(number)
        for index, key in enumerate(keys):
            if index not in pairs and (numbers := by_key.get(key)):
                pair(index, numbers.pop())
        same_ones = set(pairs)
        for index, cell in enumerate(cells):
            pair(index, ids.get(cell.id))
        for index, cell in enumerate(cells):
            number = pairs[index - 1] + 1 if index - 1 in pairs else 0
            if number in free and self._cells[number].kind == cell.kind:
                pair(index, number)
        return pairs, same_ones


def _holds(text: str, cells: Sequence[SheetCell], source: str | None, path: str, manner: Manner) -> bool:
    """Whether a text is read as these cells below this header."""
    lines = lines_of(text)
    header = read_header(lines, path)
    found = [key_of(block.cell, manner) for block in blocks_of(lines, manner, header.stop)]
    return header.source == source and found == [key_of(cell, manner) for cell in cells]


# ---- Blank lines between cells: by the look of the lines, as Jupytext counts, so that both write the same file


_DEFINES = ("def ", "async ", "class ")


def blank_lines(lines: Sequence[str], next_has_code: bool, next_defines: bool) -> int:
    """Return how many blank lines part a cell from the next: two around functions and classes (PEP 8)."""
    if _ends_with_definition(lines):
        return 2 if next_has_code else 1
    ends_with_code = bool(lines) and bool(lines[-1].strip()) and not lines[-1].startswith("#")
    return 2 if ends_with_code and next_defines else 1


def _ends_with_definition(lines: Sequence[str]) -> bool:
    if not any(line.startswith(_DEFINES) for line in lines):
        return False
    outside: list[str] = []
    quotes = Quotes()
    for line in lines:
        if quotes.open is None:
            outside.append(line)
        quotes.read(line)
    below = ""
    for index, line in enumerate(reversed(outside)):
        if not line.strip():
            if index and not below.strip():
                return False
        elif not line.startswith(("#", " ", ")")):
            return line.startswith(_DEFINES)
        below = line
    return False


def has_code(lines: Sequence[str]) -> bool | None:
    """Return whether a cell has code near its top; None when the next cell decides."""
    above = "#"
    for line in lines:
        bare = line.strip()
        if not bare:
            if not above:
                return False
        elif not bare.startswith("#"):
            return True
        above = bare
    return None


def defines(lines: Sequence[str]) -> bool | None:
    """Return whether a cell begins with a function or a class; None when the next cell decides."""
    above = "#"
    quotes = Quotes()
    for line in lines:
        inside = quotes.open is not None
        quotes.read(line)
        bare = line.strip()
        if inside:
            pass
        elif not bare:
            if not above:
                return False
        elif line.startswith(_DEFINES):
            return True
        elif not line.startswith(("#", "@", " ", ")")):
            return False
        above = bare
    return None
