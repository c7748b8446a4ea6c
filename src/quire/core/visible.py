"""Make invisible characters visible, so that what is shown is what runs.

A source may hold characters that a terminal, a browser or a model's text does not show: escape sequences, marks that
turn text around, letters without width. Whoever approves or reviews code must see them. `visible` is for sources; it is
injective: different texts never look alike. spec/cases/visible.json holds every implementation to it. Letters that look
like other letters, and spaces that look like other spaces, are left as they are.

`harmless` is for what cells print and for names, where emoji must survive: it marks only what steers a terminal or
turns text around. Both write a character as `⟨U+001B⟩`.
"""

from __future__ import annotations

import re

# Listed rather than asked of unicodedata: the answer must not depend on the version of Unicode, nor on the language.
_STEERS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u2028\u2029"  # ends of lines and paragraphs
    "\ud800-\udfff"  # halves of surrogate pairs, which no encoding can write
)
_UNSEEN = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # of no width: joiners, fillers, variation selectors
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f"  # other format characters
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # shorthand, music, tags, selectors
)
OPENING = "\u27e8"
"""`⟨` begins every mark, and so is written as a mark itself."""
_HARMFUL = re.compile(f"[{_STEERS}]")
_INVISIBLE = re.compile(f"[{_STEERS}{_UNSEEN}{OPENING}]")


def visible(text: str) -> str:
    """Return a source with each invisible character as `⟨U+200B⟩`; of these, only line feeds and tabs stay.

    A `⟨` of the source's own becomes `⟨U+27E8⟩`: so different sources never look alike.
    """
    return _INVISIBLE.sub(_mark, text)


def visible_line(source: str, width: int = 60) -> str:
    """Return the first line of a source that has text, visible, cut to `width`: a label, not the source."""
    return first_line(visible(source), width)


def harmless(text: str) -> str:
    """Return text with the characters as `⟨U+202E⟩` that would steer a terminal or turn text around."""
    return _HARMFUL.sub(_mark, text)


def first_line(text: str, width: int = 60) -> str:
    """Return the first line that has text, cut to `width`."""
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line if len(line) <= width else line[: width - 1] + "…"


def _mark(match: re.Match[str]) -> str:
    return f"{OPENING}U+{ord(match[0]):04X}\u27e9"
