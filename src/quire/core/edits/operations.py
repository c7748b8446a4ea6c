"""What a batch of edits can ask for: seven operations on the cells of a notebook.

`edit_plan` turns them into events. Whoever sends them, agent or program, has read the notebook
at some time: a hash names the source that was read. The JSON schemas that agents see are
made from these, and agents pay for each word: keep the docstrings short.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from .. import events as e
from ..errors import BadInput
from ..ids import CellId, check_name
from ..notebook.logbook_record import StepMark, as_metadata
from ..notebook.notebook import Cell
from ..text import source_hash
from .edit_errors import contradiction

MOST_EDITS = 200
MOST_SOURCE = 1_000_000
"""Characters of one cell. More is data, and belongs into a file."""
MOST_BATCH = 4_000_000
"""Characters of all cells of a batch."""

CellName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200, description="Id, name or number.")]
Hash: TypeAlias = Annotated[str, Meta(pattern="^#?[0-9a-f]{6,64}$", description="#hash of the source as read.")]
"""The beginning of the hash of the source that was read, as `read` shows it."""
Kind: TypeAlias = Literal["code", "markdown", "sql", "raw"]


class EditOperation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One operation of a batch."""


class Replace(EditOperation, frozen=True, kw_only=True, tag_field="op", tag="replace"):
    """A cell gets another source."""

    cell: CellName
    base: Hash
    source: str


class Patch(EditOperation, frozen=True, kw_only=True, tag_field="op", tag="patch"):
    """Text that stands once in a cell is replaced."""

    cell: CellName
    old: Annotated[str, Meta(min_length=1)]
    new: str
    base: Hash | None = None


class Insert(EditOperation, frozen=True, kw_only=True, tag_field="op", tag="insert"):
    """A new cell. `after` a cell (also one this batch inserts, by its name), `top` or `end`."""

    after: CellName
    source: str
    kind: Kind = "code"
    name: str | None = None
    tags: tuple[str, ...] = ()


class Delete(EditOperation, frozen=True, kw_only=True, tag_field="op", tag="delete"):
    """A cell goes."""

    cell: CellName
    base: Hash


class Move(EditOperation, frozen=True, kw_only=True, tag_field="op", tag="move"):
    """A cell goes elsewhere: `after` a cell, `top` or `end`."""

    cell: CellName
    after: CellName


class Label(EditOperation, frozen=True, kw_only=True, tag_field="op", tag="tag"):
    """A cell gets and loses tags, or gets another name or kind."""

    cell: CellName
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    name: str | None = None
    kind: Kind | None = None


class Step(EditOperation, frozen=True, kw_only=True, tag_field="op", tag="step"):
    """A logbook's step is answered; or `why` it is otherwise. Code is done by running it."""

    cell: CellName
    answer: Literal["done", "skipped", "failed"] | None = None
    why: str = ""
    did: str = ""
    evidence: str = ""


Operation: TypeAlias = Replace | Patch | Insert | Delete | Move | Label | Step
Operations: TypeAlias = Annotated[tuple[Operation, ...], Meta(min_length=1, max_length=MOST_EDITS)]


def check_source(source: str) -> None:
    """Refuse what no cell can hold."""
    if len(source) > MOST_SOURCE:
        raise BadInput(
            f"The source would have {len(source):,} characters, and a cell has {MOST_SOURCE:,} at most. Put data into a "
            "file and read it from there."
        )
    try:
        source.encode()
    except UnicodeEncodeError as error:
        told = f"Character {error.start + 1:,} of the source is half of a surrogate pair, which no text can hold."
        raise BadInput(f"{told} Send the whole character.") from None
    if "\0" in source:
        told = f"Character {source.index(chr(0)) + 1:,} of the source is NUL, which no notebook file can hold."
        raise BadInput(f"{told} Write it as an escape.")


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
    mark: StepMark | None = None
    """What is said of it as a step of a logbook."""

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
        if self.mark is not None:
            yield e.CellMetadataSet(cell=self.id, values=as_metadata(self.mark))


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
