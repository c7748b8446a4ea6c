"""What the page of a review shows: every cell of both sides, in the rows of `quire diff --html`, and what belongs to them.

Comments and who has looked at what are in the review's own log, which the page follows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from ...core.errors import NotFound
from ...core.events import ReviewSubject, RevisionsSubject
from ...core.ids import CellId, LogId
from ...core.notebook.notebook import Review
from ...core.sheet.equality import same
from ...core.values import Json
from ...formats.diff_view.diff_values import DiffFact, DiffRow, diff_rows
from ...workspace.wire.bodies import ProposalFound
from ..answers.answer import Here
from .branch_files import ReviewedFile, reviewed_files, version_of
from .review_sides import ReviewSides, revision_labels, sides_of


class ReviewResult(msgspec.Struct, frozen=True, kw_only=True):
    """A result before and after; left out where that side has none, null where it is too large to show."""

    name: str
    old: Json | msgspec.UnsetType = msgspec.UNSET
    new: Json | msgspec.UnsetType = msgspec.UNSET
    same: bool


class ReviewContent(msgspec.Struct, frozen=True, kw_only=True):
    """A review with all that can be looked at in it."""

    log: LogId
    name: str
    subject: ReviewSubject
    subject_name: str
    """What the notebook, the run or the file is called."""
    labels: tuple[str, str]
    """What both sides are called: "now", "proposed"."""
    outputs_log: LogId | None
    """The log in which blobs of outputs are; null: outputs stand inline."""
    rows: tuple[DiffRow, ...]
    versions: tuple[str, ...]
    """For each row a hash of both sides: what `cell_reviewed` names. Empty where nothing changed."""
    parts: tuple[tuple[int, ...], ...]
    """For each row the numbers of the proposal's changes that it shows."""
    facts: tuple[DiffFact, ...]
    language: str
    results: tuple[ReviewResult, ...]
    is_partial: bool = False
    """Whether rows behind the first changes are without lines, sources and outputs."""
    files: tuple[ReviewedFile, ...] | None = None
    """Of the review of a branch: its notebooks. It has no rows of its own."""
    proposal: ProposalFound | None = None
    problem: str = ""
    """Why the changes no longer fit the notebook as it is; empty if they do."""


async def review_content(here: Here, log: LogId, first: int | None = None) -> ReviewContent:
    """Return what there is to see in a review; with `first`, so many changes whole, and the others without what they show.

    What its checks came to is looked up apart: that takes longer.
    """
    review, name = await review_of(here, log)
    subject = review.subject
    if isinstance(subject, RevisionsSubject) and not subject.path:
        return _of_branch(log, name, subject, await reviewed_files(here, subject))
    sides = await sides_of(here, subject)
    return await asyncio.to_thread(_content, log, name, subject, sides, first)


def _of_branch(log: LogId, name: str, subject: RevisionsSubject, files: tuple[ReviewedFile, ...]) -> ReviewContent:
    return ReviewContent(
        log=log,
        name=name,
        subject=subject,
        subject_name=subject.head,
        labels=revision_labels(subject),
        outputs_log=None,
        rows=(),
        versions=(),
        parts=(),
        facts=(),
        language="python",
        results=(),
        files=files,
    )


async def review_of(here: Here, log: LogId) -> tuple[Review, str]:
    """Return a review and its name."""
    now = await here.workspace.read(log)
    if now.review is None:
        raise NotFound(f"{log} is no review. Open one: `quire diff BASE...HEAD PATH --review`.")
    return now.review, now.name


def _content(log: LogId, name: str, subject: ReviewSubject, sides: ReviewSides, first: int | None) -> ReviewContent:
    found = diff_rows(sides.old, sides.new, first)
    rows, is_partial = _first(found.rows, first)
    by_cell = _changes_by_cell(sides.proposal)
    return ReviewContent(
        log=log,
        name=name,
        subject=subject,
        subject_name=sides.new.name,
        labels=sides.labels,
        outputs_log=sides.log,
        rows=rows,
        is_partial=is_partial,
        versions=tuple(map(version_of, found.rows)),
        parts=tuple(tuple(by_cell.get(row.cell, ())) if row.state != "same" else () for row in found.rows),
        facts=found.facts,
        language=found.language,
        results=tuple(compare_results(*sides.results)),
        proposal=sides.proposal,
        problem=sides.problem,
    )


def _first(rows: tuple[DiffRow, ...], first: int | None) -> tuple[tuple[DiffRow, ...], bool]:
    """The rows up to so many changes, and the others without what their cells say; whether there are such."""
    changes = [at for at, row in enumerate(rows) if row.state != "same"]
    if first is None or len(changes) <= first:
        return rows, False
    end = changes[first]
    return (*rows[:end], *map(_bare, rows[end:])), True


def _bare(row: DiffRow) -> DiffRow:
    old, new = (side and replace(side, source="", execution=None) for side in (row.old, row.new))
    return replace(row, old=old, new=new)


def _changes_by_cell(proposal: ProposalFound | None) -> dict[CellId, list[int]]:
    found: dict[CellId, list[int]] = {}
    for number, change in enumerate(proposal.changes if proposal is not None else ()):
        found.setdefault(change.cell, []).append(number)
    return found


def compare_results(old: dict[str, Json], new: dict[str, Json]) -> Iterator[ReviewResult]:
    """Yield the results of both sides, by name."""
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name, msgspec.UNSET), new.get(name, msgspec.UNSET)
        is_same = name in old and name in new and same(before, after)
        yield ReviewResult(name=name, old=before, new=after, same=is_same)
