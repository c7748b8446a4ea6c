"""A notebook as compact text, for agents and for terminals, within a budget of tokens.

The outline has one line per cell; `source` adds what is written, `full` what came out. A budget is
spent on the title first, then on what waits for somebody, on errors, on the lines of cells, on threads of
comments, on sources and on outputs. What is left out leaves a line that says how much, and how to get it.
The parts: `token_cost` what a text costs, `render_context` how things are called, `headline` the lines to orient
by, `outline` which cells get one, `error_text` and `error_hints` what went wrong, `output_summary` what came
out, `comment_text` what was said about it, `excerpt` and `repeated_lines` long texts, `page_layout` who gets how much.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

from ...core.ids import ActorId, CellId, LogId
from ...core.notebook.notebook import Notebook
from .error_text import did_not_run, run_lines
from .headline import title, waiting
from .page_layout import TextPage
from .render_context import handle, scene_of, short_ids
from .token_cost import Purse, lines_cost, tokens

__all__ = ["VIEWS", "View", "handle", "render", "render_cells", "short_ids", "tokens"]

View: TypeAlias = Literal["outline", "source", "full"]
VIEWS: tuple[View, ...] = ("outline", "source", "full")
_HEADERS = 0.5
"""What part of a budget goes to lines of cells at most, where there is more to tell of them."""
_WAITING = 0.2


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
