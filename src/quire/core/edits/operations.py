"""What a batch of edits can ask for: six operations on the cells of a notebook.

`edit_plan` turns them into events. Whoever sends them, agent or program, has read the notebook
at some time: a hash names the source that was read. The JSON schemas that agents see are
made from these, and agents pay for each word: keep the docstrings short.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from ..errors import BadInput

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


Operation: TypeAlias = Replace | Patch | Insert | Delete | Move | Label
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
