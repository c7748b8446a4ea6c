"""Who asks, and what the rules need to know of the world to answer."""

from __future__ import annotations

import msgspec

from ..errors import NotFound, Refused
from ..ids import ActorId, CellId, TokenId, nearest
from ..notebook.notebook import Cell, Notebook
from ..text import Edit


class SubmissionContext(msgspec.Struct, kw_only=True):
    """One submission on its way in."""

    actor: ActorId
    on_behalf_of: ActorId | None = None
    token: TokenId | None = None
    """With which they came."""
    at: str
    seq: int
    """Where the log is when the submission comes in: no edit can be against a later number."""
    epoch: int | None = None
    """Of the lease that a claim has just been given."""
    bases: dict[CellId, int] = {}
    """The number against which this submission edits a cell; there is one for each."""
    earlier: dict[tuple[CellId, int], list[Edit]] = {}
    """The edits of a cell that came after a number, as the sender's next edit will meet them."""


def known_cell(now: Notebook, cell: CellId) -> Cell:
    """The cell of that id, also a removed one, or NotFound with the nearest ids. What was executed without one is none."""
    found = found_cell(now, cell)
    if found.scratch:
        raise Refused(f"{cell!r} is code that was executed without a cell; insert a cell with it instead.")
    return found


def found_cell(now: Notebook, cell: CellId) -> Cell:
    """The same, or code that was executed without a cell."""
    found = now.cells.get(cell)
    if found is None:
        live = [each.id for each in now.live_cells]
        close = nearest(cell, live) or live[:3]
        hint = f" Nearest: {', '.join(close)}." if close else " It has no cells yet."
        raise NotFound(f"There is no cell {cell!r} in notebook {now.name!r}.{hint}", nearest=close)
    return found


def running_cell(now: Notebook, cell: CellId) -> Cell:
    """A cell that is there, or code without one: what a runtime may run."""
    found = found_cell(now, cell)
    return found if found.scratch else live_cell(now, cell)


def live_cell(now: Notebook, cell: CellId) -> Cell:
    """The same, but a removed cell is not there either."""
    found = known_cell(now, cell)
    if found.removed:
        raise NotFound(f"Cell {cell!r} of notebook {now.name!r} was removed. Add it again to bring it back.")
    return found
