"""In which order the cells of two sides stand after a merge.

Cells that neither side moved keep their order: they are the warp. Between two of them goes
what a side added or moved there. What both put between the same two is kept from both, in
an order that depends on the cells and not on who merges whom. A cell that both moved goes
to one place: the one further up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from ..sheet.sheet import Sheet, SheetCell
from .align import Alignment, align, is_derived
from .line_diff import increasing


class Three(NamedTuple):
    """One cell as the base and the two sides have it."""

    base: SheetCell | None
    ours: SheetCell | None
    theirs: SheetCell | None


Gaps: TypeAlias = dict[int, list[int]]
"""What a side puts after a cell of the warp (-1: at the top). A cell is a number: its place in the list of threes."""


class _Side(NamedTuple):
    """One side: the number of each of its cells, and those whose place it says."""

    numbers: list[int]
    places: set[int]


def weave(base: Sheet, ours: Sheet, theirs: Sheet, goes: Callable[[Three], bool]) -> list[Three]:
    """Return the cells of the merged notebook in order; `goes` says which were removed for good."""
    left, right = align(base, ours), align(base, theirs)
    to_ours = {i: ours.cells[j] for i, j in left.pairs}
    to_theirs = {i: theirs.cells[j] for i, j in right.pairs}
    threes = [Three(cell, to_ours.get(i), to_theirs.get(i)) for i, cell in enumerate(base.cells)]
    gone = {number for number, three in enumerate(threes) if goes(three)}
    one = _side(left, ours, threes, lambda cell: Three(None, cell, None))
    other = _side(right, theirs, threes, lambda cell: Three(None, None, cell))
    warp = _warp(threes[: len(base.cells)], gone, one, other)
    gaps_ours, gaps_theirs = _gaps(one, warp, gone), _gaps(other, warp, gone)
    _join_added(threes, gaps_ours, gaps_theirs)
    _one_place_each(gaps_ours, gaps_theirs)
    return [threes[number] for number in _woven(warp, gaps_ours, gaps_theirs, threes)]


def _side(alignment: Alignment, sheet: Sheet, threes: list[Three], added: Callable[[SheetCell], Three]) -> _Side:
    """Number the cells of a side: those of the base as there, the added ones after all others."""
    numbers = [-1] * len(sheet.cells)
    for i, j in alignment.pairs:
        numbers[j] = i
    for j in alignment.added:
        numbers[j] = len(threes)
        threes.append(added(sheet.cells[j]))
    return _Side(numbers, {numbers[j] for j in (*alignment.added, *alignment.moved)})


def _warp(threes: Sequence[Three], gone: set[int], ours: _Side, theirs: _Side) -> list[int]:
    """What neither side removed or moved. What only one side has left is placed by that side."""
    warp: list[int] = []
    for number, three in enumerate(threes):
        if number in gone:
            continue
        if three.ours is None:
            theirs.places.add(number)
        elif three.theirs is None:
            ours.places.add(number)
        elif number not in ours.places and number not in theirs.places:
            warp.append(number)
    return warp


def _gaps(side: _Side, warp: list[int], gone: set[int]) -> Gaps:
    rank = {number: index for index, number in enumerate(warp)}
    gaps: Gaps = {}
    gap = -1
    for number in side.numbers:
        if number in rank:
            gap = rank[number]
        elif number in side.places and number not in gone:
            gaps.setdefault(gap, []).append(number)
    return gaps


def _join_added(threes: list[Three], gaps_ours: Gaps, gaps_theirs: Gaps) -> None:
    """Make one of a cell that both added: the same id, or the same content in the same place."""
    ours, theirs = _added(threes, gaps_ours), _added(threes, gaps_theirs)
    joined = _of_same_id(ours, theirs)
    taken = set(joined.values())
    waiting: dict[tuple[int, str, str], deque[int]] = {}
    for gap, number, cell in ours:
        if number not in taken:
            waiting.setdefault((gap, cell.kind, cell.source), deque()).append(number)
    for gap, number, cell in theirs:
        found = waiting.get((gap, cell.kind, cell.source))
        if found and number not in joined:
            joined[number] = found.popleft()
    for number, partner in joined.items():
        threes[partner] = Three(None, threes[partner].ours, threes[number].theirs)
    for gap, numbers in gaps_theirs.items():
        gaps_theirs[gap] = [joined.get(number, number) for number in numbers]


def _added(threes: list[Three], gaps: Gaps) -> list[tuple[int, int, SheetCell]]:
    """Gap, number and cell of each that the base does not have."""
    found = ((gap, number, threes[number]) for gap, numbers in gaps.items() for number in numbers)
    return [
        (gap, number, cell)
        for gap, number, three in found
        if three.base is None and (cell := three.ours or three.theirs) is not None
    ]


def _of_same_id(ours: list[tuple[int, int, SheetCell]], theirs: list[tuple[int, int, SheetCell]]) -> dict[int, int]:
    """Numbers of theirs to numbers of ours.

    An id that was derived from the content says that two cells are alike, not that they are
    one: in different places they stay two.
    """
    places = {cell.id: (gap, number) for gap, number, cell in ours}
    joined: dict[int, int] = {}
    for gap, number, cell in theirs:
        if cell.id in places:
            other_gap, other = places[cell.id]
            if gap == other_gap or not is_derived((cell.kind, cell.source), cell.id):
                joined[number] = other
    return joined


def _one_place_each(gaps_ours: Gaps, gaps_theirs: Gaps) -> None:
    """Let a cell that both sides placed stand only where it is further up."""
    ours = {number: gap for gap, numbers in gaps_ours.items() for number in numbers}
    theirs = {number: gap for gap, numbers in gaps_theirs.items() for number in numbers}
    for number in ours.keys() & theirs.keys():
        if ours[number] < theirs[number]:
            gaps_theirs[theirs[number]].remove(number)
        elif theirs[number] < ours[number]:
            gaps_ours[ours[number]].remove(number)


def _woven(warp: list[int], gaps_ours: Gaps, gaps_theirs: Gaps, threes: list[Three]) -> Iterator[int]:
    for gap in range(-1, len(warp)):
        if gap >= 0:
            yield warp[gap]
        ours, theirs = gaps_ours.get(gap, []), gaps_theirs.get(gap, [])
        if ours and theirs:
            # By what the cells say, so that it does not matter which side is called ours.
            told = (
                [_told(threes[number].ours) for number in ours],
                [_told(threes[number].theirs) for number in theirs],
            )
            yield from _both(ours, theirs) if told[0] <= told[1] else _both(theirs, ours)
        else:
            yield from ours or theirs


def _told(cell: SheetCell | None) -> tuple[str, ...]:
    return (cell.source, cell.kind, cell.id) if cell is not None else ()


def _both(first: list[int], second: list[int]) -> Iterator[int]:
    """Two lists as one: what both have in one order stays in it, and between that the first comes first."""
    place = {number: index for index, number in enumerate(second)}
    shared = [number for number in first if number in place]
    stays = [shared[index] for index in increasing([place[number] for number in shared])]
    seen = set(first)
    i = j = 0
    for number in stays:
        yield from first[i : (i := first.index(number, i))]
        yield from (each for each in second[j : place[number]] if each not in seen)
        yield number
        i, j = i + 1, place[number] + 1
    yield from first[i:]
    yield from (each for each in second[j:] if each not in seen)
