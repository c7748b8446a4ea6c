"""Gitea and Forgejo, by their API of version 1."""

from __future__ import annotations

from collections.abc import Sequence

from .forge import CommitStatus, ForgeKind, PullRequest, PullRequestComment
from .forge_http import ForgeAddress
from .repository_api import CommentAnswer, RepositoryApi


class Gitea(RepositoryApi):
    """A repository on a Gitea or Forgejo."""

    kind: ForgeKind = "gitea"
    page_size_name = "limit"

    def __init__(self, address: ForgeAddress, token: str, pauses: tuple[float, ...] | None = None) -> None:
        super().__init__(address, {"Authorization": f"token {token}"}, pauses)

    async def find_pull_request(self, head: str, base: str) -> PullRequest | None:
        """Return the open pull request of a branch into another."""
        return await self.found(head, base, base_branch=base)

    async def merge(self, pull: PullRequest, title: str) -> None:
        """Merge it if its head still is what was read."""
        body = {"do": "merge", "head_commit_id": pull.sha, "merge_title_field": title}
        await self.send_merge("POST", pull, body)

    async def comments(self, number: int) -> Sequence[PullRequestComment]:
        """Return the comments on the pull request as a whole, the oldest first: Gitea has them on one page."""
        found = await self.http.ask("GET", self.comments_path(number), list[CommentAnswer])
        return [each.read() for each in found]

    async def statuses(self, sha: str) -> Sequence[CommitStatus]:
        """Return the latest status of each check of a commit."""
        return await self.latest_statuses(sha, sort="recentupdate")
