"""Code as HTML, with its keywords, strings and comments marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Any

from ...core.errors import Unavailable
from .escape import cut, escape_code

MOST_CODE, LONGEST_LINE = 50_000, 1000
"""Characters of one source, and of a line in it, that are coloured: the time of some lexers grows with the square."""
# Shown as another language than the notebook's.
_MAGICS = {
    **{name: name for name in ("html", "javascript", "latex", "sql", "bash", "perl", "ruby", "r", "cython")},
    **{"svg": "xml", "js": "javascript", "sh": "bash"},
}
_CELL_MAGIC = re.compile(r"%%(\w+)[^\n]*\n")
# The kinds of token that look different, by the beginning of Pygments' names for them.
_CLASSES = (
    ("Token.Comment.Preproc", "d"),
    ("Token.Comment", "c"),
    ("Token.Keyword.Constant", "n"),
    ("Token.Keyword", "k"),
    ("Token.Operator.Word", "k"),
    ("Token.Literal.String.Interpol", "i"),
    ("Token.Literal.String.Doc", "c"),
    ("Token.Literal.String", "s"),
    ("Token.Literal", "n"),
    ("Token.Name.Function", "f"),
    ("Token.Name.Class", "f"),
    ("Token.Name.Builtin", "b"),
    ("Token.Name.Exception", "b"),
    ("Token.Name.Decorator", "d"),
    ("Token.Name.Tag", "k"),
    ("Token.Operator", "o"),
)


def highlight(source: str, language: str) -> str:
    """Return code as HTML: escaped, with spans around what a reader looks for."""
    if len(source) > MOST_CODE or max(map(len, source.split("\n"))) > LONGEST_LINE:
        head, omitted, tail = cut(source)
        return escape_code(head) + (f'<span class="cut">{omitted}</span>\n{escape_code(tail)}' if omitted else "")
    magic = _CELL_MAGIC.match(source)
    if magic is not None and magic[1] in _MAGICS:
        return f'<span class="d">{escape_code(magic[0])}</span>{_marked(source[magic.end() :], _MAGICS[magic[1]])}'
    return _marked(source, language)


def _marked(source: str, language: str) -> str:
    lexer = _lexer(language)
    if lexer is None or not source.strip():
        return escape_code(source)
    found = list(_tokens(lexer, source))
    if "".join(text for _, text in found) != source:
        # Pygments drops carriage returns and byte order marks: what runs is shown without colours then.
        return escape_code(source)
    parts = groupby(found, key=lambda token: token[0])
    return "".join(_part(kind, "".join(text for _, text in tokens)) for kind, tokens in parts)


def _part(kind: str, text: str) -> str:
    shown = escape_code(text)
    return f'<span class="{kind}">{shown}</span>' if kind else shown


def _tokens(lexer: Any, source: str) -> Iterator[tuple[str, str]]:
    for kind, text in lexer.get_tokens(source):
        yield _class_of(str(kind)), text


@lru_cache(maxsize=256)
def _class_of(kind: str) -> str:
    return next((name for prefix, name in _CLASSES if kind.startswith(prefix)), "")


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    """Pygments' lexer for a language; None when it has none."""
    try:
        from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]
        from pygments.util import ClassNotFound
    except ImportError as error:
        raise Unavailable("Highlighted code needs Pygments. Install it with quire[html].") from error
    try:
        # As it stands: Pygments would drop blank lines, and add a last one.
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
