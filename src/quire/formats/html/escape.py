"""Text as HTML: escaped, with terminal colours, and with what misleads made visible.

Nothing here lets a character of the text become markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape as _escape
from typing import NamedTuple

from ...core.visible import harmless, visible

# What no page can hold: controls, and halves of surrogate pairs.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_MARK = re.compile(r"\u27e8U\+[0-9A-F]{4,6}\u27e9")
_LINE_ENDS = re.compile(r"(?<!\r)\r++\n")

MOST_TEXT = 100_000
"""Characters of one text that a page shows; of longer ones the beginning and the end."""


def possible(text: str) -> str:
    """Return text without the characters that no page can hold."""
    return _IMPOSSIBLE.sub("\ufffd", text)


def escape(text: str) -> str:
    """Return text that may stand in an element or, in double quotes, in an attribute."""
    return _escape(possible(text))


def escape_code(text: str) -> str:
    """Return a source as HTML, with invisible characters shown by their numbers: different sources look different."""
    return _MARK.sub(r'<span class="invisible">\g<0></span>', _escape(visible(text)))


def escape_output(text: str) -> str:
    """Return what a cell showed as HTML, with controls and marks that turn text around shown by their numbers."""
    return _MARK.sub(r'<span class="invisible">\g<0></span>', _escape(harmless(text)))


def size(count: int) -> str:
    """`512 bytes`, `1.2 MB`."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1000:,.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:,.1f} MB"


def cut(text: str, most: int = MOST_TEXT) -> tuple[str, str, str]:
    """Return what a page shows of a text: its beginning, a line on what is left out, its end; of a short text only the first."""
    if len(text) <= most:
        return text, "", ""
    # At the ends of lines, where there are some nearby.
    start = text.rfind("\n", most // 2, most * 3 // 4) + 1 or most * 3 // 4
    stop = text.find("\n", len(text) - most // 4, len(text) - most // 8) + 1 or len(text) - most // 4
    lines = text.count("\n", start, stop)
    return text[:start], f"… {lines:,} lines, {size(stop - start)}, left out …", text[stop:]


# ---- Terminal output


class _Look(NamedTuple):
    """How a terminal would show a stretch of text."""

    colour: str | None = None
    background: str | None = None
    bold: bool = False
    faint: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    inverse: bool = False


_PLAIN = _Look()
_SEQUENCE = re.compile(
    r"\x1b\[([0-9;:]*)m"  # colours and weights: the only sequence that is obeyed
    r"|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]|\x1b[ -/]+[0-~]"
)
_TERMINAL = (
    *("#000000", "#cd3131", "#0dbc79", "#c6a700", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5"),
    *("#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff"),
)
"""The sixteen colours."""
_FLAGS = {1: "bold", 2: "faint", 3: "italic", 4: "underline", 7: "inverse", 9: "strike"}
_ENDS = {23: "italic", 24: "underline", 27: "inverse", 29: "strike"}


def terminal(text: str) -> str:
    """Return what a program printed as HTML: colours as spans, overwritten text gone, the rest escaped."""
    text = _LINE_ENDS.sub("\n", text)
    if len(text) > MOST_TEXT and "\r" in text:
        # Of a progress bar this long only the last state counts.
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    head, omitted, tail = cut(text)
    shown = _coloured(head)
    return f'{shown}<span class="cut">{omitted}</span>\n{_coloured(tail)}' if omitted else shown


def _coloured(text: str) -> str:
    runs = _runs(text)
    if "\r" in text or "\b" in text:
        runs = _overwritten(runs)
    return "".join(_span(look, part) for look, part in runs)


def _runs(text: str) -> Iterator[tuple[_Look, str]]:
    """Stretches of text with how they look."""
    look, position = _PLAIN, 0
    for match in _SEQUENCE.finditer(text):
        if match.start() > position:
            yield look, text[position : match.start()]
        position = match.end()
        if match[1] is not None:
            look = _after(look, match[1])
    if position < len(text):
        yield look, text[position:]


def _after(look: _Look, codes: str) -> _Look:
    """How text looks after one sequence."""
    numbers = iter([int(code[:4] or 0) for code in re.split("[;:]", codes)])
    for number in numbers:
        look = _after_one(look, number, numbers)
    return look


def _after_one(look: _Look, number: int, rest: Iterator[int]) -> _Look:
    match number:
        case 0:
            return _PLAIN
        case _ if number in _FLAGS:
            return look._replace(**{_FLAGS[number]: True})
        case 21 | 22:
            return look._replace(bold=False, faint=False)
        case _ if number in _ENDS:
            return look._replace(**{_ENDS[number]: False})
        case 38:
            return look._replace(colour=_wide(rest))
        case 48:
            return look._replace(background=_wide(rest))
        case _:
            return _after_colour(look, number)


def _after_colour(look: _Look, number: int) -> _Look:
    """One of the sixteen colours, or none."""
    tens, ones = divmod(number, 10)
    if ones > 7:
        return look._replace(colour=None) if number == 39 else look._replace(background=None) if number == 49 else look
    match tens:
        case 3 | 9:
            return look._replace(colour=str(ones + 8 * (tens == 9)))
        case 4 | 10:
            return look._replace(background=str(ones + 8 * (tens == 10)))
        case _:
            return look


def _wide(rest: Iterator[int]) -> str | None:
    """A colour out of 256, or by red, green and blue."""
    match next(rest, None):
        case 5:
            number = next(rest, 256)
            return str(number) if number < 16 else _of_palette(number) if number < 256 else None
        case 2:
            red, green, blue = (min(next(rest, 0), 255) for _ in range(3))
            return f"#{red:02x}{green:02x}{blue:02x}"
        case _:
            return None


def _of_palette(number: int) -> str:
    if number >= 232:
        return f"#{(8 + 10 * (number - 232)) * 0x010101:06x}"
    steps = (0, 95, 135, 175, 215, 255)
    red, green, blue = (steps[(number - 16) // unit % 6] for unit in (36, 6, 1))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _overwritten(runs: Iterator[tuple[_Look, str]]) -> Iterator[tuple[_Look, str]]:
    """What is left after carriage returns and backspaces."""
    line: list[tuple[_Look, str]] = []
    column = 0
    for look, text in runs:
        for character in text:
            match character:
                case "\r":
                    column = 0
                case "\b":
                    column = max(column - 1, 0)
                case "\n":
                    yield from (*line, (look, "\n"))
                    line, column = [], 0
                case _:
                    line[column : column + 1] = [(look, character)]
                    column += 1
    yield from line


def _span(look: _Look, text: str) -> str:
    shown = escape_output(text)
    if look == _PLAIN:
        return shown
    names = [name for name in ("bold", "faint", "italic", "underline", "strike") if getattr(look, name)]
    styles = ""
    colour, background = (look.background, look.colour) if look.inverse else (look.colour, look.background)
    if background is not None:
        styles = _on(background, colour)
    elif colour is not None and colour.startswith("#"):
        names.append("x")
        styles = f"--x:{colour}"
    elif colour is not None:
        names.append(f"c{colour}")
    if look.inverse and background is None:
        names.append("inverse")
    attributes = f' class="{" ".join(names)}"' * bool(names) + f' style="{styles}"' * bool(styles)
    return f"<span{attributes}>{shown}</span>"


def _on(background: str, colour: str | None) -> str:
    """Colours as a terminal has them: on a background of its own, text does not follow the page's light and dark."""
    behind = _TERMINAL[int(background)] if background.isdigit() else background
    red, green, blue = (int(behind[at : at + 2], 16) for at in (1, 3, 5))
    readable = "#000000" if 299 * red + 587 * green + 114 * blue > 140_000 else "#ffffff"
    before = readable if colour is None else _TERMINAL[int(colour)] if colour.isdigit() else colour
    return f"color:{before};background:{behind}"
