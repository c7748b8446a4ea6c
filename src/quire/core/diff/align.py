"""Which cell of one notebook is which of another.

By id first, since an id stays when everything else changes; then what has the same kind
and source; then what is alike. A cell that is found elsewhere than the cells around it
has moved. Where ids were derived from the content (a file that has none), they say no
more than the content does: `carry` goes by content alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from ..ids import CellId
from ..sheet.sheet import Sheet, SheetCell, derived_ids, with_ids
from .line_diff import increasing, matches
from .similarity import Told, anywhere, in_order


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
