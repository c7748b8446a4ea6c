"""A notebook as compact text, for agents and for terminals, within a budget of tokens.

The outline has one line per cell; `source` adds what is written, `full` what came out. A budget is
spent on the title first, then on what waits for somebody, on errors, on the lines of cells, on threads of
comments, on sources and on outputs. What is left out leaves a line that says how much, and how to get it.
The parts: `token_cost` what a text costs, `render_context` how things are called, `headline` the lines to orient
by, `error_text` and `error_hints` what went wrong, `output_summary` what came out, `comment_text` what was said
about it, `excerpt` long texts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from ...core.events import Output, Raised
from ...core.ids import ActorId, CellId, LogId
from ...core.notebook.comments import open_threads
from ...core.notebook.notebook import Cell, Notebook
from . import error_text
from .comment_text import thread_lines
from .error_text import did_not_run, run_lines
from .excerpt import QUARTERS, Passage, Purse, cost, cut, fit, lines_cost, tokens
from .output_summary import MARK, estimate, how, shown
from .render_context import (
    FAILED,
    FOLDED,
    Scene,
    folded_line,
    handle,
    header,
    outline,
    scene_of,
    short_ids,
    shown_outputs,
    title,
    waiting,
)

__all__ = ["VIEWS", "View", "handle", "render", "render_cells", "short_ids", "tokens"]

View: TypeAlias = Literal["outline", "source", "full"]
VIEWS: tuple[View, ...] = ("outline", "source", "full")
_HEADERS = 0.5
"""What part of a budget goes to lines of cells at most, where there is more to tell of them."""
_WAITING = 0.2
SOURCE_MARK = "  "
NUMBERED_MARK = "     "
"""Below a header that begins with a number."""
_LEAST_SHARE = 15 * QUARTERS
"""Nothing gets less: then fewer get something."""
_LEAST_ERROR = 30 * QUARTERS
_FIRST_ERROR = 75 * QUARTERS
_KEPT = 30 * QUARTERS
"""Put by for the line that tells of what is left out."""
_TIGHT = 400 * QUARTERS
"""Of so little, errors get all."""
_MORE = "read with a larger budget"
_MOST_HINTS = 10
_MOST_OUTPUTS = 20
_FIRST_OUTPUTS = 5
_COMMENTS = 0.3
"""What part of what is left goes to threads of comments at most."""


class CellPart(msgspec.Struct):
    """What is told of a cell."""

    header: list[str] = []
    source: list[str] = []
    outputs: dict[int, list[str]] = {}
    error: list[str] = []
    comments: list[str] = []


class BudgetRequest(msgspec.Struct, frozen=True):
    """Something that would like a share of what is left."""

    cell: CellId
    number: int
    size: int
    """About what it would cost in full."""
    lines: Callable[[int], list[str]]
    """What it says for no more than that."""


def render(
    log: LogId | None,
    notebook: Notebook,
    *,
    view: View = "outline",
    budget: int | None = None,
    cells: Sequence[CellId] | None = None,
    changed: Collection[CellId] | None = None,
    folder: str | None = None,
    numbered: bool = False,
    notes: Sequence[str] = (),
    reader: ActorId | None = None,
) -> str:
    """Return the notebook as text, or only these cells of it.

    `changed` are those that changed since the reader looked: of all cells these are shown, and
    of `cells` their sources come first. `notes` are told behind the title. A log of None is a
    file that is no notebook yet. What awaits `reader` comes first.
    """
    scene = scene_of(notebook, folder, reader)
    purse = Purse(budget)
    top = [title(log, scene, purse.left * 2 // 5)]
    purse.pay(top)
    live = list(notebook.live_cells)
    wanted = cells if cells is not None else changed
    shown = live if wanted is None else [cell for cell in live if cell.id in set(wanted)]
    numbers = {cell.id: number for number, cell in enumerate(live, 1)} if numbered else {}
    page = TextPage(scene, shown, purse, numbers)
    page.errors()
    below = [cell.id for cell in shown] if view != "outline" else []
    told = [*notes, *run_lines(scene), *waiting(scene, below), *did_not_run(scene)]
    top += (kept := _affordable(told, purse))
    page.leave_out(len(told) - len(kept), "{count} lines on what waits")
    page.headers(with_source=view == "outline", share=1 if view == "outline" else _HEADERS)
    if view != "outline":
        page.comments()
        page.sources(first=changed or ())
    if view == "full":
        page.outputs()
    return "\n".join([*top, *page.lines()]) + "\n"


def render_cells(notebook: Notebook, cells: Sequence[CellId], budget: int, *, with_outputs: bool = True) -> str:
    """Return these cells with how they are, what went wrong in them and what they showed."""
    purse = Purse(budget)
    found = [notebook.cells[id] for id in dict.fromkeys(cells) if id in notebook.cells]
    page = TextPage(scene_of(notebook), found, purse, {})
    page.errors()
    page.headers(with_source=not with_outputs)
    if with_outputs:
        page.outputs()
    lines = page.lines()
    return "\n".join(lines) + "\n" if lines else ""


def _affordable(lines: Sequence[str], purse: Purse) -> list[str]:
    """Those of the lines that together cost no more than their part."""
    room, kept = int(purse.left * _WAITING), list[str]()
    for line in lines:
        price = lines_cost([line])
        if price <= room and purse.pay([line]):
            room -= price
            kept.append(line)
    return kept


# ---- What each cell gets, until the budget is spent


class TextPage:
    """Cells, and what is told of them so far."""

    def __init__(self, scene: Scene, cells: Sequence[Cell], purse: Purse, numbers: Mapping[CellId, int]) -> None:
        self._scene, self._cells, self._purse, self._numbers = scene, cells, purse, numbers
        self._parts: dict[CellId, CellPart] = {}
        self._missing: list[str] = []
        self._kept = 0 if purse.is_unlimited else min(_KEPT, purse.left // 4)
        purse.left -= self._kept

    def errors(self) -> None:
        """The cells that failed, the first in full; as many as there is room for."""
        failed = [cell for cell in self._cells if cell.runs and cell.state in FAILED]
        left = self._purse.left
        room = left if len(failed) == len(self._cells) or left <= _TIGHT else left * 7 // 10
        for place, cell in enumerate(failed):
            share = max(room // (len(failed) - place), _LEAST_ERROR)
            most = share if place or len(failed) == 1 else max(room // 2, min(room, _FIRST_ERROR))
            if place and most > room:
                break
            # What helps takes a look at all cells: of many errors the first matter.
            room -= self._error(cell, min(most, room), with_hints=place < _MOST_HINTS)

    def _error(self, cell: Cell, most: int, *, with_hints: bool) -> int:
        """Tell of a cell that failed, and return what that cost."""
        before = self._purse.left
        line = cut(header(self._scene, cell, number=self._numbers.get(cell.id)), most // 2 - 1)
        found = error_text.block(self._scene, cell, most - cost(line) - 1, with_hints=with_hints)
        if line and found and self._purse.pay([line, *found]):
            self._parts[cell.id] = CellPart(header=[line], error=found)
        return before - self._purse.left

    def headers(self, *, with_source: bool, share: float = 1.0) -> None:
        """A line for each cell, or, where that is too much, for each that says something."""
        if self._purse.is_unlimited:
            excerpt = 60 if with_source else 0
            made = {
                cell.id: [header(self._scene, cell, number=self._numbers.get(cell.id), excerpt=excerpt)]
                for cell in self._cells
                if cell.id not in self._parts
            }
        else:
            most = int(self._purse.left * share)
            made = outline(self._scene, self._cells, self._parts, self._purse, most, with_source=with_source)
        self._parts |= {cell: CellPart(header=lines) for cell, lines in made.items()}
        untold = [cell for cell in self._cells if cell.id not in self._parts]
        if untold and not made:
            self._missing.append(folded_line(self._scene, untold))

    # ---- Comments, sources and outputs

    def comments(self) -> None:
        """What was said about the cells that have a line: threads that await the reader first."""
        told = {cell.id for cell in self._told()}
        notebook, reader = self._scene.notebook, self._scene.reader
        threads = [thread for thread in open_threads(notebook.comments, reader) if thread.cell in told]
        room, missing = int(self._purse.left * _COMMENTS), 0
        for place, thread in enumerate(threads):
            share = None if self._purse.is_unlimited else room // (len(threads) - place)
            lines = thread_lines(self._scene, thread, share)
            before = self._purse.left
            if lines and thread.cell is not None and self._purse.pay(lines):
                self._parts[thread.cell].comments += lines
                room -= before - self._purse.left
            else:
                missing += 1
        self.leave_out(missing, "{count} threads of comments")

    def sources(self, first: Collection[CellId] = ()) -> None:
        """What is written, of all cells or of those that are wanted most."""
        cells = [cell for cell in self._told() if cell.source]
        cells.sort(key=lambda cell: cell.id not in first)
        wishes = [BudgetRequest(cell.id, -1, len(cell.source), self._source(cell)) for cell in cells]
        self._share(wishes, 'sources of {count} cells: read(cells=[…], view="source")')

    def _source(self, cell: Cell) -> Callable[[int], list[str]]:
        rest = how(self._scene.source(cell))
        passage = Passage(head=cell.source)
        mark = NUMBERED_MARK if self._numbers else SOURCE_MARK
        return lambda most: fit(passage, most, mark, rest, as_is=True)

    def outputs(self) -> None:
        """What came out, the last first."""
        wishes = [wish for cell in reversed(list(self._told())) for wish in self._outputs(cell)]
        self._share(wishes, "{count} outputs: output(of=CELL)")

    def _outputs(self, cell: Cell) -> Iterator[BudgetRequest]:
        found = list(enumerate(shown_outputs(cell.execution))) if cell.runs else []
        has_error = bool(self._parts[cell.id].error)
        found = [(number, output) for number, output in found if not (has_error and isinstance(output, Raised))]
        if len(found) > _MOST_OUTPUTS and not self._purse.is_unlimited:
            first, last = found[_FIRST_OUTPUTS][0], found[_FIRST_OUTPUTS - _MOST_OUTPUTS - 1][0]
            yield self._between(cell, first, last)
            found = [*found[:_FIRST_OUTPUTS], *found[_FIRST_OUTPUTS - _MOST_OUTPUTS :]]
        for number, output in found:
            yield BudgetRequest(cell.id, number, estimate(output), self._output(cell, number, output))

    def _output(self, cell: Cell, number: int, output: Output) -> Callable[[int], list[str]]:
        named = self._scene.output(cell, number)
        return lambda most: shown(output, named, most)

    def _between(self, cell: Cell, first: int, last: int) -> BudgetRequest:
        """A line for the outputs in the middle of many."""
        seq = cell.execution.started_seq if cell.execution is not None else None
        rest = how(handle(self._scene.short(cell.id), seq, first, last=last))
        line = f"{MARK}[… {last - first + 1:,} outputs left out: {rest}]"
        return BudgetRequest(cell.id, first, len(line), lambda most: [line] if cost(line) + 1 <= most else [])

    def _told(self) -> Iterator[Cell]:
        """The cells that have a line of their own."""
        for cell in self._cells:
            part = self._parts.get(cell.id)
            if part is not None and not part.header[0].startswith(FOLDED):
                yield cell

    def _share(self, wishes: Sequence[BudgetRequest], left_out: str) -> None:
        """Give each wish an equal part of what is left; what small ones do not need goes to the larger ones."""
        most = len(wishes) if self._purse.is_unlimited else self._purse.left // _LEAST_SHARE
        taken = sorted(wishes[:most], key=lambda wish: wish.size)
        missing = len(wishes) - len(taken)
        for place, wish in enumerate(taken):
            lines = wish.lines(self._purse.left // (len(taken) - place))
            if lines and self._purse.pay(lines):
                self._put(wish, lines)
            elif wish.size:
                missing += 1
        self.leave_out(missing, left_out)

    def leave_out(self, count: int, told: str) -> None:
        """Note that so much found no room."""
        if count:
            self._missing.append(told.format(count=f"{count:,}"))

    def _put(self, wish: BudgetRequest, lines: list[str]) -> None:
        part = self._parts[wish.cell]
        if wish.number < 0:
            part.source = lines
        else:
            part.outputs = part.outputs | {wish.number: lines}

    # ---- Together

    def lines(self) -> list[str]:
        """All that is told, from top to bottom."""
        found: list[str] = []
        for cell in self._cells:
            part = self._parts.get(cell.id)
            if part is not None:
                outputs = [line for number in sorted(part.outputs) for line in part.outputs[number]]
                found += [*part.header, *part.source, *outputs, *part.error, *part.comments]
        return [*found, *self._left_out()]

    def _left_out(self) -> list[str]:
        """A line for all that found no room, of what was put by for that."""
        self._purse.left, self._kept = self._purse.left + self._kept, 0
        told = f"[left out: {'; '.join(self._missing)}]"
        for line in (told, *self._missing, f"[left out: {_MORE}]"):
            if self._missing and self._purse.pay([line]):
                return [line]
        return []
