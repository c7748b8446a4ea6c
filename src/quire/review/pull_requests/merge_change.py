"""A pull request is merged: by a person, and only where no status of its head is red."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ...core.errors import BadInput, NotFound, Refused
from ...core.ids import actor_kind
from ...disk import in_thread
from ...git.plumbing.branches import current_branch
from ...git.plumbing.remote import find_remote
from ...git.repository import the_repository
from ...workspace.identity.identities import Identity
from ..forges.find_forge import find_forge
from ..forges.forge import RED, CommitStatus, Forge, PullRequest
from .proposed_branch import base_branch

Tell = Callable[[str], None]


async def merge_change(
    identity: Identity,
    at: Path,
    branch: str | None,
    base: str | None,
    remote_name: str | None,
    forge_kind: str | None,
    tell: Tell,
) -> PullRequest:
    """Merge the pull request of a branch, and return it as it is then."""
    if actor_kind(identity.actor) != "human":
        raise Refused(f"{identity.actor} is no person, and a person merges. Ask {identity.on_behalf_of or 'one'} to.")
    top = the_repository(at).top
    remote = find_remote(top, remote_name)
    found = find_forge(remote, top, os.environ, forge_kind)
    if found is None:
        raise BadInput(
            f"{remote.shown} is no forge, so it has no pull requests. Merge with git: git merge {branch or ''}"
        )
    try:
        into = await in_thread(base_branch, top, remote, base)
        head = branch or current_branch(top)
        if head is None:
            raise BadInput("HEAD is detached, so it names no pull request. Name its branch: --branch BRANCH.")
        pull = await found.client.find_pull_request(head, into)
        if pull is None:
            told = f"There is no open pull request of {head} into {into} at {found.client.name}"
            raise NotFound(f"{told}. Open one: quire propose --pull-request --branch {head}.")
        return await _merged(found.client, pull, tell)
    finally:
        await found.client.close()


async def _merged(forge: Forge, pull: PullRequest, tell: Tell) -> PullRequest:
    pull = await forge.pull_request(pull.number)
    check_green(pull, await forge.statuses(pull.sha))
    await forge.merge(pull, f"{pull.title} (#{pull.number})")
    tell(f"Merged {pull.head} into {pull.base}")
    return await forge.pull_request(pull.number)


def check_green(pull: PullRequest, statuses: Sequence[CommitStatus]) -> None:
    """Refuse to merge while a status of the head is red, or not decided yet."""
    told = f"Pull request {pull.number} is not merged"
    red = [status for status in statuses if status.state in RED]
    if red:
        named = "; ".join(f"{status.context}: {status.description or status.state}" for status in red)
        raise Refused(f"{told}: a status of its head {pull.sha[:10]} is red ({named}). Fix it, and propose again.")
    waiting = [status.context for status in statuses if status.state == "pending"]
    if waiting:
        raise Refused(f"{told}: {', '.join(waiting)} of its head {pull.sha[:10]} is not decided. Wait, then merge.")
    if pull.blocked is not None:
        raise Refused(f"{told}: the forge says that {pull.blocked}. Look at {pull.url}, then merge.")
