"""Where the repository stands that the source of a run is in."""

from __future__ import annotations

from pathlib import Path
from subprocess import TimeoutExpired

from ...core.errors import Unavailable
from ...core.events import GitRevision
from ...git.repository import attempt

MOST_SECONDS = 20.0
"""In a repository in which git takes longer, the revision is not known."""


def find_revision(folder: Path) -> GitRevision | None:
    """Return the commit that is checked out around `folder`, and whether tracked files differ from it."""
    # What git would write on the way, a fresher index, would get in the way of a git that runs beside.
    quiet = {"GIT_OPTIONAL_LOCKS": "0"}
    try:
        head = attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}", at=folder, env=quiet, seconds=MOST_SECONDS)
        if head.returncode:
            return None
        changes = ("status", "--porcelain", "--untracked-files=no")
        status = attempt(*changes, at=folder, env=quiet, seconds=MOST_SECONDS)
    except (Unavailable, OSError, TimeoutExpired):  # also where there is no git, or no such folder any more
        return None
    return GitRevision(commit=head.stdout.decode().strip(), dirty=bool(status.stdout.strip()) or status.returncode != 0)
