"""Colours of a terminal: which are in force, and how to get from some to others.

A style says what is set, each attribute once, so that it stays small however often a
program changes its mind. Only a line that was overwritten is written from its styles; any
other keeps the sequences that the program sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

Style: TypeAlias = tuple[tuple[str, str], ...]
"""Attributes and their codes: `(("weight", "1"), ("ink", "31"))`."""
Cell: TypeAlias = tuple[Style, str]
"""One character, and how it looks."""

PLAIN: Style = ()
_PARTS = re.compile(r"\x1b\[([0-9;:]*)m|([^\x1b]+)")
_ATTRIBUTES = {
    "weight": ("1", "2"),
    "italic": ("3",),
    "underline": ("4", "21"),
    "blink": ("5", "6"),
    "reversed": ("7",),
    "hidden": ("8",),
    "struck": ("9",),
    "overline": ("53",),
    "ink": (*map(str, range(30, 38)), *map(str, range(90, 98))),
    "paper": (*map(str, range(40, 48)), *map(str, range(100, 108))),
}
_SETS = {code: attribute for attribute, codes in _ATTRIBUTES.items() for code in codes}
_ENDS = {
    "22": "weight",
    "23": "italic",
    "24": "underline",
    "25": "blink",
    "27": "reversed",
    "28": "hidden",
    "29": "struck",
    "39": "ink",
    "49": "paper",
    "55": "overline",
    "59": "line",
}
_COLOURS = {"38": "ink", "48": "paper", "58": "line"}
_FOLLOWING = {"5": 1, "2": 3}
_MOST = 32
"""A colour is written with fewer characters than this; what is longer is none."""


@lru_cache(maxsize=1024)
def after(style: Style, parameters: str) -> Style:
    """The style in force after `ESC [ parameters m`. What nobody knows changes nothing."""
    codes = (code.lstrip("0") for code in parameters.split(";"))
    now = dict(style)
    for code in codes:
        if not code:
            now.clear()
        elif code in _SETS:
            now[_SETS[code]] = code
        elif code in _ENDS:
            now.pop(_ENDS[code], None)
        elif (attribute := _COLOURS.get(code.partition(":")[0])) is not None:
            colour = code if ":" in code else _colour(code, codes)
            if len(colour) < _MOST:
                now[attribute] = colour
    return tuple(now.items())


def _colour(code: str, codes: Iterator[str]) -> str:
    """`38;5;N` or `38;2;R;G;B`: a colour takes the codes that follow it."""
    how = next(codes, "")
    numbers = (next(codes, "") or "0" for _ in range(_FOLLOWING.get(how, 0)))
    return ";".join((code, how, *numbers))


@lru_cache(maxsize=1024)
def turn(old: Style, new: Style) -> str:
    """The sequence that leads from one style to another: none, what is added, or a fresh start."""
    if old == new:
        return ""
    if new[: len(old)] == old:
        return f"\x1b[{';'.join(code for _, code in new[len(old) :])}m"
    return "\x1b[0m" + turn(PLAIN, new)


def cells_of(text: str, style: Style) -> list[Cell]:
    """Part a line into its characters, each with its style."""
    cells: list[Cell] = []
    for match in _PARTS.finditer(text):
        if match[2] is None:
            style = after(style, match[1])
        else:
            cells.extend((style, char) for char in match[2])
    return cells


def text_of(cells: list[Cell], start: Style, end: Style) -> str:
    """Write a line that begins in one style and leaves another in force."""
    parts: list[str] = []
    for style, char in cells:
        if style != start:
            parts.append(turn(start, style))
            start = style
        parts.append(char)
    parts.append(turn(start, end))
    return "".join(parts)


def width_of(text: str) -> int:
    """How many characters of a line are seen."""
    return len(text) if "\x1b" not in text else sum(len(match[2] or "") for match in _PARTS.finditer(text))
