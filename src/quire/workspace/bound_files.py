"""Where a bound file lies on the disk, and whether two paths mean one file.

`core/bound_paths` says what a path may look like; here the disk is asked, where the workspace has a folder: a link may lead
to a file that no notebook is bound to, two names may be one file, and an environment is told by what is in it.
"""

from __future__ import annotations

from pathlib import Path

from ..core.bound_paths import check_bound_path, check_is_for_notebooks, folded
from ..core.errors import BadInput

_ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
"""What a folder holds that is an environment of Python."""


def place_of(folder: Path, path: str) -> Path:
    """The file that a path of a binding means, links followed; BadInput where that is no place for notebooks."""
    check_bound_path(path)
    root = folder.resolve()
    try:
        target = (root / path).resolve()
    except (OSError, RuntimeError) as error:  # links that lead in a circle
        raise BadInput(f"{path} leads nowhere: {error}. Bind the notebook to another file.") from error
    if not target.is_relative_to(root) or target == root:
        raise BadInput(f"{path} does not lie inside {root}. Bind the notebook to a file in that folder.")
    check_is_for_notebooks(target.relative_to(root).as_posix(), path)
    for place in (target, root / path):
        _check_environment(root, place, path)
    return target


def _check_environment(root: Path, place: Path, path: str) -> None:
    for parent in place.parents:
        if parent == root or not parent.is_relative_to(root):
            return
        if any((parent / mark).exists() for mark in _ENVIRONMENTS):
            told = f"{path} lies in {parent.relative_to(root)}, an environment of Python"
            raise BadInput(f"{told}: that is not a place for notebooks. Choose another file.")


def is_same_file(folder: Path | None, one: str, other: str) -> bool:
    """Whether two paths mean one file. Where the disk cannot tell, a difference in case alone is none."""
    if one == other:
        return True
    if folder is not None:
        try:
            first, second = (folder / one).resolve(), (folder / other).resolve()
            return first == second or first.samefile(second)
        except (OSError, RuntimeError):
            pass  # one of them is not there yet
    return folded(one) == folded(other)
