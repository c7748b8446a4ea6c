"""GitLab, by the REST API of version 4: its merge requests are our pull requests."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...core.errors import BadInput, Conflict, NotFound, Refused, Unavailable
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
    web_address,
)
from .forge_http import ForgeAddress, ForgeHttp, path_of

_SIZE = "per_page"
_LONGEST_DESCRIPTION = 255
_MERGES = frozenset(("", "mergeable", "checking", "unchecked", "preparing", "approvals_syncing"))
"""What `detailed_merge_status` says where nothing is known to be in the way."""


class _User(msgspec.Struct, kw_only=True):
    username: str = ""


class _Merge(msgspec.Struct, kw_only=True):
    iid: int
    web_url: str
    title: str
    state: str
    source_branch: str
    target_branch: str
    sha: str | None = None
    description: str | None = None
    detailed_merge_status: str = ""


class _Position(msgspec.Struct, kw_only=True):
    new_path: str | None = None
    new_line: int | None = None


class _Note(msgspec.Struct, kw_only=True):
    id: int
    body: str | None = ""
    author: _User | None = None
    system: bool = False
    created_at: str | None = None
    updated_at: str | None = None
    position: _Position | None = None


class _Status(msgspec.Struct, kw_only=True):
    name: str
    status: str
    description: str | None = None
    target_url: str | None = None
    allow_failure: bool = False


class GitLab:
    """A project on GitLab."""

    kind: ForgeKind = "gitlab"

    def __init__(
        self, address: ForgeAddress, token: str, pauses: tuple[float, ...] | None = None, *, is_job: bool = False
    ) -> None:
        self.name = address.name
        headers = {"JOB-TOKEN" if is_job else "PRIVATE-TOKEN": token}
        self._http = ForgeHttp(address, headers) if pauses is None else ForgeHttp(address, headers, pauses)
        # A project is named by its whole path, groups and subgroups included, as one part of the address.
        self._project = path_of("projects", f"{address.owner}/{address.repo}")

    async def user(self) -> str:
        """Return the name of the user whose token it is; a job's token may not ask."""
        try:
            return (await self._http.ask("GET", "/user", _User)).username
        except (Refused, NotFound):
            return ""

    async def find_pull_request(self, head: str, base: str) -> PullRequest | None:
        """Return the open merge request of a branch into another."""
        asked = {"state": "opened", "source_branch": head, "target_branch": base}
        async for merge in self._http.pages(f"{self._project}/merge_requests", _Merge, _SIZE, **asked):
            if merge.source_branch == head and merge.target_branch == base:
                return self._read(merge)
        return None

    async def open_pull_request(self, head: str, base: str, title: str, body: str) -> PullRequest:
        """Open one; Conflict if there is one already."""
        asked = {"source_branch": head, "target_branch": base, "title": title, "description": body}
        return self._read(await self._http.ask("POST", f"{self._project}/merge_requests", _Merge, body=asked))

    async def update_pull_request(self, number: int, title: str | None, body: str) -> PullRequest:
        """Give it another description, and another title where one is given."""
        asked = {"description": body} | ({"title": title} if title is not None else {})
        return self._read(await self._http.ask("PUT", self._merge(number), _Merge, body=asked))

    async def pull_request(self, number: int) -> PullRequest:
        """Return it as it is now."""
        return self._read(await self._http.ask("GET", self._merge(number), _Merge))

    async def merge(self, pull: PullRequest, title: str) -> None:
        """Merge it if its head still is what was read."""
        asked = {"sha": pull.sha, "merge_commit_message": title}
        try:
            await self._http.tell("PUT", f"{self._merge(pull.number)}/merge", body=asked)
        except (Conflict, BadInput) as error:  # 405 or 409; 422 where it tried and failed
            raise not_merged(pull, error) from None

    async def comments(self, number: int) -> Sequence[PullRequestComment]:
        """Return all comments, the oldest first, without those that GitLab makes itself."""
        found = self._http.pages(f"{self._merge(number)}/notes", _Note, _SIZE, sort="asc")
        return [_read_note(each) async for each in found if not each.system]

    async def conversation(self, number: int) -> Sequence[PullRequestComment]:
        """Return all that was written, the oldest first: GitLab's notes are comments on lines as well."""
        return by_time(await self.comments(number))

    async def comment(self, number: int, body: str) -> None:
        """Say something."""
        await self._http.tell("POST", f"{self._merge(number)}/notes", body={"body": body})

    async def update_comment(self, number: int, comment: int, body: str) -> None:
        """Have a comment say something else."""
        await self._http.tell("PUT", self._merge(number) + path_of("notes", comment), body={"body": body})

    async def set_status(self, sha: str, status: CommitStatus) -> None:
        """Say how a check of a commit stands."""
        state = "failed" if status.state in ("failure", "error") else status.state
        asked = {"name": status.context, "state": state, "description": status.description[:_LONGEST_DESCRIPTION]}
        if status.url is not None:
            asked["target_url"] = status.url
        try:
            await self._http.tell("POST", self._project + path_of("statuses", sha), body=asked)
        except Unavailable as error:
            # GitLab refuses to set what is set already.
            if "Cannot transition status" not in str(error):
                raise

    async def statuses(self, sha: str) -> Sequence[CommitStatus]:
        """Return the latest status of each check and job of a commit."""
        path = self._project + path_of("repository", "commits", sha, "statuses")
        return latest([_read_status(each) async for each in self._http.pages(path, _Status, _SIZE)])

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.close()

    def _merge(self, number: int) -> str:
        return self._project + path_of("merge_requests", number)

    def _read(self, merge: _Merge) -> PullRequest:
        status = merge.detailed_merge_status
        return PullRequest(
            number=merge.iid,
            url=web_address(merge.web_url, self.name),
            title=merge.title,
            body=merge.description or "",
            state="merged" if merge.state == "merged" else "open" if merge.state == "opened" else "closed",
            head=merge.source_branch,
            base=merge.target_branch,
            sha=merge.sha or "",
            blocked=None if status in _MERGES else status.replace("_", " "),
        )


_STATES: dict[str, State] = {
    "success": "success",
    "skipped": "success",
    "manual": "success",
    "failed": "failure",
    "canceled": "error",
}


def _read_status(found: _Status) -> CommitStatus:
    status = read_status(_STATES, found.name, found.status, found.description, found.target_url)
    if found.allow_failure and status.state == "failure":
        return msgspec.structs.replace(status, state="success")
    return status


def _read_note(note: _Note) -> PullRequestComment:
    position = note.position or _Position()
    return PullRequestComment(
        id=note.id,
        body=note.body or "",
        author=note.author.username if note.author is not None else "",
        at=note.updated_at or note.created_at or "",
        path=position.new_path,
        line=position.new_line,
    )
