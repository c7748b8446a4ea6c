"""The notebooks that a branch changes. Each has a review of its own, with the rights of the notebook that is bound to it.

The review of the branch lists them. Like all of revisions, they are looked up each time: a branch may move on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ...core.errors import BadInput, NotFound, QuireError, Refused
from ...core.events import ReviewAnswer, RevisionsSubject
from ...core.ids import ActorId, LogId
from ...core.notebook.comments import open_threads
from ...core.notebook.notebook import Notebook
from ...core.notebook.reviews import review_log
from ...core.rules.review_rules import check_revision
from ...formats.diff_view.diff_values import DiffRow, diff_rows
from ...git.plumbing.branches import merge_base, the_commit
from ...git.repository import the_repository
from ...review.pull_requests.static_checks import notebooks_between
from ...workspace.bound_files import place_of
from ..answers.answer import Here
from .review_sides import check_file, folder_of
from .revision_notebook import both_revisions

MOST_FILES = 200


class ReviewedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook of a branch, and how far its review is."""

    path: str
    log: LogId | None
    """Its review; null: none was begun."""
    changed: int = 0
    added: int = 0
    removed: int = 0
    moved: int = 0
    cells: int = 0
    looked_at: int = 0
    """How many of the changes the caller has looked at."""
    comments: int = 0
    """Threads that are not resolved."""
    answer: ReviewAnswer = "open"
    answered_by: ActorId | None = None
    fault: str = ""
    """Why it cannot be compared."""


class BranchReviews(msgspec.Struct, frozen=True, kw_only=True):
    """The reviews of a branch: its own, null where none was begun, and those of its notebooks, in their order."""

    log: LogId | None
    files: tuple[ReviewedFile, ...]
    """Without what takes a comparison."""


class RevisionRange(NamedTuple):
    """The commits that a review compares: `base` is where the branches parted."""

    top: Path
    base: str
    head: str


def find_range(folder: Path, subject: RevisionsSubject) -> RevisionRange:
    """Look up the commits of a subject."""
    check_revision(subject.base)
    check_revision(subject.head)
    top = the_repository(folder).top
    base, head = the_commit(subject.base, top), the_commit(subject.head, top)
    common = merge_base(base, head, top)
    if common is None:
        raise BadInput(f"{subject.base} and {subject.head} have no commit in common. Name two branches of one history.")
    return RevisionRange(top, common, head)


async def files_of(here: Here, subject: RevisionsSubject) -> list[RevisionsSubject]:
    """Return the notebooks that differ between two revisions and that the caller may read, as subjects of reviews."""
    folder = folder_of(here, "")
    found: list[RevisionsSubject] = []
    for path in await asyncio.to_thread(_paths, folder, subject):
        try:
            place_of(folder, path)
            notebook = await check_file(here, path)
        except (Refused, NotFound, BadInput):
            continue  # another's, or where no notebooks are
        found.append(RevisionsSubject(path=path, base=subject.base, head=subject.head, notebook=notebook))
    return found[:MOST_FILES]


def _paths(folder: Path, subject: RevisionsSubject) -> list[str]:
    """The notebooks inside the folder, which may be a part of the repository."""
    between = find_range(folder, subject)
    inside = PurePosixPath(folder.resolve().relative_to(between.top.resolve()).as_posix())
    paths = (PurePosixPath(path) for path in notebooks_between(*between)[0])
    return [str(path.relative_to(inside)) for path in paths if path.is_relative_to(inside)]


async def branch_reviews(here: Here, subject: RevisionsSubject) -> BranchReviews:
    """Return the reviews beside one of a file: the branch's, and those of its notebooks."""
    known = {info.log for info in await here.workspace.logs("review")}
    whole = review_log(replace(subject, path="", notebook=None))
    files = [ReviewedFile(path=each.path, log=_known(each, known)) for each in await files_of(here, subject)]
    return BranchReviews(log=whole if whole in known else None, files=tuple(files))


def _known(subject: RevisionsSubject, known: Collection[LogId]) -> LogId | None:
    log = review_log(subject)
    return log if log in known else None


async def reviewed_files(here: Here, subject: RevisionsSubject) -> tuple[ReviewedFile, ...]:
    """Return the notebooks of a branch with what differs in them, and how far their reviews are."""
    known = {info.log for info in await here.workspace.logs("review")}
    folder, me = folder_of(here, ""), here.workspace.identity.actor
    found: list[ReviewedFile] = []
    for each in await files_of(here, subject):
        log = _known(each, known)
        now = await here.workspace.read(log) if log is not None else None
        found.append(await asyncio.to_thread(_reviewed, folder, each, log, now, me))
    return tuple(found)


def _reviewed(
    folder: Path, subject: RevisionsSubject, log: LogId | None, now: Notebook | None, me: ActorId
) -> ReviewedFile:
    made = ReviewedFile(path=subject.path, log=log)
    if now is not None and now.review is not None:
        threads = open_threads(now.comments)
        review = now.review
        made = replace(made, comments=len(threads), answer=review.answer, answered_by=review.answered_by)
    try:
        both = both_revisions(folder, subject.path, subject.base, subject.head)
    except QuireError as error:
        return replace(made, fault=str(error))
    rows = diff_rows(*both.notebooks).rows
    seen = now.review.reviewed.get(me, {}) if now is not None and now.review is not None else {}
    looked_at = sum(row.state != "same" and seen.get(row.cell) == version_of(row) for row in rows) if seen else 0
    counts = {state: sum(row.state == state for row in rows) for state in ("changed", "added", "removed", "moved")}
    return replace(made, cells=len(rows), looked_at=looked_at, **counts)


def version_of(row: DiffRow) -> str:
    """Return a hash of what a row says on both sides; none of a row that is the same."""
    if row.state == "same":
        return ""
    sides = [
        None if side is None else (side.kind, side.source, _outputs(side.execution)) for side in (row.old, row.new)
    ]
    return sha256(msgspec.json.encode((row.state, row.name, row.tags, row.facts, sides))).hexdigest()


def _outputs(execution: object) -> object:
    return getattr(execution, "outputs", None)
