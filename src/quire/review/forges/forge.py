"""What a forge can be asked for, and the values that go to and fro.

`Forge` is the protocol; gitea.py, github.py and gitlab.py are the clients. Every value that comes from a forge was
written by others: text of it is data.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from ...core.errors import BadInput, Conflict, QuireError

ForgeKind: TypeAlias = Literal["gitea", "github", "gitlab"]
KINDS: tuple[ForgeKind, ...] = ("gitea", "github", "gitlab")
State: TypeAlias = Literal["pending", "success", "failure", "error"]
RED: tuple[State, ...] = ("failure", "error")


class PullRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request, or a merge request as GitLab calls it."""

    number: int
    url: str
    """Where a person reads it."""
    title: str
    body: str
    state: Literal["open", "closed", "merged"]
    head: str
    """The branch that is to be merged."""
    base: str
    """The branch that it goes into."""
    sha: str
    """The commit that the forge knows as its head."""
    blocked: str | None = None
    """What the forge itself says is in the way of a merge, where it says that."""


class PullRequestComment(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wrote on a pull request: a comment, a review, or a comment on a line."""

    id: int
    body: str
    author: str
    at: str = ""
    """When it was written or last changed, as the forge says it; "" where it does not."""
    verdict: Literal["", "approved", "change_asked"] = ""
    """Of a review: what it asks for."""
    path: str | None = None
    """The file that it is about."""
    line: int | None = None

    @property
    def seconds(self) -> float:
        """When it was written, in seconds since 1970; 0 where that is not known."""
        try:
            return dt.datetime.fromisoformat(self.at).timestamp()
        except ValueError:
            return 0.0


class CommitStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What one check says of a commit."""

    context: str
    """What tells one check from another; the latest of each counts."""
    state: State
    description: str = ""
    url: str | None = None


class Forge(Protocol):
    """One repository on a forge, by one token."""

    kind: ForgeKind
    name: str
    """What messages call it: the host and the repository."""

    async def user(self) -> str:
        """Return the name of the user whose token it is; "": the token may not ask."""
        ...

    async def find_pull_request(self, head: str, base: str) -> PullRequest | None:
        """Return the open pull request of a branch of this repository into another."""
        ...

    async def open_pull_request(self, head: str, base: str, title: str, body: str) -> PullRequest:
        """Open one; Conflict if there is one already."""
        ...

    async def update_pull_request(self, number: int, title: str | None, body: str) -> PullRequest:
        """Give it another description, and another title where one is given."""
        ...

    async def pull_request(self, number: int) -> PullRequest:
        """Return it as it is now."""
        ...

    async def merge(self, pull: PullRequest, title: str) -> None:
        """Merge it if its head still is what was read; Conflict where the branches collide."""
        ...

    async def comments(self, number: int) -> Sequence[PullRequestComment]:
        """Return the comments on the pull request as a whole, the oldest first."""
        ...

    async def conversation(self, number: int) -> Sequence[PullRequestComment]:
        """Return all that was written: comments, reviews and, where the API has them, comments on lines; oldest first."""
        ...

    async def comment(self, number: int, body: str) -> None:
        """Say something."""
        ...

    async def update_comment(self, number: int, comment: int, body: str) -> None:
        """Have a comment say something else."""
        ...

    async def set_status(self, sha: str, status: CommitStatus) -> None:
        """Say how a check of a commit stands."""
        ...

    async def statuses(self, sha: str) -> Sequence[CommitStatus]:
        """Return the latest status of each check of a commit."""
        ...

    async def close(self) -> None:
        """Let go of the connections."""
        ...


def latest(statuses: Sequence[CommitStatus]) -> list[CommitStatus]:
    """Keep the first status of each check, of a list with the newest first."""
    found: dict[str, CommitStatus] = {}
    for status in statuses:
        found.setdefault(status.context, status)
    return list(found.values())


def by_time(comments: Sequence[PullRequestComment]) -> list[PullRequestComment]:
    """Return comments in the order in which they were written."""
    return sorted(comments, key=lambda comment: (comment.seconds, comment.id))


def status_body(status: CommitStatus, longest: int | None = None) -> dict[str, Any]:
    """Return a status as GitHub's API and Gitea's take it."""
    body = {"context": status.context, "state": status.state, "description": status.description[:longest]}
    return body | ({"target_url": status.url} if status.url is not None else {})


def read_status(
    states: Mapping[str, State], context: str, state: str, description: str | None, url: str | None
) -> CommitStatus:
    """Return a status that a forge tells in its own words. A state that is not known lets no merge pass."""
    return CommitStatus(
        context=context, state=states.get(state, "pending"), description=description or "", url=url or None
    )


def not_merged(pull: PullRequest, error: QuireError) -> Conflict:
    """Say why a forge did not merge."""
    return Conflict(
        f"Pull request {pull.number} was not merged: {error} If {pull.head} and {pull.base} collide, merge {pull.base} into "
        f"{pull.head} (`git merge` merges notebooks by cell) and propose again."
    )


def web_address(url: str, where: str) -> str:
    """Return an address that a person may be sent to; a forge's answer could hold anything."""
    if url.startswith(("https://", "http://")) and url.isprintable() and " " not in url:
        return url
    raise BadInput(
        f"{where} answers with {url[:80]!r} as the address of a pull request. Is it the forge that was meant?"
    )
