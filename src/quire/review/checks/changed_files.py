"""Which notebooks changed since a revision: by their own content, or by the snapshot beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...core.errors import BadInput, NotFound
from ...git.repository import attempt, the_repository
from .snapshot import ENDING


def changed_since(paths: Sequence[str], revision: str) -> list[str]:
    """Return those of the paths that differ from the revision, or that git does not know yet."""
    if not paths:
        return []
    # Git would take it for an option, and some of those write files.
    if revision.startswith("-") or not revision:
        raise BadInput(f"{revision!r} is no revision: none begins with a dash. Write a branch, a tag or a commit.")
    found: list[str] = []
    by_top: dict[Path, set[Path]] = {}
    for path in paths:
        absolute = Path(path).absolute()
        top = the_repository(absolute.parent).top
        if top not in by_top:
            by_top[top] = _changed(top, revision)
        real = absolute.parent.resolve() / absolute.name
        if not by_top[top].isdisjoint((real, real.with_name(real.name + ENDING))):
            found.append(path)
    return found


def _changed(top: Path, revision: str) -> set[Path]:
    """Return the files of a work tree that differ from where it and the revision parted."""
    done = attempt("merge-base", f"{revision}^{{commit}}", "HEAD", at=top)
    if done.returncode:
        raise NotFound(f"{revision} is no revision here, or has nothing in common with HEAD. Fetch it first.")
    base = done.stdout.decode().strip()
    names: list[bytes] = []
    for arguments in (
        ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", base, "--"),
        ("ls-files", "--others", "--exclude-standard", "-z"),
    ):
        listed = attempt(*arguments, at=top)
        if listed.returncode:
            raise BadInput(f"git {arguments[0]} did not work: {listed.stderr.decode('utf-8', 'replace').strip()}")
        names += listed.stdout.split(b"\0")
    return {top / name.decode("utf-8", "surrogateescape") for name in names if name}
