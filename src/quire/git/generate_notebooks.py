"""The .ipynb of each script under notebooks/ is written again after a checkout, merge or rebase, and staged with a commit.

Only where nobody can lose anything: an .ipynb that says what no version of the script ever
said has edits of its own, and stays. A fault is told, and never stops git.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from ..core.errors import BadInput, QuireError
from ..disk import decode, read_bytes, write_text
from ..formats.convert import convert
from ..formats.registry import read, write
from ..formats.terminal_safe import plain
from .repository import attempt, git, the_repository

FOLDER = "notebooks"
_SCRIPTS = f":(top,glob){FOLDER}/**/*.py"
_MOST_VERSIONS = 100
_MARKER = re.compile(r"^# ?%%", re.MULTILINE)


def hook(arguments: list[str]) -> int:
    """Do what a hook of git's asks for. Its arguments are in githooks(5)."""
    try:
        match arguments:
            case ["post-checkout", old, new, "1"] if old != new:
                regenerate(old, new)
            case ["post-merge", "1"]:
                regenerate_squashed()
            case ["post-merge", *_] | ["post-rewrite", "rebase", *_]:
                regenerate("ORIG_HEAD", "HEAD")
            case ["pre-commit"]:
                stage()
            case _:
                pass  # single files were checked out, or a commit was amended
    except QuireError as error:
        _say(str(error))
    return 0


def regenerate(old: str, new: str) -> None:
    """Write the .ipynb of each script under notebooks/ that is another at the commit `new` than at `old`."""
    top = the_repository().top
    known = [] if _is_none(old) else [old]
    _regenerate_all(top, _changed(top, known, new), known)


def regenerate_squashed() -> None:
    """Write the .ipynb of each script that `git merge --squash` changed: in the index, and in no commit yet."""
    top = the_repository().top
    # Added or modified: what is left to decide is neither, and no notebook until somebody has.
    names = _listed("diff-index", "--cached", "--diff-filter=AM", "HEAD", "--", _SCRIPTS, at=top)
    _regenerate_all(top, names, ["HEAD"])


def stage() -> None:
    """Write the .ipynb of each script under notebooks/ that the next commit changes, and put it into that commit."""
    top = the_repository().top
    names = _listed("diff-index", "--cached", "--diff-filter=AM", _last_commit(top), "--", _SCRIPTS, at=top)
    _for_each(names, lambda name: _stage(top, name))


def _regenerate_all(top: Path, names: list[str], known: list[str]) -> None:
    _for_each(names, lambda name: _regenerate(top, name, known))


def _for_each(names: list[str], write_notebook: Callable[[str], object]) -> None:
    for name in names:
        try:
            write_notebook(name)
        except QuireError as error:
            _say(str(error))


def _is_none(commit: str) -> bool:
    """How git tells that there was no commit before: a work tree that is new."""
    return not commit.strip("0")


def _changed(top: Path, known: list[str], new: str) -> list[str]:
    """The scripts that either side touched since both were one, told from the top of the work tree."""
    if not known:
        return [name for name in _listed("ls-tree", "-r", new, "--", FOLDER, at=top) if name.endswith(".py")]
    # Not only where both ends differ: a rebase has been elsewhere in between.
    return list(dict.fromkeys(_listed("log", "--format=", "-m", f"{known[0]}...{new}", "--", _SCRIPTS, at=top)))


def _listed(verb: str, *arguments: str, at: Path) -> list[str]:
    return [name for name in git(verb, "-z", "--name-only", *arguments, at=at).split("\0") if name]


def _last_commit(top: Path) -> str:
    """HEAD, or the tree of no files before the first commit."""
    is_first = attempt("rev-parse", "--verify", "--quiet", "HEAD", at=top).returncode
    return git("hash-object", "-t", "tree", "--stdin", at=top) if is_first else "HEAD"


def _stage(top: Path, name: str) -> None:
    shown = str(Path(name).with_suffix(".ipynb"))
    is_in_part = attempt("diff", "--quiet", "--", name, at=top).returncode
    if is_in_part:
        # The file on disk says more than the commit, and so would a notebook that is written from it.
        _stage_as_staged(top, name, shown)
        return
    is_ignored = not attempt("check-ignore", "--quiet", shown, at=top).returncode
    if not _regenerate(top, name, ["HEAD"]) or is_ignored:
        return
    if not _is_of_named_files():
        git("add", "--", shown, at=top)
    elif attempt("diff", "--quiet", "HEAD", "--", shown, at=top).returncode:
        _say(f"{shown} is not in this commit, which takes named files only. To add it: git commit --amend {shown}")


def _stage_as_staged(top: Path, name: str, shown: str) -> None:
    staged = _staged(top, shown)
    if staged is None or _is_of_named_files():
        _say(f"{name} is committed in part: {shown} is left as it is. To write it: quire convert {name} {shown}")
        return
    text = decode(_staged(top, name) or b"", name)
    existing = decode(staged, shown)
    if not _is_written(existing, shown, text, name, _versions(top, name, [])):
        _say(f"{shown} has changes that {name} never had, and stays as it was staged")
        return
    written = convert(text, name, shown, existing).encode()
    blob = git("hash-object", "-w", "--stdin", "--path", shown, at=top, stdin=written)
    git("update-index", "--cacheinfo", f"100644,{blob},{shown}", at=top)


def _staged(top: Path, name: str) -> bytes | None:
    """A file as the next commit has it."""
    done = attempt("cat-file", "blob", f":{name}", at=top)
    return None if done.returncode else done.stdout


def _is_of_named_files() -> bool:
    """Whether this is `git commit FILE`: what is staged now would be undone by the index that follows."""
    return Path(os.environ.get("GIT_INDEX_FILE", "")).name.startswith("next-index-")


def _regenerate(top: Path, name: str, known: list[str]) -> bool:
    """Write the notebook of one script; False where there is none, or where it stays as somebody edited it."""
    script, target = top / name, (top / name).with_suffix(".ipynb")
    if script.is_symlink() or target.is_symlink() or not script.is_file():
        # A link that came with a commit could lead anywhere.
        return False
    shown = str(target.relative_to(top))
    text = decode(read_bytes(script), name)
    existing = decode(read_bytes(target), shown) if target.exists() else None
    if existing is None and not _MARKER.search(text):
        return False  # a module, not a notebook
    if existing is not None and not _is_written(existing, shown, text, name, _versions(top, name, known)):
        _say(f"{shown} has changes that {name} never had, and stays. To replace it: quire convert {name} {shown}")
        return False
    written = convert(text, name, shown, existing)
    if written != existing:
        write_text(target, written)
        _say(f"wrote {shown} from {name}")
    return True


def _is_written(existing: str, path: str, text: str, name: str, versions: Iterator[str]) -> bool:
    """Whether a notebook says what some version of its script says: then it was written from it, and nobody edited it."""
    # By way of the script: what a script cannot say is no difference.
    said = _cells(write(read(existing, path), name), name)
    return said is not None and any(_cells(version, name) == said for version in chain((text,), versions))


def _cells(text: str, name: str) -> list[tuple[str, str]] | None:
    try:
        return [(cell.kind, cell.source) for cell in read(text, name).cells]
    except BadInput:
        return None


def _versions(top: Path, name: str, known: list[str]) -> Iterator[str]:
    """The script as earlier commits have it, the likeliest first."""
    commits = attempt("rev-list", f"--max-count={_MOST_VERSIONS}", "HEAD", *known, "--", name, at=top)
    for commit in (*known, *commits.stdout.decode().split()):
        done = attempt("cat-file", "blob", f"{commit}:{name}", at=top)
        if not done.returncode:
            yield done.stdout.decode("utf-8", "replace")


def _say(message: str) -> None:
    sys.stderr.write(f"quire: {plain(message)}\n")
