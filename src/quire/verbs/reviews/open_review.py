"""Opening a review: the same subject has one, whoever asks for it."""

from __future__ import annotations

import contextlib
from typing import assert_never

import msgspec
from msgspec.structs import replace

from ...core import events as e
from ...core.errors import BadInput, NotFound, Refused
from ...core.events import Draft, ReviewOpened, ReviewSubject
from ...core.ids import LogId
from ...core.notebook.reviews import review_log
from ...formats.terminal_safe import one_line
from ...workspace.clock import new_id
from ..answers.answer import Here
from .branch_files import files_of
from .review_sides import check_file, sides_of

_LONGEST_NAME = 120


class ReviewOpening(msgspec.Struct, frozen=True, kw_only=True):
    """A review, and whether it was made just now."""

    log: LogId
    name: str
    was_made: bool


async def open_review(here: Here, subject: ReviewSubject, name: str = "") -> ReviewOpening:
    """Return the review of a subject; where there is none, begin it. `name` is its title, such as a pull request's.

    With the review of a branch, those of its notebooks begin as well.
    """
    if isinstance(subject, e.RevisionsSubject):
        if not subject.path:
            return await _open_branch(here, subject, name)
        subject = replace(subject, notebook=await check_file(here, subject.path))
    log = review_log(subject)
    try:
        return await _known(here, log, was_made=False)
    except NotFound:
        pass
    # Looked at now, so that nobody is sent to a page that shows nothing.
    sides = await sides_of(here, subject)
    return await _begin(
        here, log, subject, one_line(name, _LONGEST_NAME) or _title(subject, sides.new.name, sides.proposal)
    )


async def _open_branch(here: Here, subject: e.RevisionsSubject, name: str) -> ReviewOpening:
    subject = replace(subject, notebook=None)  # its notebooks have rights of their own
    files = await files_of(here, subject)
    if not files:
        told = f"{subject.head} changes no notebook that you may read since it left {subject.base}"
        raise NotFound(f"{told}. `git diff --stat {subject.base}...{subject.head}` shows what it changes.")
    for each in files:
        # What cannot be read as a notebook has no review; the branch's page says why.
        with contextlib.suppress(BadInput):
            await open_review(here, each)
    log = review_log(subject)
    try:
        return await _known(here, log, was_made=False)
    except NotFound:
        title = one_line(name, _LONGEST_NAME) or one_line(f"{subject.base}…{subject.head}", _LONGEST_NAME)
        return await _begin(here, log, subject, title)


async def _begin(here: Here, log: LogId, subject: ReviewSubject, title: str) -> ReviewOpening:
    try:
        await here.workspace.submit(log, [Draft(id=new_id(), event=ReviewOpened(name=title, subject=subject))])
    except Refused:  # somebody else opened it just now, or this one may not
        try:
            return await _known(here, log, was_made=False)
        except NotFound:
            pass
        raise
    return await _known(here, log, was_made=True)


async def _known(here: Here, log: LogId, *, was_made: bool) -> ReviewOpening:
    now = await here.workspace.read(log)
    if now.review is None:
        raise Refused(f"{log} is taken: it is the id of something that is no review.")
    return ReviewOpening(log=log, name=now.name, was_made=was_made)


def _title(subject: ReviewSubject, named: str, proposal: object) -> str:
    match subject:
        case e.ProposalSubject():
            why = one_line(getattr(proposal, "why", ""), 80)
            return f"{named}: {why}" if why else f"A proposal for {named}"
        case e.RunSubject():
            return f"{named}: changed since it ran"
        case e.RevisionsSubject():
            return one_line(f"{subject.path}: {subject.base}…{subject.head}", _LONGEST_NAME)
        case _:
            assert_never(subject)
