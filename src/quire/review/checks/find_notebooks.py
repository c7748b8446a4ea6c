"""The notebooks among the files and folders that somebody names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...core.errors import NotFound

_LEFT_OUT = frozenset(("node_modules", "__pycache__", "site-packages"))
_CELL = re.compile(r"^# %%|^#\s*In\[[\d ]*\]", re.MULTILINE)
_FRONT = re.compile(r"---\s*\n(?:.*\n)*?(?:parameters|results|check|jupyter|requires|environment)\s*:", re.MULTILINE)
_LOOKED_AT = 20_000


def find_notebooks(paths: Iterable[str | Path]) -> list[str]:
    """Return the notebooks: each file that was named, and of each folder those that are told by their content."""
    found: dict[str, None] = {}
    for each in paths:
        path = Path(each)
        if path.is_dir():
            found.update((str(inner), None) for inner in _in_folder(path))
        elif not path.exists():
            raise NotFound(f"{path} is not there. Name a notebook, or a folder with some.")
        else:
            found[str(path)] = None
    return list(found)


def _in_folder(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _LEFT_OUT)
        for name in sorted(files):
            if is_notebook(Path(where) / name):
                yield Path(where) / name


def is_notebook(path: Path) -> bool:
    """Whether a file of some folder is a notebook: a script has cells, a logbook has frontmatter."""
    match path.suffix.lower():
        case ".ipynb":
            return not path.name.startswith(".")
        case ".py":
            return _CELL.search(_start(path)) is not None
        case ".md":
            return _FRONT.match(_start(path)) is not None
        case _:
            return False


def _start(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_LOOKED_AT)
    except OSError:
        return ""
