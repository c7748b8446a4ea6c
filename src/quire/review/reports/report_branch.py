"""Files on a branch that is never checked out: written with git's plumbing, and pushed again where it moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ...core.errors import BadInput, Conflict
from ...git.plumbing.branches import check_branch, commit_of, is_ancestor, move_branch
from ...git.plumbing.commit_tree import commit_files
from ...git.plumbing.remote import Credentials, Remote, fetch, push

BRANCH = "reports"
ATTEMPTS = 8
"""So often others may push first."""
Files = Mapping[str, bytes | None]


def push_files(
    top: Path,
    remote: Remote | None,
    branch: str,
    files: Files | Callable[[str | None], Files],
    message: str,
    credentials: Credentials | None = None,
) -> str:
    """Commit files to a branch and push it, on top of whatever is there by then; return the commit.

    A function in the place of `files` is given the commit that they go on top of; None: the branch is new.
    """
    check_branch(branch, top)
    for attempt in range(ATTEMPTS):
        ours = commit_of(f"refs/heads/{branch}", top)
        theirs = fetch(remote, branch, top) if remote is not None else None
        parent = _parent(top, branch, ours, theirs)
        made = files(parent) if callable(files) else files
        commit = commit_files(top, parent, made, message, filters=False)
        try:
            if remote is not None:
                push(remote, commit, branch, top, credentials)
            if commit != ours:
                move_branch(branch, commit, ours, top)
            return commit
        except Conflict:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("not reached: the last attempt returns or raises")


def _parent(top: Path, branch: str, ours: str | None, theirs: str | None) -> str | None:
    """The commit to go on from: what is only here was not pushed yet, and goes along."""
    if ours is None or theirs is None:
        return ours or theirs
    if is_ancestor(theirs, ours, top):
        return ours
    if is_ancestor(ours, theirs, top):
        return theirs
    raise BadInput(
        f"Branch {branch} has reports here that the remote does not have, and others there. Bring both together: "
        f"git switch {branch}, git pull --rebase; then publish again."
    )
