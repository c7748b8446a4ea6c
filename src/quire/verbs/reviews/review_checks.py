"""What the checks of a review come to: the static ones of what is proposed, and how its notebook ran at that commit.

Nothing is run for it. `quire propose --pull-request` and `quire review` run a branch before and after, and CI does; where
such a run is recorded in this workspace, its outcome and its results count here.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from ...core import events as e
from ...core.ids import CellId, LogId
from ...core.notebook.notebook import Notebook
from ...core.sheet.sheet import Sheet, SheetCell
from ...core.values import Json
from ...review.checks.static.check_static import sheet_findings
from ...review.checks.static.finding import Finding, label
from ...review.pull_requests.static_checks import check_pair
from ...workspace.local import LocalWorkspace
from ..answers.answer import Here
from ..overviews.overview import ask_index
from .branch_files import RevisionRange, find_range
from .review_content import ReviewResult, compare_results, review_of
from .review_sides import folder_of, results_shown, sides_of

_MOST_TOLD = 5
_TITLES = {
    "format": "What it declares can be read",
    "parameters": "Every parameter is used",
    "names": "Names are defined before they are used",
    "secrets": "No secret is written",
}
_FAILED = ("error", "timeout", "dead_kernel", "lost")


class ReviewCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a check came to."""

    name: str
    status: Literal["passed", "failed", "skipped"]
    text: str = ""
    cell: CellId | None = None
    """The first cell in which it found something."""
    run: LogId | None = None
    """The run that it is about."""


class ReviewChecks(msgspec.Struct, frozen=True, kw_only=True):
    """All checks of a review, and the results of runs on both sides; none where they were not run."""

    checks: tuple[ReviewCheck, ...]
    results: tuple[ReviewResult, ...] = ()


async def review_checks(here: Here, log: LogId) -> ReviewChecks:
    """Return what the checks of a review come to. That of a branch has none of its own: its notebooks do."""
    review, _ = await review_of(here, log)
    subject = review.subject
    if isinstance(subject, e.RevisionsSubject) and not subject.path:
        return ReviewChecks(checks=())
    sides = await sides_of(here, subject)
    folder = here.folder or Path.cwd()
    checks = await asyncio.to_thread(lambda: list(_static(_sheet(sides.new), folder)))
    match subject:
        case e.RevisionsSubject():
            return await _with_runs(here, subject, checks)
        case e.RunSubject():
            checks.append(_no_errors(sides.new))
        case e.ProposalSubject():
            pass
    return ReviewChecks(checks=tuple(checks))


# ---- Of the notebook as it is proposed


def _sheet(notebook: Notebook) -> Sheet:
    """The notebook without what its cells showed."""
    cells = (
        SheetCell(
            id=cell.id, kind=cell.kind, source=cell.source, name=cell.name, tags=cell.tags, metadata=cell.metadata
        )
        for cell in notebook.live_cells
    )
    return Sheet(cells=tuple(cells), metadata=notebook.metadata)


def _static(sheet: Sheet, folder: Path) -> Iterator[ReviewCheck]:
    found = list(sheet_findings(sheet, folder, os.environ))
    for check, title in _TITLES.items():
        mine = [each for each in found if each.check == check]
        if not mine:
            yield ReviewCheck(name=title, status="passed")
            continue
        cell = next((CellId(each.cell.id) for each in mine if each.cell is not None), None)
        yield ReviewCheck(name=title, status="failed", text=_told(sheet, mine), cell=cell)


def _told(sheet: Sheet, found: Sequence[Finding]) -> str:
    told = [
        f"{label(sheet, each.cell)}, line {each.line}: {each.message}" if each.cell is not None else each.message
        for each in found[:_MOST_TOLD]
    ]
    more = len(found) - _MOST_TOLD
    return " ".join([*told, *([f"And {more} more."] if more > 0 else [])])


def _no_errors(notebook: Notebook) -> ReviewCheck:
    failed = [cell for cell in notebook.live_cells if cell.runs and cell.state in _FAILED]
    name = "No cell ends in an error"
    if not failed:
        return ReviewCheck(name=name, status="passed")
    told = ", ".join(f"{cell.name or cell.id}: {cell.state}" for cell in failed[:_MOST_TOLD])
    return ReviewCheck(name=name, status="failed", text=told, cell=failed[0].id)


# ---- Of two revisions: how they ran


class _Run(NamedTuple):
    log: LogId
    status: str
    parameters: str
    failed_cell: str | None
    ename: str | None
    evalue: str | None


async def _with_runs(here: Here, subject: e.RevisionsSubject, checks: list[ReviewCheck]) -> ReviewChecks:
    folder = folder_of(here, subject.path)
    between = await asyncio.to_thread(find_range, folder, subject)
    inside = (folder.resolve() / subject.path).relative_to(between.top.resolve()).as_posix()
    if (pair := await asyncio.to_thread(_pair, between, inside)) is not None:
        checks.append(pair)
    new = await _runs_at(here, between.head, inside)
    old = await _runs_at(here, between.base, inside)
    checks.append(_ran(new[0] if new else None, subject))
    # Results compare only where both sides were given the same.
    both = next(((a, b) for b in new for a in old if a.parameters == b.parameters), None)
    if both is None:
        return ReviewChecks(checks=tuple(checks))
    sides = [results_shown(await here.workspace.read(each.log)) for each in both]
    return ReviewChecks(checks=tuple(checks), results=tuple(compare_results(*sides)))


def _pair(between: RevisionRange, path: str) -> ReviewCheck | None:
    """Whether the .ipynb beside a script says what the script says; None where there is none."""
    agrees = check_pair(between.top, between.head, path)
    if agrees is None:
        return None
    book = Path(path).with_suffix(".ipynb").name
    told = (
        "" if agrees else f"{book} says something else. Write it again: quire convert {path} {Path(path).parent / book}"
    )
    return ReviewCheck(name="Its .ipynb says what the script says", status="passed" if agrees else "failed", text=told)


async def _runs_at(here: Here, commit: str, path: str) -> list[_Run]:
    """The runs of a notebook as it is at a commit that ended, the last one first."""
    workspace = here.workspace
    if not isinstance(workspace, LocalWorkspace):
        return []  # a server looks them up
    sql = (
        "SELECT run, status, parameters, failed_cell, ename, evalue, path FROM runs"  # noqa: S608 - a commit that git named
        " WHERE NOT dirty AND finished_at IS NOT NULL"
        f" AND revision = '{commit}' ORDER BY requested_at DESC"
    )
    readable = {info.log for info in await workspace.logs("run")}
    rows: list[Any] = [row for row in await ask_index(workspace, sql) if row[0] in readable]
    return [_Run(*row[:-1]) for row in rows if (row[-1] or "") == path or (row[-1] or "").endswith(f"/{path}")]


def _ran(run: _Run | None, subject: e.RevisionsSubject) -> ReviewCheck:
    name = "Runs from top to bottom"
    if run is None:
        told = f"no run of this commit is recorded here. `quire review {subject.base}...{subject.head}` makes one."
        return ReviewCheck(name=name, status="skipped", text=told)
    if run.status == "success":
        return ReviewCheck(name=name, status="passed", run=run.log, text=_given(run.parameters))
    told = ": ".join(
        part for part in (f"cell {run.failed_cell}" if run.failed_cell else "", run.ename, run.evalue) if part
    )
    return ReviewCheck(name=name, status="failed", run=run.log, text=f"ended as {run.status}. {told}".strip())


def _given(parameters: str) -> str:
    given: dict[str, Json] = json.loads(parameters or "{}")
    return f"with {', '.join(f'{name} = {json.dumps(value)}' for name, value in given.items())}" if given else ""
