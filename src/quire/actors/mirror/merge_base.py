"""The version that log and file had in common last: the base of the next merge.

The log says which: `file_merged` has the digest of the file, and its cause is the last
event that this version of the file knew. So the base is the notebook at that event, with
what the merge itself brought in. Where both sides had changed, the file was for a moment
less than that: then its bytes were kept as a blob, which the event names.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from ...core import events as e
from ...core.errors import NotFound, QuireError
from ...core.events import BlobRef, Entry
from ...core.ids import EventId, LogId
from ...core.notebook.notebook import Notebook
from ...core.notebook.reduce import Fold, fold
from ...core.sheet.conversion import blobs_of_cell, sheet_of
from ...core.sheet.equality import same_sheet, sharing
from ...core.sheet.sheet import Sheet
from ...formats import registry
from ...workspace.protocol import Workspace
from .file_merge import has_outputs, in_full, says_same, with_ids_of
from .file_watch import FileState

_PAGE = 500
MOST_SHOWN = 10_000_000
"""So many bytes of blobs that cells showed stand in a file: a mirror holds each several times, as text, to compare them."""


class MergeBase(msgspec.Struct, frozen=True, kw_only=True):
    """A version of the file, and the notebook that it stands for."""

    path: str
    digest: str
    full: Sheet
    said: Sheet | None = None
    """What the file said, with the log's ids; None where its bytes are not at hand."""
    merged_seq: int
    at: str = ""
    """When it was merged."""
    cause: EventId | None = None
    is_state: bool = False
    """Whether `full` is the notebook as it was at `cause`."""


async def whole(workspace: Workspace, log: LogId, notebook: Notebook, path: str) -> Sheet:
    """The notebook as a file at `path` has it, with what it shows where such a file carries that."""
    blobs: dict[str, bytes] = {}
    for ref in _carried(notebook) if has_outputs(path) else ():
        with contextlib.suppress(NotFound):  # the excerpt stands in
            blobs[ref.hash] = await workspace.read_blob(ref.hash)
    return sheet_of(notebook, blobs, log)


def _carried(notebook: Notebook) -> Iterator[BlobRef]:
    """The blobs that stand in a file: of what cells showed, from the top down, as many as MOST_SHOWN bytes are.

    What came from a file stays whole: it is not the mirror that takes it out of there.
    """
    left = MOST_SHOWN
    if notebook.run is not None and notebook.run.widgets is not None:
        yield notebook.run.widgets
    for cell in notebook.live_cells:
        execution = cell.execution
        # What a cell shows is written when it has ended: until then nobody needs it.
        if execution is None or execution.is_open:
            continue
        for ref in blobs_of_cell(cell):
            left -= 0 if execution.imported else ref.size
            if execution.imported or left >= 0:
                yield ref


async def from_log(workspace: Workspace, log: LogId, now: Notebook) -> MergeBase | None:
    """What the log says of the version last merged; None when there was none."""
    binding = now.binding
    if binding is None or binding.digest is None or binding.merged_seq is None:
        return None
    (merged,) = await workspace.entries(log, binding.merged_seq - 1, binding.merged_seq)
    start = await _seq_of(workspace, log, merged.cause, merged.seq)
    page = await workspace.entries(log, merged.seq - 1)
    own = [entry for entry in page if entry.id == merged.id or entry.cause == merged.id]
    # As if nothing had come in between: whatever did, that version of the file did not know it.
    moved = [msgspec.structs.replace(entry, seq=start + number) for number, entry in enumerate(own, 1)]
    full = await whole(workspace, log, fold(moved, await workspace.read(log, start)), binding.path)
    agreed = MergeBase(
        path=binding.path,
        digest=binding.digest,
        full=full,
        merged_seq=merged.seq,
        at=merged.at,
        cause=merged.cause,
        is_state=len(own) == 1 and not getattr(merged.event, "changes", ()),
    )
    kept = merged.event.kept if isinstance(merged.event, e.FileMerged) else None
    return agreed if kept is None else await _as_kept(workspace, agreed, kept)


async def _as_kept(workspace: Workspace, agreed: MergeBase, kept: BlobRef) -> MergeBase:
    try:
        data = await workspace.read_blob(kept.hash)
        said = registry.read(data.decode(), agreed.path)
    except (QuireError, UnicodeDecodeError):
        return agreed
    full = in_full(agreed.full, None, said, agreed.path)
    return msgspec.structs.replace(agreed, full=full, said=with_ids_of(said, full), is_state=False)


async def _seq_of(workspace: Workspace, log: LogId, id: EventId | None, before: int) -> int:
    """The number of the event of that id, a little before another; the one right before where there is none."""
    until = before - 1
    while id is not None and until > 0:
        page = await workspace.entries(log, max(0, until - _PAGE), until)
        for entry in page:
            if entry.id == id:
                return entry.seq
        until -= _PAGE
    return before - 1


def is_told(full: Sheet, said: Sheet, path: str) -> bool:
    """Whether a file says all of a notebook that such a file can."""
    whole_of_it = in_full(full, None, said, path)
    return same_sheet(whole_of_it, full) if has_outputs(path) else says_same(whole_of_it, full)


async def own_write(workspace: Workspace, log: LogId, agreed: MergeBase, said: Sheet) -> tuple[EventId, Sheet] | None:
    """The last state of the log since the last merge that a file says; it was written, and that is not on record.

    So it is when a mirror ended in between. Merged like an edit of somebody's, an older state would be in conflict
    with the newer ones.
    """
    found: tuple[EventId, Sheet] | None = None
    texts = [(cell.kind, cell.source) for cell in said.cells]
    async for entry, state in _states(workspace, log, agreed.merged_seq):
        if [(cell.kind, cell.source) for cell in state.live_cells] == texts:
            full = await whole(workspace, log, state, agreed.path)
            if is_told(full, said, agreed.path):
                found = entry.id, full
    return found


async def _states(workspace: Workspace, log: LogId, since: int) -> AsyncIterator[tuple[Entry, Notebook]]:
    """Each event from `since` on with the notebook as it is then; look at it before asking for the next."""
    folding = Fold(await workspace.read(log, since))
    for entry in await workspace.entries(log, since - 1, since):
        yield entry, folding.now
    while page := await workspace.entries(log, folding.now.seq):
        for entry in page:
            folding.add(entry)
            yield entry, folding.now


# ---- Versions of the file


class File(NamedTuple):
    """The file as it is: where, and what it says."""

    path: str
    target: Path
    seen: FileState
    said: Sheet


def file_merged(
    path: str, digest: str, changes: tuple[e.CellChange, ...] = (), kept: BlobRef | None = None
) -> e.FileMerged:
    """The event for a version of the file, and what it changes in the log."""
    return e.FileMerged(path=path, digest=digest, changes=changes, kept=kept)


def as_agreed(path: str, digest: str, full: Sheet, said: Sheet, entry: Entry, *, is_state: bool = True) -> MergeBase:
    """The version of a merge that is on record, which said this and stands for that notebook."""
    said = sharing(said, full)
    return MergeBase(
        path=path,
        digest=digest,
        full=full,
        said=with_ids_of(said, in_full(full, None, said, path)) if is_state else with_ids_of(said, full),
        merged_seq=entry.seq,
        at=entry.at,
        cause=entry.cause,
        is_state=is_state,
    )
