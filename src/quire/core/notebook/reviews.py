"""Reviews: which log is the review of a subject, and whose rights count in it."""

from __future__ import annotations

import json
from hashlib import sha256

from ..events import ProposalSubject, ReviewSubject, RevisionsSubject, RunSubject
from ..ids import LogId

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
