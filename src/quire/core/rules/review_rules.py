"""Reviews: what one may be of, and what may be said in its log."""

from __future__ import annotations

import re
from typing import assert_never

from .. import events as e
from ..bound_paths import check_bound_path
from ..errors import BadInput, Refused
from ..ids import actor_kind, check_cell_id, check_id, check_name
from ..notebook.notebook import Notebook
from .context import SubmissionContext

_OF_REVIEWS = e.ReviewEvent | e.CommentEvent | e.NotebookRenamed | e.NotebookArchived
_VERSION = re.compile(r"[0-9a-f]{64}")
_REVISION = re.compile(r"[^\x00-\x20\x7f~^:?*\[\\-][^\x00-\x20\x7f:?*\[\\]{0,199}")
"""Branches, tags, commits, and `~` and `^` behind them. Git would take what begins with a dash for an option."""


def check_is_of_reviews(now: Notebook, event: e.NotebookEvent) -> None:
    """Refuse what belongs into the log of a notebook: a review has no cells, and nothing runs in it."""
    if not isinstance(event, _OF_REVIEWS):
        raise Refused(f"{now.name!r} is a review, not a notebook: change what it is a review of.")


def accept(now: Notebook, event: e.ReviewEvent, asking: SubmissionContext) -> e.ReviewEvent:
    """Return the event as it is to be recorded."""
    if now.review is None and not isinstance(event, e.ReviewOpened):
        raise Refused(f"{now.name!r} is no review. Open one of it first (review_opened).")
    match event:
        case e.ReviewOpened():
            check_name(event.name, "A review's name")
            _check_subject(event.subject)
        case e.CellReviewed():
            check_cell_id(event.cell)
            if not _VERSION.fullmatch(event.version):
                raise BadInput(f"`version` of cell {event.cell!r} is the SHA-256 that the review gives for its change.")
        case e.ReviewAnswered():
            _check_answer(now, event, asking)
        case _:
            assert_never(event)
    return event


def check_revision(text: str) -> None:
    """Refuse what is not the name of a revision."""
    if not _REVISION.fullmatch(text) or ".." in text:
        raise BadInput(f"{text[:80]!r} is not a revision. Name a branch, a tag or a commit.")


def _check_subject(subject: e.ReviewSubject) -> None:
    match subject:
        case e.ProposalSubject():
            check_id(subject.log, "Log")
            check_id(subject.proposal, "Proposal")
        case e.RunSubject():
            check_id(subject.log, "Log")
        case e.RevisionsSubject():
            if subject.path:  # none: all notebooks of the branch
                check_bound_path(subject.path)
            check_revision(subject.base)
            check_revision(subject.head)
        case _:
            assert_never(subject)


def _check_answer(now: Notebook, event: e.ReviewAnswered, asking: SubmissionContext) -> None:
    """Only a human accepts (rule 3); whoever may comment may say no, or what is to be changed."""
    if event.answer == "accepted" and actor_kind(asking.actor) != "human":
        raise Refused(f"Only a human accepts a review, and {asking.actor} is none. Comment on it instead.")
    if event.answer == "open" and now.review is not None and now.review.answer == "open":
        raise Refused(f"Review {now.name!r} is open: there is no answer to take back.")
