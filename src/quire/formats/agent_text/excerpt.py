"""A long text within a budget: its beginning and its end, one to two, and between them how much is left out and how to get it.

A line that comes many times is shown once with how often; lines, or groups of up to four lines, that differ only in
numbers are shown by the first and the last of them.

Tokens are estimated: four ASCII characters are one, any other character is one of its own. Costs
are counted in quarters of a token, which add up without rounding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from ...core.visible import visible
from ..terminal_safe import plain

_SCANNED = 20
"""Of a text so many characters are looked at for each that can be paid for: folded, they may all fit."""
_AT_LEAST = 10_000
LEAST_LIKE = 4
"""So many that differ only in numbers are folded."""
_PERIODS = (1, 2, 3, 4)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*(?:[eE][+-]?\d+)?")
_BAR = re.compile(r"[█▏▎▍▌▋▊▉#=\-━╸ .>]{4,}")


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A text of which the middle may be kept elsewhere."""

    head: str
    omitted: int = 0
    """Characters between the two that are not at hand."""
    tail: str = ""

    @property
    def length(self) -> int:
        """Characters of the whole."""
        return len(self.head) + self.omitted + len(self.tail)


def fit(passage: Passage, most: int, mark: str, rest: str, *, as_is: bool = False) -> list[str]:
    """The passage as lines that begin with `mark` and cost no more than this; `rest` says how to get what is left out.

    What repeats is told once. A source is shown `as_is`, with what is invisible made visible.
    """
    if not passage.length or most <= 0:
        return []
    read = _lines if as_is else _readable
    reach = max(most * _SCANNED, _AT_LEAST)
    if not as_is:
        # Before it is cut: of a progress bar only the last state counts.
        passage = Passage(head=overwritten(passage.head), omitted=passage.omitted, tail=overwritten(passage.tail))
    text = "" if passage.omitted else passage.head + passage.tail
    if text and len(text) <= 2 * reach:
        return _whole(read(text), most, mark, rest)
    first, last = (text[:reach], text[-reach:]) if text else (passage.head[:reach], passage.tail[-reach:])
    # Half a line at a place where nobody cut would look like a whole one.
    first, last = first[: first.rfind("\n") + 1] or first, last[last.find("\n") + 1 :] or last
    left = passage.length - len(first) - len(last)
    return _ends(read(first), read(last), left, most, mark, rest)


def left_out(count: int, rest: str) -> str:
    """The line that stands for what is left out."""
    return f"[… {count:,} characters left out: {rest}]"


def _lines(text: str) -> list[FoldedLine]:
    return [FoldedLine(visible(line), len(line) + 1) for line in text.split("\n")]


def _readable(text: str) -> list[FoldedLine]:
    return folded(plain(text))


def _whole(lines: list[FoldedLine], most: int, mark: str, rest: str) -> list[str]:
    """All of it, folded, where that can be paid for."""
    shown = [mark + line.text for line in lines]
    if any(line.is_loss for line in lines):
        shown.append(f"{mark}[in full: {rest}]")
    if lines_cost(shown) <= most:
        return shown
    return _ends(lines, None, 0, most, mark, rest)


def _ends(
    first: list[FoldedLine], last: list[FoldedLine] | None, left: int, most: int, mark: str, rest: str
) -> list[str]:
    """Lines from the beginning and from the end (of the same ones, where `last` is None), and one between them."""
    room = most - cost(left_out(10**12, rest)) - len(mark) - 1
    if room < 0:
        return []
    begun, whole, missing = _begin(first, room // 3, mark)
    room -= lines_cost(begun)
    following = first[whole + bool(missing) :] if last is None else last
    ended, missing_before = _end(following, room, mark)
    if last is not None:
        left += sum(line.stands_for for line in first[whole + bool(missing) :])
    return [*begun, mark + left_out(left + missing + missing_before, rest), *ended]


def _begin(lines: list[FoldedLine], most: int, mark: str) -> tuple[list[str], int, int]:
    """What can be paid for from the beginning, how many lines of it are whole, and what the last one lacks."""
    shown: list[str] = []
    for line in lines:
        price = cost(line.text) + len(mark) + 1
        if price > most:
            part = head(line.text, most - len(mark) - 1 - QUARTERS) if _is_worth(line, most, mark, shown) else ""
            return (
                ([*shown, f"{mark}{part}…"], len(shown), max(line.stands_for - len(part), 1))
                if part
                else (shown, len(shown), 0)
            )
        shown.append(mark + line.text)
        most -= price
    return shown, len(shown), 0


def _end(lines: list[FoldedLine], most: int, mark: str) -> tuple[list[str], int]:
    """What can be paid for from the end, and how many characters before that cannot."""
    shown: list[str] = []
    missing = sum(line.stands_for for line in lines)
    for line in reversed(lines):
        price = cost(line.text) + len(mark) + 1
        if price > most:
            part = tail(line.text, most - len(mark) - 1 - QUARTERS) if _is_worth(line, most, mark, shown) else ""
            shown += [f"{mark}…{part}"] if part else []
            missing -= min(len(part), line.stands_for - 1)
            break
        shown.append(mark + line.text)
        missing -= line.stands_for
        most -= price
    return shown[::-1], missing


def _is_worth(line: FoldedLine, most: int, mark: str, shown: list[str]) -> bool:
    """Whether a part of a line says something: a line that is long, or the only one."""
    return most - len(mark) - 1 - QUARTERS >= LEAST and (not shown or len(line.text) > 200)


# ---- Lines that say the same again and again, told once


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
            yield from _first_and_last(raw[at:until], period, times)
        at = until


def _first_and_last(raw: list[str], period: int, times: int) -> Iterator[FoldedLine]:
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


QUARTERS = 4
"""Of a token: what an ASCII character costs is one of them."""
UNLIMITED = 1 << 60
LEAST = 4 * QUARTERS
"""Below this nothing is worth its line."""


def cost(text: str) -> int:
    """What a text costs, in quarters of a token."""
    if text.isascii():
        return len(text)
    ascii_characters = len(text.encode("ascii", "ignore"))
    return ascii_characters + QUARTERS * (len(text) - ascii_characters)


def tokens(text: str) -> int:
    """How many tokens a text is estimated to be."""
    return -(-cost(text) // QUARTERS)


def head(text: str, most: int) -> str:
    """The longest beginning that costs no more than this."""
    return text[: _count(text[: max(most, 0)], most)]


def tail(text: str, most: int) -> str:
    """The longest end that costs no more than this."""
    part = text[-most:] if most > 0 else ""
    return part[len(part) - _count(part[::-1], most) :]


def _count(text: str, most: int) -> int:
    """How many characters from the start of `text` can be paid for."""
    if text.isascii():
        return min(len(text), max(most, 0))
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if cost(text[low:middle]) <= most:
            most -= cost(text[low:middle])
            low = middle
        else:
            high = middle - 1
    return low


def cut(text: str, most: int) -> str:
    """A text as it is, or its beginning with a mark that there is more; empty where not even that can be paid for."""
    if len(text) <= most and cost(text) <= most:
        return text
    return head(text, most - QUARTERS) + "…" if most >= LEAST else ""


def lines_cost(lines: Sequence[str]) -> int:
    """What lines cost, each with its end."""
    return sum(map(cost, lines)) + len(lines)


class Purse:
    """What is left of a budget."""

    def __init__(self, tokens: int | None) -> None:
        self.left = UNLIMITED if tokens is None else tokens * QUARTERS

    @property
    def is_unlimited(self) -> bool:
        """Whether nothing has to be left out."""
        return self.left > UNLIMITED // 2

    def pay(self, lines: Sequence[str]) -> bool:
        """Whether these lines can be paid for; then they are."""
        price = lines_cost(lines)
        if price > self.left:
            return False
        self.left -= price
        return True
