"""From the file to the log: what a version of the file says that the log does not, as events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from ...core import events as e
from ...core.diff.line_diff import increasing
from ...core.diff.merge import MergeConflict
from ...core.events import BlobRef, Entry, KnownEvent
from ...core.ids import CellId, ConflictId, ExecutionId
from ...core.notebook.notebook import Notebook
from ...core.sheet.conversion import Blobs, added, events_of, metadata_of
from ...core.sheet.equality import same, same_cell, same_sheet, sharing
from ...core.sheet.sheet import Sheet, SheetCell
from ...core.text import source_hash
from ...core.values import Json
from ...workspace.clock import new_id
from .file_merge import Sides, has_outputs, in_full, merged, newly_shown, says_same, with_ids_of, with_masks
from .log_side import Book, Voice
from .merge_base import File, MergeBase, as_agreed, file_merged, own_write


class PulledVersion(NamedTuple):
    """A version of the file as a whole notebook, masked where the log is, and the one before it."""

    path: str
    digest: str
    before: Sheet
    after: Sheet


class Pull:
    """Takes in what files say."""

    def __init__(self, book: Book, voice: Voice) -> None:
        self._book, self._voice = book, voice

    async def take(self, now: Notebook, agreed: MergeBase | None, file: File, *, may_be_ours: bool) -> MergeBase:
        """Take in what the file says; return it as the version that both sides know.

        `may_be_ours` says whether a mirror may have written it and not lived to record that.
        """
        ours = await self._book.sheet(now, file.path)
        if agreed is None:
            # They meet for the first time. What the file says comes in: a log remembers what it said before.
            base = MergeBase(path=file.path, digest="", full=ours, merged_seq=0)
        else:
            ours = sharing(ours, agreed.full)
            base = await self._as_written(agreed, file) if may_be_ours else agreed
            if base is not agreed:
                return base
        full = in_full(base.full, base.said, file.said, file.path)
        told = with_masks(base.full, full)
        if base.digest and same_sheet(told, base.full):
            # The same, spelled in another way: no event.
            return replace(base, digest=file.seen.digest, full=full, said=with_ids_of(file.said, full))
        version = PulledVersion(file.path, file.seen.digest, base.full, told)
        # What is masked in the log is kept nowhere else.
        entry = await self._merge(now, ours, version, file.seen.text if told is full else None)
        return as_agreed(file.path, file.seen.digest, full, file.said, entry, is_state=False)

    async def _as_written(self, agreed: MergeBase, file: File) -> MergeBase:
        """The agreed version, or a later one that we wrote and did not live to record."""
        own = await own_write(self._book.workspace, self._book.log, agreed, file.said)
        if own is None:
            return agreed
        cause, full = own
        (entry,) = await self._book.record([file_merged(file.path, file.seen.digest)], cause)
        return as_agreed(file.path, file.seen.digest, full, file.said, entry)

    async def _merge(self, now: Notebook, ours: Sheet, version: PulledVersion, text: str | None) -> Entry:
        sides, kept = merged(version.before, ours, version.after), None
        if text is not None and not says_same(sides.merged, version.after):
            # The log will say more than the file for a moment. If this process ends in it, these bytes are the base.
            kept = await self._book.keep(text)
        events = await self.events(now, ours, sides, version, kept)
        entry, *rest = await self._book.record(events, await self._book.id_at(now.seq))
        self._voice.say_conflicts(rest, version.path)
        return entry

    async def saved_meanwhile(self, now: Notebook, base: MergeBase, said: Sheet, digest: str) -> list[KnownEvent]:
        """What somebody saved in the instant of a write brings into the log: it is merged like any other version."""
        full = with_masks(base.full, in_full(base.full, base.said, said, base.path))
        ours = await self._book.sheet(now, base.path)
        sides = merged(base.full, ours, full)
        return await self.events(now, ours, sides, PulledVersion(base.path, digest, base.full, full))

    async def events(
        self, now: Notebook, ours: Sheet, sides: Sides, version: PulledVersion, kept: BlobRef | None = None
    ) -> list[KnownEvent]:
        """What a version of the file brings into the log."""
        blobs: Blobs = {}
        events: list[KnownEvent | None] = [
            file_merged(version.path, version.digest, changes(now, ours, sides.merged), kept),
            metadata_change(now, ours, sides.merged),
            *(conflict_raised(now, each) for each in sides.conflicts),
        ]
        if has_outputs(version.path):
            shown = newly_shown(version.before, ours, version.after, sides.merged)
            events += [outputs_imported(now, cell, blobs) for cell in shown]
        for data, media in blobs.values():
            await self._book.put_blob(data, media)
        return [each for each in events if each is not None]


def changes(now: Notebook, ours: Sheet, wanted: Sheet) -> tuple[e.CellChange, ...]:
    """What turns the notebook, which `ours` is the sheet of, into `wanted`."""
    before = {cell.id: cell for cell in ours.cells}
    return (
        *(e.CellRemoved(cell=id) for id in before if id not in {cell.id for cell in wanted.cells}),
        *_places(before, wanted),
        *(
            change
            for cell in wanted.cells
            if cell.id in before and not same_cell(cell, before[cell.id])
            for change in _inside(now, cell)
        ),
    )


def _places(before: dict[CellId, SheetCell], wanted: Sheet) -> Iterator[e.CellChange]:
    """New and moved cells, from the top down: what comes before one is at its place already."""
    numbers = {id: number for number, id in enumerate(before)}
    kept = [cell.id for cell in wanted.cells if cell.id in before]
    staying = {kept[index] for index in increasing([numbers[id] for id in kept])}
    after: CellId | None = None
    for cell in wanted.cells:
        if cell.id not in before:
            yield added(cell, after)
        elif cell.id not in staying:
            yield e.CellMoved(cell=cell.id, after=after)
        after = cell.id


def _inside(now: Notebook, wanted: SheetCell) -> Iterator[e.CellChange]:
    cell, made = now.cells[wanted.id], added(wanted, None)
    if made.kind != cell.kind:
        yield e.CellKindChanged(cell=cell.id, kind=made.kind)
    if made.source != cell.source:
        yield e.SourceEdited(cell=cell.id, text=made.source, base_hash=source_hash(cell.source))
    if made.name != cell.name:
        yield e.CellNamed(cell=cell.id, name=made.name)
    if made.tags != cell.tags:
        yield e.CellTagged(cell=cell.id, tags=made.tags)
    values, removed = _keys(cell.metadata, made.metadata)
    if values or removed:
        yield e.CellMetadataSet(cell=cell.id, values=values, removed=removed)


def metadata_change(now: Notebook, ours: Sheet, wanted: Sheet) -> e.MetadataSet | None:
    """What turns the notebook's own metadata into what is wanted."""
    if same(ours.metadata, wanted.metadata) and same(ours.extra, wanted.extra):
        return None
    values, removed = _keys(now.metadata, metadata_of(wanted))
    return e.MetadataSet(values=values, removed=removed) if values or removed else None


def _keys(old: dict[str, Json], new: dict[str, Json]) -> tuple[dict[str, Json], tuple[str, ...]]:
    values = {key: value for key, value in new.items() if key not in old or not same(old[key], value)}
    return values, tuple(key for key in old if key not in new)


def conflict_raised(now: Notebook, conflict: MergeConflict) -> e.ConflictRaised | None:
    """A conflict for the log; None when the same one waits there already."""
    cell = conflict.cell or CellId("")
    base, ours, theirs = (side or "" for side in (conflict.base, conflict.ours, conflict.theirs))
    if any((each.cell, each.ours, each.theirs) == (cell, ours, theirs) for each in now.conflicts.values()):
        return None
    return e.ConflictRaised(conflict=ConflictId(new_id()), cell=cell, base=base, ours=ours, theirs=theirs)


def outputs_imported(now: Notebook, cell: SheetCell, blobs: Blobs) -> e.OutputsImported | None:
    """What a file shows of a cell, for the log; None while the cell waits or runs. Adds to `blobs`."""
    known = now.cells.get(cell.id)
    if known is not None and (known.queued is not None or (known.execution is not None and known.execution.is_open)):
        return None
    made, found = events_of(Sheet(cells=(cell,)), "file", new_id)
    blobs.update(found)
    for event in made:
        if isinstance(event, e.OutputsImported):
            return event
    return e.OutputsImported(execution=ExecutionId(new_id()), cell=cell.id, source_hash=source_hash(cell.source))
