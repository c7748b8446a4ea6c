"""What a review compares: two notebooks, whatever they come from."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import assert_never

import msgspec

from ...core import events as e
from ...core.errors import NotFound, QuireError, Refused
from ...core.events import CellChange, ReviewSubject, RunCell
from ...core.ids import ActorId, CellId, LogId, ProposalId
from ...core.notebook.notebook import Notebook, Proposal
from ...core.notebook.reduce import Fold
from ...core.rules import proposal_rules
from ...core.rules.cell_rules import as_carried_over, as_entry, bases, edits_of
from ...core.rules.context import SubmissionContext
from ...core.rules.review_rules import check_revision
from ...core.text import Edit
from ...core.values import Json
from ...formats.scraps import results_of
from ...runs.records.run_records import run_of
from ...runs.records.run_snapshot import as_left
from ...workspace.bound_files import place_of
from ...workspace.protocol import Workspace
from ...workspace.wire.bodies import ProposalFound
from ..answers.answer import Here
from .revision_notebook import both_revisions

_SOMEBODY = ActorId("human:somebody")
"""Whose yes is tried out: nobody's own proposal, and nothing is recorded."""


class ReviewSides(msgspec.Struct, frozen=True, kw_only=True):
    """Before and after. `log` is where blobs of outputs are found; None: outputs stand inline."""

    old: Notebook
    new: Notebook
    labels: tuple[str, str]
    log: LogId | None = None
    results: tuple[dict[str, Json], dict[str, Json]] = ({}, {})
    proposal: ProposalFound | None = None
    problem: str = ""
    """Why the changes no longer fit the notebook as it is: then both sides are as when they were proposed."""


async def sides_of(here: Here, subject: ReviewSubject) -> ReviewSides:
    """Return what a subject was and what it would be."""
    match subject:
        case e.ProposalSubject():
            return await _of_proposal(here.workspace, subject)
        case e.RunSubject():
            return await _of_run(here.workspace, subject.log)
        case e.RevisionsSubject():
            return await _of_revisions(here, subject)
        case _:
            assert_never(subject)


# ---- Two revisions of a file


async def _of_revisions(here: Here, subject: e.RevisionsSubject) -> ReviewSides:
    await check_file(here, subject.path)
    folder = folder_of(here, subject.path)
    place_of(folder, subject.path)
    check_revision(subject.base)
    check_revision(subject.head)
    both = await asyncio.to_thread(both_revisions, folder, subject.path, subject.base, subject.head)
    old, new = ({name: each.value for name, each in results_of(sheet).items()} for sheet in both.sheets)
    return ReviewSides(
        old=both.notebooks[0],
        new=both.notebooks[1],
        labels=revision_labels(subject),
        results=(_plain(old), _plain(new)),
    )


def revision_labels(subject: e.RevisionsSubject) -> tuple[str, str]:
    """Return what both sides of a review of revisions are called."""
    return f"at {subject.base}", f"at {subject.head}"


def folder_of(here: Here, path: str) -> Path:
    """Return the folder with the files, or say that there is none here."""
    if here.folder is None:
        what = f"{path} is a file" if path else "A branch has files"
        raise NotFound(f"{what}, and this server leaves files alone (--no-mirror). Serve its folder with them.")
    return here.folder


def _plain(values: dict[str, Json | msgspec.UnsetType]) -> dict[str, Json]:
    """What is too large, or no value, has none here."""
    return {name: None if value is msgspec.UNSET else value for name, value in values.items()}


async def check_file(here: Here, path: str) -> LogId | None:
    """Refuse a file that the caller may not read; return the notebook that is bound to it, whose rights count."""
    folder_of(here, path)
    bound = await here.workspace.bound_to(path)
    if bound is not None:
        await here.workspace.read(bound)
    elif not here.may_read_files:
        who = here.workspace.identity.actor
        raise Refused(f"{who} may not read {path}: no notebook is bound to it, and that takes the scope bind or run.")
    return bound


# ---- A run and what was fixed in it


async def _of_run(workspace: Workspace, log: LogId) -> ReviewSides:
    now = await workspace.read(log)
    run = run_of(now)
    if run.is_open:
        raise Refused(f"Run {log} is {run.status}: what is changed in it can be reviewed once it is over.")
    left = await as_left(workspace, log, now)
    return ReviewSides(
        old=left, new=now, labels=("as it ran", "now"), log=log, results=(results_shown(left), results_shown(now))
    )


def results_shown(notebook: Notebook) -> dict[str, Json]:
    """Return the results that a notebook recorded, None for what is too large to show."""
    return {name: result.value if result.blob is None else None for name, result in notebook.results.items()}


# ---- A proposal


async def _of_proposal(workspace: Workspace, subject: e.ProposalSubject) -> ReviewSides:
    now = await workspace.read(subject.log)
    proposal = now.proposals.get(subject.proposal)
    if proposal is None:
        raise NotFound(f"There is no proposal {subject.proposal!r} in notebook {now.name!r}.")
    made = await _made(workspace, subject, proposal)
    found = _found(subject.proposal, proposal, made)
    old, new, problem = now, None, ""
    if proposal.state == "open":
        try:
            new = await _accepted(workspace, subject.log, now, subject.proposal)
        except QuireError as error:
            problem = str(error)
    if new is None:
        old = await workspace.read(subject.log, proposal.seq)
        new = await _accepted(workspace, subject.log, old, subject.proposal)
    labels = ("now", "proposed") if old is now else ("when it was proposed", "proposed")
    return ReviewSides(
        old=old,
        new=new,
        labels=labels,
        log=subject.log,
        results=(results_shown(old), results_shown(new)),
        proposal=found,
        problem=problem,
    )


async def _made(workspace: Workspace, subject: e.ProposalSubject, proposal: Proposal) -> e.ProposalMade:
    (entry,) = await workspace.entries(subject.log, proposal.seq - 1, proposal.seq)
    if not isinstance(entry.event, e.ProposalMade):
        raise NotFound(f"Event {proposal.seq} of {subject.log} does not make proposal {subject.proposal}.")
    return entry.event


def _found(id: ProposalId, now: Proposal, made: e.ProposalMade) -> ProposalFound:
    changes: tuple[CellChange, ...] = made.changes
    effects: tuple[RunCell, ...] = made.effects
    return ProposalFound(
        proposal=id,
        state=now.state,
        why=made.why,
        changes=changes,
        effects=effects,
        by=now.by,
        on_behalf_of=now.on_behalf_of,
        at=now.at,
        seq=now.seq,
        expires_at=made.expires_at,
        decided_by=now.decided_by,
        decided_at=now.decided_at,
        decided_why=now.decided_why,
    )


async def _accepted(workspace: Workspace, log: LogId, now: Notebook, id: ProposalId) -> Notebook:
    """Return the notebook as it would be if somebody accepted the proposal, by the rules that accepting goes by."""
    proposal = now.proposals[id]
    earlier: dict[tuple[CellId, int], list[Edit]] = {}
    for change in as_carried_over(now, proposal.changes, proposal.seq):
        for cell, base in bases(change, now):
            if (cell, base) not in earlier:
                earlier[cell, base] = await _edits_since(workspace, log, cell, base, now.seq)
    asking = SubmissionContext(actor=_SOMEBODY, at=proposal.at, seq=now.seq, earlier=earlier)
    return await asyncio.to_thread(_changed, now, id, asking)


def _changed(now: Notebook, id: ProposalId, asking: SubmissionContext) -> Notebook:
    recorded = proposal_rules.accept(now, e.ProposalAccepted(proposal=id), asking)
    folding = Fold(now)
    for change in getattr(recorded, "applied", None) or ():
        folding.add(as_entry(change, folding.now.seq + 1, asking))
    return folding.notebook()


async def _edits_since(workspace: Workspace, log: LogId, cell: CellId, base: int, until: int) -> list[Edit]:
    edits: list[Edit] = []
    types = ("source_edited", "cell_added", "file_merged", "proposal_accepted")
    while page := await workspace.entries(log, base, until, types=types):
        edits += [edit for entry in page for edit in edits_of(entry, cell)]
        base = page[-1].seq
    return edits
