"""GitHub, and GitHub Enterprise Server, by the REST API."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.errors import BadInput, Conflict
from .forge import CommitStatus, ForgeKind, PullRequest, PullRequestComment
from .forge_http import ForgeAddress
from .repository_api import CommentAnswer, RepositoryApi


class GitHub(RepositoryApi):
    """A repository on GitHub."""

    kind: ForgeKind = "github"
    page_size_name = "per_page"
    longest_description = 140

    def __init__(self, address: ForgeAddress, token: str, pauses: tuple[float, ...] | None = None) -> None:
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        super().__init__(address, headers, pauses)

    async def find_pull_request(self, head: str, base: str) -> PullRequest | None:
        """Return the open pull request of a branch into another."""
        return await self.found(head, base, head=f"{self.owner}:{head}", base=base)

    async def open_pull_request(self, head: str, base: str, title: str, body: str) -> PullRequest:
        """Open one; Conflict if there is one already, which GitHub says with 422."""
        try:
            return await super().open_pull_request(head, base, title, body)
        except BadInput as error:
            if "already exists" in str(error):
                raise Conflict(str(error)) from None
            raise

    async def merge(self, pull: PullRequest, title: str) -> None:
        """Merge it if its head still is what was read."""
        await self.send_merge("PUT", pull, {"sha": pull.sha, "merge_method": "merge", "commit_title": title})

    async def comments(self, number: int) -> Sequence[PullRequestComment]:
        """Return the comments on the pull request as a whole, the oldest first."""
        found = self.http.pages(self.comments_path(number), CommentAnswer, self.page_size_name)
        return [each.read() async for each in found]

    async def statuses(self, sha: str) -> Sequence[CommitStatus]:
        """Return the latest status of each check of a commit."""
        return await self.latest_statuses(sha)
