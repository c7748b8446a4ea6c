"""Gitea and Forgejo, by their API of version 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ...core.errors import Conflict, NotFound, QuireError, Refused
from .forge import CommitStatus, ForgeKind, PullRequest, PullRequestComment, State, latest, web_address
from .forge_http import ForgeAddress, ForgeHttp, path_of

_SIZE = "limit"


class _Branch(msgspec.Struct, kw_only=True):
    ref: str = ""
    sha: str = ""


class _User(msgspec.Struct, kw_only=True):
    login: str = ""


class _Pull(msgspec.Struct, kw_only=True):
    number: int
    html_url: str = ""
    title: str = ""
    body: str | None = ""
    state: Literal["open", "closed"] = "open"
    merged: bool = False
    head: _Branch
    base: _Branch


class _Comment(msgspec.Struct, kw_only=True):
    id: int
    body: str | None = ""
    user: _User | None = None


class _Status(msgspec.Struct, kw_only=True):
    context: str = ""
    status: str = "pending"
    description: str | None = ""
    target_url: str | None = ""


class Gitea:
    """A repository on a Gitea or Forgejo."""

    kind: ForgeKind = "gitea"

    def __init__(self, address: ForgeAddress, token: str, pauses: tuple[float, ...] | None = None) -> None:
        self.name = address.name
        headers = {"Authorization": f"token {token}"}
        self._http = ForgeHttp(address, headers) if pauses is None else ForgeHttp(address, headers, pauses)
        self._repo = path_of("repos", address.owner, address.repo)

    async def user(self) -> str:
        """Return the name of the user whose token it is."""
        try:
            return (await self._http.ask("GET", "/user", _User)).login
        except (Refused, NotFound):  # a token may be for repositories alone
            return ""

    async def find_pull_request(self, head: str, base: str) -> PullRequest | None:
        """Return the open pull request of a branch into another."""
        pulls = self._http.pages(f"{self._repo}/pulls", _Pull, _SIZE, state="open", base_branch=base)
        async for pull in pulls:
            if pull.head.ref == head and pull.base.ref == base:
                return self._read(pull)
        return None

    async def open_pull_request(self, head: str, base: str, title: str, body: str) -> PullRequest:
        """Open one; Conflict if there is one already."""
        asked = {"head": head, "base": base, "title": title, "body": body}
        return self._read(await self._http.ask("POST", f"{self._repo}/pulls", _Pull, body=asked))

    async def update_pull_request(self, number: int, title: str | None, body: str) -> PullRequest:
        """Give it another description, and another title where one is given."""
        asked = {"body": body} | ({"title": title} if title is not None else {})
        return self._read(await self._http.ask("PATCH", self._pull(number), _Pull, body=asked))

    async def pull_request(self, number: int) -> PullRequest:
        """Return it as it is now."""
        return self._read(await self._http.ask("GET", self._pull(number), _Pull))

    async def merge(self, pull: PullRequest, title: str) -> None:
        """Merge it if its head still is what was read."""
        asked = {"do": "merge", "head_commit_id": pull.sha, "merge_title_field": title}
        try:
            await self._http.tell("POST", f"{self._pull(pull.number)}/merge", body=asked)
        except Conflict as error:
            raise not_merged(pull, error) from None

    async def comments(self, number: int) -> Sequence[PullRequestComment]:
        """Return all comments, the oldest first: Gitea has them on one page."""
        found = await self._http.ask("GET", f"{self._issue(number)}/comments", list[_Comment])
        return [
            PullRequestComment(id=each.id, body=each.body or "", author=each.user.login if each.user else "")
            for each in found
        ]

    async def comment(self, number: int, body: str) -> None:
        """Say something."""
        await self._http.tell("POST", f"{self._issue(number)}/comments", body={"body": body})

    async def update_comment(self, number: int, comment: int, body: str) -> None:
        """Have a comment say something else."""
        await self._http.tell("PATCH", self._repo + path_of("issues", "comments", comment), body={"body": body})

    async def set_status(self, sha: str, status: CommitStatus) -> None:
        """Say how a check of a commit stands."""
        asked = {"context": status.context, "state": status.state, "description": status.description}
        if status.url is not None:
            asked["target_url"] = status.url
        await self._http.tell("POST", self._repo + path_of("statuses", sha), body=asked)

    async def statuses(self, sha: str) -> Sequence[CommitStatus]:
        """Return the latest status of each check of a commit."""
        path = self._repo + path_of("commits", sha, "statuses")
        found = [each async for each in self._http.pages(path, _Status, _SIZE, sort="recentupdate")]
        return latest([_read_status(each) for each in found])

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.close()

    def _pull(self, number: int) -> str:
        return self._repo + path_of("pulls", number)

    def _issue(self, number: int) -> str:
        return self._repo + path_of("issues", number)

    def _read(self, pull: _Pull) -> PullRequest:
        return PullRequest(
            number=pull.number,
            url=web_address(pull.html_url, self.name),
            title=pull.title,
            body=pull.body or "",
            state="merged" if pull.merged else pull.state,
            head=pull.head.ref,
            base=pull.base.ref,
            sha=pull.head.sha,
        )


def not_merged(pull: PullRequest, error: QuireError) -> Conflict:
    """Say why a forge did not merge."""
    told = f"Pull request {pull.number} was not merged: {error}"
    return Conflict(
        f"{told} If {pull.head} and {pull.base} collide, merge {pull.base} into {pull.head} (`git merge` merges notebooks "
        "by cell) and propose again."
    )


_STATES: dict[str, State] = {
    "pending": "pending",
    "success": "success",
    "failure": "failure",
    "error": "error",
    "warning": "success",  # Gitea's own word for what is no reason to stop
    "skipped": "success",
}


def _read_status(found: _Status) -> CommitStatus:
    # A state that is not known here is none that lets a merge pass.
    state = _STATES.get(found.status, "pending")
    return CommitStatus(
        context=found.context, state=state, description=found.description or "", url=found.target_url or None
    )
