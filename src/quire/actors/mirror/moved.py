"""Where a file went that is no longer at its place: the same file, or its content, under another name."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ...core.errors import QuireError
from ...files import formats
from .agreed import Agreed
from .places import files_like, path_in
from .reading import Seen, settled

COARSE_SECONDS = 0.1
"""So far a disk's clock may be behind ours."""


class Moved(NamedTuple):
    """Where a file is now."""

    path: str
    seen: Seen


async def moved_to(
    folder: Path, target: Path, agreed: Agreed, inode: tuple[int, int] | None, *, quiet_seconds: float
) -> Moved | None:
    """Return the one file that was the bound one; None when there is none, or more than one that could be."""
    near = await asyncio.to_thread(_near, folder, target, agreed.at, inode)
    found: list[Moved] = []
    for file in near:
        try:
            seen = await settled(file, quiet_seconds=quiet_seconds)
        except QuireError:
            continue
        if seen is not None and (seen.digest == agreed.digest or _is_it(seen, file, agreed, inode)):
            found.append(Moved(path_in(folder, file), seen))
    same = [each for each in found if each.seen.stamp.inode == inode]
    found = same or found
    return found[0] if len(found) == 1 else None


def _is_it(seen: Seen, file: Path, agreed: Agreed, inode: tuple[int, int] | None) -> bool:
    """Whether it is the same file, with another content. The number of a file that is gone is given to the next."""
    if seen.stamp.inode != inode:
        return False
    known = {cell.source for cell in agreed.full.cells}
    try:
        return any(cell.source in known for cell in formats.read(seen.text, file.name).cells if cell.source.strip())
    except QuireError:
        return False


def _near(folder: Path, target: Path, since: str, inode: tuple[int, int] | None) -> list[Path]:
    """The same file, and those that got name or content after the last merge: an older copy is just a copy."""
    merged = datetime.fromisoformat(since).timestamp() - COARSE_SECONDS if since else 0.0
    return [file for file in files_like(folder, target) if _is_near(file, merged, inode)]


def _is_near(file: Path, merged: float, inode: tuple[int, int] | None) -> bool:
    try:
        found = file.stat()
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == inode or found.st_ctime > merged
