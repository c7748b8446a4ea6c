"""Where a bound file is, inside the workspace's folder and nowhere else; and where one went that is no longer there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ...core.errors import BadInput, QuireError
from ...formats import registry
from ...workspace.bound_files import place_of
from .file_watch import FileState, settled
from .merge_base import MergeBase

_LOOKED_THROUGH = 20_000
"""So many files are looked at for one that was renamed."""
COARSE_SECONDS = 0.1
"""So far a disk's clock may be behind ours."""


def inside(folder: Path, path: str) -> Path:
    """The file that a path of a binding means; BadInput when it is no place for one, also by way of a link."""
    target = place_of(folder, path)
    if registry.format_of(path) == "html":
        raise BadInput(f"{path}: a page cannot be read back. Bind the notebook to .ipynb, .py or .md.")
    return target


def path_in(folder: Path, file: Path) -> str:
    """What a binding calls a file: relative to the folder, with `/`."""
    root = folder.resolve()
    try:
        path = (file.parent.resolve() / file.name).relative_to(root).as_posix()
    except ValueError:
        raise BadInput(f"{file} does not lie inside the workspace's folder {root}. Move it there first.") from None
    inside(root, path)
    return path


def folders_to(folder: Path, path: str) -> Iterator[Path]:
    """The folders on the way to a file that are there and inside the workspace's own; to a link, and to where it leads."""
    root = folder.resolve()
    for target in (root / path, (root / path).resolve()):
        for each in reversed(target.parents):
            if each.is_relative_to(root) and each.is_dir() and each.resolve().is_relative_to(root):
                yield each


def files_like(folder: Path, target: Path) -> Iterator[Path]:
    """The files with the same ending, in folders that are not hidden."""
    waiting = [folder.resolve()]
    left = _LOOKED_THROUGH
    while waiting and left > 0:
        try:
            found = sorted(waiting.pop().iterdir())
        except OSError:
            continue
        left -= len(found)
        for each in found:
            if each.name.startswith(".") or each.is_symlink() or each.name == "node_modules":
                continue
            if each.is_dir():
                waiting.append(each)
            elif each.suffix == target.suffix and each != target:
                yield each


# ---- Where it went: the same file, or its content, under another name


class MovedFile(NamedTuple):
    """Where a file is now."""

    path: str
    seen: FileState


async def moved_to(
    folder: Path, target: Path, agreed: MergeBase, inode: tuple[int, int] | None, *, quiet_seconds: float
) -> MovedFile | None:
    """Return the one file that was the bound one; None when there is none, or more than one that could be."""
    near = await asyncio.to_thread(_near, folder, target, agreed.at, inode)
    found: list[MovedFile] = []
    for file in near:
        try:
            seen = await settled(file, quiet_seconds=quiet_seconds)
        except QuireError:
            continue
        if seen is not None and (seen.digest == agreed.digest or _is_it(seen, file, agreed, inode)):
            found.append(MovedFile(path_in(folder, file), seen))
    same = [each for each in found if each.seen.stamp.inode == inode]
    found = same or found
    return found[0] if len(found) == 1 else None


def _is_it(seen: FileState, file: Path, agreed: MergeBase, inode: tuple[int, int] | None) -> bool:
    """Whether it is the same file, with another content. The number of a file that is gone is given to the next."""
    if seen.stamp.inode != inode:
        return False
    known = {cell.source for cell in agreed.full.cells}
    try:
        return any(cell.source in known for cell in registry.read(seen.text, file.name).cells if cell.source.strip())
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
