"""Which cells get a line of their own when not all of them can: those that say something, and of the others a count."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby

from ...core.ids import CellId
from ...core.notebook.notebook import Cell
from .headline import folded_line, header
from .render_context import Scene
from .token_cost import Purse

_WIDE, _NARROW = 60, 24
_QUIET = ("ok", "never_run")
_LEAST_FOLDED = 3

Lines = dict[CellId, list[str]]
"""What stands in the place of a cell: its line, or, in the place of the first of many, theirs."""


def outline(
    scene: Scene, cells: Sequence[Cell], shown: Collection[CellId], purse: Purse, most: int, *, with_source: bool
) -> Lines:
    """Lines for the cells that are not `shown` yet, for no more than `most`: all of them, or with quiet ones folded."""
    for ways in _ways(scene, with_source):
        made = _made(scene, cells, shown, *ways)
        price = sum(sum(map(len, lines)) for lines in made.values())
        # A line costs at least its characters: most ways are out without a closer look.
        if price <= most and purse.pay([line for lines in made.values() for line in lines]):
            return made
    return {}


Told = Callable[[Cell], str]
Folds = Callable[[Cell], bool]


def _ways(scene: Scene, with_source: bool) -> Iterator[tuple[Told, Folds]]:
    """How to tell a cell, and which cells to fold, from the most to the least."""

    def is_quiet(cell: Cell) -> bool:
        return cell.id not in scene.stale and (not cell.runs or cell.state in _QUIET)

    def is_dull(cell: Cell) -> bool:
        is_heading = cell.kind == "markdown" and cell.source.startswith("#")
        return is_quiet(cell) and cell.name is None and not is_heading

    def told(wide: int, narrow: int) -> Told:
        return lambda cell: header(scene, cell, excerpt=narrow if is_quiet(cell) else wide)

    wide, narrow = (_WIDE, _NARROW) if with_source else (0, 0)
    yield told(wide, wide), lambda cell: False
    yield told(wide, narrow), lambda cell: False
    yield told(wide, narrow), is_dull
    yield told(narrow, 0), is_quiet
    yield told(0, 0), is_quiet
    yield told(0, 0), lambda cell: True


def _made(scene: Scene, cells: Sequence[Cell], shown: Collection[CellId], told: Told, folds: Folds) -> Lines:
    made: Lines = {}
    for (is_shown, is_folded), group in groupby(cells, lambda cell: (cell.id in shown, folds(cell))):
        stretch = list(group)
        if is_shown:
            continue
        if is_folded and len(stretch) >= _LEAST_FOLDED:
            made[stretch[0].id] = [folded_line(scene, stretch)]
        else:
            made |= {cell.id: [told(cell)] for cell in stretch}
    return made
