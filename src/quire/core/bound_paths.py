"""Paths of files that notebooks are bound to: how one is written, which are for notebooks, and when two are the same.

Pure: what a disk says about a path (links, environments) is looked up by workspace/bound_files.
"""

from __future__ import annotations

import unicodedata

from .errors import BadInput
from .ids import check_name

HOST_FILES = frozenset(("pyproject.toml", "quire.toml"))
"""Files that Quire and other programs of the host read as settings; hidden ones, such as `.env`, are refused anyway."""
INSTALLED = frozenset(("__pycache__", "node_modules", "site-packages"))
"""Folders that programs fill by themselves."""


def check_bound_path(path: str) -> None:
    """Refuse a path that leads out of the workspace's folder, or to what is no place for notebooks."""
    check_name(path, "A path")
    if path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise BadInput(f"Path {path!r} does not lie inside the workspace's folder. Write it relative to that, with /.")
    check_is_for_notebooks(path, path)


def check_is_for_notebooks(path: str, named: str) -> None:
    """Refuse hidden files and folders, settings of the host and what programs installed. `named` is what was asked for."""
    for part in path.split("/"):
        what = _kept_from_notebooks(folded(part))
        if what is not None:
            leads = "" if path == named else f" leads to {path!r}, which"
            raise BadInput(f"{named!r}{leads} is {what}: that is not a place for notebooks. Choose another file.")


def _kept_from_notebooks(part: str) -> str | None:
    if part.startswith("."):
        return "hidden, or in a hidden folder"
    if part in HOST_FILES:
        return "a file of settings"
    return "among what programs installed" if part in INSTALLED else None


def folded(path: str) -> str:
    """A path as disks compare it that ignore case and how an accent is written: the same there is the same here."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
