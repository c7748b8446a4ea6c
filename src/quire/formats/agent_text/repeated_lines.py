"""Lines that say the same again and again, told once.

A line that comes many times is shown once with how often; lines, or groups of up to four lines,
that differ only in numbers are shown by the first and the last of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

LEAST_LIKE = 4
"""So many that differ only in numbers are folded."""
_PERIODS = (1, 2, 3, 4)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*(?:[eE][+-]?\d+)?")
_BAR = re.compile(r"[█▏▎▍▌▋▊▉#=\-━╸ .>]{4,}")


class FoldedLine(msgspec.Struct, frozen=True):
    """A line as it is shown, and how many characters of the output it stands for."""

    text: str
    stands_for: int
    is_loss: bool = False
    """Whether it says only that others were left out."""


def overwritten(text: str) -> str:
    r"""What a terminal would show after carriage returns and backspaces: runtimes fold that, files that were taken in do not."""
    if "\r" not in text and "\b" not in text:
        return text
    text = re.sub(r"\r+(?=\n)", "", text)
    return "\n".join(_final(line) if "\r" in line or "\b" in line else line for line in text.split("\n"))


def _final(line: str) -> str:
    shown = ""
    for part in line.split("\r"):
        typed: list[str] = []
        for character in part if "\b" in part else (part,):
            if character != "\b":
                typed.append(character)
            elif typed:
                typed.pop()
        text = "".join(typed)
        shown = text + shown[len(text) :]
    return shown


def folded(text: str) -> list[FoldedLine]:
    """The lines of a text, with what repeats told once."""
    raw = text.split("\n")
    if raw and raw[-1] == "":
        raw.pop()
    return list(_folded(raw, [_shape(line) for line in raw]))


def _shape(line: str) -> str:
    """What is the same in lines that differ only in numbers."""
    return _BAR.sub(" ", _NUMBER.sub("0", line)) if len(line) <= 1000 else line


def _folded(raw: list[str], shapes: list[str]) -> Iterator[FoldedLine]:
    at = 0
    while at < len(raw):
        period, times = _repeats(shapes, at)
        until = at + period * times
        if times == 1:
            yield FoldedLine(raw[at], len(raw[at]) + 1)
        elif period == 1 and raw[at:until].count(raw[at]) == times:
            # Of empty lines one is as good as many.
            yield FoldedLine(f"{raw[at]} (×{times:,})" if raw[at].strip() else "", sum(map(len, raw[at:until])) + times)
        elif period * times < LEAST_LIKE:
            yield from (FoldedLine(line, len(line) + 1) for line in raw[at:until])
        else:
            yield from _ends(raw[at:until], period, times)
        at = until


def _ends(raw: list[str], period: int, times: int) -> Iterator[FoldedLine]:
    """The first and the last of many that are alike."""
    first, between, last = raw[:period], raw[period:-period], raw[-period:]
    yield from (FoldedLine(line, len(line) + 1) for line in first)
    what = "lines" if period == 1 else f"times {period} lines"
    same = all(each == first[number % period] for number, each in enumerate(between))
    how = "the same" if same else "that differ only in numbers"
    yield FoldedLine(f"[… {times - 2:,} {what} {how} …]", sum(map(len, between)) + len(between), is_loss=not same)
    yield from (FoldedLine(line, len(line) + 1) for line in last)


def _repeats(shapes: list[str], at: int) -> tuple[int, int]:
    """How long the group of lines is that repeats from here on, and how often it comes."""
    for period in _PERIODS:
        group = shapes[at : at + period]
        if len(group) < period or shapes[at + period : at + 2 * period] != group:
            continue
        times = 2
        while shapes[at + times * period : at + (times + 1) * period] == group:
            times += 1
        if period == 1 or times >= 3:
            return period, times
    return 1, 1
