"""A notebook as a Markdown template: `.md`.

Prose is Markdown cells, fences of the languages on a list are code cells, frontmatter is
the notebook's metadata and parameters, `Results:` blocks are what came out. Everything
else that a cell has stands in the fence's line, or in a comment around prose that needs
one; the markers are Jupytext's. docs/reference/logbook.md says it all with examples.

Reading is in `reader.py`, where a text begins and ends in `fences.py`, YAML in
`frontmatter.py`, results in `output_section.py`. Here is writing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import msgspec

from ...core.errors import BadInput
from ...core.sheet.equality import same
from ...core.sheet.sheet import OURS, Sheet, SheetCell
from ...core.values import Json
from .fences import blocks, has_marker, is_key, option, region_ends
from .frontmatter import Front, finite, write_front
from .output_section import carried, write_outputs
from .reader import KINDS, LANGUAGES, RESULTS, LogbookPiece, LogbookText, Reader, label_of, language_of, take_apart


def read(text: str, path: str) -> Sheet:
    """Return the notebook that a logbook's text holds."""
    return take_apart(text, path).sheet


def write(sheet: Sheet, path: str, like: str | None, was: Sheet | None = None) -> str:
    """Return the notebook as a logbook's text; cells that are as they were in `like` keep their bytes."""
    wanted = carried_sheet(sheet)
    if like is None:
        return _LogbookWriter(wanted).whole()
    old = take_apart(like, path)
    before = carried_sheet(old.sheet)
    keys, old_keys = _keys(wanted), _keys(before)
    if keys == old_keys and same(wanted.metadata, before.metadata):
        return like
    writer = _LogbookWriter(wanted, frozenset(piece.cell.id for piece in old.pieces if piece.has_id))
    text = writer.beside(old, _paired(wanted, keys, old, old_keys))
    # Written beside what is there, a cell may read otherwise than alone. Then all of it is written anew.
    if not _says(text, path, wanted, keys):
        text = writer.whole()
    return text.replace("\n", "\r\n") if old.crlf else text


# ---- What a logbook carries


def carried_sheet(sheet: Sheet) -> Sheet:
    """The sheet without what a logbook does not carry."""
    cells = tuple(
        msgspec.structs.replace(
            cell,
            outputs=carried(cell.outputs) if cell.kind in ("code", "sql", "prompt") else [],
            count=None,
            attachments={},
            extra={},
        )
        for cell in sheet.cells
    )
    return Sheet(cells=cells, metadata=_carried_metadata(sheet.metadata))


def _carried_metadata(metadata: dict[str, Json]) -> dict[str, Json]:
    """Not the state of widgets, and not what Jupytext says of the form of another file."""
    kept = {key: finite(value) for key, value in metadata.items() if key != "widgets"}
    jupytext: Any = kept.get("jupytext")
    if isinstance(jupytext, dict) and "text_representation" in jupytext:
        left = {key: value for key, value in cast("dict[str, Json]", jupytext).items() if key != "text_representation"}
        kept = {key: value for key, value in kept.items() if key != "jupytext"} | ({"jupytext": left} if left else {})
    return kept


def _keys(sheet: Sheet) -> list[str]:
    """For each cell all that a logbook carries of it: two with one key are written alike."""
    return [
        json.dumps([cell.kind, cell.source, cell.name, cell.tags, cell.metadata, cell.outputs], sort_keys=True)
        for cell in sheet.cells
    ]


def _says(text: str, path: str, wanted: Sheet, keys: list[str]) -> bool:
    try:
        found = carried_sheet(take_apart(text, path).sheet)
    except BadInput:
        return False
    return _keys(found) == keys and same(found.metadata, wanted.metadata)


# ---- Which cell was which


class _Pair(NamedTuple):
    """A cell, and where it was."""

    cell: SheetCell
    number: int | None
    """Of its piece in the old text."""
    changed: bool


def _paired(sheet: Sheet, keys: Sequence[str], old: LogbookText, old_keys: Sequence[str]) -> list[_Pair]:
    """Each cell with the piece it was read from: the same content, else the same id, else the same place."""
    left: dict[str, list[int]] = {}
    for number in reversed(range(len(old_keys))):
        left.setdefault(old_keys[number], []).append(number)
    same_content = [left[key].pop() if left.get(key) else None for key in keys]
    free = set(range(len(old_keys))) - set(same_content)
    by_id = {old.pieces[number].cell.id: number for number in free}
    pairs: list[_Pair] = []
    for cell, found in zip(sheet.cells, same_content, strict=True):
        number = found
        if found is None:
            before = pairs[-1].number if pairs else -1
            guess = by_id.get(cell.id, before + 1 if before is not None else None)
            number = guess if guess in free else None
            free.discard(-1 if number is None else number)
        pairs.append(_Pair(cell, number, found is None))
    return pairs


# ---- Text


class _LogbookWriter:
    """Writes one sheet."""

    def __init__(self, sheet: Sheet, ids: frozenset[str] = frozenset()) -> None:
        self._sheet = sheet
        self._main = language_of(sheet.language)
        self._ids = ids
        """Those that the author wrote down. Nobody else wants to see any."""

    def whole(self) -> str:
        """The text of a notebook that has none yet."""
        front = write_front(self._metadata(), Front())
        texts: list[str] = []
        marked = True
        for cell in self._sheet.cells:
            marked = not marked or self._needs_mark(cell, first=not texts and not front)
            texts.append(self._text(cell, marked=marked))
        body = "\n\n".join(texts)
        return front + "\n" * bool(front and body) + body + "\n" * bool(body)

    def beside(self, old: LogbookText, pairs: Sequence[_Pair]) -> str:
        """The text with the pieces of `old` where they still fit."""
        unchanged = same(self._sheet.metadata, _carried_metadata(old.metadata))
        front = write_front(old.front.metadata if unchanged else self._metadata(), old.front)
        parts = [front, "\n" * (bool(pairs) and front != "" and not front.endswith("\n")), _top_gap(front, old)]
        marked = True
        for index, pair in enumerate(pairs):
            following = pairs[index + 1] if index + 1 < len(pairs) else None
            piece = old.pieces[pair.number] if pair.number is not None else None
            if (
                piece is not None
                and not pair.changed
                and _still_fits(piece, after_prose=not marked, last=not following)
            ):
                text, marked = piece.text, piece.head != ""
            else:
                head = self._kept_head(pair.cell, piece)
                marked = not marked or head != "" or self._needs_mark(pair.cell, first=not index and not front)
                text = self._text(pair.cell, marked=marked, head=head)
            parts += (text, _gap(old, pair, following))
        return "".join(parts)

    def _metadata(self) -> dict[str, Json]:
        """The metadata to write: not the language, where the fences say it."""
        metadata, main = dict(self._sheet.metadata), self._main
        known = "kernelspec" in metadata or "jupytext" in metadata
        if known or not same(metadata.get("language_info"), {"name": main}) or main not in LANGUAGES or main in KINDS:
            return metadata
        spoken = [self._spoken(cell) for cell in self._sheet.cells if cell.kind == "code"]
        if "python" not in spoken and spoken[:1] == [main]:
            del metadata["language_info"]
        return metadata

    def _spoken(self, cell: SheetCell) -> str:
        """The language of a code cell: its own, where it has one that a fence can say."""
        ours = cell.metadata.get(OURS)
        own: Any = cast("dict[str, Json]", ours).get("language") if isinstance(ours, dict) else None
        return own if isinstance(own, str) and own in LANGUAGES else self._main

    def _needs_mark(self, cell: SheetCell, *, first: bool) -> bool:
        """Whether a cell would be read as something else if nothing said where it begins and ends."""
        source = cell.source
        if cell.kind != "markdown" or cell.name or cell.tags or cell.metadata or cell.id in self._ids:
            return True
        # Two blank lines would end the cell for Jupytext.
        if "\r" in source or "\n\n\n" in source or has_marker(source) or (first and source.startswith("---")):
            return True
        if RESULTS.match(source.split("\n", 1)[0]):
            return True
        found = list(Reader(source, "", self._main).groups(list(blocks(source))))
        return not (
            len(found) == 1
            and found[0].cell.kind == "markdown"
            and found[0].block.closed
            and (found[0].start, found[0].end) == (0, len(source))
        )

    def _text(self, cell: SheetCell, *, marked: bool, head: str = "") -> str:
        """The text of one cell. `head` is a first line to use, where there was one that says the same."""
        match cell.kind:
            case "markdown":
                return self._in_comments(cell, ("region", "markdown", "md"), head) if marked else cell.source
            case "raw" if not head.lstrip().startswith(("`", "~")):
                return self._in_comments(cell, ("raw",), head)
            case _:
                text = self._fenced(cell, head)
                return f"{text}\n\n{write_outputs(cell.outputs)}" if cell.outputs else text

    def _in_comments(self, cell: SheetCell, names: Sequence[str], head: str) -> str:
        """Between comments: the first of the markers that nothing in the source would end."""
        if head and (kept := re.search(r"#(\w+)", head)):
            return "\n".join((head, *_lines(cell.source), f"<!-- #end{kept[1]} -->"))
        inside = region_ends(cell.source)
        free = [(name, str(number) if number else "") for number in (0, *range(2, len(inside) + 3)) for name in names]
        name, until = next(mark for mark in free if mark not in inside)
        words = [f"#{name}", *self._options(cell, set()), *([option("until", until)] if until else [])]
        return "\n".join(
            (f"<!-- {' '.join(words)} -->", *_lines(cell.source), f"<!-- {f'#end{name} {until}'.strip()} -->")
        )

    def _fenced(self, cell: SheetCell, head: str) -> str:
        kept = re.match(r"( {0,3})((`|~)+)", head)
        mark = kept[3] if kept else "`"
        runs = re.findall(rf"^ {{0,3}}({mark}+)", cell.source, re.MULTILINE)
        fence = mark * max(3, *(len(run) + 1 for run in runs), 3)
        if kept and len(kept[2]) >= len(fence):
            lines = [kept[1] + line if line else "" for line in _lines(cell.source)]
            return "\n".join((head, *lines, kept[0]))
        return "\n".join((f"{fence}{self._info(cell)}", *_lines(cell.source), fence))

    def _info(self, cell: SheetCell) -> str:
        """What stands behind a fence: the language, and what else there is to say."""
        spoken = self._spoken(cell) if cell.kind == "code" else cell.kind
        said = [option("kind", "code")] if cell.kind == "code" and spoken in KINDS else []
        hidden = {"language"} if cell.kind == "code" and spoken != self._main else set[str]()
        return " ".join((label_of(spoken), *said, *self._options(cell, hidden)))

    def _options(self, cell: SheetCell, hidden: set[str]) -> list[str]:
        """What a marker says of a cell beside its language. `hidden`: keys of ours that are said otherwise."""
        metadata = dict(cell.metadata)
        ours = metadata.get(OURS)
        if hidden and isinstance(ours, dict):
            left = {key: value for key, value in cast("dict[str, Json]", ours).items() if key not in hidden}
            metadata = {key: value for key, value in metadata.items() if key != OURS} | ({OURS: left} if left else {})
        awkward = {key: value for key, value in metadata.items() if not is_key(key) or key in _RESERVED}
        words = [option("id", cell.id)] if cell.id in self._ids else []
        words += [option("name", cell.name)] if cell.name else []
        words += [option("tags", list(cell.tags))] if cell.tags else []
        words += [option(key, value) for key, value in metadata.items() if key not in awkward]
        return words + ([option("metadata", awkward)] if awkward else [])

    def _kept_head(self, cell: SheetCell, piece: LogbookPiece | None) -> str:
        """The first line of what a cell was, if it says of the cell what is still so."""
        if (
            piece is None
            or not piece.head
            or piece.cell.kind != cell.kind
            or (piece.has_id and piece.cell.id != cell.id)
        ):
            return ""
        said = [[each.name, list(each.tags), each.metadata] for each in (cell, piece.cell)]
        return piece.head if same(*said) and not region_ends(cell.source) and "until=" not in piece.head else ""


_RESERVED = ("id", "name", "tags", "metadata", "kind", "until")
"""Options with a meaning of their own: metadata of that name goes into `metadata={…}`."""


def _lines(source: str) -> list[str]:
    return source.split("\n") if source else []


def _still_fits(piece: LogbookPiece, *, after_prose: bool, last: bool) -> bool:
    """Whether a piece reads the same where it stands now."""
    return (piece.closed or last) and (piece.head != "" or not after_prose)


def _top_gap(front: str, old: LogbookText) -> str:
    """What stands between the frontmatter and the first cell."""
    if bool(front) != bool(old.front.text):
        return "\n" if front else ""
    return old.gap if old.pieces or not front else "\n"


def _gap(old: LogbookText, pair: _Pair, following: _Pair | None) -> str:
    """What stands after a cell: what stood there, else one blank line."""
    if following is None:
        end = old.pieces[-1].gap if old.pieces else "\n"
        return end if pair.number is not None or end == "" else "\n"
    if pair.number is not None and following.number == pair.number + 1:
        return old.pieces[pair.number].gap
    return "\n\n"
