"""Something that a static check found."""

from __future__ import annotations

import msgspec

from ....core.sheet.sheet import Sheet, SheetCell


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A fault, where it is, and which check found it."""

    check: str
    message: str
    cell: SheetCell | None = None
    """None: it is of the notebook as a whole."""
    line: int = 1
    """Of the cell, from 1."""


def label(sheet: Sheet, cell: SheetCell) -> str:
    """Return what a cell is called: its name, else its number."""
    return cell.name or f"cell {sheet.cells.index(cell) + 1}"
