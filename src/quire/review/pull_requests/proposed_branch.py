"""The branch of a proposal and the commit on it: made, or brought on from where the remote has it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import msgspec

from ...core.errors import BadInput, Conflict, NotFound
from ...disk import decode
from ...formats import registry
from ...formats.starter_notebook import slug
from ...git.plumbing.branches import (
    check_branch,
    check_not_default,
    commit_of,
    current_branch,
    is_ancestor,
    merge_base,
    move_branch,
    restore_index,
)
from ...git.plumbing.commit_tree import commit_files, file_at
from ...git.plumbing.git_call import checked
from ...git.plumbing.remote import Remote, default_branch, fetch
from ...git.revisions import FileRevision, merge_versions
from ..redactor import Redactor

PREFIX = "agent/"


class ProposedBranch(msgspec.Struct, frozen=True, kw_only=True):
    """Where a proposal is."""

    name: str
    base: str
    """The branch that it is to be merged into."""
    base_commit: str
    """The end of that branch on the remote."""
    commit: str
    is_new: bool
    """Whether this call made the commit."""


def choose_branch(top: Path, given: str | None, subject: str, base: str, *, stays: bool) -> str:
    """Return the branch of a proposal: as given, the one checked out (`stays`), or agent/<slug>; never the default one."""
    if given is not None:
        check_not_default(check_branch(given, top), base)
        return given
    current = current_branch(top)
    if stays and current is not None and current != base:
        return current
    # Letters without accents: the name is typed, and stands in addresses.
    plain = unicodedata.normalize("NFKD", subject).encode("ascii", "ignore").decode()
    return check_branch(PREFIX + slug(plain), top)


def commit_to_branch(
    top: Path,
    remote: Remote | None,
    branch: str,
    base: str,
    files: Mapping[str, bytes | None],
    message: str,
    redactor: Redactor,
) -> ProposedBranch:
    """Commit files to a branch that is not the default one, on top of all that the remote has of it."""
    head = commit_of("HEAD", top)
    if head is None:
        raise BadInput("The repository has no commit yet. Make the first one, then propose changes to it.")
    base_commit = _base_commit(top, remote, base, head)
    ours = commit_of(f"refs/heads/{branch}", top)
    theirs = fetch(remote, branch, top) if remote is not None else None
    parent, files = _on_top(top, branch, ours, theirs, head, files)
    redactor.check_files(files, {path: file_at(parent, path, top) for path in files})
    commit = commit_files(top, parent, files, redactor.clean(message)) if files else parent
    if commit != ours:
        _check_not_elsewhere(top, branch)
        move_branch(branch, commit, ours, top)
        if current_branch(top) == branch and files:
            restore_index(list(files), top)
    return ProposedBranch(name=branch, base=base, base_commit=base_commit, commit=commit, is_new=commit != parent)


def existing_branch(top: Path, remote: Remote, branch: str, base: str) -> ProposedBranch:
    """Return a branch as it is, here or at the remote, whichever is further."""
    ours, theirs = commit_of(f"refs/heads/{branch}", top), fetch(remote, branch, top)
    commit = theirs if ours is None or (theirs is not None and is_ancestor(ours, theirs, top)) else ours
    if commit is None:
        raise NotFound(f"There is no branch {branch}, neither here nor at {remote.shown}. Commit to it first.")
    base_commit = _base_commit(top, remote, base, commit)
    return ProposedBranch(name=branch, base=base, base_commit=base_commit, commit=commit, is_new=False)


def base_branch(top: Path, remote: Remote | None, given: str | None) -> str:
    """Return the branch that a change is to be merged into."""
    if given is not None:
        return check_branch(given, top)
    if remote is not None:
        # What a remote says is only a name once git takes it for one.
        return check_branch(default_branch(remote, top), top)
    return current_branch(top) or "main"


def _base_commit(top: Path, remote: Remote | None, base: str, head: str) -> str:
    found = fetch(remote, base, top) if remote is not None else None
    found = found or commit_of(f"refs/heads/{base}", top)
    if found is None:
        where = f" at {remote.shown}" if remote is not None else ""
        raise BadInput(f"There is no branch {base}{where} to merge into. Push it first, or name another with --base.")
    return found


def _on_top(
    top: Path, branch: str, ours: str | None, theirs: str | None, head: str, files: Mapping[str, bytes | None]
) -> tuple[str, Mapping[str, bytes | None]]:
    """The commit to build on, and the files as they are on top of it."""
    tip = theirs or ours
    if tip is None or (is_ancestor(tip, head, top) and ours in (None, tip, head)):
        # It is new, or was merged and goes on from there.
        return head, files
    if theirs is None or (ours is not None and is_ancestor(theirs, ours, top)):
        return ours or head, files
    if ours is not None and not is_ancestor(ours, theirs, top):
        raise Conflict(
            f"Branch {branch} has commits here and others at the remote. Bring both together first: git switch {branch}, "
            "git pull --rebase; then propose again."
        )
    if current_branch(top) == branch:
        # Its files are in the work tree: to move the branch under them would undo there what others did.
        raise Conflict(
            f"Branch {branch} is checked out, and has commits at the remote that are not here. Bring them in first: "
            "git pull --rebase --autostash; then propose again."
        )
    # Somebody went on with the branch: what they changed since we saw it last stays.
    seen = ours or merge_base(head, theirs, top) or head
    merged = {path: _merged(top, path, seen, theirs, data, branch) for path, data in files.items()}
    return theirs, _regenerated(top, files, merged, theirs)


def _merged(top: Path, path: str, seen: str, theirs: str, data: bytes | None, branch: str) -> bytes | None:
    before, now = file_at(seen, path, top), file_at(theirs, path, top)
    if now in (before, data):
        return data
    if data == before:
        return now
    told = f"{path} was changed on branch {branch} at the remote as well"
    if data is None or now is None or registry.ending_of(path) not in registry.ENDINGS:
        raise Conflict(f"{told}. Look at it there (`git fetch`), bring both together, then propose again.")
    base, mine, others = (
        FileRevision(label=path, path=path, text=decode(each, path) if each else None) for each in (before, data, now)
    )
    merged = merge_versions(base, mine, others)
    if merged.unresolved:
        cells = ", ".join(dict.fromkeys(conflict.cell or "the notebook" for conflict in merged.unresolved))
        raise Conflict(f"{told}, in the same cells ({cells}). Look at it there (`git fetch`), then propose again.")
    return registry.write(merged.sheet, path, like=mine.text, was=mine.sheet).encode("utf-8", "surrogatepass")


def _regenerated(
    top: Path, files: Mapping[str, bytes | None], merged: dict[str, bytes | None], theirs: str
) -> dict[str, bytes | None]:
    """A merged script has its .ipynb generated anew: two merges of one thing need not say the same."""
    from ...formats.convert import convert

    for path, data in merged.items():
        other = str(PurePosixPath(path).with_suffix(".ipynb"))
        if path.endswith(".py") and data is not None and data != files[path] and merged.get(other) is not None:
            recorded = file_at(theirs, other, top)
            existing = decode(recorded, other) if recorded is not None else None
            merged[other] = convert(decode(data, path), path, other, existing).encode("utf-8", "surrogatepass")
    return merged


def _check_not_elsewhere(top: Path, branch: str) -> None:
    """Refuse to move a branch under another work tree that has it checked out."""
    told = checked("worktree", "list", "--porcelain", at=top)
    for entry in told.split("\n\n"):
        lines = entry.splitlines()
        place = lines[0].removeprefix("worktree ") if lines else ""
        if f"branch refs/heads/{branch}" in lines and Path(place).resolve() != top.resolve():
            raise Conflict(
                f"Branch {branch} is checked out in another work tree ({Path(place).name}). Propose from there."
            )
