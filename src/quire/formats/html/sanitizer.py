"""HTML that somebody wrote into Markdown, with only what cannot do harm left in it.

Everything is written anew: tags and attributes on the lists below, balanced, and escaped
text. So it does not matter how a browser would have read the original.

Not nh3: it builds the tree that a browser builds, which repeats open elements in each new block. 83 kB of `<p><b id=1><p><b id=2>…`
became 300 MB, in 14 seconds and 4.8 GB of memory. What is written here is never much longer than what was read.
"""

from __future__ import annotations

import re
from html import unescape

from .escape import escape

_WORDS = "a abbr b cite code del dfn em i img ins kbd mark q s samp small span strike strong sub sup tt u var br wbr"
_BLOCKS = "blockquote center dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre summary ul"
_TABLES = "caption col colgroup table tbody td tfoot th thead tr"
_TAGS = frozenset(f"{_WORDS} {_BLOCKS} {_TABLES}".split())
_VOID = frozenset(("br", "col", "hr", "img", "wbr"))
# Their text is no text for readers either.
_DROPPED = frozenset(
    ("script", "style", "title", "template", "noscript", "iframe", "object", "textarea", "svg", "math")
)
_SHAPES = "align class colspan dir height lang open reversed rowspan scope start style width"
_ATTRIBUTES = frozenset(f"alt href id src title {_SHAPES}".split())
_TAG = re.compile(r"""<(/?)([A-Za-z][A-Za-z0-9]*)(?=[\s/>])((?:[^<>"']|"[^"<]*"|'[^'<]*')*+)>""")
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?""")
_DEEPEST = 100
_CLASSES = re.compile(r"(?:language-[\w+#.-]{1,40}|math|missing|wide|invisible|cut|[a-z])")
_STYLES = re.compile(r"text-align: ?(?:left|right|center)")
_LINK = re.compile(r"(?:https?://|mailto:|#)[^\x00-\x20]*", re.IGNORECASE)
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]*")


def may_link(target: str) -> bool:
    """Whether a link may lead there: to the web, to a mailbox, or within the page."""
    return _LINK.fullmatch(target) is not None


def may_show(source: str) -> bool:
    """Whether a picture may come from there: out of the page itself."""
    return _PICTURE.fullmatch(source) is not None


def clean(html: str) -> str:
    """Return HTML without anything that runs, fetches, or reaches out of its place."""
    cleaner = _Cleaner()
    position, comments = 0, True
    while (start := html.find("<", position)) >= 0:
        cleaner.text(html[position:start])
        end = html.find("-->", start + 4) if comments and html.startswith("<!--", start) else -1
        # Looked for once in vain, it is not looked for again: a text may hold very many beginnings.
        comments = comments and (end >= 0 or not html.startswith("<!--", start))
        tag = _TAG.match(html, start) if end < 0 else None
        if end >= 0:
            position = end + 3
        elif tag is None:
            cleaner.text("<")
            position = start + 1
        else:
            position = cleaner.tag(tag)
    cleaner.text(html[position:])
    return cleaner.finished()


class _Cleaner:
    """Writes what is allowed, and keeps it balanced."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._open: list[str] = []

    def finished(self) -> str:
        """What is left, every tag closed."""
        return "".join((*self._parts, *(f"</{tag}>" for tag in reversed(self._open))))

    def text(self, text: str) -> None:
        """Write text, whose characters may be written as entities."""
        if text:
            self._parts.append(escape(unescape(text)))

    def tag(self, found: re.Match[str]) -> int:
        """Write a tag if it is allowed; return where to go on."""
        name = found[2].lower()
        if name in _DROPPED:
            return _behind(found, name)
        if name in _TAGS and found[1]:
            self._close(name)
        elif name in _TAGS and len(self._open) < _DEEPEST:
            self._parts.append(f"<{name}{_attributes(name, found[3])}>")
            if name not in _VOID:
                self._open.append(name)
        return found.end()

    def _close(self, name: str) -> None:
        if name in self._open:
            while (last := self._open.pop()) != name:
                self._parts.append(f"</{last}>")
            self._parts.append(f"</{name}>")


def _behind(found: re.Match[str], name: str) -> int:
    """Where an element ends whose text is dropped as well: at its end, or at that of the text."""
    if found[1] or found[3].endswith("/"):
        return found.end()
    end = re.compile(rf"</{name}[^>]*>", re.IGNORECASE).search(found.string, found.end())
    return end.end() if end else len(found.string)


def _attributes(tag: str, text: str) -> str:
    given = ((name.lower(), unescape(a or b or c)) for name, a, b, c in _ATTRIBUTE.findall(text))
    kept = {name: value for name, value in given if name in _ATTRIBUTES and _fits(name, value)}
    if tag == "img" and "src" not in kept:
        kept.setdefault("alt", "A picture that is not in this page")
    if "href" in kept and not kept["href"].startswith("#"):
        kept["rel"] = "noopener noreferrer"
    return "".join(f' {name}="{escape(value)}"' for name, value in kept.items())


def _fits(name: str, value: str) -> bool:
    match name:
        case "href":
            return may_link(value)
        case "src":
            return may_show(value)
        case "class":
            return all(_CLASSES.fullmatch(each) for each in value.split())
        case "style":
            return _STYLES.fullmatch(value) is not None
        case _:
            return True
