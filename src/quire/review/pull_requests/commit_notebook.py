"""One notebook committed and pushed, with its generated .ipynb: for those who say themselves when it is proposed."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ...core.errors import BadInput
from ...git.plumbing.branches import current_branch
from ...git.plumbing.remote import find_remote, push
from ...git.repository import the_repository
from ..forges.find_forge import push_credentials
from ..redactor import Redactor
from .change_sources import of_files
from .notebook_pairs import write_generated
from .proposed_branch import base_branch, choose_branch, commit_to_branch


class CommittedNotebook(msgspec.Struct, frozen=True, kw_only=True):
    """Where a notebook was committed to."""

    branch: str
    commit: str
    files: list[str]


def commit_notebook(path: Path, message: str, branch: str | None = None) -> CommittedNotebook:
    """Commit a notebook file to a branch that is not the default one, and push it: to the given or the current branch."""
    if not message.strip():
        raise BadInput("The commit needs a message that says what changes, such as: feat(fleet): lower the threshold.")
    top = the_repository(path.absolute().parent).top
    remote = find_remote(top)
    base = base_branch(top, remote, None)
    name = branch or current_branch(top)
    if name is None:
        raise BadInput("HEAD is detached, so there is no current branch. Name one: branch='agent/fix-threshold'.")
    name = choose_branch(top, name, path.stem, base, stays=False)
    source = of_files(top, path)
    files = source.files
    made = commit_to_branch(top, remote, name, base, files, f"{message.rstrip()}\n", Redactor(top, os.environ))
    push(remote, made.commit, name, top, push_credentials(remote, top, os.environ))
    if current_branch(top) == name:
        write_generated(top, files, source.edited)
    return CommittedNotebook(branch=name, commit=made.commit, files=sorted(files))
