"""Where the repository stands that the source of a run is in."""

from __future__ import annotations

from pathlib import Path
from subprocess import TimeoutExpired

from ...core.errors import Unavailable
from ...core.events import GitRevision
from ...git.repository import attempt

MOST_SECONDS = 5.0
"""For each of two questions to git: the end of the run waits for the answers."""
# What git would write on the way, a fresher index, would get in the way of a git that runs beside.
_ENV = {"GIT_OPTIONAL_LOCKS": "0"}


def find_revision(folder: Path) -> GitRevision | None:
    """Return the commit that is checked out around `folder`, and whether tracked files differ from it.

    Where git does not say in time that none differs, some are taken to.
    """
    commit = _asked(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if not commit:
        return None
    changes = _asked(folder, "status", "--porcelain", "--untracked-files=no")
    return GitRevision(commit=commit, dirty=changes != "")


def _asked(folder: Path, *arguments: str) -> str | None:
    """What git says; None when it says no, takes too long, or is not there, and for a folder that is gone."""
    try:
        done = attempt(*arguments, at=folder, env=_ENV, seconds=MOST_SECONDS)
    except (Unavailable, OSError, TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
