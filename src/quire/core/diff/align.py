"""Which cell of one notebook is which of another.

By id first, since an id stays when everything else changes; then what has the same kind
and source; then what is alike. A cell that is found elsewhere than the cells around it
has moved. Where ids were derived from the content (a file that has none), they say no
more than the content does: `carry` goes by content alone.

Cells are also alike where neither id nor content says so: an edited cell of a file without ids. Two texts are as alike as
the words that they share. Not every pair is looked at: only those near each other and those that share a line that is
rare, so the cost stays linear.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import msgspec

from ..ids import CellId
from ..sheet.sheet import Sheet, SheetCell, derived_ids, with_ids
from .line_diff import increasing, matches


class Alignment(NamedTuple):
    """Which cells are which; all are named by their index."""

    pairs: list[tuple[int, int]]
    """Old and new index of each cell that both have, in the order of the new notebook."""
    removed: list[int]
    added: list[int]
    moved: frozenset[int]
    """New indexes of cells that both have, in another order than the rest."""


def align(old: Sheet, new: Sheet, *, by_id: bool = True) -> Alignment:
    """Find out which cells of two notebooks are one; without `by_id`, by content alone."""
    matching = _CellMatcher(old.cells, new.cells)
    if by_id:
        matching.by_id()
    if matching.open:
        matching.by_content()
    if matching.open:
        matching.by_likeness()
    return matching.result()


def carry(old: Sheet, new: Sheet) -> Sheet:
    """Return `new` with the ids that its cells had in `old` (rule 13)."""
    cells = list(new.cells)
    carried: set[CellId] = set()
    for i, j in align(old, new, by_id=False).pairs:
        carried.add(old.cells[i].id)
        cells[j] = msgspec.structs.replace(cells[j], id=old.cells[i].id)
    for j, cell in enumerate(new.cells):
        if cells[j] is cell and cell.id in carried:
            cells[j] = msgspec.structs.replace(cell, id=CellId(""))
    return msgspec.structs.replace(new, cells=with_ids(cells))


class _CellMatcher:
    """Pairs of cells as they are found."""

    def __init__(self, old: Sequence[SheetCell], new: Sequence[SheetCell]) -> None:
        self._old, self._new = old, new
        self._to_new: list[int] = [-1] * len(old)
        self._to_old: list[int] = [-1] * len(new)
        self._found = 0
        self._ordered: tuple[int, list[tuple[int, int]]] | None = None

    @property
    def open(self) -> bool:
        """Whether both still have a cell that is nowhere in the other."""
        return self._found < min(len(self._old), len(self._new))

    def by_id(self) -> None:
        """Pair what has the same id."""
        copies = _derived_copies(self._old) | _derived_copies(self._new)
        places = {cell.id: i for i, cell in enumerate(self._old)}
        for j, cell in enumerate(self._new):
            i = places.get(cell.id)
            if i is None or (cell.id in copies and self._told_old(i) == self._told_new(j)):
                continue
            self._pair(i, j)

    def by_content(self) -> None:
        """Pair what has the same kind and source: first between neighbours, then wherever it is."""
        for old, new in self._gaps():
            for block in matches([self._told_old(i) for i in old], [self._told_new(j) for j in new]):
                for step in range(block.size):
                    self._pair(old[block.old + step], new[block.new + step])
        waiting: dict[Told, deque[int]] = {}
        for i in self._open_old():
            waiting.setdefault(self._told_old(i), deque()).append(i)
        for j in self._open_new():
            if places := waiting.get(self._told_new(j)):
                self._pair(places.popleft(), j)

    def by_likeness(self) -> None:
        """Pair what is alike: first between neighbours, then wherever it is."""
        for old, new in self._gaps():
            for i, j in in_order([self._told_old(i) for i in old], [self._told_new(j) for j in new]):
                self._pair(old[i], new[j])
        old, new = list(self._open_old()), list(self._open_new())
        if old and new:
            for i, j in anywhere([self._told_old(i) for i in old], [self._told_new(j) for j in new]):
                self._pair(old[i], new[j])

    def result(self) -> Alignment:
        """What was found."""
        pairs = [(i, j) for j, i in enumerate(self._to_old) if i >= 0]
        stays = {j for _, j in self._in_order()}
        moved = frozenset(j for _, j in pairs if j not in stays)
        return Alignment(pairs, list(self._open_old()), list(self._open_new()), moved)

    def _pair(self, i: int, j: int) -> None:
        self._to_new[i], self._to_old[j] = j, i
        self._found += 1

    def _in_order(self) -> list[tuple[int, int]]:
        """The most pairs that are in the same order in both. Asked for again, it is only found anew after a new pair."""
        if self._ordered is None or self._ordered[0] != self._found:
            pairs = [(i, j) for j, i in enumerate(self._to_old) if i >= 0]
            self._ordered = self._found, [pairs[index] for index in increasing([i for i, _ in pairs])]
        return self._ordered[1]

    def _gaps(self) -> Iterator[tuple[list[int], list[int]]]:
        """What is still open, old and new, between cells that are in the same order in both."""
        for (i1, j1), (i2, j2) in pairwise([(-1, -1), *self._in_order(), (len(self._old), len(self._new))]):
            if i2 - i1 > 1 and j2 - j1 > 1:
                old = [i for i in range(i1 + 1, i2) if self._to_new[i] < 0]
                new = [j for j in range(j1 + 1, j2) if self._to_old[j] < 0]
                if old and new:
                    yield old, new

    def _open_old(self) -> Iterator[int]:
        return (i for i, j in enumerate(self._to_new) if j < 0)

    def _open_new(self) -> Iterator[int]:
        return (j for j, i in enumerate(self._to_old) if i < 0)

    def _told_old(self, i: int) -> Told:
        return self._old[i].kind, self._old[i].source

    def _told_new(self, j: int) -> Told:
        return self._new[j].kind, self._new[j].source


def _derived_copies(cells: Sequence[SheetCell]) -> set[CellId]:
    """Ids of equal cells that only say which of them comes first.

    Such an id goes to another cell as soon as a further copy is put above. (One that stays
    while the text changes is an id like any other.)
    """
    groups: dict[Told, list[CellId]] = {}
    for cell in cells:
        groups.setdefault((cell.kind, cell.source), []).append(cell.id)
    found: set[CellId] = set()
    for told, ids in groups.items():
        if len(ids) > 1 and any(is_derived(told, id) for id in ids[:2]):
            found.update({*derived_ids([told] * len(ids))}.intersection(ids))
    return found


def is_derived(told: Told, id: CellId) -> bool:
    """Whether an id is the one that a cell of this kind and source gets where the file has none."""
    return id == next(derived_ids([told]))


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
