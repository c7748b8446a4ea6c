"""A logbook's text, taken apart: which stretch of it is which cell.

Nothing of the text is lost, so that `format.py` can write a changed notebook beside what
did not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from ...core.errors import BadInput
from ...core.events import CellKind
from ...core.ids import CellId, check_cell_id
from ...core.sheet.sheet import OURS, Sheet, SheetCell, with_ids
from ...core.values import Json
from .fences import MarkdownBlock, blocks, options
from .frontmatter import Front, read_front
from .output_section import read_output

LANGUAGES: dict[str, tuple[str, ...]] = {
    "python": ("py", "python3", "ipython", "ipython3"),
    "r": (),
    "julia": ("jl",),
    "bash": ("sh",),
    "sql": (),
    "scala": (),
    "matlab": (),
    "octave": (),
    "csharp": ("c#", "cs"),
    "fsharp": ("f#", "fs"),
    "powershell": ("pwsh", "ps1"),
    "javascript": ("js",),
    "typescript": ("ts",),
    "ruby": ("rb",),
    "perl": (),
    "prompt": (),
    "raw": (),
}
"""Fences that are cells, and what else they may be called. Case does not matter."""
_ALIASES = {alias: name for name, aliases in LANGUAGES.items() for alias in (name, *aliases)}
KINDS: dict[str, CellKind] = {"sql": "sql", "prompt": "prompt", "raw": "raw"}
RESULTS = re.compile(r"[ ]{0,3}(?:\*\*Results:\*\*|\*\*Results\*\*:|Results:)[ \t\r]*\Z")
_OUTPUT_LABELS = ("", "text", "txt", "output", "console")
_NOT_RUN = ".noeval"
"""Jupytext's word in a fence's line: an example, to be shown and not to be run."""


class LogbookPiece(NamedTuple):
    """A cell, and the text it was read from."""

    cell: SheetCell
    text: str
    """Without the line end after it."""
    gap: str
    """The line ends and blank lines after it."""
    head: str = ""
    """Its first line, if that is a marker."""
    closed: bool = True
    has_id: bool = False
    """Whether the text itself says its id."""


class Group(NamedTuple):
    """The blocks that make up a cell: where they are, the cell, and the one that says how it is marked."""

    start: int
    end: int
    cell: SheetCell
    block: MarkdownBlock


class LogbookText(NamedTuple):
    """A logbook, taken apart: nothing of its text is lost."""

    front: Front
    gap: str
    """The blank lines before the first cell."""
    pieces: tuple[LogbookPiece, ...]
    metadata: dict[str, Json]
    crlf: bool

    @property
    def sheet(self) -> Sheet:
        """What it says."""
        return Sheet(cells=tuple(piece.cell for piece in self.pieces), metadata=self.metadata)


def language_of(label: str) -> str:
    """The one name of a language that has several: `python` of `Py`."""
    return _ALIASES.get(label.lower(), label.lower())


def take_apart(text: str, path: str) -> LogbookText:
    """Return the cells of a text, each with the text it was read from."""
    crlf = "\n" in text and text.count("\n") == text.count("\r\n")
    if crlf:
        text = text.replace("\r\n", "\n")
    front = read_front(text, path)
    found = list(blocks(text, len(front.text)))
    main, said = _main_language(front.metadata, found)
    read_one = Reader(text, path, main)
    drafts = _pieces(text, read_one.groups(found))
    cells = with_ids([piece.cell for piece in drafts])
    pieces = tuple(piece._replace(cell=cell) for piece, cell in zip(drafts, cells, strict=True))
    start = found[0].start if found else len(text)
    metadata = front.metadata | ({} if said or main == "python" else {"language_info": {"name": main}})
    return LogbookText(front, text[len(front.text) : start], pieces, metadata, crlf)


def _main_language(metadata: dict[str, Json], found: Sequence[MarkdownBlock]) -> tuple[str, bool]:
    """The notebook's language, and whether its metadata says so. Else Python if it is used, or whatever is."""
    if "kernelspec" in metadata or "language_info" in metadata or "jupytext" in metadata:
        return language_of(Sheet(metadata=metadata).language), True
    used = [language_of(block.label) for block in found if block.kind == "fence" and _NOT_RUN not in block.info.split()]
    code = [name for name in used if name in LANGUAGES and name not in KINDS]
    return ("python" if "python" in code or not code else code[0]), False


class Reader:
    """Turns blocks into cells."""

    def __init__(self, text: str, path: str, main: str) -> None:
        self._text = text
        self._path = path
        self._main = main

    def groups(self, found: list[MarkdownBlock]) -> Iterator[Group]:
        """Each cell with where its text is, and the block that it begins with."""
        index = 0
        while index < len(found):
            block = found[index]
            if self._is_prose(block):
                last = index
                while last + 1 < len(found) and self._is_prose(found[last + 1]):
                    last += 1
                source = self._text[block.start : found[last].end]
                cell = SheetCell(id=CellId(""), kind="markdown", source=source)
                yield Group(block.start, found[last].end, cell, found[last]._replace(kind="prose"))
            else:
                last, outputs = self._results(found, index)
                yield Group(block.start, found[last].end, self._cell(block, outputs), block)
            index = last + 1

    def _is_prose(self, block: MarkdownBlock) -> bool:
        if block.kind != "fence":
            return block.kind == "prose"
        name = language_of(block.label)
        return (name not in LANGUAGES and name != label_of(self._main)) or _NOT_RUN in block.info.split()

    def _results(self, found: list[MarkdownBlock], index: int) -> tuple[int, list[Json]]:
        """The last block of a cell, and the outputs that stand in a `Results:` block under it."""
        block = found[index]
        after = found[index + 1 : index + 3]
        if block.kind != "fence" or len(after) < 2 or after[0].kind != "prose" or not after[0].closed:
            return index, []
        if not RESULTS.match(self._text[after[0].start : after[0].end]):
            return index, []
        outputs: list[Json] = []
        last = index + 1
        while last + 1 < len(found) and self._is_output(found[last + 1]):
            last += 1
            given, _ = options(found[last].info)
            outputs.append(read_output(self._source(found[last]), found[last].inner[0] < found[last].inner[1], given))
        return (last, outputs) if outputs else (index, [])

    def _is_output(self, block: MarkdownBlock) -> bool:
        return block.kind == "fence" and block.label.lower() in _OUTPUT_LABELS

    def _cell(self, block: MarkdownBlock, outputs: list[Json]) -> SheetCell:
        given, words = options(block.info)
        language = language_of(block.label) if block.kind == "fence" else ""
        kind: CellKind = "code" if block.kind == "fence" else "raw" if block.kind == "raw" else "markdown"
        if given.pop("kind", None) != "code":
            kind = KINDS.get(language, kind)
        given.pop("until", None)
        try:
            attributes = _Attributes(given)
        except BadInput as error:
            line = self._text.count("\n", 0, block.start) + 1
            raise BadInput(f"{self._path}: line {line}: {error}") from None
        metadata = attributes.metadata
        if words:
            _keep_words(metadata, words, "info" if block.kind == "fence" else "title")
        if kind == "code" and language != label_of(self._main):
            ours = metadata.setdefault(OURS, {})
            if isinstance(ours, dict):
                cast("dict[str, Json]", ours).setdefault("language", language)
        return SheetCell(
            id=CellId(str(attributes.id)),
            kind=kind,
            source=self._source(block),
            name=attributes.name,
            tags=attributes.tags,
            metadata=metadata,
            outputs=outputs,
        )

    def _source(self, block: MarkdownBlock) -> str:
        inner = self._text[slice(*block.inner)].removesuffix("\n" if block.closed else "")
        if not block.indent:
            return inner
        strip = re.compile(f"^ {{1,{block.indent}}}", re.MULTILINE)
        return strip.sub("", inner)


def _keep_words(metadata: dict[str, Json], words: list[str], key: str) -> None:
    """What stands in a marker and is no option: a title, or something for another program."""
    if key == "title":
        metadata.setdefault("title", " ".join(words))
        return
    ours = metadata.setdefault(OURS, {})
    if isinstance(ours, dict):
        cast("dict[str, Json]", ours).setdefault(key, " ".join(words))


class _Attributes:
    """Id, name, tags and metadata, out of a marker's options."""

    def __init__(self, given: dict[str, Any]) -> None:
        inner = given.pop("metadata", {})
        if not isinstance(inner, dict):
            raise BadInput('metadata is an object, such as metadata={"some key": 1}.')
        self.id = given.pop("id", "")
        if self.id != "":
            check_cell_id(str(self.id))
        self.metadata: dict[str, Json] = cast("dict[str, Json]", inner) | given
        self.name = self._take_name()
        self.tags = self._take_tags()
        if "name" in given and self.name is None:
            raise BadInput('a name is text, such as name="load".')
        if "tags" in given and "tags" in self.metadata:
            raise BadInput('tags are a list of text, such as tags=["parameters"].')

    def _take_name(self) -> str | None:
        name = self.metadata.get("name")
        if not isinstance(name, str) or not name:
            return None
        del self.metadata["name"]
        return name

    def _take_tags(self) -> tuple[str, ...]:
        tags: Any = self.metadata.get("tags")
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in cast("list[Any]", tags)):
            return ()
        del self.metadata["tags"]
        return tuple(cast("list[str]", tags))


def _pieces(text: str, groups: Iterable[Group]) -> list[LogbookPiece]:
    """Cells with their texts, and what lies between them."""
    found = list(groups)
    made: list[LogbookPiece] = []
    for index, group in enumerate(found):
        after = found[index + 1].start if index + 1 < len(found) else len(text)
        block = group.block
        head = "" if block.kind == "prose" else text[group.start : block.inner[0]].removesuffix("\n")
        has_id = group.cell.id != ""
        made.append(
            LogbookPiece(group.cell, text[group.start : group.end], text[group.end : after], head, block.closed, has_id)
        )
    return made


def label_of(language: str) -> str:
    """A language as one word that may stand in a fence's line."""
    return re.sub(r"[\s`]+", "-", language) or "code"
