"""What people wrote on a pull request, read from its forge: comments, reviews and, where the API has them, comments on lines."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from ...core.errors import BadInput, NotFound
from ...formats.terminal_safe import one_line, plain
from ...git.plumbing.remote import find_remote
from ...git.repository import the_repository
from ..forges.find_forge import find_forge
from ..forges.forge import Forge, PullRequest, PullRequestComment
from .description import REVIEW_MARKER

_VERDICTS = {"": "", "approved": " approves", "change_asked": " asks for changes"}


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request, and what was written on it, the oldest first."""

    pull: PullRequest
    comments: list[PullRequestComment]

    @property
    def cursor(self) -> int:
        """When the last of it was written, in seconds since 1970, rounded down; 0 where nothing was."""
        return max((int(comment.seconds) for comment in self.comments), default=0)

    def after(self, cursor: int | None) -> Conversation:
        """Return the same with what was written after a cursor alone; None: all."""
        if cursor is None:
            return self
        return Conversation(pull=self.pull, comments=[each for each in self.comments if int(each.seconds) > cursor])


@asynccontextmanager
async def opened_forge(at: Path, remote_name: str | None = None, kind: str | None = None) -> AsyncGenerator[Forge]:
    """Open the forge that the remote of a repository is on."""
    top = the_repository(at).top
    remote = find_remote(top, remote_name)
    found = find_forge(remote, top, os.environ, kind)
    if found is None:
        raise BadInput(f"{remote.shown} is no forge, so nobody comments there. What was reported is on its branches.")
    try:
        yield found.client
    finally:
        await found.client.close()


async def read_conversation(forge: Forge, number: int) -> Conversation:
    """Return what was written on a pull request, without the comment that `quire review` keeps current there.

    The author does not tell ours from others: a person may comment with the account whose token is used here.
    """
    written = await forge.conversation(number)
    return Conversation(
        pull=await forge.pull_request(number),
        comments=[each for each in written if not each.body.startswith(REVIEW_MARKER)],
    )


async def conversation_of_branch(
    at: Path, head: str | None, base: str, remote_name: str | None, kind: str | None
) -> Conversation:
    """Return what was written on the open pull request of a branch."""
    if head is None:
        raise BadInput("HEAD is detached, so it names no pull request. Name its branch: quire review main...BRANCH.")
    async with opened_forge(at, remote_name, kind) as forge:
        pull = await forge.find_pull_request(head, base)
        if pull is None:
            told = f"There is no open pull request of {head} into {base} at {forge.name}"
            raise NotFound(f"{told}. Open one: quire propose --pull-request --branch {head}.")
        return await read_conversation(forge, pull.number)


def comment_lines(comments: Sequence[PullRequestComment], mark: str = "  ") -> list[str]:
    """Return comments as lines of text: who wrote it, where and when, then each line of theirs behind a mark."""
    return [line for comment in comments for line in (heading(comment), *_marked(comment.body, mark))]


def heading(comment: PullRequestComment) -> str:
    """Return a line that says who wrote a comment, what they ask for, where and when."""
    place = ""
    if comment.path is not None:
        place = f" on {one_line(comment.path, 200)}" + (f":{comment.line}" if comment.line is not None else "")
    when = f", {one_line(comment.at, 40)}" if comment.at else ""
    return f"{one_line(comment.author, 80) or 'somebody'}{_VERDICTS[comment.verdict]}{place}{when}:"


def _marked(text: str, mark: str) -> list[str]:
    return [f"{mark}{line}" for line in plain(text).splitlines()]
