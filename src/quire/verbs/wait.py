"""Waiting for what runs in a notebook, for a run, for the answer to a proposal, or for a comment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from msgspec.structs import replace

from ..core import events as e
from ..core.edits.undo_plan import CELL_CHANGES
from ..core.errors import BadInput, NotFound
from ..core.events import Entry
from ..core.ids import CellId, CommentId, ExecutionId, LogId, ProposalId, nearest
from ..core.notebook.notebook import Comment, Notebook, Proposal
from ..core.values import Json
from ..formats.agent_text.excerpt import tokens
from ..formats.agent_text.render_context import short_ids
from ..formats.terminal_safe import one_line, plain
from .answers.answer import Here, VerbAnswer
from .answers.comment_answer import comments_at, facts_of_threads, said_to, told_beside, until_addressed, wait_addressed
from .answers.comment_answer import headline as addressed_line
from .answers.execution_answer import call, cell_facts, facts_of, headline, missed_lines, shown, told
from .arguments import WaitArguments
from .execution_wait import Tell, ended, first_of
from .find import notebook_named
from .proposals.pull_request_comments import is_pull_request, wait_for_comments
from .reviews.agent_reviews import (
    news_since,
    review_of_proposal,
    seq_at,
    told_of_review,
    until_said_of_proposal,
    wait_in_review,
)

DECIDED = ("proposal_accepted", "proposal_declined", "proposal_withdrawn", "proposal_expired")
_FAILED = ("error", "timeout", "dead_kernel", "lost")
_TOUCHES = (
    *CELL_CHANGES,
    "outputs_imported",
    "execution_requested",
    "scratch_requested",
    "execution_started",
    "execution_finished",
    "execution_skipped",
    "execution_cancelled",
)


async def wait(here: Here, wanted: WaitArguments, tell: Tell | None = None) -> VerbAnswer:
    """Wait until nothing runs, a run is over, a proposal is answered or a comment addresses whoever waits; say what changed."""
    log = (await notebook_named(here, wanted.notebook)).log
    if log is None:
        raise BadInput(f"{wanted.notebook} is a file that nobody has opened: nothing runs there. Run its cells.")
    await here.at(log, "waiting")
    now = await here.workspace.read(log)
    if now.review is not None:
        return await wait_in_review(here, log, now, wanted)
    if wanted.comment:
        return await wait_addressed(here, log, wanted)
    if wanted.proposal is not None and is_pull_request(wanted.proposal):
        return await wait_for_comments(here, log, wanted, wanted.proposal)
    if wanted.proposal is not None:
        return await _answered(here, log, now, wanted, wanted.proposal, tell)
    if _is_about_the_run(now, wanted):
        from .run_detached import run_awaited

        return await run_awaited(here, log, wanted, tell)
    known = await comments_at(here, log, wanted.since) if wanted.since is not None else dict(now.comments)
    unless = until_addressed(here, log, known)
    found = await ended(here, log, list(now.executions), now.seq, wanted.seconds, tell, unless)
    me = here.workspace.identity.actor
    addressed = said_to(found.notebook, me, known)
    changed = await changed_since(here, log, found.notebook, wanted.since) if wanted.since is not None else []
    cells = list(dict.fromkeys((*found.ran, *changed)))
    failed = [id for id in cells if found.notebook.cells[id].state in _FAILED]
    is_over = not found.executions
    first = _quiet(found.notebook, wanted, changed, failed) if is_over else headline(wanted.notebook, found)
    first = f"{addressed_line(addressed)}; {first}" if addressed else first
    last = [*told_beside(found.notebook, me, addressed, wanted.budget), *missed_lines(found)]
    text = shown(found.notebook, first, cells, last, wanted.budget)
    facts = facts_of(log, found) | {"cells": cell_facts(found.notebook, cells)} | facts_of_threads(addressed)
    # What was waited for may have failed before anybody waited.
    return VerbAnswer(text=text, facts=facts | ({"state": "error"} if is_over and failed else {}))


def _is_about_the_run(now: Notebook, wanted: WaitArguments) -> bool:
    """Whether a run is waited for as such: until it is over, and after that until somebody works on in it."""
    if now.run is None or now.run.is_open:
        return now.run is not None
    return not now.executions and (wanted.since or 0) < (now.run.finished_seq or 0)


def _quiet(now: Notebook, wanted: WaitArguments, changed: list[CellId], failed: list[CellId]) -> str:
    ids = short_ids(now)
    since = f", and nothing changed since {wanted.since}" if wanted.since is not None and not changed else ""
    wrong = f", and {', '.join(ids[id] for id in failed[:5])} failed" if failed else ""
    return f"nothing runs{since}{wrong} · cursor {now.seq}"


async def changed_since(here: Here, log: LogId, now: Notebook, since: int) -> list[CellId]:
    """The cells that something happened to after a number, from top to bottom."""
    cells: set[CellId] = set()
    of = {each.id: cell.id for cell in now.cells.values() for each in (cell.execution, cell.missed) if each is not None}
    while page := await here.workspace.entries(log, since, now.seq, types=_TOUCHES):
        for entry in page:
            cells.update(_touched(entry.event, {**of, **now.executions}))
        since = page[-1].seq
    return [id for id in now.order if id in cells]


def _touched(event: e.AnyEvent, of: dict[ExecutionId, CellId]) -> list[CellId]:
    match event:
        case e.FileMerged():
            return [change.cell for change in event.changes]
        case e.ProposalAccepted():
            return [each.cell for each in (*(event.applied or ()), *(event.effects or ()))]
        case _:
            execution, cell = getattr(event, "execution", None), getattr(event, "cell", None)
            return [found] if (found := cell or of.get(execution or ExecutionId(""))) is not None else []


# ---- Proposals


async def _answered(
    here: Here, log: LogId, now: Notebook, wanted: WaitArguments, called: str, tell: Tell | None
) -> VerbAnswer:
    id, made = _proposal(now, called)
    loop = asyncio.get_running_loop()
    until = loop.time() + wanted.seconds
    # Without a cursor, whatever was said since it was made: it may have come before the call did.
    known = await comments_at(here, log, wanted.since if wanted.since is not None else made.seq)
    deciding = asyncio.ensure_future(_decision(here, log, id, made.seq))
    after = await _time_of(here, log, wanted.since if wanted.since is not None else made.seq)
    in_review = until_said_of_proposal(here, log, id, after)
    await first_of(wanted.seconds, deciding, until_addressed(here, log, known), in_review)
    if deciding.cancelled():
        answer = _open(here, log, await here.workspace.read(log), wanted, id, known)
        return await _with_review(here, log, wanted, id, after, answer)
    decision = deciding.result()
    if not isinstance(decision.event, e.ProposalAccepted):
        return _declined(log, await here.workspace.read(log), id, decision)
    effects = decision.event.effects or ()
    executions = [effect.execution for effect in effects]
    left = max(until - loop.time(), 0.0)
    found = await ended(here, log, executions, decision.seq - 1, left, tell)
    first = f"accepted by {plain(decision.by)}"
    facts = {"proposal": id, "decided_by": decision.by}
    if executions:
        answer = told(log, wanted.notebook, found, wanted.budget - tokens(first) - 1)
        return VerbAnswer(text=f"{first}\n{answer.text}", facts=answer.facts | facts)
    cells = [change.cell for change in decision.event.applied or ()]
    text = shown(found.notebook, f"{first} · cursor {found.notebook.seq}", cells, [], wanted.budget)
    return VerbAnswer(text=text, facts=facts_of(log, found) | facts | {"cells": cell_facts(found.notebook, cells)})


async def _time_of(here: Here, log: LogId, seq: int) -> str:
    """When an entry of a log was recorded; "" where there is none of that number."""
    found = await here.workspace.entries(log, seq - 1, seq) if seq > 0 else []
    return found[0].at if found else ""


async def _with_review(
    here: Here, log: LogId, wanted: WaitArguments, id: ProposalId, after: str, answer: VerbAnswer
) -> VerbAnswer:
    """Return an answer with what was said in the review of the proposal, too."""
    review = await review_of_proposal(here, log, id)
    if review is None:
        return answer
    since = await seq_at(here, review.log, after)
    if not await news_since(here, review.log, since, review.now.seq):
        return answer
    asked = replace(wanted, since=since, budget=max(wanted.budget - tokens(answer.text), wanted.budget // 2))
    told_there = await told_of_review(here, review.log, asked)
    text = f"{answer.text}\n{told_there.text}"
    return VerbAnswer(text=text, facts={**answer.facts, "review": told_there.facts})


def _proposal(now: Notebook, called: str) -> tuple[ProposalId, Proposal]:
    matching = [id for id in now.proposals if id == called] or [id for id in now.proposals if id.startswith(called)]
    if len(matching) == 1:
        return matching[0], now.proposals[matching[0]]
    waiting = [id for id, each in now.proposals.items() if each.state == "open"]
    close = nearest(called, list(now.proposals)) or waiting[:3]
    hint = f"Nearest: {', '.join(close)}." if close else "Nobody has made one."
    raise NotFound(f"There is no proposal {called!r} in notebook {now.name!r}. {hint}", nearest=close)


async def _decision(here: Here, log: LogId, id: ProposalId, since: int) -> Entry:
    async for entry in _deciding(here, log, since):
        if getattr(entry.event, "proposal", None) == id and not isinstance(entry.event, e.ProposalMade):
            return entry
    raise NotFound(f"Log {log} came to an end before proposal {id} was answered.")


async def _deciding(here: Here, log: LogId, since: int) -> AsyncIterator[Entry]:
    """What was decided after a number, and then whatever is."""
    now = await here.workspace.read(log)
    while page := await here.workspace.entries(log, since, now.seq, types=DECIDED):
        for entry in page:
            yield entry
        since = page[-1].seq
    async for page in here.workspace.follow(log, now.seq):
        for entry in page:
            yield entry


def _open(
    here: Here, log: LogId, now: Notebook, wanted: WaitArguments, id: ProposalId, known: dict[CommentId, Comment]
) -> VerbAnswer:
    me = here.workspace.identity.actor
    addressed = said_to(now, me, known)
    # A comment that was read once does not end the next wait.
    after: dict[str, Json] = {"since": now.seq} if addressed else {}
    again = call("wait", notebook=wanted.notebook, proposal=id, **after)
    first = f"{addressed_line(addressed)}; " if addressed else ""
    text = f"{first}open: nobody has said yes or no to {id} yet · cursor {now.seq} · {again}"
    lines = [text, *told_beside(now, me, addressed, wanted.budget)]
    facts: dict[str, Json] = {"notebook": log, "cursor": now.seq, "proposal": id, "state": "proposed"}
    return VerbAnswer(text="\n".join(lines), facts=facts | facts_of_threads(addressed))


def _declined(log: LogId, now: Notebook, id: ProposalId, decision: Entry) -> VerbAnswer:
    state = now.proposals[id].state
    why = one_line(getattr(decision.event, "why", ""), 1000)
    text = f"{state} by {plain(decision.by)}{': ' + why if why else ''} · nothing of it happened · cursor {now.seq}"
    facts = {"notebook": log, "cursor": now.seq, "proposal": id, "state": state, "decided_by": decision.by, "why": why}
    return VerbAnswer(text=text, facts=facts)
