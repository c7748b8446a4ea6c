"""A change becomes a pull request: branch, commit, validation run, description, one pull request that is kept current.

Every step can be done again: a commit that says what the branch says already is none, a push of what is there does
nothing, a pull request that is open is updated. So a call that was cut off is finished by calling again.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from ...core.errors import BadInput, Conflict
from ...core.ids import ActorId
from ...core.values import untag
from ...disk import in_thread
from ...formats.starter_notebook import slug
from ...git.plumbing.branches import check_branch, check_not_default, current_branch
from ...git.plumbing.commit_tree import file_at
from ...git.plumbing.remote import Remote, common_commit, find_remote, push
from ...git.repository import the_repository
from ...workspace.protocol import Workspace
from ..forges.find_forge import FoundForge, find_forge, place_of
from ..forges.forge import CommitStatus, Forge, PullRequest
from ..redactor import Redactor
from ..reports.report_branch import BRANCH, push_files
from ..validation.validation_run import LIMIT_SECONDS, Validation, ValidationPlan, validate
from .change_sources import ChangeSource, gather
from .description import (
    Check,
    ProposalFacts,
    check_refs,
    proposal_section,
    refs_of,
    sheet_of_data,
    split_refs,
    summary,
    with_section,
)
from .notebook_pairs import write_generated
from .proposed_branch import ProposedBranch, base_branch, choose_branch, commit_to_branch, existing_branch
from .static_checks import checks_of, notebooks_between

CONTEXT = "quire / validation"
"""The name of our status among those of a commit."""
Tell = Callable[[str], None]


class ProposeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller decides; what is None has a default."""

    branch: str | None = None
    title: str | None = None
    body: str | None = None
    message: str | None = None
    refs: tuple[str, ...] = ()
    base: str | None = None
    remote: str | None = None
    forge: str | None = None
    parameters: dict[str, Any] = {}
    timeout: float = LIMIT_SECONDS


class ProposedChange(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a proposal."""

    branch: str
    base: str
    commit: str
    pull_request: int | None
    """None: the remote is no forge, and got the branch and a report."""
    url: str | None
    opened: bool
    """Whether it was opened now; else it was there, and is updated."""
    status: str
    """success, or failure: a notebook does not run, or a check did not pass."""
    validations: list[dict[str, Any]]
    checks: list[Check]
    report: str | None = None
    """Of a plain remote: where the report is on it, BRANCH:PATH."""


class _Work(msgspec.Struct, frozen=True, kw_only=True):
    """What the steps share."""

    workspace: Workspace
    top: Path
    remote: Remote
    forge: FoundForge | None
    options: ProposeOptions
    redactor: Redactor
    tell: Tell


async def propose_change(
    workspace: Workspace,
    folder: Path | None,
    at: Path,
    names: list[str] | ChangeSource,
    options: ProposeOptions,
    tell: Tell,
) -> ProposedChange:
    """Commit a change to its branch, run it before and after, and open or update its pull request.

    `names` are what `gather` understands, or the change itself.
    """
    async with _work(workspace, at, options, tell) as work:
        source, branch = await _commit(work, folder, names)
        return await _proposed(work, branch, source)


async def propose_branch(
    workspace: Workspace, at: Path, name: str, options: ProposeOptions, tell: Tell
) -> ProposedChange:
    """Open or update the pull request of a branch that has its commits already: run before and after, and described."""
    async with _work(workspace, at, options, tell) as work:
        base = await in_thread(base_branch, work.top, work.remote, options.base)
        check_not_default(check_branch(name, work.top), base)
        return await _proposed(work, await in_thread(existing_branch, work.top, work.remote, name, base), None)


@asynccontextmanager
async def _work(workspace: Workspace, at: Path, options: ProposeOptions, tell: Tell) -> AsyncGenerator[_Work]:
    check_refs(options.refs)
    top = the_repository(at).top
    remote = find_remote(top, options.remote)
    forge = find_forge(remote, top, os.environ, options.forge)
    try:
        yield _Work(
            workspace=workspace,
            top=top,
            remote=remote,
            forge=forge,
            options=options,
            redactor=Redactor(top, os.environ),
            tell=tell,
        )
    finally:
        if forge is not None:
            await forge.client.close()


async def _proposed(work: _Work, branch: ProposedBranch, source: ChangeSource | None) -> ProposedChange:
    facts = await validated(
        work.workspace, work.top, work.remote, branch, source, work.redactor, work.options, work.tell
    )
    credentials = work.forge.credentials if work.forge is not None else None
    work.tell(f"Pushing {branch.name} to {work.remote.shown}")
    await in_thread(push, work.remote, branch.commit, branch.name, work.top, credentials)
    if work.forge is None:
        return await _reported(work, branch, facts)
    return await _pull_request(work, work.forge.client, branch, source, facts)


async def _commit(
    work: _Work, folder: Path | None, names: list[str] | ChangeSource
) -> tuple[ChangeSource, ProposedBranch]:
    top, remote, options = work.top, work.remote, work.options
    base = await in_thread(base_branch, top, remote, options.base)
    source = names if isinstance(names, ChangeSource) else await gather(work.workspace, folder, top, names)
    subject = options.title or source.subject
    name = choose_branch(top, options.branch, subject, base, stays=source.kind == "files")
    message = options.message or default_message(source, top)
    branch = await in_thread(
        commit_to_branch, top, remote, name, base, source.files, with_trailer(message, work.workspace), work.redactor
    )
    if current_branch(top) == branch.name and source.kind == "files":
        for path in write_generated(top, source.files, source.edited):
            work.tell(f"Wrote {path}")
    if not source.files and branch.commit == branch.base_commit:
        raise BadInput("No notebook has changed, so there is nothing to propose. `git status` shows what git sees.")
    work.tell(f"Branch {branch.name} is at {branch.commit[:10]}")
    return source, branch


def with_trailer(message: str, workspace: Workspace) -> str:
    """Return a message that says which agent did it, and for whom."""
    identity = workspace.identity
    if identity.on_behalf_of is None:
        return f"{message.rstrip()}\n"
    return f"{message.rstrip()}\n\nProposed-by: {identity.actor}\nOn-behalf-of: {identity.on_behalf_of}\n"


def default_message(source: ChangeSource, top: Path) -> str:
    """Return a conventional commit's message for a change."""
    scope = slug(source.subject)
    path = source.notebooks[0] if source.notebooks else None
    if path is None:
        return f"chore({scope}): change {len(source.files)} files"
    before, after = file_at("HEAD", path, top), source.files.get(path)
    if before is None:
        return f"feat({scope}): add the notebook"
    if path in source.files and after is None:
        return f"chore({scope}): remove the notebook"
    if source.kind == "run":
        return f"fix({scope}): repair what a run showed"
    told = summary(sheet_of_data(before, path), sheet_of_data(after, path)) if after is not None else "change it"
    return f"feat({scope}): {told}"


async def validated(
    workspace: Workspace,
    top: Path,
    remote: Remote | None,
    branch: ProposedBranch,
    source: ChangeSource | None,
    redactor: Redactor,
    options: ProposeOptions,
    tell: Tell,
) -> ProposalFacts:
    """Run what changed before and after, look at it, and return the facts."""
    start = branch.base_commit
    if remote is not None:
        start = await in_thread(common_commit, remote, branch.base_commit, branch.base, branch.commit, top)
    notebooks, others = notebooks_between(top, start, branch.commit)
    known = source.parameters if source is not None else {}
    parameters = {name: untag(value) for name, value in known.items()} | options.parameters
    plan = ValidationPlan(
        base=start,
        head=branch.commit,
        parameters=parameters,
        timeout=options.timeout,
        folder=f"runs/{branch.name.replace('/', '-')}",
    )
    validations = [await validate(workspace, top, path, plan, redactor, tell) for path in notebooks]
    by, behalf = _who(workspace, source)
    return ProposalFacts(
        base=start,
        head=branch.commit,
        validations=validations,
        checks=checks_of(top, branch.commit, notebooks, validations),
        notebooks=notebooks,
        others=others,
        by=by,
        on_behalf_of=behalf,
        why=source.why if source is not None else "",
    )


def _who(workspace: Workspace, source: ChangeSource | None) -> tuple[str, str]:
    identity = workspace.identity
    by: str | ActorId = identity.actor
    behalf: str = identity.on_behalf_of or ""
    if source is not None and source.by is not None and source.by != by:
        # Somebody made the change, and somebody else proposes it.
        return source.by, source.on_behalf_of or by
    return by, behalf


async def _pull_request(
    work: _Work, forge: Forge, branch: ProposedBranch, source: ChangeSource | None, facts: ProposalFacts
) -> ProposedChange:
    await forge.set_status(branch.commit, CommitStatus(context=CONTEXT, state="pending", description="being described"))
    found = await forge.find_pull_request(branch.name, branch.base)
    pull, opened = await _opened(work, forge, branch, source, facts, found)
    status = status_of(facts)
    await forge.set_status(branch.commit, msgspec.structs.replace(status, url=pull.url))
    work.tell(f"{'Opened' if opened else 'Updated'} {pull.url}")
    return outcome(branch, facts, pull, opened=opened)


async def _opened(
    work: _Work,
    forge: Forge,
    branch: ProposedBranch,
    source: ChangeSource | None,
    facts: ProposalFacts,
    found: PullRequest | None,
) -> tuple[PullRequest, bool]:
    options, clean = work.options, work.redactor.clean
    written, named = split_refs(options.body) if options.body is not None else (None, ())
    refs = tuple(dict.fromkeys((*check_refs(options.refs), *named)))
    if found is None:
        body = _body(work, facts, written or "", refs)
        subject = options.message or (default_message(source, work.top) if source is not None else branch.name)
        title = clean(options.title or subject.splitlines()[0])
        try:
            return await forge.open_pull_request(branch.name, branch.base, title, body), True
        except Conflict:
            # Somebody was first, or an answer was lost on its way: then there is one by now.
            found = await forge.find_pull_request(branch.name, branch.base)
            if found is None:
                raise
    body = _body(work, facts, written if written is not None else found.body, refs or refs_of(found.body))
    title = clean(options.title) if options.title is not None else None
    return await forge.update_pull_request(found.number, title, body), False


def _body(work: _Work, facts: ProposalFacts, written: str, refs: tuple[str, ...]) -> str:
    return work.redactor.clean(with_section(written, proposal_section(facts, work.top, refs)))


def status_of(facts: ProposalFacts) -> CommitStatus:
    """Return what is said of the commit."""
    failed = [check for check in facts.checks if not check.passed]
    if not failed:
        told = f"{len(facts.validations)} notebook(s) run; {len(facts.checks)} checks pass"
        return CommitStatus(context=CONTEXT, state="success", description=told)
    return CommitStatus(context=CONTEXT, state="failure", description=f"failed: {failed[0].name}"[:140])


def outcome(branch: ProposedBranch, facts: ProposalFacts, pull: PullRequest | None, *, opened: bool) -> ProposedChange:
    """Return what came of it, for programs."""
    return ProposedChange(
        branch=branch.name,
        base=branch.base,
        commit=branch.commit,
        pull_request=pull.number if pull is not None else None,
        url=pull.url if pull is not None else None,
        opened=opened,
        status=status_of(facts).state,
        validations=[told(each) for each in facts.validations],
        checks=facts.checks,
    )


def told(validation: Validation) -> dict[str, Any]:
    """Return a validation as plain values: statuses, runs and results on both sides."""
    sides = {
        name: {"commit": side.commit, "status": side.status, "run": side.run, "fault": side.fault}
        for name, side in (("base", validation.base), ("head", validation.head))
        if side is not None
    }
    results = validation.comparison.results if validation.comparison is not None else {}
    return {"path": validation.path, "output": validation.output, **sides, "results": results}


async def _reported(work: _Work, branch: ProposedBranch, facts: ProposalFacts) -> ProposedChange:
    """Of a plain remote: the description goes beside the branch, as a file on the branch of reports."""
    body = _body(work, facts, work.options.body or "", check_refs(work.options.refs))
    path = f"proposals/{branch.name.replace('/', '-')}.md"
    files: dict[str, bytes] = {path: f"# {work.options.title or branch.name}\n\n{body}\n".encode()}
    await in_thread(push_files, work.top, work.remote, BRANCH, files, f"report: {branch.name}", None)
    if place_of(work.remote.url) is not None:
        work.tell("If the remote is on a forge after all, say on which: git config quire.forge gitea, github or gitlab")
    work.tell(f"{work.remote.shown} is no forge: the branch is there, and the report is {path} on its branch {BRANCH}")
    made = outcome(branch, facts, None, opened=False)
    return msgspec.structs.replace(made, report=f"{BRANCH}:{path}")
