"""Which cells are alike though neither id nor content says so: an edited cell of a file without ids.

Two texts are as alike as the words that they share. Not every pair is looked at: only
those near each other and those that share a line that is rare, so the cost stays linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

Told: TypeAlias = tuple[str, str]
"""A cell by kind and source."""
ALIKE = 0.5
"""Two cells in one place that share at least this part of their words are one cell, edited."""
ALIKE_ALONE = 0.3
"""The same, where just one cell can be the other."""
ALIKE_ELSEWHERE = 0.6
"""The same, for a cell that also moved."""
_ALL_PAIRS = 400
_NEAR = 3
_RARE = 3
_SHORTEST_LINE = 5
_LONG = 20_000
_WORDS = re.compile(r"\w+")


class _Likeness(NamedTuple):
    old: int
    new: int
    score: float


def in_order(old: Sequence[Told], new: Sequence[Told]) -> list[tuple[int, int]]:
    """Return pairs that are alike and stand in the same order in both."""
    least = ALIKE_ALONE if len(old) == len(new) == 1 else ALIKE
    scored = _scored(old, new, _near_pairs(old, new), least)
    return [(one.old, one.new) for one in _heaviest_chain(scored, len(new))]


def anywhere(old: Sequence[Told], new: Sequence[Told]) -> list[tuple[int, int]]:
    """Return pairs that are much alike, wherever they stand."""
    scored = _scored(old, new, _sharing_a_rare_line(old, new), ALIKE_ELSEWHERE)
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    pairs: list[tuple[int, int]] = []
    for one in sorted(scored, key=lambda one: (-one.score, one.old, one.new)):
        if one.old not in taken_old and one.new not in taken_new:
            taken_old.add(one.old)
            taken_new.add(one.new)
            pairs.append((one.old, one.new))
    return pairs


def _near_pairs(old: Sequence[Told], new: Sequence[Told]) -> Iterable[tuple[int, int]]:
    if len(old) * len(new) <= _ALL_PAIRS:
        return ((i, j) for i in range(len(old)) for j in range(len(new)))
    return sorted({*_sharing_a_rare_line(old, new), *_beside_each_other(len(old), len(new))})


def _beside_each_other(old: int, new: int) -> Iterator[tuple[int, int]]:
    for i in range(old):
        place = i * new // old
        for j in range(max(0, place - _NEAR), min(new, place + _NEAR + 1)):
            yield i, j


def _sharing_a_rare_line(old: Sequence[Told], new: Sequence[Told]) -> Iterator[tuple[int, int]]:
    places: dict[str, list[int]] = {}
    for j, (_, source) in enumerate(new):
        for line in _telling_lines(source):
            places.setdefault(line, []).append(j)
    for i, (_, source) in enumerate(old):
        found = {j for line in _telling_lines(source) for j in places.get(line, ())[: _RARE + 1]}
        if len(found) <= 4 * _RARE:
            yield from ((i, j) for j in found)


def _telling_lines(source: str) -> set[str]:
    lines = {line.strip() for line in source.split("\n")}
    return {line for line in lines if len(line) >= _SHORTEST_LINE}


def _scored(
    old: Sequence[Told], new: Sequence[Told], pairs: Iterable[tuple[int, int]], least: float
) -> list[_Likeness]:
    old_words: dict[int, frozenset[str]] = {}
    new_words: dict[int, frozenset[str]] = {}
    scored: list[_Likeness] = []
    for i, j in pairs:
        if old[i][0] != new[j][0]:
            # Of another kind: only a cell whose text stayed is the same one.
            if old[i][1] == new[j][1] and old[i][1].strip():
                scored.append(_Likeness(i, j, 1.0))
            continue
        if i not in old_words:
            old_words[i] = _words(old[i][1])
        if j not in new_words:
            new_words[j] = _words(new[j][1])
        score = _likeness(old_words[i], new_words[j])
        if score >= least:
            scored.append(_Likeness(i, j, score))
    return scored


def _words(source: str) -> frozenset[str]:
    return frozenset(source.split("\n") if len(source) > _LONG else _WORDS.findall(source))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    total = len(one) + len(other)
    return 2 * len(one & other) / total if total else 0.0


def _heaviest_chain(scored: Sequence[_Likeness], width: int) -> list[_Likeness]:
    """Of the pairs, those in the same order in both whose likeness adds up to most."""
    best = _BestBefore(width)
    chains: list[tuple[float, int]] = []  # weight up to here, and the pair before
    # Larger places first: of two pairs of one cell, neither follows the other.
    order = sorted(scored, key=lambda one: (one.old, -one.new))
    for index, one in enumerate(order):
        weight, before = best.before(one.new)
        chains.append((weight + one.score, before))
        best.put(one.new, weight + one.score, index)
    index = best.before(width)[1]
    found: list[_Likeness] = []
    while index >= 0:
        found.append(order[index])
        index = chains[index][1]
    return found[::-1]


class _BestBefore:
    """The heaviest chain that ends before a place: a Fenwick tree of maxima."""

    def __init__(self, width: int) -> None:
        self._best: list[tuple[float, int]] = [(0.0, -1)] * (width + 1)

    def before(self, place: int) -> tuple[float, int]:
        found = (0.0, -1)
        while place > 0:
            found = max(found, self._best[place], key=lambda pair: pair[0])
            place -= place & -place
        return found

    def put(self, place: int, weight: float, index: int) -> None:
        place += 1
        while place < len(self._best):
            if weight > self._best[place][0]:
                self._best[place] = (weight, index)
            place += place & -place
