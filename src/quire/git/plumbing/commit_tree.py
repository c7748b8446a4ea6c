"""Commits made of files by name and content, with an index of their own: the work tree is not touched."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from ...core.errors import BadInput
from .git_call import call, checked, said

_FILE_MODE = "100644"
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def file_at(commit: str, path: str, top: Path) -> bytes | None:
    """Return the content of a file at a commit; None: it is not there, or is no file."""
    entry = _entry(commit, path, top)
    if entry is None or entry[1] != "blob":
        return None
    done = call("cat-file", "blob", entry[2], at=top)
    return done.stdout if done.returncode == 0 else None


def _entry(commit: str, path: str, top: Path) -> tuple[str, str, str] | None:
    """Mode, kind and hash of what is at a path."""
    done = checked("ls-tree", "-z", "--full-tree", commit, "--", f":(literal){path}", at=top)
    if not done:
        return None
    mode, kind, hash = done.partition("\t")[0].split()
    return mode, kind, hash


def check_inside(path: str) -> str:
    """Refuse a path that leads out of the repository or into what is git's own."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or parts[0].casefold() == ".git" or "\0" in path:
        raise BadInput(f"{path!r} is no path inside the repository. Name a file below its top folder.")
    return path


def commit_files(
    top: Path,
    parent: str | None,
    files: Mapping[str, bytes | None],
    message: str,
    *,
    filters: bool = True,
    author: tuple[str, str] | None = None,
) -> str:
    """Return a commit on `parent` in which `files` have this content; None removes a file.

    If nothing differs it is the parent itself. With `filters`, git's own (line ends, stripped outputs) apply. `author`: a name and
    an address, in the place of those that git is set up with.
    """
    with tempfile.TemporaryDirectory(prefix="quire-index-") as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        checked("read-tree", parent or _empty_tree(top), at=top, env=env)
        lines = [_index_line(top, parent, path, data, filters=filters) for path, data in files.items()]
        checked("update-index", "-z", "--index-info", at=top, env=env, stdin=b"".join(lines))
        tree = checked("write-tree", at=top, env=env)
    if parent is not None and tree == checked("rev-parse", f"{parent}^{{tree}}", at=top):
        return parent
    return _commit(top, tree, parent, message, author)


def _empty_tree(top: Path) -> str:
    done = call("hash-object", "-t", "tree", "-w", "--stdin", at=top)
    return done.stdout.decode().strip() or _EMPTY_TREE


def _index_line(top: Path, parent: str | None, path: str, data: bytes | None, *, filters: bool) -> bytes:
    check_inside(path)
    name = path.encode("utf-8", "surrogateescape")
    if data is None:
        return b"0 " + b"0" * len(parent or "0" * 40) + b"\t" + name + b"\0"
    how = (f"--path={path}",) if filters else ("--no-filters",)
    hash = checked("hash-object", "-w", "--stdin", *how, at=top, stdin=data)
    was = _entry(parent, path, top) if parent is not None else None
    if was is not None and was[0] == "120000":
        raise BadInput(f"{path} is a link in the repository, and would become a file. Change what it leads to.")
    mode = was[0] if was is not None and was[1] == "blob" else _FILE_MODE
    return f"{mode} {hash}\t".encode() + name + b"\0"


def _commit(top: Path, tree: str, parent: str | None, message: str, author: tuple[str, str] | None) -> str:
    env: dict[str, str] = {}
    for role in ("AUTHOR", "COMMITTER") if author is not None else ():
        env |= {f"GIT_{role}_NAME": author[0], f"GIT_{role}_EMAIL": author[1]} if author is not None else {}
    signs = call("config", "--type=bool", "--get", "commit.gpgsign", at=top).stdout.strip() == b"true"
    parents = ("-p", parent) if parent is not None else ()
    done = call(
        "commit-tree", *(("-S",) if signs else ()), tree, *parents, "-F", "-", at=top, stdin=message.encode(), env=env
    )
    if done.returncode == 0:
        return done.stdout.decode().strip()
    if "user.name" in said(done) or "empty ident" in said(done):
        raise BadInput(
            'Git does not know who commits. Run: git config user.name "NAME", git config user.email ADDRESS.'
        )
    raise BadInput(f"The commit could not be made: {said(done)}.")
