"""Reviews: which log is the review of a subject, and who has to be told of what is said in it."""

from __future__ import annotations

import json
from hashlib import sha256

from ..events import ProposalSubject, ReviewSubject, RevisionsSubject, RunSubject
from ..ids import ActorId, LogId
from .notebook import Notebook

_PREFIX = "review-"


def review_log(subject: ReviewSubject) -> LogId:
    """Return the id of the log in which a subject is reviewed: the same subject has the same review."""
    match subject:
        case ProposalSubject():
            words = ["proposal", subject.log, subject.proposal]
        case RunSubject():
            words = ["run", subject.log]
        case RevisionsSubject():
            words = ["revisions", subject.path, subject.base, subject.head]
    return LogId(_PREFIX + sha256(json.dumps(words).encode()).hexdigest()[:40])


def subject_log(subject: ReviewSubject) -> LogId | None:
    """Return the notebook or run whose rights count in a review."""
    return subject.notebook if isinstance(subject, RevisionsSubject) else subject.log


def reviews_for(log: LogId, now: Notebook, actor: ActorId) -> list[LogId]:
    """Return the logs in which an actor's work in a notebook or run may be reviewed; they need not exist."""
    mine = [id for id, each in now.proposals.items() if each.by == actor and each.state == "open"]
    proposals = [review_log(ProposalSubject(log=log, proposal=id)) for id in mine]
    return [*proposals, *([review_log(RunSubject(log=log))] if now.run is not None else [])]
