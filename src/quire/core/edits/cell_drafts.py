"""The cells of a notebook on their way through a batch of edits: what they will say, and where they will stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from .. import events as e
from ..ids import CellId, check_name
from ..notebook.notebook import Cell
from ..text import source_hash
from .edit_errors import contradiction

TOP, END = "top", "end"
"""Where something goes that goes after no cell in particular."""


class CellDraft(msgspec.Struct, kw_only=True):
    """A cell as a batch makes it."""

    id: CellId
    was: Cell | None
    source: str
    name: str | None
    tags: tuple[str, ...]
    kind: e.CellKind
    by: int = 0
    """The edit that wrote its source, or made code of it."""
    named_by: int = 0

    @property
    def is_changed(self) -> bool:
        """Whether it says, or is, something else than before."""
        return self.was is None or (self.source, self.kind) != (self.was.source, self.was.kind)

    def differences(self) -> Iterator[e.CellChange]:
        """What makes the cell that is there into this one."""
        was = self.was
        if was is None:
            return
        if self.kind != was.kind:
            yield e.CellKindChanged(cell=self.id, kind=self.kind)
        if self.name != was.name:
            yield e.CellNamed(cell=self.id, name=self.name)
        if self.tags != was.tags:
            yield e.CellTagged(cell=self.id, tags=self.tags)
        if self.source != was.source:
            yield e.SourceEdited(cell=self.id, text=self.source, base_hash=source_hash(was.source))


def draft_of(cell: Cell) -> CellDraft:
    """A cell as it is."""
    return CellDraft(id=cell.id, was=cell, source=cell.source, name=cell.name, tags=cell.tags, kind=cell.kind)


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags that a cell can have, each once."""
    for tag in tags:
        check_name(tag, "A tag")
    return tuple(dict.fromkeys(tags))


class Places:
    """The order of cells. What goes to one place stands there in the order in which it came."""

    def __init__(self, cells: Iterable[CellId]) -> None:
        self._order = list(cells)
        self._followers: dict[CellId | None, CellId] = {}
        """The last cell that was put after a cell, or to the top: the next one goes behind that."""

    def add(self, cell: CellId, after: CellId | str) -> CellId | None:
        """Give a cell its place after another, at the top or at the end, and return the one before it."""
        if after == END:
            behind = self._order[-1] if self._order else None
        else:
            place = behind = None if after == TOP else CellId(after)
            while behind in self._followers:
                behind = self._followers[behind]
            self._followers[place] = cell
        # A cell that could not be made has no place; nothing comes of such a batch.
        self._order.insert(self._order.index(behind) + 1 if behind is not None and behind in self._order else 0, cell)
        return behind

    def take_out(self, cell: CellId) -> None:
        """A cell is about to go elsewhere; what was put after it stays."""
        self._followers.pop(cell, None)
        self._order.remove(cell)


class Claims:
    """Which edit is the one that says something of a cell: two of them would contradict each other."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[CellId, str], int] = {}

    def claim(self, number: int, cell: CellId, what: str, told: str) -> None:
        """Say `what` of a cell, as the only one."""
        before = self._numbers.setdefault((cell, what), number)
        if before != number:
            raise contradiction(before, number, f"both {told} cell {cell!r}")

    def note(self, number: int, cell: CellId, what: str) -> None:
        """Say `what` of a cell, as one of several."""
        self._numbers[cell, what] = number

    def keep_clear(self, number: int, cell: CellId, what: str, told: str) -> None:
        """Do what cannot be done where anybody says `what` of a cell."""
        before = self._numbers.get((cell, what))
        if before is not None:
            raise contradiction(before, number, told)
