"""A change that is there already is judged: run before and after, with one comment and one status that are kept current."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ...core.errors import BadInput, NotFound, QuireError
from ...disk import in_thread
from ...git.plumbing.branches import commit_of, current_branch, is_ancestor, the_commit
from ...git.plumbing.remote import Remote, common_commit, fetch, find_remote
from ...git.repository import the_repository
from ...workspace.protocol import Workspace
from ..forges.find_forge import find_forge
from ..forges.forge import Forge, PullRequest
from ..redactor import Redactor
from .conversation import Conversation, conversation_of_branch
from .description import REVIEW_MARKER, Check, ProposalFacts, review_comment
from .propose_change import ProposeOptions, status_of, validated
from .proposed_branch import ProposedBranch

Tell = Callable[[str], None]
_RANGE = re.compile(r"(?P<base>[^\s.](?:[^\s]*[^\s.])?)\.\.\.?(?P<head>[^\s.]\S*)?")


class ChangeReview(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a review."""

    base: str
    head: str
    """The two commits that were compared."""
    status: str
    checks: list[Check]
    text: str
    """The comment, in Markdown."""
    pull_request: int | None = None
    url: str | None = None
    posted: bool = False
    """Whether the comment and the status are on the forge."""


async def review_change(
    workspace: Workspace, at: Path, revisions: str, options: ProposeOptions, tell: Tell, *, local: bool = False
) -> ChangeReview:
    """Run what changed between two revisions, and keep the comment and the status of its pull request current."""
    top = the_repository(at).top
    base, head = _revisions(revisions)
    remote = _remote(top, options.remote)
    base_commit, commit = _fetched(top, remote, base), the_commit(head, top)
    redactor = Redactor(top, os.environ)
    name = _head_branch(top, head, remote, os.environ)
    start = base_commit
    if remote is not None and "..." in revisions:
        into = _branch(base, remote)
        start = await in_thread(common_commit, remote, base_commit, into, commit, top)
    branch = ProposedBranch(name=name or commit[:12], base=base, base_commit=start, commit=commit, is_new=False)
    facts = await validated(workspace, top, None, branch, None, redactor, options, tell)
    text = redactor.clean(review_comment(facts, top))
    made = ChangeReview(base=start, head=commit, status=status_of(facts).state, checks=facts.checks, text=text)
    if local or remote is None:
        return made
    found = find_forge(remote, top, os.environ, options.forge)
    if found is None:
        tell(f"{remote.shown} is no forge that is known: nothing is posted. Name it: git config quire.forge gitea.")
        return made
    try:
        return await _posted(found.client, made, facts, (name, _branch(base, remote)), top, tell)
    finally:
        await found.client.close()


async def read_comments(at: Path, revisions: str, remote_name: str | None, kind: str | None) -> Conversation:
    """Return what was written on the pull request of a branch, by the same names as a review of it."""
    top = the_repository(at).top
    base, head = _revisions(revisions)
    remote = find_remote(top, remote_name)
    name = _head_branch(top, head, remote, os.environ)
    return await conversation_of_branch(at, name, _branch(base, remote), remote_name, kind)


def _revisions(text: str) -> tuple[str, str]:
    found = _RANGE.fullmatch(text)
    if found is None or text.startswith("-"):
        raise BadInput(f"{text!r} names no two revisions. Write BASE...HEAD: quire review main...HEAD.")
    return found["base"], found["head"] or "HEAD"


def _remote(top: Path, name: str | None) -> Remote | None:
    try:
        return find_remote(top, name)
    except BadInput:
        if name is not None:
            raise
        return None


def _branch(base: str, remote: Remote) -> str:
    return base.removeprefix(f"{remote.name}/")


def _fetched(top: Path, remote: Remote | None, base: str) -> str:
    """The commit of the base: as it is here, else as the remote has the branch."""
    found = commit_of(base, top)
    if found is None and remote is not None:
        found = fetch(remote, _branch(base, remote), top)
    return found or the_commit(base, top)


def _head_branch(top: Path, head: str, remote: Remote | None, environ: Mapping[str, str]) -> str | None:
    """The branch of the pull request: as CI names it, as it was written, or the one checked out."""
    for variable in ("GITHUB_HEAD_REF", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"):
        if environ.get(variable):
            return environ[variable]
    if head != "HEAD":
        name = head.removeprefix(f"{remote.name}/") if remote is not None else head
        return name if commit_of(f"refs/heads/{name}", top) or name != head else None
    return current_branch(top)


async def _posted(
    forge: Forge, made: ChangeReview, facts: ProposalFacts, branches: tuple[str | None, str], top: Path, tell: Tell
) -> ChangeReview:
    head, base = branches
    pull = await forge.find_pull_request(head, base) if head is not None else None
    # CI checks out a merge of both: the status belongs to the commit that the forge knows as the head.
    sha = pull.sha if pull is not None and _is_in(pull.sha, made.head, top) else made.head
    status = status_of(facts)
    try:
        await forge.set_status(sha, msgspec.structs.replace(status, url=pull.url if pull is not None else None))
    except NotFound:
        told = f"The forge does not know commit {sha[:10]} yet"
        raise NotFound(f"{told}, so it has no status. Push it first: git push.") from None
    if pull is None:
        tell(f"There is no open pull request of {head or 'this commit'} into {base}: only the status is set.")
        return made
    await keep_comment(forge, pull, made.text)
    tell(f"Commented on {pull.url}")
    return msgspec.structs.replace(made, pull_request=pull.number, url=pull.url, posted=True)


def _is_in(sha: str, commit: str, top: Path) -> bool:
    try:
        return bool(sha) and commit_of(sha, top) is not None and is_ancestor(sha, commit, top)
    except QuireError:
        return False


async def keep_comment(forge: Forge, pull: PullRequest, text: str) -> None:
    """Have one comment of ours say this: the one that is there, told by its marker and its author, else a new one."""
    me = await forge.user()
    ours = [
        each
        for each in await forge.comments(pull.number)
        # Anybody may write the marker; only ours can be changed by us.
        if each.body.startswith(REVIEW_MARKER) and (not me or each.author == me)
    ]
    if not ours:
        await forge.comment(pull.number, text)
    elif ours[0].body != text:
        await forge.update_comment(pull.number, ours[0].id, text)
