"""The reviews of a workspace, as a home page lists them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from ...core.ids import ActorId, LogId
from ...workspace.local import LocalWorkspace
from ..overviews.overview import ask_index

_SHOWN = 50
_SELECT = """
SELECT r.log, r.name, r.kind, r.answer, r.actor, r.on_behalf_of, r.at, p.state,
  (SELECT count(*) FROM comments c WHERE c.log = r.log AND c.comment = c.thread AND c.resolved_by IS NULL),
  r.path, r.base, r.head
FROM reviews r LEFT JOIN proposals p ON r.kind = 'proposal' AND p.log = r.subject AND p.proposal = r.proposal
WHERE r.answer IN ('open', 'change_asked') ORDER BY r.at DESC, r.log
"""


class ReviewSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A review that has no final answer."""

    log: LogId
    name: str
    kind: str
    """`proposal`, `run` or `revisions`."""
    answer: str
    """`open` or `change_asked`."""
    by: ActorId
    on_behalf_of: ActorId | None
    at: str
    comments: int
    """Threads that are not resolved."""


async def open_reviews(workspace: LocalWorkspace, readable: Collection[LogId] | None = None) -> list[ReviewSummary]:
    """Return the reviews that wait for an answer and that the bearer may read, the one opened last first."""
    mine = readable if readable is not None else {info.log for info in await workspace.logs("review")}
    rows = [row for row in await ask_index(workspace, _SELECT) if row[0] in mine and row[7] in (None, "open")]
    # A branch stands for its notebooks: their reviews are listed on its page.
    branches = {row[10:] for row in rows if row[2] == "revisions" and not row[9]}
    return [_summary(row) for row in rows if not (row[9] and row[10:] in branches)][:_SHOWN]


def _summary(row: tuple[Any, ...]) -> ReviewSummary:
    log, name, kind, answer, by, on_behalf_of, at, _, comments, *_ = row
    return ReviewSummary(
        log=log, name=name, kind=kind, answer=answer, by=by, on_behalf_of=on_behalf_of, at=at, comments=comments
    )
