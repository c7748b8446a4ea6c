"""GitHub, and GitHub Enterprise Server, by the REST API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ...core.errors import BadInput, Conflict, NotFound, Refused
from .forge import CommitStatus, ForgeKind, PullRequest, PullRequestComment, State, latest, web_address
from .forge_http import ForgeAddress, ForgeHttp, path_of
from .gitea import not_merged

_SIZE = "per_page"
_LONGEST_DESCRIPTION = 140
_BLOCKED = {
    "unstable": "a check has failed or is still running",
    "blocked": "a required check or a review is missing",
    "dirty": "the branches collide",
    "behind": "the branch is behind its base",
    "draft": "it is a draft",
}
"""What `mergeable_state` means: unlike the statuses it knows the checks of GitHub Actions and other apps as well."""


class _User(msgspec.Struct, kw_only=True):
    login: str = ""


class _Branch(msgspec.Struct, kw_only=True):
    ref: str
    sha: str


class _Pull(msgspec.Struct, kw_only=True):
    number: int
    html_url: str
    title: str
    state: Literal["open", "closed"]
    head: _Branch
    base: _Branch
    body: str | None = None
    merged_at: str | None = None
    mergeable_state: str = ""


class _Comment(msgspec.Struct, kw_only=True):
    id: int
    body: str | None = ""
    user: _User | None = None


class _Status(msgspec.Struct, kw_only=True):
    context: str
    state: str
    description: str | None = None
    target_url: str | None = None


class GitHub:
    """A repository on GitHub."""

    kind: ForgeKind = "github"

    def __init__(self, address: ForgeAddress, token: str, pauses: tuple[float, ...] | None = None) -> None:
        self.name = address.name
        self._owner = address.owner
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        self._http = ForgeHttp(address, headers) if pauses is None else ForgeHttp(address, headers, pauses)
        self._repo = path_of("repos", address.owner, address.repo)

    async def user(self) -> str:
        """Return the name of the user whose token it is; that of an app or of Actions is nobody's."""
        try:
            return (await self._http.ask("GET", "/user", _User)).login
        except (Refused, NotFound):
            return ""

    async def find_pull_request(self, head: str, base: str) -> PullRequest | None:
        """Return the open pull request of a branch into another."""
        asked = {"state": "open", "head": f"{self._owner}:{head}", "base": base}
        async for pull in self._http.pages(f"{self._repo}/pulls", _Pull, _SIZE, **asked):
            if pull.head.ref == head and pull.base.ref == base:
                return self._read(pull)
        return None

    async def open_pull_request(self, head: str, base: str, title: str, body: str) -> PullRequest:
        """Open one; Conflict if there is one already, which GitHub says with 422."""
        asked = {"head": head, "base": base, "title": title, "body": body}
        try:
            return self._read(await self._http.ask("POST", f"{self._repo}/pulls", _Pull, body=asked))
        except BadInput as error:
            if "already exists" in str(error):
                raise Conflict(str(error)) from None
            raise

    async def update_pull_request(self, number: int, title: str | None, body: str) -> PullRequest:
        """Give it another description, and another title where one is given."""
        asked = {"body": body} | ({"title": title} if title is not None else {})
        return self._read(await self._http.ask("PATCH", self._pull(number), _Pull, body=asked))

    async def pull_request(self, number: int) -> PullRequest:
        """Return it as it is now."""
        return self._read(await self._http.ask("GET", self._pull(number), _Pull))

    async def merge(self, pull: PullRequest, title: str) -> None:
        """Merge it if its head still is what was read."""
        asked = {"sha": pull.sha, "merge_method": "merge", "commit_title": title}
        try:
            await self._http.tell("PUT", f"{self._pull(pull.number)}/merge", body=asked)
        except Conflict as error:
            raise not_merged(pull, error) from None

    async def comments(self, number: int) -> Sequence[PullRequestComment]:
        """Return all comments, the oldest first."""
        found = self._http.pages(f"{self._issue(number)}/comments", _Comment, _SIZE)
        return [
            PullRequestComment(id=each.id, body=each.body or "", author=each.user.login if each.user else "")
            async for each in found
        ]

    async def comment(self, number: int, body: str) -> None:
        """Say something."""
        await self._http.tell("POST", f"{self._issue(number)}/comments", body={"body": body})

    async def update_comment(self, number: int, comment: int, body: str) -> None:
        """Have a comment say something else."""
        await self._http.tell("PATCH", self._repo + path_of("issues", "comments", comment), body={"body": body})

    async def set_status(self, sha: str, status: CommitStatus) -> None:
        """Say how a check of a commit stands."""
        asked = {
            "context": status.context,
            "state": status.state,
            "description": status.description[:_LONGEST_DESCRIPTION],
        }
        if status.url is not None:
            asked["target_url"] = status.url
        await self._http.tell("POST", self._repo + path_of("statuses", sha), body=asked)

    async def statuses(self, sha: str) -> Sequence[CommitStatus]:
        """Return the latest status of each check of a commit."""
        found = self._http.pages(self._repo + path_of("commits", sha, "statuses"), _Status, _SIZE)
        return latest([_read_status(each) async for each in found])

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
            state="merged" if pull.merged_at is not None else pull.state,
            head=pull.head.ref,
            base=pull.base.ref,
            sha=pull.head.sha,
            blocked=_BLOCKED.get(pull.mergeable_state),
        )


_STATES: dict[str, State] = {
    "pending": "pending",
    "success": "success",
    "failure": "failure",
    "error": "error",
}


def _read_status(found: _Status) -> CommitStatus:
    state = _STATES.get(found.state, "pending")
    return CommitStatus(
        context=found.context, state=state, description=found.description or "", url=found.target_url or None
    )
