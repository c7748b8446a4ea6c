"""What GitHub's API and Gitea's have in common: Gitea took most paths and fields from GitHub.

Where they differ, gitea.py and github.py have their own methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from ...core.errors import Conflict, NotFound, Refused
from .forge import (
    CommitStatus,
    ForgeKind,
    PullRequest,
    PullRequestComment,
    State,
    by_time,
    latest,
    not_merged,
    read_status,
    status_body,
    web_address,
)
from .forge_http import ForgeAddress, ForgeHttp, path_of

_STATES: dict[str, State] = {
    "pending": "pending",
    "success": "success",
    "failure": "failure",
    "error": "error",
    "warning": "success",  # Gitea's own word for what is no reason to stop
    "skipped": "success",
}
_VERDICTS: dict[str, Literal["", "approved", "change_asked"]] = {
    "APPROVED": "approved",
    "REQUEST_CHANGES": "change_asked",
    "CHANGES_REQUESTED": "change_asked",
}
"""Gitea's words and GitHub's."""
_UNSENT = "PENDING"
_BLOCKED = {
    "unstable": "a check has failed or is still running",
    "blocked": "a required check or a review is missing",
    "dirty": "the branches collide",
    "behind": "the branch is behind its base",
    "draft": "it is a draft",
}
"""What GitHub's `mergeable_state` means: unlike the statuses it knows the checks of Actions and other apps as well."""


class _User(msgspec.Struct, kw_only=True):
    login: str = ""


class _Branch(msgspec.Struct, kw_only=True):
    ref: str = ""
    sha: str = ""


class PullAnswer(msgspec.Struct, kw_only=True):
    """A pull request, as both APIs tell it."""

    number: int
    head: _Branch
    base: _Branch
    html_url: str = ""
    title: str = ""
    body: str | None = ""
    state: Literal["open", "closed"] = "open"
    merged: bool = False
    merged_at: str | None = None
    mergeable_state: str = ""


class CommentAnswer(msgspec.Struct, kw_only=True):
    """A comment, or one on a line: only Gitea tells those."""

    id: int
    body: str | None = ""
    user: _User | None = None
    created_at: str = ""
    updated_at: str = ""
    path: str | None = None
    position: int = 0

    def read(self) -> PullRequestComment:
        """Return it as all forges' comments are."""
        return PullRequestComment(
            id=self.id,
            body=self.body or "",
            author=self.user.login if self.user is not None else "",
            at=self.updated_at or self.created_at,
            path=self.path or None,
            line=self.position or None,
        )


class ReviewAnswer(msgspec.Struct, kw_only=True):
    """A review of a pull request."""

    id: int
    state: str = ""
    body: str | None = ""
    user: _User | None = None
    submitted_at: str | None = None
    updated_at: str | None = None
    comments_count: int = 0

    @property
    def is_sent(self) -> bool:
        """Whether its writer is done with it."""
        return self.state != _UNSENT

    def read(self) -> PullRequestComment | None:
        """Return what it says; None where that is nothing, as of one that only holds comments on lines."""
        verdict = _VERDICTS.get(self.state, "")
        if not self.is_sent or not (self.body or verdict):
            return None
        return PullRequestComment(
            id=self.id,
            body=self.body or "",
            author=self.user.login if self.user is not None else "",
            at=self.updated_at or self.submitted_at or "",
            verdict=verdict,
        )


class StatusAnswer(msgspec.Struct, kw_only=True):
    """A status of a commit. GitHub calls `state` what Gitea calls `status`."""

    context: str = ""
    state: str = ""
    status: str = ""
    description: str | None = ""
    target_url: str | None = ""


class RepositoryApi:
    """A repository behind either API."""

    kind: ForgeKind
    page_size_name: str
    """The parameter that says how many items a page has."""
    longest_description: int | None = None

    def __init__(self, address: ForgeAddress, headers: Mapping[str, str], pauses: tuple[float, ...] | None) -> None:
        self.name = address.name
        self.owner = address.owner
        self.http = ForgeHttp(address, headers) if pauses is None else ForgeHttp(address, headers, pauses)
        self.repo = path_of("repos", address.owner, address.repo)

    async def user(self) -> str:
        """Return the name of the user whose token it is; "" for one of an app, or of repositories alone."""
        try:
            return (await self.http.ask("GET", "/user", _User)).login
        except (Refused, NotFound):
            return ""

    async def open_pull_request(self, head: str, base: str, title: str, body: str) -> PullRequest:
        """Open one; Conflict if there is one already."""
        wanted = {"head": head, "base": base, "title": title, "body": body}
        return self.read(await self.http.ask("POST", f"{self.repo}/pulls", PullAnswer, body=wanted))

    async def update_pull_request(self, number: int, title: str | None, body: str) -> PullRequest:
        """Give it another description, and another title where one is given."""
        wanted = {"body": body} | ({"title": title} if title is not None else {})
        return self.read(await self.http.ask("PATCH", self.pull_path(number), PullAnswer, body=wanted))

    async def pull_request(self, number: int) -> PullRequest:
        """Return it as it is now."""
        return self.read(await self.http.ask("GET", self.pull_path(number), PullAnswer))

    async def found(self, head: str, base: str, /, **params: str) -> PullRequest | None:
        """Return the open pull request of a branch into another, of those that the parameters select."""
        pulls = self.http.pages(f"{self.repo}/pulls", PullAnswer, self.page_size_name, state="open", **params)
        async for pull in pulls:
            if pull.head.ref == head and pull.base.ref == base:
                return self.read(pull)
        return None

    async def send_merge(self, method: str, pull: PullRequest, body: Mapping[str, str]) -> None:
        """Merge it, or say why not."""
        try:
            await self.http.tell(method, f"{self.pull_path(pull.number)}/merge", body=body)
        except Conflict as error:
            raise not_merged(pull, error) from None

    # ---- What people write

    async def comments(self, number: int) -> Sequence[PullRequestComment]:
        """Return the comments on the pull request as a whole, the oldest first."""
        raise NotImplementedError

    async def conversation(self, number: int) -> Sequence[PullRequestComment]:
        """Return comments, reviews and, where the API has them, comments on lines, the oldest first."""
        reviews = f"{self.pull_path(number)}/reviews"
        said = list(await self.comments(number))
        async for review in self.http.pages(reviews, ReviewAnswer, self.page_size_name):
            if (read := review.read()) is not None:
                said.append(read)
            if review.is_sent and review.comments_count:
                lines = await self.http.ask("GET", f"{reviews}/{review.id}/comments", list[CommentAnswer])
                said += [each.read() for each in lines]
        return by_time(said)

    async def comment(self, number: int, body: str) -> None:
        """Write a comment."""
        await self.http.tell("POST", self.comments_path(number), body={"body": body})

    async def update_comment(self, number: int, comment: int, body: str) -> None:
        """Replace the text of a comment."""
        await self.http.tell("PATCH", self.repo + path_of("issues", "comments", comment), body={"body": body})

    # ---- Statuses

    async def set_status(self, sha: str, status: CommitStatus) -> None:
        """Record how a check of a commit stands."""
        body = status_body(status, self.longest_description)
        await self.http.tell("POST", self.repo + path_of("statuses", sha), body=body)

    async def latest_statuses(self, sha: str, **params: str) -> Sequence[CommitStatus]:
        """Return the latest status of each check of a commit."""
        path = self.repo + path_of("commits", sha, "statuses")
        found = [each async for each in self.http.pages(path, StatusAnswer, self.page_size_name, **params)]
        return latest(
            [
                read_status(_STATES, each.context, each.state or each.status, each.description, each.target_url)
                for each in found
            ]
        )

    async def close(self) -> None:
        """Let go of the connections."""
        await self.http.close()

    # ---- Paths and answers

    def pull_path(self, number: int) -> str:
        """The path of a pull request."""
        return self.repo + path_of("pulls", number)

    def comments_path(self, number: int) -> str:
        """The path of its comments: to the API, it is an issue as well."""
        return self.repo + path_of("issues", number, "comments")

    def read(self, pull: PullAnswer) -> PullRequest:
        """Return a pull request as all forges' are."""
        return PullRequest(
            number=pull.number,
            url=web_address(pull.html_url, self.name),
            title=pull.title,
            body=pull.body or "",
            state="merged" if pull.merged or pull.merged_at is not None else pull.state,
            head=pull.head.ref,
            base=pull.base.ref,
            sha=pull.head.sha,
            blocked=_BLOCKED.get(pull.mergeable_state),
        )
