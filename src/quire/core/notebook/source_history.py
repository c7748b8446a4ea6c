"""What a cell said before, told from the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import events as e
from ..ids import CellId
from ..rules.cell_rules import changes_in
from ..text import apply

CHANGING = ("cell_added", "source_edited", "file_merged", "proposal_accepted")
"""The types of the events that change what cells say."""


class Sources:
    """Follows what one cell says, entry by entry. Those of other types may be left out."""

    def __init__(self, cell: CellId) -> None:
        self._cell = cell
        self._now = ""

    def read(self, entries: Iterable[e.Entry]) -> Iterator[str]:
        """Yield each source that the cell had."""
        for entry in entries:
            for change in changes_in(entry.event):
                match change:
                    case e.CellAdded() if change.cell == self._cell:
                        self._now = change.source
                    case e.SourceEdited() if change.cell == self._cell:
                        self._now = apply(self._now, change.edit if change.applied is None else change.applied)
                    case _:
                        continue
                yield self._now
