"""A version of the file, and how the log tells of it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ...core import events as e
from ...core.events import BlobRef, Entry
from ...core.same import sharing
from ...core.sheet import Sheet
from .agreed import Agreed
from .reading import Seen
from .sides import in_full, with_ids_of


class File(NamedTuple):
    """The file as it is: where, and what it says."""

    path: str
    target: Path
    seen: Seen
    said: Sheet


def file_merged(
    path: str, digest: str, changes: tuple[e.CellChange, ...] = (), kept: BlobRef | None = None
) -> e.FileMerged:
    """The event for a version of the file, and what it changes in the log."""
    return e.FileMerged(path=path, digest=digest, changes=changes, kept=kept)


def as_agreed(path: str, digest: str, full: Sheet, said: Sheet, entry: Entry, *, is_state: bool = True) -> Agreed:
    """The version of a merge that is on record, which said this and stands for that notebook."""
    said = sharing(said, full)
    return Agreed(
        path=path,
        digest=digest,
        full=full,
        said=with_ids_of(said, in_full(full, None, said, path)) if is_state else with_ids_of(said, full),
        merged_seq=entry.seq,
        at=entry.at,
        cause=entry.cause,
        is_state=is_state,
    )
