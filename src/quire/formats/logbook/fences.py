"""What a logbook's Markdown is made of: prose, fences, and cells marked by comments.

Only as much of Markdown as decides where a cell begins and ends, and that as CommonMark
has it: a fence inside a longer fence, a list item or an HTML comment is not a cell. Which
fences are cells, and what their options mean, is in `format.py`.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

BlockKind: TypeAlias = Literal["prose", "fence", "region", "raw"]


class MarkdownBlock(NamedTuple):
    """A stretch of the text, without the line end after it."""

    kind: BlockKind
    start: int
    end: int
    inner: tuple[int, int] = (0, 0)
    """Where the lines between the markers are, each with its line end; of prose nothing."""
    indent: int = 0
    label: str = ""
    """The first word after the fence."""
    info: str = ""
    """The rest of it."""
    closed: bool = True
    """False when the text ended first: what comes after it would become a part of it."""


# Whatever may begin something that has to be skipped whole.
_CANDIDATE = re.compile(
    r"^(?P<indent> {0,3})(?P<item>(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?:(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)|<)",
    re.MULTILINE,
)
_REGION = re.compile(
    r" {0,3}<!--[ \t]*#(?P<name>region|markdown|md|raw)(?P<info>(?:[ \t][^\n]*?)?)[ \t]*-->[ \t\r]*$", re.MULTILINE
)
_REGION_END = re.compile(
    r"^ {0,3}<!--[ \t]*#end(?P<name>region|markdown|md|raw)(?:[ \t]+(?P<until>\w+))?[ \t]*-->[ \t\r]*$", re.MULTILINE
)
_ANY_REGION = re.compile(r"^ {0,3}<!--[ \t]*#(?:region|markdown|md|raw)\b", re.MULTILINE)
_HTML = (
    (re.compile("<!--"), re.compile("-->"), 2),
    (re.compile(r"<\?"), re.compile(r"\?>"), 2),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>"), 9),
    (re.compile("<![A-Za-z]"), re.compile(">"), 2),
    (
        re.compile(r"<(?:script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
        4,
    ),
)
"""How HTML that Markdown leaves alone begins and ends, and from where the end is looked for."""
_UNTIL = re.compile(r'(?:^|[ \t])until="(\w+)"')
_BLANK = re.compile(r"(?:[ \t\r]*\n)*")


def blocks(text: str, start: int = 0) -> Iterator[MarkdownBlock]:
    """Yield what the text is made of, in order. Only blank lines are left out between them."""
    scan = _Scan(text)
    prose = position = start
    while (found := scan.next(position)) is not None:
        if found.kind == "prose":
            position = found.end
            if not found.closed:
                yield from _prose(text, prose, len(text), closed=False)
                return
            continue
        yield from _prose(text, prose, found.start)
        yield found
        prose = position = found.end
    yield from _prose(text, prose, len(text))


def _prose(text: str, start: int, end: int, *, closed: bool = True) -> Iterator[MarkdownBlock]:
    """The prose in a stretch, without the blank lines around it, if there is any."""
    stretch = text[start:end]
    blank = _BLANK.match(stretch)
    first = blank.end() if blank else 0
    kept = stretch[first:].rstrip("\n\r\t ")
    if kept:
        # Spaces at the end of the last line mean something (a line break); blank lines do not.
        line_end = stretch.find("\n", first + len(kept))
        last = len(stretch) if line_end < 0 else line_end
        yield MarkdownBlock("prose", start + first, start + last, closed=closed)


class _Scan:
    """Finds what begins at or after a place: a fence, a marked cell, or HTML to skip."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: dict[tuple[str, str], list[int]] | None = None

    def next(self, position: int) -> MarkdownBlock | None:
        """The next fence or marked cell; as prose, the next stretch that holds none."""
        while (match := _CANDIDATE.search(self._text, position)) is not None:
            found = self._begun(match)
            if found is not None:
                return found
            position = match.end()
        return None

    def _begun(self, match: re.Match[str]) -> MarkdownBlock | None:
        if match["fence"] is None:
            return None if match["item"] else self._region(match.start()) or self._html(match)
        if match["fence"][0] == "`" and "`" in match["info"]:
            return None  # text in backticks at the beginning of a line
        return self._in_item(match) if match["item"] else self._fence(match)

    def _fence(self, match: re.Match[str]) -> MarkdownBlock:
        label, info, *_ = [*match["info"].strip().split(None, 1), "", ""]
        end = _closing(match["fence"][0], len(match["fence"])).search(self._text, match.end())
        inner = _after_line(self._text, match.end())
        stop = end.start() if end else len(self._text)
        return MarkdownBlock(
            "fence",
            match.start(),
            _line_end(self._text, stop) if end else stop,
            (inner, max(inner, stop)),
            len(match["indent"]),
            label,
            info,
            end is not None,
        )

    def _in_item(self, match: re.Match[str]) -> MarkdownBlock:
        """A fence that begins a list item is over when it is closed or when the item is."""
        offset = len(match["indent"]) + len(match["item"].expandtabs(4))
        closing = re.compile(rf"\s*{match['fence'][0]}{{{len(match['fence'])},}}\s*\Z")
        position = _after_line(self._text, match.end())
        while position < len(self._text):
            end = _after_line(self._text, position)
            line = self._text[position:end]
            width = len(line) - len(line.lstrip(" "))
            if line.strip() and width < offset:
                return MarkdownBlock("prose", match.start(), position - 1)
            if closing.match(line):
                return MarkdownBlock("prose", match.start(), _line_end(self._text, position))
            position = end
        return MarkdownBlock("prose", match.start(), len(self._text), closed=False)

    def _region(self, start: int) -> MarkdownBlock | None:
        match = _REGION.match(self._text, start)
        if match is None:
            return None
        until = _UNTIL.search(match["info"])
        ends = self._ends_of(match["name"], until[1] if until else "")
        inner = _after_line(self._text, match.end())
        number = bisect_left(ends, inner)
        if number == len(ends):
            return None  # without an end it is just a comment
        kind: BlockKind = "raw" if match["name"] == "raw" else "region"
        end = ends[number]
        return MarkdownBlock(kind, start, _line_end(self._text, end), (inner, end), 0, "", match["info"])

    def _ends_of(self, name: str, until: str) -> list[int]:
        """Where cells that are marked like this may end. Looked up once: a text may have very many marks."""
        if self._ends is None:
            self._ends = {}
            for end in _REGION_END.finditer(self._text):
                self._ends.setdefault((end["name"], end["until"] or ""), []).append(end.start())
        return self._ends.get((name, until), [])

    def _html(self, match: re.Match[str]) -> MarkdownBlock | None:
        start = match.end() - 1
        for begin, end, offset in _HTML:
            if begin.match(self._text, start):
                found = end.search(self._text, start + offset)
                stop = _line_end(self._text, found.end()) if found else len(self._text)
                return MarkdownBlock("prose", match.start(), stop, closed=found is not None)
        return None


@lru_cache(maxsize=64)
def _closing(mark: str, length: int) -> re.Pattern[str]:
    return re.compile(rf"^ {{0,3}}{mark}{{{length},}}[ \t\r]*$", re.MULTILINE)


def _after_line(text: str, position: int) -> int:
    """Where the next line begins."""
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


def _line_end(text: str, position: int) -> int:
    """Where this line ends, before its line end."""
    found = text.find("\n", position)
    return len(text) if found < 0 else found


def has_marker(text: str) -> bool:
    """Whether some line of a text looks like the beginning or the end of a marked cell."""
    return "<!--" in text and (_REGION_END.search(text) or _ANY_REGION.search(text)) is not None


def region_ends(text: str) -> set[tuple[str, str]]:
    """The ends of marked cells that stand in a text: which marker, and what it says."""
    return {(end["name"], end["until"] or "") for end in _REGION_END.finditer(text)}


# ---- Options: `name="load" tags=["parameters"]`

_KEY = re.compile(r"[A-Za-z_][\w.:/@-]*")
_WORD = re.compile(r"\S+")
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()
# Characters that a fence's line, a comment or a reader's eye would not survive.
_HIDDEN = re.compile("[`\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def options(text: str) -> tuple[dict[str, Any], list[str]]:
    """Read `key=JSON` pairs; what is none of them comes back as words."""
    found: dict[str, Any] = {}
    words: list[str] = []
    position = _skip(text, 0)
    while position < len(text):
        key = _KEY.match(text, position)
        given = key is not None and text[key.end() : key.end() + 1] == "="
        end = _value_end(text, key.end() + 1, found, key[0]) if key and given else None
        if end is None:
            word = _WORD.match(text, position)
            end = word.end() if word else len(text)
            words.append(text[position:end])
        position = _skip(text, end)
    return found, words


def _skip(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _value_end(text: str, position: int, into: dict[str, Any], key: str) -> int | None:
    try:
        value, end = _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        return None
    if end < len(text) and not text[end].isspace():
        return None
    into[key] = value
    return end


def is_key(text: str) -> bool:
    """Whether a name can stand before `=`."""
    return _KEY.fullmatch(text) is not None


def option(key: str, value: Any) -> str:
    """One `key=JSON` pair that fits into a fence's line and into a comment."""
    text = json.dumps(value, ensure_ascii=False)
    text = _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return f"{key}={text.replace('--', '-' + chr(92) + 'u002d')}"
