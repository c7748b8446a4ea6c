"""Which branch and commit is which, and where branches may point."""

from __future__ import annotations

from pathlib import Path

from ...core.errors import BadInput, Conflict, NotFound, Refused
from .git_call import call, checked, said


def current_branch(top: Path) -> str | None:
    """Return the branch that is checked out; None: HEAD is detached."""
    done = call("symbolic-ref", "--quiet", "--short", "HEAD", at=top)
    return done.stdout.decode().strip() or None if done.returncode == 0 else None


def check_branch(name: str, top: Path) -> str:
    """Return a name that a branch can have, or refuse it."""
    if name.startswith(("-", "refs/")) or call("check-ref-format", "--branch", name, at=top).returncode:
        raise BadInput(f"{name!r} cannot be the name of a branch. Use letters, digits, - and /: agent/fix-threshold.")
    return name


def check_not_default(branch: str, default: str) -> None:
    """Refuse to write to the branch that pull requests go into."""
    if branch == default:
        raise Refused(
            f"{branch} is the default branch: changes reach it by a pull request. Name another with --branch."
        )


def commit_of(revision: str, top: Path) -> str | None:
    """Return the commit that a revision names; None where there is none."""
    if not revision or revision.startswith("-"):
        raise BadInput(f"{revision!r} is no revision. Write a branch, a tag or a commit.")
    done = call("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", at=top)
    return done.stdout.decode().strip() if done.returncode == 0 else None


def the_commit(revision: str, top: Path) -> str:
    """Return the commit that a revision names, or say that there is none."""
    commit = commit_of(revision, top)
    if commit is None:
        hint = " This clone is shallow: `git fetch --unshallow` brings the rest." if is_shallow(top) else ""
        raise NotFound(f"{revision} is no commit of this repository.{hint} `git log --oneline --all` lists some.")
    return commit


def is_shallow(top: Path) -> bool:
    """Whether the clone has only the end of the history."""
    return call("rev-parse", "--is-shallow-repository", at=top).stdout.strip() == b"true"


def is_ancestor(old: str, new: str, top: Path) -> bool:
    """Whether `new` contains `old`."""
    return call("merge-base", "--is-ancestor", old, new, at=top).returncode == 0


def merge_base(one: str, other: str, top: Path) -> str | None:
    """Return the last commit that both contain; None where the history, as far as it is here, has none."""
    done = call("merge-base", one, other, at=top)
    return done.stdout.decode().strip() if done.returncode == 0 else None


def move_branch(branch: str, commit: str, before: str | None, top: Path) -> None:
    """Point a branch at a commit, if it still points where it did; None: there was no such branch."""
    done = call("update-ref", "-m", "quire", f"refs/heads/{branch}", commit, before or "", at=top)
    if done.returncode:
        raise Conflict(f"Branch {branch} moved while it was written: {said(done)}. Try again.")


def restore_index(paths: list[str], top: Path) -> None:
    """Have the index say of some files what HEAD says, after the branch that is checked out got a commit."""
    stdin = "\0".join(paths).encode("utf-8", "surrogateescape")
    checked("reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", at=top, stdin=stdin)
