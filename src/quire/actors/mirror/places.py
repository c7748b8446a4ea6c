"""Where a bound file is: inside the workspace's folder, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...core.errors import BadInput
from ...files import formats
from ...workspace.bound_files import place_of

_LOOKED_THROUGH = 20_000
"""So many files are looked at for one that was renamed."""


def inside(folder: Path, path: str) -> Path:
    """The file that a path of a binding means; BadInput when it is no place for one, also by way of a link."""
    target = place_of(folder, path)
    if formats.format_of(path) == "html":
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
