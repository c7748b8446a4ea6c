"""From the file to the log: what a version of the file says that the log does not."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from ...core.events import BlobRef, Entry, KnownEvent
from ...core.notebook.notebook import Notebook
from ...core.sheet.conversion import Blobs
from ...core.sheet.equality import same_sheet, sharing
from ...core.sheet.sheet import Sheet
from .file_merge import Sides, has_outputs, in_full, merged, newly_shown, says_same, with_ids_of, with_masks
from .log_side import Book
from .merge_base import File, MergeBase, as_agreed, file_merged, own_write
from .notices import Voice
from .sheet_events import changes, conflict_raised, metadata_change, outputs_imported


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
