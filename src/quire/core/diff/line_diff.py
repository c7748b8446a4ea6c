"""Which lines two texts share, and which words two lines.

Works on any sequence of things that can be compared by hash, so cells are lined up by it
as well. The cost stays bounded: what is too long for a thorough look is lined up by what
is there just once.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from operator import lt
from typing import NamedTuple

MOST_PAIRS = 100_000
"""Stretches that would make more pairs than this are lined up by what is in them just once."""
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


class CommonBlock(NamedTuple):
    """A stretch that both have: from `old` in the one, from `new` in the other, `size` long."""

    old: int
    new: int
    size: int


class LineChange(NamedTuple):
    """Where one has `old_start:old_end`, the other has `new_start:new_end`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def lines_of(text: str) -> list[str]:
    """Return the lines without what ends them; `"\\n".join` puts them together again, whatever is in them."""
    return text.split("\n")


def changes(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[LineChange]:
    """Return where the two differ, in order; at least one thing that both have is between two changes."""
    found: list[LineChange] = []
    i = j = 0
    for block in (*matches(old, new), CommonBlock(len(old), len(new), 0)):
        if block.old > i or block.new > j:
            found.append(LineChange(i, block.old, j, block.new))
        i, j = block.old + block.size, block.new + block.size
    return found


def matches(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[CommonBlock]:
    """Return the stretches that both have, in order in both."""
    return _joined(_matches(old, new, 0, len(old), 0, len(new), thorough=False))


def _matches(
    old: Sequence[Hashable], new: Sequence[Hashable], i1: int, i2: int, j1: int, j2: int, *, thorough: bool
) -> Iterator[CommonBlock]:
    """Between two places: the same beginning, the same end, and what is between those."""
    start = 0
    most = min(i2 - i1, j2 - j1)
    while start < most and old[i1 + start] == new[j1 + start]:
        start += 1
    end = 0
    while end < most - start and old[i2 - 1 - end] == new[j2 - 1 - end]:
        end += 1
    yield CommonBlock(i1, j1, start)
    i1, i2, j1, j2 = i1 + start, i2 - end, j1 + start, j2 - end
    if i1 < i2 and j1 < j2:
        if (i2 - i1) * (j2 - j1) <= MOST_PAIRS:
            yield from _compared(old, new, i1, i2, j1, j2)
        elif not thorough:
            yield from _by_singles(old, new, i1, i2, j1, j2)
    yield CommonBlock(i2, j2, end)


def _compared(
    old: Sequence[Hashable], new: Sequence[Hashable], i1: int, i2: int, j1: int, j2: int
) -> Iterator[CommonBlock]:
    # One word in the place of another is what most changes are; difflib takes longer to be made than to find that.
    if i2 - i1 == 1 or j2 - j1 == 1:
        one, others = (old[i1], new[j1:j2]) if i2 - i1 == 1 else (new[j1], old[i1:i2])
        if one in others:
            at = others.index(one)
            yield CommonBlock(i1, j1 + at, 1) if i2 - i1 == 1 else CommonBlock(i1 + at, j1, 1)
        return
    matcher = difflib.SequenceMatcher(None, old[i1:i2], new[j1:j2], autojunk=False)
    for block in matcher.get_matching_blocks():
        yield CommonBlock(i1 + block.a, j1 + block.b, block.size)


def _by_singles(
    old: Sequence[Hashable], new: Sequence[Hashable], i1: int, i2: int, j1: int, j2: int
) -> Iterator[CommonBlock]:
    """Line up what each has just once, then look between those."""
    once = {key for key, count in Counter(new[j1:j2]).items() if count == 1}
    once &= {key for key, count in Counter(old[i1:i2]).items() if count == 1}
    places = {new[j]: j for j in range(j1, j2) if new[j] in once}
    pairs = [(i, places[old[i]]) for i in range(i1, i2) if old[i] in once]
    i, j = i1, j1
    for index in increasing([pair[1] for pair in pairs]):
        next_i, next_j = pairs[index]
        yield from _matches(old, new, i, next_i, j, next_j, thorough=True)
        yield CommonBlock(next_i, next_j, 1)
        i, j = next_i + 1, next_j + 1
    yield from _matches(old, new, i, i2, j, j2, thorough=True)


def _joined(blocks: Iterator[CommonBlock]) -> list[CommonBlock]:
    """Without the empty ones, and neighbours as one."""
    found: list[CommonBlock] = []
    for block in blocks:
        if not block.size:
            continue
        last = found[-1] if found else None
        if last and last.old + last.size == block.old and last.new + last.size == block.new:
            found[-1] = CommonBlock(last.old, last.new, last.size + block.size)
        else:
            found.append(block)
    return found


def increasing(numbers: Sequence[int]) -> list[int]:
    """Return the indexes of a longest run of ever larger numbers."""
    if all(map(lt, numbers, numbers[1:])):
        return list(range(len(numbers)))
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, number in enumerate(numbers):
        place = len(tails) if not tails or number > tails[-1] else bisect_left(tails, number)
        before.append(ends[place - 1] if place else -1)
        if place == len(tails):
            tails.append(number)
            ends.append(index)
        else:
            tails[place], ends[place] = number, index
    chain: list[int] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(index)
        index = before[index]
    return chain[::-1]


def words_of(line: str) -> list[str]:
    """Return the words of a line, with the spaces and signs between them."""
    return _WORD.findall(line)
