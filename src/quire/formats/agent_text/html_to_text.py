"""HTML as text: what a reader would see, tables as rows. Nothing is run, fetched or believed.

Read by one pattern that goes over the text once, whatever is in it: Python's own parser takes
minutes for some pages that are broken on purpose, and gives up on others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

MOST_HTML = 200_000
"""Characters of HTML that are looked at: what is behind that is behind a handle."""
# What is not closed goes on to the end, so that none is looked for twice.
_UNSEEN = re.compile(
    r"<(script|style|head|template|noscript|svg|math|title)\b(?:.*?</\1\s*>|.*\Z)|<!--(?:.*?-->|.*\Z)",
    re.IGNORECASE | re.DOTALL,
)
_PART = re.compile(r"<(?P<end>/?)(?P<tag>[a-zA-Z][a-zA-Z0-9]{0,20})(?P<more>[^<>]*)>|<[!?][^<>]*>|(?P<text>[^<]+|<)")
_ALT = re.compile(r"\balt\s*=\s*[\"']([^\"']{1,200})")
_BREAK = re.compile("p|div|br|li|tr|h[1-6]|table|[uod]l|d[td]|pre|hr|section|article|blockquote")
_CELLS = ("td", "th")


def html_text(html: str) -> str:
    """The text of a page, a line for each paragraph and for each row of a table."""
    lines = [""]
    kept = 0
    for tag, is_end, text in _parts(html):
        if tag == "pre":
            kept = 0 if is_end else 1
        if _BREAK.fullmatch(tag):
            lines.append("")
        elif tag in _CELLS and not is_end and lines[-1]:
            lines[-1] += " | "
        elif text and kept:
            first, *more = text.split("\n")
            lines[-1] += first
            lines += more
        elif text and text.strip():
            lines[-1] += _spaced(lines[-1], text)
    return "\n".join(line.rstrip() for line in lines if line.strip(" |"))


def _spaced(before: str, text: str) -> str:
    """A text as it stands in a line: one space where there are many."""
    start = " " if text[0].isspace() and before and not before.endswith(" ") else ""
    return start + " ".join(text.split()) + " " * text[-1].isspace()


def tables(html: str, most_rows: int) -> list[list[list[str]]]:
    """The tables of a page as rows of cells, so many rows of each."""
    found: list[list[list[str]]] = []
    is_inside = False
    for tag, is_end, text in _parts(html):
        if tag == "table" and not is_end:
            found.append([])
        elif tag == "tr" and not is_end and found and len(found[-1]) < most_rows:
            found[-1].append([])
        elif tag in _CELLS and not is_end and found and found[-1]:
            found[-1][-1].append("")
        is_inside = (tag in _CELLS and not is_end) if tag else is_inside
        if text and is_inside and found and found[-1] and found[-1][-1]:
            found[-1][-1][-1] += text
    return found


def _parts(html: str) -> Iterator[tuple[str, bool, str]]:
    """The tags and the texts of a page, in their order."""
    for part in _PART.finditer(_UNSEEN.sub("", html[:MOST_HTML])):
        tag = (part["tag"] or "").lower()
        if tag == "img":
            alt = _ALT.search(part["more"])
            yield "", False, unescape(alt[1]) if alt is not None else ""
        elif tag or part["text"]:
            yield tag, bool(part["end"]), unescape(part["text"]) if part["text"] else ""
