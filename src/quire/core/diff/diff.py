"""What it takes to turn one notebook into another, as operations.

An operation says what becomes of one cell, or of the notebook, and what it expects to
find: so `patch` can tell when it meets another notebook than it was made for. Operations
apply one after another: notebook, removals, changes inside cells, ids, then each added or
moved cell at its place from the top down. A name that an event has too means the same
here. docs/reference/diff.md lists them for programs: keep it up to date.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal, TypeAlias, cast

import msgspec

from ..errors import BadInput
from ..events import CellKind
from ..ids import CellId
from ..sheet.equality import content_hash, same, same_cell
from ..sheet.sheet import Sheet, SheetCell
from ..text import Edit, difference, source_hash
from ..values import Json
from .align import Alignment, align

Part: TypeAlias = Literal["sources", "outputs", "metadata"]
PARTS: tuple[Part, ...] = ("sources", "outputs", "metadata")
"""What a diff can be limited to."""


class Operation(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """One step from the old notebook to the new one."""


# frozen and kw_only do not reach the fields of a subclass: said each time.


class MetadataSetOp(Operation, frozen=True, kw_only=True, tag="metadata_set"):
    """Keys of the notebook's metadata get values, or go; `was` has what is replaced or goes."""

    values: dict[str, Json] = {}
    removed: tuple[str, ...] = ()
    was: dict[str, Json] = {}


class ExtraSet(Operation, frozen=True, kw_only=True, tag="extra_set"):
    """The same, for fields of the notebook that nbformat does not know."""

    values: dict[str, Json] = {}
    removed: tuple[str, ...] = ()
    was: dict[str, Json] = {}


class CellRemovedOp(Operation, frozen=True, kw_only=True, tag="cell_removed"):
    """A cell goes. `content` is all that it was."""

    cell: CellId
    content: SheetCell


class CellKindChangedOp(Operation, frozen=True, kw_only=True, tag="cell_kind_changed"):
    """A cell is of another kind."""

    cell: CellId
    kind: CellKind
    was: CellKind


class SourceEditedOp(Operation, frozen=True, kw_only=True, tag="source_edited"):
    """The text of a cell changes, by splices; `base_hash` is the SHA-256 of the text before."""

    cell: CellId
    edit: Edit
    base_hash: str


class CellNamedOp(Operation, frozen=True, kw_only=True, tag="cell_named"):
    """A cell has another name, or none."""

    cell: CellId
    name: str | None
    was: str | None


class CellTaggedOp(Operation, frozen=True, kw_only=True, tag="cell_tagged"):
    """A cell has these tags and no others."""

    cell: CellId
    tags: tuple[str, ...]
    was: tuple[str, ...]


class CellMetadataSetOp(Operation, frozen=True, kw_only=True, tag="cell_metadata_set"):
    """Keys of a cell's metadata get values, or go; `was` has what is replaced or goes."""

    cell: CellId
    values: dict[str, Json] = {}
    removed: tuple[str, ...] = ()
    was: dict[str, Json] = {}


class AttachmentsSet(Operation, frozen=True, kw_only=True, tag="attachments_set"):
    """The same, for a cell's attachments."""

    cell: CellId
    values: dict[str, Json] = {}
    removed: tuple[str, ...] = ()
    was: dict[str, Json] = {}


class CellExtraSet(Operation, frozen=True, kw_only=True, tag="cell_extra_set"):
    """The same, for fields of a cell that nbformat does not know."""

    cell: CellId
    values: dict[str, Json] = {}
    removed: tuple[str, ...] = ()
    was: dict[str, Json] = {}


class OutputsChanged(Operation, frozen=True, kw_only=True, tag="outputs_changed"):
    """From number `at` (the first is 0), `remove` outputs go and `insert` come in their place.

    `base_hash` is the SHA-256 of all outputs before, as JSON with sorted keys and no spaces.
    """

    cell: CellId
    at: int
    remove: int
    insert: list[Json]
    base_hash: str


class CountChanged(Operation, frozen=True, kw_only=True, tag="count_changed"):
    """A cell has another execution count, or none."""

    cell: CellId
    count: int | None
    was: int | None


class IdsChanged(Operation, frozen=True, kw_only=True, tag="ids_changed"):
    """Cells get other ids, all at once. Operations before this one use the old, those after it the new."""

    ids: dict[CellId, CellId]


class CellAddedOp(Operation, frozen=True, kw_only=True, tag="cell_added"):
    """A cell appears after `after`, or at the top when that is null."""

    cell: CellId
    after: CellId | None
    content: SheetCell


class CellMovedOp(Operation, frozen=True, kw_only=True, tag="cell_moved"):
    """A cell goes after `after`, or to the top when that is null."""

    cell: CellId
    after: CellId | None


KeysSet: TypeAlias = MetadataSetOp | ExtraSet | CellMetadataSetOp | AttachmentsSet | CellExtraSet
AnyOperation: TypeAlias = (
    KeysSet
    | CellRemovedOp
    | CellKindChangedOp
    | SourceEditedOp
    | CellNamedOp
    | CellTaggedOp
    | OutputsChanged
    | CountChanged
    | IdsChanged
    | CellAddedOp
    | CellMovedOp
)

_PART_OF: dict[type[Operation], Part] = {
    MetadataSetOp: "metadata",
    ExtraSet: "metadata",
    CellMetadataSetOp: "metadata",
    CellExtraSet: "metadata",
    CellNamedOp: "metadata",
    CellTaggedOp: "metadata",
    IdsChanged: "metadata",
    OutputsChanged: "outputs",
    CountChanged: "outputs",
    CellRemovedOp: "sources",
    CellKindChangedOp: "sources",
    SourceEditedOp: "sources",
    AttachmentsSet: "sources",
    CellAddedOp: "sources",
    CellMovedOp: "sources",
}


class Diff(msgspec.Struct, frozen=True):
    """The operations, and which cell is which. False when there is nothing to do."""

    operations: tuple[AnyOperation, ...]
    alignment: Alignment

    def __bool__(self) -> bool:
        return bool(self.operations)

    def only(self, *parts: Part) -> Diff:
        """Return the diff without what these parts do not cover."""
        kept = tuple(operation for operation in self.operations if _PART_OF[type(operation)] in parts)
        return Diff(kept, self.alignment)


def diff(old: Sheet, new: Sheet) -> Diff:
    """Return what turns `old` into `new`: patch(old, diff(old, new)) equals `new`."""
    _check_ids(old)
    _check_ids(new)
    alignment = align(old, new)
    return Diff(tuple(_operations(old, new, alignment)), alignment)


def _check_ids(sheet: Sheet) -> None:
    seen: set[CellId] = set()
    for cell in sheet.cells:
        if cell.id in seen or not cell.id:
            raise BadInput(f"Cell id {cell.id!r} is there twice. Give every cell an id of its own.")
        seen.add(cell.id)


def _operations(old: Sheet, new: Sheet, alignment: Alignment) -> Iterator[AnyOperation]:
    if keys := _keys(old.metadata, new.metadata):
        yield MetadataSetOp(**keys)
    if keys := _keys(old.extra, new.extra):
        yield ExtraSet(**keys)
    for i in alignment.removed:
        yield CellRemovedOp(cell=old.cells[i].id, content=old.cells[i])
    ids: dict[CellId, CellId] = {}
    for i, j in alignment.pairs:
        before, after = old.cells[i], new.cells[j]
        if not same_cell(before, after):
            yield from _cell_operations(before, after)
            if before.id != after.id:
                ids[before.id] = after.id
    if ids:
        yield IdsChanged(ids=ids)
    yield from _placed(new, alignment)


def _placed(new: Sheet, alignment: Alignment) -> Iterator[AnyOperation]:
    """What is added or moved, from the top down, so that `after` is in its place already."""
    added = set(alignment.added)
    for j in sorted(added | alignment.moved):
        cell = new.cells[j]
        after = new.cells[j - 1].id if j else None
        yield (
            CellAddedOp(cell=cell.id, after=after, content=cell)
            if j in added
            else CellMovedOp(cell=cell.id, after=after)
        )


def _cell_operations(old: SheetCell, new: SheetCell) -> Iterator[AnyOperation]:
    cell = old.id
    if old.kind != new.kind:
        yield CellKindChangedOp(cell=cell, kind=new.kind, was=old.kind)
    if old.source != new.source:
        edit = difference(old.source, new.source)
        yield SourceEditedOp(cell=cell, edit=edit, base_hash=source_hash(old.source))
    if old.name != new.name:
        yield CellNamedOp(cell=cell, name=new.name, was=old.name)
    if old.tags != new.tags:
        yield CellTaggedOp(cell=cell, tags=new.tags, was=old.tags)
    if keys := _keys(old.metadata, new.metadata):
        yield CellMetadataSetOp(cell=cell, **keys)
    if keys := _keys(old.attachments, new.attachments):
        yield AttachmentsSet(cell=cell, **keys)
    if keys := _keys(old.extra, new.extra):
        yield CellExtraSet(cell=cell, **keys)
    if not same(old.outputs, new.outputs):
        yield _outputs_changed(cell, old.outputs, new.outputs)
    if old.count != new.count:
        yield CountChanged(cell=cell, count=new.count, was=old.count)


def _keys(old: dict[str, Json], new: dict[str, Json]) -> dict[str, Json]:
    """The fields of an operation that sets keys; empty when all are the same."""
    if (not old and not new) or same(old, new):
        return {}
    values = {key: value for key, value in new.items() if key not in old or not same(old[key], value)}
    removed = tuple(key for key in old if key not in new)
    return {
        "values": values,
        "removed": removed,
        "was": {key: old[key] for key in old if key in values or key not in new},
    }


def _outputs_changed(cell: CellId, old: list[Json], new: list[Json]) -> OutputsChanged:
    start, most = 0, min(len(old), len(new))
    while start < most and same(old[start], new[start]):
        start += 1
    end = 0
    while end < most - start and same(old[-1 - end], new[-1 - end]):
        end += 1
    inserted = new[start : len(new) - end]
    hash = content_hash(old)
    return OutputsChanged(cell=cell, at=start, remove=len(old) - start - end, insert=inserted, base_hash=hash)


def encode(operations: object) -> str:
    """Write operations as JSON, whatever the notebook holds: half a surrogate pair, NaN, a number of any length."""
    value = msgspec.to_builtins(operations)
    text = json.dumps(value, ensure_ascii=False)
    return text if _is_unicode(text) else json.dumps(value)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def decode(text: str, what: str) -> tuple[AnyOperation, ...]:
    """Read the operations that `encode` wrote."""
    try:
        return msgspec.convert(json.loads(text), tuple[AnyOperation, ...])
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{what} is no diff: {error}. Make one with `quire diff OLD NEW --json`.") from None


def cell_of(operation: AnyOperation) -> CellId | None:
    """The cell that an operation is about, if it is about just one."""
    return cast("CellId | None", getattr(operation, "cell", None))
