"""The reviews of a notebook, for agents: what was said in them, and what they came to.

A review is a log of its own: nothing of it stands in the notebook that it is of. Whoever proposed a change reads all of it
here, whether it addresses them or not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import msgspec

from ...core import events as e
from ...core.ids import ActorId, CommentId, LogId, ProposalId
from ...core.notebook.comments import CommentThread, open_threads
from ...core.notebook.notebook import Notebook, Review
from ...core.notebook.reviews import review_log, subject_log
from ...core.values import Json
from ...formats.agent_text.comment_text import thread_lines
from ...formats.agent_text.excerpt import QUARTERS, cost, lines_cost
from ...formats.agent_text.render_context import scene_of
from ...formats.terminal_safe import one_line, plain
from ..answers.answer import Here, VerbAnswer
from ..answers.execution_answer import call
from ..arguments import ReadArguments, WaitArguments
from ..execution_wait import first_of

_MOST_REVIEWS = 200
"""So many reviews of files are looked at for whether they are of a notebook, the ones begun last first."""
_EXCERPT = 120
_LEFT_OUT = 60
_BEGINS_SECONDS = 1.0
"""How often whoever waits looks whether a review was begun: its log is one that nobody follows yet."""
_SAID = e.CommentAdded | e.CommentEdited | e.ReviewAnswered


class AgentReview(msgspec.Struct, frozen=True, kw_only=True):
    """A review, and its log as it is now."""

    log: LogId
    review: Review
    now: Notebook


async def reviews_of(here: Here, log: LogId, notebook: Notebook) -> list[AgentReview]:
    """Return the reviews of a notebook or run that wait for an answer or a change: of its proposals, and of its file."""
    known = [info.log for info in await here.workspace.logs("review") if not info.archived]
    if not known:
        return []
    of_proposals = {
        review_log(e.ProposalSubject(log=log, proposal=id))
        for id, proposal in notebook.proposals.items()
        if proposal.state == "open"
    }
    mine = of_proposals | {review_log(e.RunSubject(log=log))}
    found = [await _read(here, each) for each in known if each in mine]
    for each in known[:_MOST_REVIEWS]:
        if each not in mine and await _is_of_file(here, each, log):
            found.append(await _read(here, each))
    return [each for each in found if each.review.is_open]


async def _read(here: Here, log: LogId) -> AgentReview:
    now = await here.workspace.read(log)
    assert now.review is not None  # noqa: S101 - it is listed among the reviews
    return AgentReview(log=log, review=now.review, now=now)


async def _is_of_file(here: Here, log: LogId, notebook: LogId) -> bool:
    """Whether a review is of a file that is bound to a notebook. Its first event says that: the rest need not be read."""
    first = await here.workspace.entries(log, 0, 1)
    event = first[0].event if first else None
    is_of_files = isinstance(event, e.ReviewOpened) and isinstance(event.subject, e.RevisionsSubject)
    return is_of_files and isinstance(event, e.ReviewOpened) and subject_log(event.subject) == notebook


async def review_of_proposal(here: Here, log: LogId, proposal: ProposalId) -> AgentReview | None:
    """Return the review of a proposal; None where nobody began one."""
    review = review_log(e.ProposalSubject(log=log, proposal=proposal))
    known = {info.log for info in await here.workspace.logs("review")}
    return await _read(here, review) if review in known else None


# ---- As text


def overview_lines(found: Iterable[AgentReview]) -> list[str]:
    """A line for each review in which something was said, below the title of its notebook."""
    lines: list[str] = []
    for each in found:
        threads = open_threads(each.now.comments)
        if not threads and each.review.answer == "open":
            continue
        last = list(each.now.comments.values())[-1:]
        said = f", last {plain(last[0].by)}: {one_line(last[0].text, _EXCERPT)}" if last else ""
        count = f"{len(threads)} open thread{'s' * (len(threads) != 1)}{said}"
        lines.append(f"{_subject(each)}: {_answer(each.review)}{count} · {call('read', notebook=each.log)}")
    return lines


def _subject(each: AgentReview) -> str:
    match each.review.subject:
        case e.ProposalSubject(proposal=proposal):
            return f"review of proposal {proposal}"
        case e.RunSubject():
            return "review of what was changed in the run"
        case e.RevisionsSubject(path=path, base=base, head=head):
            return f"review of {one_line(path, 200) or 'the branch'} at {one_line(f'{base}...{head}', 200)}"


def _answer(review: Review) -> str:
    if review.answer == "open" or review.answered_by is None:
        return ""
    words = {"accepted": "accepted", "declined": "declined", "change_asked": "a change was asked for"}[review.answer]
    why = f" ({one_line(review.answered_why, _EXCERPT)})" if review.answered_why else ""
    return f"{words} by {plain(review.answered_by)}{why}; "


async def read_review(here: Here, log: LogId, now: Notebook, wanted: ReadArguments) -> VerbAnswer:
    """Return a review with all that was said in it: threads that are not resolved in full, first those that await the reader."""
    assert now.review is not None  # noqa: S101 - the caller has looked
    each = AgentReview(log=log, review=now.review, now=now)
    me = here.workspace.identity.actor
    top = [
        f"{one_line(now.name, 200)} [{log}] cursor {now.seq}",
        f"{_subject(each)}: {_answer(now.review)}".rstrip(": ;"),
    ]
    lines = said_lines(each, me, wanted.budget * QUARTERS - lines_cost(top) - _LEFT_OUT)
    reply = call("control", notebook=log, action="comment", id="COMMENT", text="…")
    nothing = ["nobody has said anything"] if not now.comments else []
    last = [f"to answer: {reply}"] if lines else []
    return VerbAnswer(text="\n".join([*top, *nothing, *lines, *last]) + "\n", facts=review_facts(each, me))


def said_lines(each: AgentReview, reader: ActorId, most: int, only: Sequence[CommentThread] | None = None) -> list[str]:
    """The open threads, each below the cell and line that it is about, for no more than this."""
    threads = open_threads(each.now.comments, reader) if only is None else only
    scene, left, lines = scene_of(each.now, reader=reader), most, list[str]()
    for place, thread in enumerate(threads):
        about = _place(thread)
        block = thread_lines(scene, thread, left // (len(threads) - place) - cost(about) - 1)
        if not block:
            return [*lines, f"[{len(threads) - place} threads left out: read with a larger budget]"]
        lines += [about, *block]
        left -= lines_cost([about, *block])
    return lines


def _place(thread: CommentThread) -> str:
    first = thread.first
    if first.cell is None:
        return "about the review"
    return f"about cell {first.cell}" + (f", line {first.line}" if first.line is not None else "")


def review_facts(each: AgentReview, reader: ActorId) -> dict[str, Json]:
    """A review for programs."""
    review = each.review
    threads: list[Json] = [
        {
            "id": thread.id,
            "cell": thread.cell,
            "line": thread.first.line,
            "by": thread.first.by,
            "awaits_you": thread.awaits(reader),
            "comments": [{"id": id, "by": said.by, "text": said.text} for id, said in thread.comments.items()],
        }
        for thread in open_threads(each.now.comments, reader)
    ]
    facts: dict[str, Json] = {
        "notebook": each.log,
        "name": each.now.name,
        "cursor": each.now.seq,
        "review": review.answer,
    }
    facts |= {"answered_by": review.answered_by, "why": review.answered_why} if review.answered_by is not None else {}
    return facts | ({"comments": threads} if threads else {})


# ---- Waiting for it


async def until_said(here: Here, log: LogId, since: int) -> None:
    """Wait until somebody else says something in a review after a number, or answers it."""
    me = here.workspace.identity.actor
    async for page in here.workspace.follow(log, since):
        if any(isinstance(entry.event, _SAID) and entry.actor != me for entry in page):
            return


async def until_said_of_proposal(here: Here, log: LogId, proposal: ProposalId, after: str) -> None:
    """Wait until something is said in the review of a proposal after a time. It may begin meanwhile."""
    while (found := await review_of_proposal(here, log, proposal)) is None:  # noqa: ASYNC110 - no log to follow yet
        await asyncio.sleep(_BEGINS_SECONDS)
    await until_said(here, found.log, await seq_at(here, found.log, after))


async def seq_at(here: Here, log: LogId, at: str) -> int:
    """Return the number of the last entry of a log at a time: cursors of one log say nothing of another."""
    return max((entry.seq for entry in await here.workspace.entries(log) if entry.at <= at), default=0)


async def wait_in_review(here: Here, log: LogId, now: Notebook, wanted: WaitArguments) -> VerbAnswer:
    """Wait until somebody else says something in a review after the cursor, or what it is of is decided."""
    assert now.review is not None  # noqa: S101 - the caller has looked
    subject = now.review.subject
    decided = None
    if isinstance(subject, e.ProposalSubject):
        decided = _until_decided(here, subject)
    await first_of(wanted.seconds, until_said(here, log, wanted.since or 0), decided)
    return await told_of_review(here, log, wanted)


async def _until_decided(here: Here, subject: e.ProposalSubject) -> None:
    now = await here.workspace.read(subject.log)
    proposal = now.proposals.get(subject.proposal)
    if proposal is None or proposal.state != "open":
        return
    async for page in here.workspace.follow(subject.log, now.seq):
        if any(getattr(entry.event, "proposal", None) == subject.proposal for entry in page):
            return


async def told_of_review(here: Here, log: LogId, wanted: WaitArguments) -> VerbAnswer:
    """Say what is new in a review since the cursor."""
    each = await _read(here, log)
    me, since = here.workspace.identity.actor, wanted.since or 0
    news = await news_since(here, log, since, each.now.seq)
    answered = any(isinstance(entry.event, e.ReviewAnswered) for entry in news)
    changed = {getattr(entry.event, "comment", CommentId("")) for entry in news}
    threads = [thread for thread in open_threads(each.now.comments, me) if changed & set(thread.comments)]
    state = await _proposal_state(here, each.review)
    again = call("wait", notebook=log, since=each.now.seq)
    what = f"{len(threads)} thread{'s' * (len(threads) != 1)} with something new" if threads else "nothing was said"
    verdict = _answer(each.review) if answered else ""
    first = f"{_subject(each)}: {verdict}{state}{what} · cursor {each.now.seq}"
    lines = said_lines(each, me, wanted.budget * QUARTERS - lines_cost([first, again]) - _LEFT_OUT, threads)
    return VerbAnswer(text="\n".join([first, *lines, f"to go on waiting: {again}"]), facts=review_facts(each, me))


async def news_since(here: Here, log: LogId, since: int, until: int) -> list[e.Entry]:
    """Return what others said in a review, or answered, after a number."""
    me, found = here.workspace.identity.actor, list[e.Entry]()
    while page := await here.workspace.entries(log, since, until):
        found += [entry for entry in page if isinstance(entry.event, _SAID) and entry.actor != me]
        since = page[-1].seq
    return found


async def _proposal_state(here: Here, review: Review) -> str:
    subject = review.subject
    if not isinstance(subject, e.ProposalSubject):
        return ""
    proposal = (await here.workspace.read(subject.log)).proposals.get(subject.proposal)
    if proposal is None or proposal.state == "open":
        return ""
    by = f" by {plain(proposal.decided_by)}" if proposal.decided_by is not None else ""
    return f"the proposal is {proposal.state}{by}; "
