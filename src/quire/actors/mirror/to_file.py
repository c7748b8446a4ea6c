"""From the log to the file: what the log says that the file does not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ...core.errors import BadInput
from ...core.events import KnownEvent
from ...core.notebook.notebook import Notebook
from ...core.sheet.equality import same_sheet, sharing
from ...core.sheet.sheet import Sheet
from ...disk import check_writable, decode
from ...formats import registry
from .atomic_swap import beside, put
from .file_watch import FileState, digest_of, inode_of
from .from_file import Pull
from .log_side import Book, Voice
from .merge_base import File, MergeBase, as_agreed, file_merged


class PushedVersion(NamedTuple):
    """The version that both sides know now, and the number of the log that it was compared with."""

    agreed: MergeBase
    seq: int
    inode: tuple[int, int] | None = None
    """Of the file that was written, if one was."""


class _Place(NamedTuple):
    """Where to write, and the digest of what is expected there; None: nothing."""

    path: str
    target: Path
    expected: str | None


class Push:
    """Writes what the log says."""

    def __init__(self, book: Book, voice: Voice, pull: Pull) -> None:
        self._book, self._voice, self._pull = book, voice, pull
        self.left: list[Path] = []
        """What stands beside the file until the log knows how far its writer came."""
        self._rendered: tuple[str, Sheet] | None = None
        """What was last written as which digest: the same is never written again."""

    async def write_over(self, now: Notebook, agreed: MergeBase, file: File) -> PushedVersion | None:
        """Write what the log says more than the file; None when the file is no longer as it was."""
        ours = await self._ours(now, agreed)
        if same_sheet(ours, agreed.full) or self._is_rendered(agreed.digest, ours):
            return PushedVersion(agreed, now.seq)
        registry.check_language(ours, file.path)
        text = registry.write(ours, file.path, file.seen.text, agreed.said)
        if text == file.seen.text:
            return PushedVersion(replace(agreed, full=ours), now.seq)
        return await self._write(now, ours, text, agreed, _Place(file.path, file.target, file.seen.digest))

    async def write_new(self, now: Notebook, path: str, target: Path, seen: FileState | None) -> PushedVersion | None:
        """Write a file that is not there, or empty; None when somebody was faster."""
        ours = await self._book.sheet(now, path)
        registry.check_language(ours, path)
        check_writable(target)
        first = MergeBase(path=path, digest="", full=ours, merged_seq=0)
        place = _Place(path, target, seen.digest if seen is not None else None)
        return await self._write(now, ours, registry.write(ours, path), first, place)

    async def _ours(self, now: Notebook, agreed: MergeBase) -> Sheet:
        """The notebook for the file. What a cell shows is written when it has ended, not line by line."""
        sheet = sharing(await self._book.sheet(now, agreed.path), agreed.full)
        before = {cell.id: cell for cell in agreed.full.cells}
        running = {id for id, cell in now.cells.items() if cell.execution is not None and cell.execution.is_open}
        if not running:
            return sheet
        cells = tuple(
            replace(cell, outputs=before[cell.id].outputs, count=before[cell.id].count)
            if cell.id in running and cell.id in before
            else cell
            for cell in sheet.cells
        )
        return replace(sheet, cells=cells)

    def _is_rendered(self, digest: str, ours: Sheet) -> bool:
        return self._rendered is not None and self._rendered[0] == digest and same_sheet(self._rendered[1], ours)

    async def _write(
        self, now: Notebook, ours: Sheet, text: str, base: MergeBase, place: _Place
    ) -> PushedVersion | None:
        """Write the file and record that."""
        cause, new = await self._book.id_at(now.seq), beside(place.target, now.seq)
        out = await asyncio.to_thread(put, new, place.target, text, place.expected)
        if out is None:
            return None
        digest, inode = digest_of(text.encode("utf-8", "surrogatepass")), inode_of(place.target)
        events: list[KnownEvent] = []
        if place.expected is not None and digest_of(out) != place.expected:
            events = await self._saved_meanwhile(now, base, out, new.file)
        *rest, entry = await self._book.record([*events, file_merged(place.path, digest)], cause)
        self._voice.say_conflicts(rest, place.path)
        if new.file not in self._voice.left:
            self.left.append(new.file)
        self._rendered = (digest, ours)
        agreed = as_agreed(place.path, digest, ours, registry.read(text, place.path), entry)
        # Somebody may have been at work in between: then it is looked at again.
        return PushedVersion(agreed, entry.seq if entry.seq == now.seq + 1 else now.seq, inode)

    async def _saved_meanwhile(self, now: Notebook, base: MergeBase, out: bytes, where: Path) -> list[KnownEvent]:
        """What somebody saved in the instant of a write: it came out."""
        try:
            said = registry.read(decode(out, base.path), base.path)
        except BadInput:
            self._voice.say_left(where, base.path)
            return []
        return await self._pull.saved_meanwhile(now, base, said, digest_of(out))

    def tidy(self) -> None:
        """Remove what stood beside the file: the log knows of the write."""
        for file in self.left:
            file.unlink(missing_ok=True)
        self.left = []
