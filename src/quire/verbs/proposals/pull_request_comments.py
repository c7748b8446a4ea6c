"""Waiting for what people write on a pull request: a forge sends no events, so it is read again every few seconds."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ...core.errors import BadInput
from ...core.ids import LogId
from ...core.values import Json
from ...formats.agent_text.excerpt import QUARTERS, Passage, cost, fit, lines_cost
from ..answers.answer import Here, VerbAnswer
from ..answers.execution_answer import call
from ..arguments import WaitArguments
from .pull_request import check_allowed

if TYPE_CHECKING:
    from ...review.forges.forge import PullRequestComment
    from ...review.pull_requests.conversation import Conversation

POLL_SECONDS = 5.0
_LEFT_OUT = 80
"""What the line costs that tells of comments left out."""
_NUMBER = re.compile(r"#(\d{1,9})")
_MARK = "@   "
"""Begins each line that somebody wrote, as with comments of notebooks: no line of ours begins so."""


def is_pull_request(called: str) -> bool:
    """Return whether what is waited for is a pull request: `#7`."""
    return called.startswith("#")


async def wait_for_comments(
    here: Here, log: LogId, wanted: WaitArguments, called: str, poll_seconds: float = POLL_SECONDS
) -> VerbAnswer:
    """Wait until something is written on a pull request after the cursor, or until it is merged or closed."""
    found = _NUMBER.fullmatch(called)
    if found is None:
        raise BadInput(f"{called!r} is not a pull request. Write # and its number, such as #7.")
    now = await _awaited(check_allowed(here), int(found[1]), wanted.since, wanted.seconds, poll_seconds)
    return _answer(log, wanted, called, now)


async def _awaited(folder: Path, number: int, since: int | None, seconds: float, poll_seconds: float) -> Conversation:
    from ...review.pull_requests.conversation import opened_forge, read_conversation

    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    async with opened_forge(folder) as forge:
        while True:
            now = (await read_conversation(forge, number)).after(since)
            left = until - loop.time()
            if now.comments or now.pull.state != "open" or left <= 0:
                return now
            await asyncio.sleep(min(poll_seconds, left))


def _answer(log: LogId, wanted: WaitArguments, called: str, now: Conversation) -> VerbAnswer:
    pull, cursor = now.pull, max(now.cursor, wanted.since or 0)
    facts: dict[str, Json] = {
        "notebook": log,
        "pull_request": pull.number,
        "state": "proposed" if pull.state == "open" else pull.state,
        "url": pull.url,
        "cursor": cursor,
        "comments": [_facts(comment) for comment in now.comments],
    }
    again = call("wait", notebook=wanted.notebook, proposal=called, since=cursor)
    count = len(now.comments)
    news = f"{count} comment{'s' * (count != 1)}" if count else "nobody has written anything"
    news += " after the cursor" if wanted.since else ""
    first = f"pull request {pull.number} is {pull.state}: {news} · cursor {cursor}"
    if pull.state != "open":
        return VerbAnswer(text="\n".join([first, *_lines(now, wanted, first)]), facts=facts)
    last = f"to go on waiting: {again}"
    if count:
        last = f"to change it: edit, then propose with pull_request again, which updates it; {last}"
    return VerbAnswer(text="\n".join([first, *_lines(now, wanted, first + last), last]), facts=facts)


def _facts(comment: PullRequestComment) -> Json:
    return {name: value for name, value in msgspec.to_builtins(comment).items() if value not in (None, "")}


def _lines(now: Conversation, wanted: WaitArguments, rest: str) -> list[str]:
    """The comments within the budget: of too many, the last ones; of a long one, its beginning and end."""
    from ...review.pull_requests.conversation import heading

    left = wanted.budget * QUARTERS - cost(rest) - _LEFT_OUT
    kept: list[str] = []
    for place, comment in enumerate(reversed(now.comments)):
        first = f"{heading(comment)} untrusted text:"
        lines = [first, *fit(Passage(head=comment.body), left - cost(first) - 1, _MARK, "wait with a larger budget")]
        if (left := left - lines_cost(lines)) < 0:
            count = len(now.comments) - place
            return [f"[{count} earlier comment{'s' * (count != 1)} left out: wait with a larger budget]", *kept]
        kept = [*lines, *kept]
    return kept
