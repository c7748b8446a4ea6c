"""The notebook files of a folder, by a walk that has an end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..formats import registry

MOST_ENTRIES = 5000
"""So many files and folders are looked at."""
_PASSED_OVER = ("node_modules", "__pycache__", "site-packages", "venv", "env")
_LOOKED_INTO = 20_000
"""Bytes at the start of a file that tell whether a script or a page is a notebook."""


def notebook_files(folder: Path) -> Iterator[str]:
    """Yield the paths of notebooks in a folder, those further up first; what is hidden, and what others installed, is passed over."""
    waiting, left = [folder], MOST_ENTRIES
    while waiting and left > 0:
        here = waiting.pop(0)
        for entry in _entries(here, left):
            left -= 1
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False) and _is_notebook(Path(entry.path)):
                yield Path(entry.path).relative_to(folder).as_posix()


def _entries(folder: Path, most: int) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            found = [entry for _, entry in zip(range(most), entries, strict=False)]
    except OSError:  # it went, or is somebody else's
        return []
    seen = [entry for entry in found if not entry.name.startswith(".") and entry.name not in _PASSED_OVER]
    return sorted(seen, key=lambda entry: entry.name)


def _is_notebook(path: Path) -> bool:
    """Whether a file is a notebook, as far as its beginning tells: scripts have cells, pages have frontmatter."""
    ending = registry.ending_of(path.name)
    if ending == ".ipynb":
        return True
    if ending == ".html" or ending not in registry.ENDINGS:
        return False
    try:
        with path.open("rb") as file:
            start = file.read(_LOOKED_INTO)
    except OSError:
        return False
    return start.startswith(b"---") or (ending not in (".md", ".rmd", ".qmd") and b"%%" in start)
