"""Markdown as HTML: nothing in it runs, and nothing is fetched.

CommonMark with tables and strikethrough. Formulas stay as they are written, in `<code
class="math">`: a reader can read LaTeX, and a page of its own cannot bring a typesetter.
Pictures come from the cell's attachments or from `data:`; others are named, not fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import unquote

from ...core.errors import Unavailable
from ...core.values import Json
from .data_urls import picture_address
from .escape import cut, escape, possible
from .highlight import highlight
from .sanitizer import clean, may_link, may_show

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MOST_MARKDOWN = 100_000
"""Characters of one text, pictures in it not counted, that are read as Markdown; longer ones are shown as they are."""
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]{200,}={0,2}")
_INLINE_MATH = re.compile(r"\$\$((?:[^$\\]|\\.|\$(?!\$))+)\$\$|\$(?!\s)((?:[^$\\]|\\.)+?)(?<!\s)\$(?!\d)", re.DOTALL)
_BLOCK_MATH = re.compile(r"\$\$|\\begin\{([A-Za-z]+\*?)\}")


class Heading(NamedTuple):
    """A heading, for a table of contents."""

    level: int
    text: str
    anchor: str


class Headings(list[Heading]):
    """All headings of a page so far; no two have the same anchor."""

    def __init__(self, lower: int = 0) -> None:
        super().__init__()
        self.lower = lower
        """By how many levels headings are lowered: by one under a title of the page's own, less than none to be that title."""
        self._taken: set[str] = set()

    def add(self, level: int, text: str) -> Heading:
        """Note a heading, with an anchor as Jupyter gives it."""
        anchor = wanted = re.sub(r"\s+", "-", text.strip()) or "heading"
        number = 1
        while anchor in self._taken:
            number += 1
            anchor = f"{wanted}-{number}"
        self._taken.add(anchor)
        self.append(Heading(max(1, min(level + self.lower, 6)), text, anchor))
        return self[-1]


def render(source: str, attachments: dict[str, Json] | None = None, headings: Headings | None = None) -> str:
    """Return Markdown as HTML; its headings join `headings`."""
    pictures: dict[str, str] = {}
    source = _PICTURE.sub(lambda found: _short(found, pictures), source)
    if len(source) > MOST_MARKDOWN:
        head, omitted, tail = cut(source)
        return f'<pre class="text">{escape(head)}<span class="cut">{omitted}</span>\n{escape(tail)}</pre>'
    html = _rendered(source, attachments or {}, headings)
    return _SHORT.sub(lambda found: pictures.get(found[0], found[0]), html) if pictures else html


def _short(found: re.Match[str], pictures: dict[str, str]) -> str:
    """An address that stands for a long one: a parser looks at every character of it, and of some at their number."""
    short = f"data:image/{found[1]};base64,quire{len(pictures):09d}"
    pictures[short] = found[0]
    return short


_SHORT = re.compile(r"data:image/[a-z+]+;base64,quire\d{9}")


def _rendered(source: str, attachments: dict[str, Json], headings: Headings | None) -> str:
    parser = _parser()
    environment: dict[str, Any] = {"attachments": attachments}
    tokens = parser.parse(possible(source), environment)
    if headings is not None:
        _note_headings(tokens, headings)
    html = cast("str", parser.renderer.render(tokens, parser.options, environment))
    return clean(html) if any(token.type.startswith("html") for token in _flat(tokens)) else html


def first_heading(source: str) -> tuple[int, str] | None:
    """The level and the text of the first heading."""
    tokens = iter(_parser().parse(possible(source[:MOST_MARKDOWN])))
    for token in tokens:
        if token.type == "heading_open":
            return int(token.tag[1]), _plain(next(tokens))
    return None


def _flat(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def _note_headings(tokens: Sequence[Token], headings: Headings) -> None:
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = headings.add(int(token.tag[1]), _plain(tokens[number + 1]))
            token.attrSet("id", heading.anchor)
            # The closing tag stands behind the one inline token that is the heading's text.
            token.tag = tokens[number + 2].tag = f"h{heading.level}"


def _plain(inline: Token) -> str:
    children = inline.children or []
    return "".join(" " if each.type in ("softbreak", "hardbreak") else each.content for each in children if _said(each))


def _said(token: Token) -> bool:
    return token.type in ("text", "text_special", "code_inline", "math_inline", "softbreak", "hardbreak", "image")


# ---- The parser


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    try:
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise Unavailable("A page needs markdown-it-py. Install it with quire[html].") from error
    options: dict[str, Any] = {"html": True, "xhtmlOut": False, "highlight": _highlighted}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    # Where a link may lead is decided when it is written: here, its text would be left as brackets.
    parser.validateLink = lambda url: True
    parser.inline.ruler.before("escape", "math_inline", _inline_math)
    parser.block.ruler.before(
        "fence", "math_block", _block_math, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _highlighted(code: str, language: str, attributes: str) -> str:
    return highlight(code, language)


def _inline_math(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "$":
        return False
    found = _INLINE_MATH.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("math_inline", "", 0).content = found[1] or found[2]
    state.pos = found.end()
    return True


def _block_math(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    opening = _BLOCK_MATH.match(first)
    if opening is None or state.is_code_block(start):
        return False
    closing = f"\\end{{{opening[1]}}}" if opening[1] else "$$"
    last = _closing_line(state, start, end, closing, opening.end())
    if last is None:
        return False
    if not silent:
        token = state.push("math_block", "", 0)
        token.content = state.getLines(start, last + 1, state.blkIndent, False).strip().strip("$").strip()
        token.map = [start, last + 1]
        state.line = last + 1
    return True


def _closing_line(state: StateBlock, start: int, end: int, closing: str, skip: int) -> int | None:
    """The line on which a formula ends; None when text follows it there, or it does not end."""
    missing: set[str] = cast("Any", state.env).setdefault("missing", set())
    if closing in missing or state.src.find(closing, state.bMarks[start] + state.tShift[start] + skip) < 0:
        missing.add(closing)
        return None
    for line in range(start, end):
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
        if closing in text[skip:]:
            return line if text.rstrip().endswith(closing) else None
        skip = 0
    return None


# ---- What is written otherwise than markdown-it does


def _write_math_inline(self: Any, tokens: Sequence[Token], index: int, options: Any, environment: Any) -> str:
    return f'<code class="math">{escape(tokens[index].content)}</code>'


def _write_math_block(self: Any, tokens: Sequence[Token], index: int, options: Any, environment: Any) -> str:
    return f'<pre class="math"><code class="math">{escape(tokens[index].content)}</code></pre>\n'


def _write_table_open(self: Any, tokens: Sequence[Token], index: int, options: Any, environment: Any) -> str:
    return '<div class="wide"><table>\n'


def _write_table_close(self: Any, tokens: Sequence[Token], index: int, options: Any, environment: Any) -> str:
    return "</table></div>\n"


def _write_link_open(self: Any, tokens: Sequence[Token], index: int, options: Any, environment: Any) -> str:
    target = str(tokens[index].attrs.get("href", ""))
    title = str(tokens[index].attrs.get("title", ""))
    said = f' title="{escape(title)}"' if title else ""
    if not may_link(target):
        return f"<a{said}>"
    away = "" if target.startswith("#") else ' rel="noopener noreferrer"'
    return f'<a href="{escape(target)}"{said}{away}>'


def _write_image(
    self: Any, tokens: Sequence[Token], index: int, options: Any, environment: MutableMapping[str, Any]
) -> str:
    token = tokens[index]
    target = unquote(str(token.attrs.get("src", "")))
    alt = _plain(token)
    source = _attached(environment["attachments"], target.removeprefix("attachment:").strip())
    if source is None and may_show(target):
        source = target
    if source is not None:
        return f'<img src="{escape(source)}" alt="{escape(alt)}">'
    named = f'<a href="{escape(target)}" rel="noopener noreferrer">{escape(alt or target)}</a>'
    return f'<span class="missing">Picture: {named if may_link(target) else escape(alt or target)}</span>'


_RULES: dict[str, Any] = {
    "math_inline": _write_math_inline,
    "math_block": _write_math_block,
    "table_open": _write_table_open,
    "table_close": _write_table_close,
    "link_open": _write_link_open,
    "image": _write_image,
}


def _attached(attachments: dict[str, Json], name: str) -> str | None:
    """An attachment as a `data:` address."""
    bundle: Any = attachments.get(name)
    return picture_address(cast("dict[str, Any]", bundle)) if isinstance(bundle, dict) else None
