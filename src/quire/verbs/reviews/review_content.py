"""What the page of a review shows: every cell of both sides, in the rows of `quire diff --html`, and what belongs to them.

Comments and who has looked at what are in the review's own log, which the page follows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from hashlib import sha256
from typing import Literal

import msgspec

from ...core.errors import NotFound
from ...core.events import ReviewSubject
from ...core.ids import CellId, LogId
from ...core.notebook.notebook import Review
from ...core.sheet.equality import same
from ...core.values import Json
from ...formats.diff_view.diff_values import DiffFact, DiffRow, diff_rows
from ...workspace.wire.bodies import ProposalFound
from ..answers.answer import Here
from .review_sides import ReviewSides, sides_of


class ReviewCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a check came to."""

    name: str
    status: Literal["passed", "failed", "skipped"]
    text: str = ""
    cell: CellId | None = None


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
    checks: tuple[ReviewCheck, ...] = ()
    proposal: ProposalFound | None = None
    problem: str = ""
    """Why the changes no longer fit the notebook as it is; empty if they do."""


async def review_content(here: Here, log: LogId, checks: tuple[ReviewCheck, ...] = ()) -> ReviewContent:
    """Return what there is to see in a review."""
    review, name = await review_of(here, log)
    sides = await sides_of(here, review.subject)
    return await asyncio.to_thread(_content, log, name, review.subject, sides, checks)


async def review_of(here: Here, log: LogId) -> tuple[Review, str]:
    """Return a review and its name."""
    now = await here.workspace.read(log)
    if now.review is None:
        raise NotFound(f"{log} is no review. Open one: `quire diff BASE...HEAD PATH --review`.")
    return now.review, now.name


def _content(
    log: LogId, name: str, subject: ReviewSubject, sides: ReviewSides, checks: tuple[ReviewCheck, ...]
) -> ReviewContent:
    found = diff_rows(sides.old, sides.new)
    by_cell = _changes_by_cell(sides.proposal)
    return ReviewContent(
        log=log,
        name=name,
        subject=subject,
        subject_name=sides.new.name,
        labels=sides.labels,
        outputs_log=sides.log,
        rows=found.rows,
        versions=tuple(map(version_of, found.rows)),
        parts=tuple(tuple(by_cell.get(row.cell, ())) if row.state != "same" else () for row in found.rows),
        facts=found.facts,
        language=found.language,
        results=tuple(_results(*sides.results)),
        checks=checks,
        proposal=sides.proposal,
        problem=sides.problem,
    )


def version_of(row: DiffRow) -> str:
    """Return a hash of what a row says on both sides; none of a row that is the same."""
    if row.state == "same":
        return ""
    sides = [None if side is None else (side.kind, side.source, _shown(side.execution)) for side in (row.old, row.new)]
    return sha256(msgspec.json.encode((row.state, row.name, row.tags, row.facts, sides))).hexdigest()


def _shown(execution: object) -> object:
    return getattr(execution, "outputs", None)


def _changes_by_cell(proposal: ProposalFound | None) -> dict[CellId, list[int]]:
    found: dict[CellId, list[int]] = {}
    for number, change in enumerate(proposal.changes if proposal is not None else ()):
        found.setdefault(change.cell, []).append(number)
    return found


def _results(old: dict[str, Json], new: dict[str, Json]) -> Iterator[ReviewResult]:
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name, msgspec.UNSET), new.get(name, msgspec.UNSET)
        is_same = name in old and name in new and same(before, after)
        yield ReviewResult(name=name, old=before, new=after, same=is_same)
