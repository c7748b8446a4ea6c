"""Which cell somebody means: by its id or the beginning of it, its name, or its number as people count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .errors import NotFound
from .ids import CellId, nearest, resolve


class Named(Protocol):
    """A cell of a notebook or of a sheet."""

    @property
    def id(self) -> CellId:
        """Its id."""
        ...

    @property
    def name(self) -> str | None:
        """Its name, if it has one."""
        ...


def find_cell(cells: Sequence[Named], wanted: str) -> int:
    """Return the place of the one cell that is meant, from 0."""
    named = [index for index, cell in enumerate(cells) if cell.name == wanted]
    if len(named) == 1:
        return named[0]
    ids = [cell.id for cell in cells]
    if wanted not in ids and wanted.isdecimal() and 0 < int(wanted) <= len(cells):
        return int(wanted) - 1
    try:
        return ids.index(resolve(wanted, ids, "cell"))
    except NotFound as missing:
        close = nearest(wanted, [cell.name for cell in cells if cell.name])
        told = f" Nearest by name: {', '.join(close)}." if close else ""
        raise NotFound(f"{missing}{told} The notebook has {len(cells)} cells.") from None
