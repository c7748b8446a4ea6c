"""The two versions of a notebook that somebody wants to compare: files, or revisions in git."""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..core.diff.align import carry
from ..core.errors import BadInput, NotFound
from ..core.sheet.sheet import Sheet
from ..disk import decode, read_text
from ..formats import registry

if TYPE_CHECKING:
    from subprocess import CompletedProcess

    from ..core.diff.merge import MergeResult

NOTHING = Path(os.devnull)
_MINOR = re.compile(r"\s*:\s*(\d{1,9})\b")


class FileRevision(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A file as it is, or as it was at a revision. Without a text it is not there: an empty notebook."""

    label: str
    path: str
    text: str | None

    @cached_property
    def sheet(self) -> Sheet:
        """The notebook that it holds."""
        return registry.read(self.text, self.path) if self.text is not None else Sheet()

    @property
    def has_ids(self) -> bool:
        """Whether its cells have ids of their own: those of an .ipynb have them since nbformat 4.5."""
        if self.text is None:
            return True
        if registry.format_of(self.path) != "ipynb":
            return False
        minor = _minor_version(self.text)
        return minor is None or minor >= 5


def _minor_version(text: str) -> int | None:
    """Look for it from the end, where nearly all files have it: they may be long."""
    before, name, after = text.rpartition('"nbformat_minor"')
    while name:
        if (said := _MINOR.match(after)) and not before.endswith("\\"):
            return int(said[1])
        before, name, after = before.rpartition(name)
    return None


def read_both(old: FileRevision, new: FileRevision) -> tuple[Sheet, Sheet]:
    """Read two versions; where one has no ids, those of the older are carried on (rule 13)."""
    before, after = old.sheet, new.sheet
    return before, after if old.has_ids and new.has_ids else carry(before, after)


def merge_versions(base: FileRevision, ours: FileRevision, theirs: FileRevision, marker: int = 7) -> MergeResult:
    """Merge three versions of a notebook, whose cells may have no ids."""
    # Comparing needs none of it.
    from ..core.diff.merge import merge

    start, mine, others = base.sheet, ours.sheet, theirs.sheet
    left = mine if ours.has_ids else carry(start, mine)
    right = others if theirs.has_ids else carry(start, others)
    merged = merge(start, left, right, marker=marker)
    if ours.has_ids:
        return merged
    # Back to the ids that the text of ours gives: by them its writer knows what did not change.
    sheet = carry(mine, merged.sheet)
    ids = {old.id: new.id for old, new in zip(merged.sheet.cells, sheet.cells, strict=True)}
    conflicts = (msgspec.structs.replace(each, cell=each.cell and ids[each.cell]) for each in merged.conflicts)
    return msgspec.structs.replace(merged, sheet=sheet, conflicts=tuple(conflicts))


def three_files(base: Path, ours: Path, theirs: Path) -> tuple[FileRevision, FileRevision, FileRevision]:
    """The versions in three files. A base that is missing or empty is an empty notebook."""
    texts = _text_of_base(base), read_text(ours), read_text(theirs)
    paths = _with_ending(base, ours, theirs), _with_ending(ours, theirs), _with_ending(theirs, ours)
    made = (FileRevision(label=path, path=path, text=text) for path, text in zip(paths, texts, strict=True))
    return next(made), next(made), next(made)


def _text_of_base(path: Path) -> str | None:
    if path == NOTHING or not os.path.lexists(path):
        return None
    text = read_text(path)
    return text if text.strip() else None


def _with_ending(*paths: Path) -> str:
    """The first path whose ending says a format: git's temporary files have none."""
    return next((str(path) for path in paths if registry.ending_of(str(path)) in registry.ENDINGS), str(paths[0]))


def find_versions(words: tuple[str, ...]) -> tuple[FileRevision, FileRevision]:
    """Tell what `A B`, `REV PATH`, `REV REV PATH` and `REV..REV PATH` mean. What is a file is a file first."""
    match words:
        case ("-", "-"):
            raise BadInput("Both notebooks cannot come from standard input. Name a file for one.")
        case (old, new) if _is_file(old):
            return _file(old, new), _file(new, old)
        case (revision, path):
            old, new = _range(revision, path)
        case (old, new, path):
            pass
        case _:
            raise BadInput("Name two notebooks, or a revision and a notebook: `quire diff HEAD sales.ipynb`.")
    before = at_revision(old, path)
    after = at_revision(new, path) if new is not None else _in_work_tree(path)
    if before.text is None and after.text is None:
        raise NotFound(f"{path} is not there, neither at {old} nor at {new or 'present'}. Look for a typing error.")
    return before, after


def _is_file(word: str) -> bool:
    return word == "-" or (os.path.lexists(word) and not Path(word).is_dir())


def _file(word: str, other: str) -> FileRevision:
    """A file; the null device is a notebook that is not there, as git has it.

    What has no ending of its own, such as standard input, is read as the other.
    """
    if Path(word) == NOTHING:
        return FileRevision(label=word, path=other, text=None)
    path = word if registry.ending_of(word) in registry.ENDINGS else other
    return FileRevision(label="standard input" if word == "-" else word, path=path, text=read_text(Path(word)))


def _in_work_tree(path: str) -> FileRevision:
    return FileRevision(label=path, path=path, text=read_text(Path(path)) if os.path.lexists(path) else None)


def _range(revision: str, path: str) -> tuple[str, str | None]:
    """Two revisions out of `A..B` and `A...B`; a missing one is HEAD, as in git."""
    for dots in ("...", ".."):
        old, found, new = revision.partition(dots)
        if found:
            old, new = old or "HEAD", new or "HEAD"
            return (_common(old, new, path) if dots == "..." else old), new
    return revision, None


def _common(old: str, new: str, path: str) -> str:
    at = _folder_of(path)
    commits = [_commit(revision, at, path) for revision in (old, new)]
    done = _git("merge-base", *commits, at=at)
    if done.returncode:
        raise BadInput(f"{old} and {new} have no commit in common. Write {old}..{new} to compare them as they are.")
    return done.stdout.decode().strip()


def at_revision(revision: str, path: str) -> FileRevision:
    """The file as it was at a revision; without a text when it was not there."""
    at = _folder_of(path)
    commit = _commit(revision, at, path)
    # From the folder of the file, so that it may lie in another repository than the one we are in.
    name = Path(os.path.relpath(path, at)).as_posix()
    found = _git("rev-parse", "--verify", "--quiet", f"{commit}:./{name}", at=at)
    label = f"{path} ({revision[:12] if len(revision) == 40 else revision})"
    if found.returncode:
        return FileRevision(label=label, path=path, text=None)
    done = _git("cat-file", "blob", found.stdout.decode().strip(), at=at)
    if done.returncode:
        raise BadInput(f"{path} is no file at {revision}. Name a notebook.")
    return FileRevision(label=label, path=path, text=decode(done.stdout, label))


def _commit(revision: str, at: Path, path: str) -> str:
    # Git would take it for an option, and some of those write files.
    if revision.startswith("-") or not revision:
        raise BadInput(f"{revision!r} is no revision: none begins with a dash. Write a branch, a tag or a commit.")
    done = _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", at=at)
    if not done.returncode:
        return done.stdout.decode().strip()
    if _git("rev-parse", "--git-dir", at=at).returncode:
        raise NotFound(f"{revision} is no file, and {path} is in no git repository where it could be a revision.")
    raise NotFound(f"{revision} is neither a file nor a revision. `git log --oneline -- {path}` lists some.")


def _folder_of(path: str) -> Path:
    """The folder of a file, or the nearest above that is there."""
    return next(folder for folder in Path(path).absolute().parents if folder.is_dir())


def _git(*arguments: str, at: Path) -> CompletedProcess[bytes]:
    # Two files are compared without git: then it is not loaded.
    from .repository import attempt

    return attempt(*arguments, at=at)
