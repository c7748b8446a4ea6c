"""Comments that address somebody: waiting for one, and telling of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...core.events import CommentEvent
from ...core.ids import ActorId, CommentId, LogId
from ...core.notebook.comments import CommentThread, awaiting
from ...core.notebook.notebook import Comment, Notebook
from ...core.values import Json
from ...formats.agent_text.comment_text import thread_lines
from ...formats.agent_text.excerpt import QUARTERS, tokens
from ...formats.agent_text.render_context import scene_of
from ...formats.terminal_safe import plain
from ..arguments import WaitArguments
from ..execution_wait import first_of
from .answer import Here, VerbAnswer
from .execution_answer import call

_SHARE = 2
"""Of a budget, one part of so many is spent on comments at most, where there is more to tell."""


async def until_addressed(here: Here, log: LogId, before: dict[CommentId, Comment]) -> None:
    """Wait until a comment that is not among these addresses whoever waits."""
    me = here.workspace.identity.actor
    now = await here.workspace.read(log)
    if said_to(now, me, before):
        return
    async for page in here.workspace.follow(log, now.seq):
        if not any(isinstance(entry.event, CommentEvent) for entry in page):
            continue
        if said_to(await here.workspace.read(log), me, before):
            return


def said_to(now: Notebook, actor: ActorId, before: dict[CommentId, Comment]) -> list[CommentThread]:
    """The open threads that await an actor, and in which somebody else said something that is not among these."""
    return [
        thread
        for thread in awaiting(now.comments, actor)
        if any(said.by != actor and _text(before.get(id)) != said.text for id, said in thread.comments.items())
    ]


def _text(comment: Comment | None) -> str | None:
    return comment.text if comment is not None else None


async def comments_at(here: Here, log: LogId, since: int | None) -> dict[CommentId, Comment]:
    """The comments that there were at a cursor; without one, none."""
    return dict((await here.workspace.read(log, since)).comments) if since else {}


async def wait_addressed(here: Here, log: LogId, wanted: WaitArguments) -> VerbAnswer:
    """Wait until a comment addresses whoever waits: one after the cursor, or any that is not answered."""
    before = await comments_at(here, log, wanted.since)
    await first_of(wanted.seconds, until_addressed(here, log, before))
    now = await here.workspace.read(log)
    found = said_to(now, here.workspace.identity.actor, before)
    facts: dict[str, Json] = {"notebook": log, "name": now.name, "cursor": now.seq}
    if not found:
        again = call("wait", notebook=wanted.notebook, comment=True, since=now.seq)
        return VerbAnswer(text=f"nobody has addressed you yet · cursor {now.seq} · {again}", facts=facts)
    first = f"{headline(found)} · cursor {now.seq}"
    answer = call("control", notebook=wanted.notebook, action="comment", id=found[0].id, text="…")
    lines = lines_of(now, here.workspace.identity.actor, found, wanted.budget - tokens(f"{first}\n{answer}") - 2)
    return VerbAnswer(text="\n".join([first, *lines, f"to answer: {answer}"]), facts=facts | facts_of_threads(found))


def headline(found: Sequence[CommentThread]) -> str:
    """Who addresses the reader, in one line."""
    last = [list(thread.comments.values())[-1].by for thread in found]
    who = ", ".join(plain(by) for by in dict.fromkeys(last))
    return f"{len(found)} comment{'s' * (len(found) != 1)} to you, by {who}"


def lines_of(now: Notebook, reader: ActorId, found: Sequence[CommentThread], budget: int) -> list[str]:
    """The threads with what was said in them, within a budget of tokens."""
    scene, left, lines = scene_of(now, reader=reader), budget * QUARTERS, list[str]()
    for place, thread in enumerate(found):
        about = f"about {scene.short(thread.cell)}" if thread.cell is not None else "about the notebook"
        block = thread_lines(scene, thread, left // (len(found) - place) - len(about) - 1)
        if block:
            lines += [about, *block]
            left -= QUARTERS * tokens("\n".join([about, *block])) + QUARTERS
    return lines


def told_beside(now: Notebook, reader: ActorId, found: Sequence[CommentThread], budget: int) -> list[str]:
    """The same behind something else that is told: for a part of the budget."""
    return lines_of(now, reader, found, budget // _SHARE) if found else []


def facts_of_threads(found: Sequence[CommentThread]) -> dict[str, Json]:
    """The threads, for programs."""
    listed: list[Json] = [{"id": each.id, "cell": each.cell, "by": each.first.by} for each in found]
    return {"addressed": listed} if listed else {}


# ---- Over all notebooks

OPEN_COMMENTS = (
    "SELECT c.log, c.comment, c.reply_to, c.cell, c.actor, c.on_behalf_of, c.at, c.text FROM comments c"
    " JOIN comments f ON f.log = c.log AND f.comment = c.thread WHERE f.resolved_by IS NULL ORDER BY c.log, c.at, c.comment"
)
"""Asks the index for the comments of all threads that are not resolved."""


def comments_by_log(rows: Iterable[tuple[Any, ...]]) -> dict[LogId, dict[CommentId, Comment]]:
    """Return the rows that OPEN_COMMENTS found as comments of their logs, in the order of the rows."""
    said: dict[LogId, dict[CommentId, Comment]] = {}
    for log, comment, reply_to, cell, actor, on_behalf_of, at, text in rows:
        said.setdefault(log, {})[comment] = Comment(
            by=actor, on_behalf_of=on_behalf_of, at=at, text=text, cell=cell, reply_to=reply_to
        )
    return said
