"""Which cell somebody means: by its id or the beginning of it, its name, or its number as people count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..errors import BadInput, NotFound
from ..ids import CellId, nearest


class NamedCell(Protocol):
    """A cell of a notebook or of a sheet."""

    @property
    def id(self) -> CellId:
        """Its id."""
        ...

    @property
    def name(self) -> str | None:
        """Its name, if it has one."""
        ...


def find_cell(cells: Sequence[NamedCell], wanted: str) -> int:
    """Return the place, from 0, of the cell of that id, name, number (from 1) or beginning of an id, in this order."""
    known = list(enumerate(cells))
    ways = (
        [index for index, cell in known if cell.id == wanted],
        [index for index, cell in known if cell.name == wanted],
        [index for index, _ in known if str(index + 1) == wanted],
        [index for index, cell in known if wanted and cell.id.startswith(wanted)],
    )
    matching = next((way for way in ways if way), ways[0])
    if len(matching) == 1:
        return matching[0]
    if matching:
        shown = ", ".join(f"{index + 1} ({cells[index].id})" for index in matching[:5])
        raise BadInput(f"{wanted!r} names {len(matching)} cells: {shown}. Use the number.")
    close = nearest(wanted, [text for cell in cells for text in (cell.id, cell.name) if text])
    hint = f"Nearest: {', '.join(close)}." if close else f"The cells have the numbers 1 to {len(cells)}."
    raise NotFound(f"There is no cell {wanted!r}. {hint}", nearest=close)
