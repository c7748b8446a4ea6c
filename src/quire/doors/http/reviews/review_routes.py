"""Reviews: opening one, what its page shows, and answering it. Its comments are events of its log, as everywhere."""

from __future__ import annotations

from typing import Annotated

from litestar.params import FromPath
from msgspec import Meta

from ....core.errors import BadInput
from ....core.events import ReviewAnswer, ReviewSubject, RevisionsSubject
from ....core.ids import LogId
from ....verbs.answers.answer import Here
from ....verbs.reviews.answer_review import ReviewVerdict
from ....verbs.reviews.answer_review import answer_review as give_answer
from ....verbs.reviews.branch_files import BranchReviews, branch_reviews
from ....verbs.reviews.open_review import ReviewOpening
from ....verbs.reviews.open_review import open_review as begin
from ....verbs.reviews.review_checks import ReviewChecks
from ....verbs.reviews.review_checks import review_checks as find_checks
from ....verbs.reviews.review_content import ReviewContent, review_content, review_of
from ....verbs.reviews.review_list import ReviewSummary, open_reviews
from ....workspace.local import LocalWorkspace
from ....workspace.wire.bodies import Body, Number
from ..auth import Asked, door_of
from ..response_stream import while_there
from ..route import Asking, body_of, checked, query_of, route


class ReviewWanted(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be reviewed, and under which title; without one, it is named after its subject."""

    subject: ReviewSubject
    name: Annotated[str, Meta(max_length=300)] = ""


class ReviewAnswerBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer. `selection`: of a proposal only these parts are accepted, changes first, then effects."""

    answer: ReviewAnswer
    why: Annotated[str, Meta(max_length=20_000)] = ""
    selection: tuple[Number, ...] | None = None


class ReviewAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`first`: how many changes are to be whole; without it, all are."""

    first: Number | None = None


@route("GET", "/api/reviews", "reviews", tag="reviews", answer=list[ReviewSummary])
async def reviews(request: Asking, workspace: Asked) -> list[ReviewSummary]:
    """List the reviews that wait for an answer, the one opened last first."""
    return await while_there(request, open_reviews(workspace))


@route("POST", "/api/reviews", "open_review", tag="reviews", body=ReviewWanted, answer=ReviewOpening)
async def open_review(request: Asking, workspace: Asked) -> ReviewOpening:
    """Open the review of a proposal, of what was fixed in a run, or of two revisions of git.

    Those of one file, or, with an empty `path`, of all notebooks of a branch: each of them has a review of its own. The
    same subject has one review: whoever opens it again is answered with that. Beginning one needs `edit`.
    """
    wanted = await body_of(request, ReviewWanted)
    return await while_there(request, begin(_here(request, workspace), wanted.subject, wanted.name))


@route("GET", "/api/reviews/{log}", "review", tag="reviews", query=ReviewAsked, answer=ReviewContent)
async def review(request: Asking, log: FromPath[str], workspace: Asked) -> ReviewContent:
    """What there is to see in a review: the rows of `quire diff`, outputs on both sides, results; of a branch, its files.

    With `first`, only so many changes are whole: a page shows those while it asks for all. Revisions are looked up each
    time: a branch that has moved on shows what it is now. Comments, answers and who has
    looked at what are in the notebook of the same id.
    """
    id, asked = LogId(checked(log, "Log")), query_of(request, ReviewAsked)
    return await while_there(request, review_content(_here(request, workspace), id, asked.first))


@route("GET", "/api/reviews/{log}/checks", "review_checks", tag="reviews", answer=ReviewChecks)
async def review_checks(request: Asking, log: FromPath[str], workspace: Asked) -> ReviewChecks:
    """What the checks of a review come to: static ones of what is proposed, and how it ran at that commit.

    Nothing is run. Of revisions, runs count that this workspace recorded at those commits, and their results are compared.
    """
    id = LogId(checked(log, "Log"))
    return await while_there(request, find_checks(_here(request, workspace), id))


@route("GET", "/api/reviews/{log}/branch", "review_branch", tag="reviews", answer=BranchReviews)
async def review_branch(request: Asking, log: FromPath[str], workspace: Asked) -> BranchReviews:
    """The reviews beside one of a file: the branch's own, and those of its notebooks, in their order."""
    here = _here(request, workspace)
    subject = (await review_of(here, LogId(checked(log, "Log"))))[0].subject
    if not isinstance(subject, RevisionsSubject):
        raise BadInput(f"{log} is a review of no branch: only those of revisions have others beside them.")
    return await while_there(request, branch_reviews(here, subject))


@route("POST", "/api/reviews/{log}/answer", "answer_review", tag="reviews", body=ReviewAnswerBody, answer=ReviewVerdict)
async def answer_review(request: Asking, log: FromPath[str], workspace: Asked) -> ReviewVerdict:
    """Accept, decline, or ask for a change. Accepting a proposal applies it, or some of it, and needs `approve`.

    Accepting what was fixed in a run proposes it to its source. A change is asked for by a comment that addresses whoever
    made the proposal. `open` takes an answer back that changed nothing.
    """
    id = LogId(checked(log, "Log"))
    sent = await body_of(request, ReviewAnswerBody)
    return await give_answer(_here(request, workspace), id, sent.answer, sent.why, sent.selection)


def _here(request: Asking, workspace: LocalWorkspace) -> Here:
    return Here(workspace=workspace, folder=door_of(request).folder)


ROUTES = [reviews, open_review, review, review_checks, review_branch, answer_review]
