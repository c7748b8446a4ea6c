"""A commit's files in a folder of their own for as long as they are needed, beside the work tree."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ...core.errors import Unavailable
from .git_call import call, checked, said

_FOLDER = "quire-checkouts"


@contextmanager
def checkout(commit: str, top: Path) -> Generator[Path]:
    """Check a commit out into a new folder, which is gone afterwards.

    It lies inside `.git`, so that an environment or an `.env` above the work tree is found from there as well.
    """
    # What a kill has left behind goes first: the name begins with the process that made it.
    place = _place(top)
    _remove_left(place, top)
    folder = place / f"{os.getpid()}-{os.urandom(6).hex()}"
    # Hooks are for the work tree: one that generates notebooks would change what is looked at.
    done = call("-c", f"core.hooksPath={os.devnull}", "worktree", "add", "--quiet", "--detach", folder, commit, at=top)
    try:
        if done.returncode:
            raise Unavailable(f"Commit {commit[:12]} could not be checked out: {said(done)}. Is the disk full?")
        yield folder
    finally:
        _remove(folder, top)


def _place(top: Path) -> Path:
    common = checked("rev-parse", "--path-format=absolute", "--git-common-dir", at=top)
    return Path(common) / _FOLDER


def _remove_left(place: Path, top: Path) -> None:
    for folder in place.glob("*-*"):
        process = folder.name.partition("-")[0]
        if process.isdecimal() and not _is_alive(int(process)):
            _remove(folder, top)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _remove(folder: Path, top: Path) -> None:
    call("worktree", "remove", "--force", "--force", folder, at=top)
    shutil.rmtree(folder, ignore_errors=True)
    call("worktree", "prune", at=top)
