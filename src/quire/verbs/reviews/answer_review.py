"""Answering a review: what is reviewed is accepted or declined as well, where it can be, and the review says so."""

from __future__ import annotations

import msgspec

from ...core import events as e
from ...core.errors import BadInput
from ...core.events import CommentAdded, Draft, ReviewAnswer, ReviewAnswered
from ...core.ids import ActorId, CommentId, LogId
from ...core.notebook.comments import is_mentioned
from ...core.notebook.notebook import Review
from ...runs.fix import fix_proposal
from ...workspace.clock import new_id
from ...workspace.wire.bodies import RunProposed
from ..answers.answer import Here
from .review_content import review_of


class ReviewVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What became of it."""

    answer: ReviewAnswer
    proposed: RunProposed | None = None
    """The proposal to a run's source that accepting its fixes made."""
    comment: CommentId | None = None
    """The comment with which a change was asked for."""


async def answer_review(
    here: Here, log: LogId, answer: ReviewAnswer, why: str = "", selection: tuple[int, ...] | None = None
) -> ReviewVerdict:
    """Answer a review. A proposal is accepted (or some of it), or declined; fixes of a run are proposed to its source.

    A change is asked for with a comment, which addresses whoever proposed it: an agent reads it where it waits.
    """
    review, _ = await review_of(here, log)
    if answer == "change_asked" and not why.strip():
        raise BadInput("Say what is to be changed: `why` is empty.")
    if selection is not None and not (answer == "accepted" and isinstance(review.subject, e.ProposalSubject)):
        raise BadInput("Only of a proposal a selection can be accepted.")
    proposed = await _act(here, review, answer, why, selection)
    comment = await _ask(here, log, review, why) if answer == "change_asked" else None
    said = why if selection is None else f"{why} (some of it)".strip()
    await here.workspace.submit(log, [Draft(id=new_id(), event=ReviewAnswered(answer=answer, why=said))])
    return ReviewVerdict(answer=answer, proposed=proposed, comment=comment)


async def _ask(here: Here, log: LogId, review: Review, why: str) -> CommentId:
    """Say what is to be changed where whoever proposed it looks: in the notebook or run; of a file, in the review."""
    author = await _author(here, review)
    said = CommentAdded(comment=CommentId(new_id()), text=_addressed(why, author))
    where = log if isinstance(review.subject, e.RevisionsSubject) else review.subject.log
    await here.workspace.submit(where, [Draft(id=new_id(), event=said)])
    return said.comment


async def _act(
    here: Here, review: Review, answer: ReviewAnswer, why: str, selection: tuple[int, ...] | None
) -> RunProposed | None:
    subject = review.subject
    event: e.ProposalEvent | None = None
    if isinstance(subject, e.ProposalSubject):
        if answer == "accepted":
            event = e.ProposalAccepted(proposal=subject.proposal, selection=selection)
        elif answer == "declined":
            event = e.ProposalDeclined(proposal=subject.proposal, why=why)
        if event is not None:
            await here.workspace.submit(subject.log, [Draft(id=new_id(), event=event)])
    elif isinstance(subject, e.RunSubject) and answer == "accepted":
        return await fix_proposal.propose(here.workspace, here.folder, subject.log, why)
    return None


async def _author(here: Here, review: Review) -> ActorId | None:
    """Whoever is to make the change: who proposed it, or who last changed a cell of the run."""
    subject = review.subject
    if isinstance(subject, e.RevisionsSubject):
        return None
    now = await here.workspace.read(subject.log)
    if isinstance(subject, e.ProposalSubject):
        proposal = now.proposals.get(subject.proposal)
        return proposal.by if proposal is not None else None
    changed = [cell for cell in now.live_cells if cell.after_run]
    return max(changed, key=lambda cell: cell.changed_seq).edited_by if changed else None


def _addressed(why: str, author: ActorId | None) -> str:
    """The text, which begins with the author's name unless that stands in it."""
    if author is None or not author.startswith(("human:", "agent:")) or is_mentioned(why, author):
        return why
    return f"@{author} {why}"
