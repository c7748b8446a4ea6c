"""A notebook run at two commits with the same parameters, each in a clean checkout: what is not in git is not there."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ...actors.runtime.run_cell import StopReason
from ...actors.runtime.run_notebook import RunObserver
from ...core.errors import QuireError
from ...core.ids import LogId
from ...core.notebook.notebook import Notebook
from ...core.results import Outcome
from ...core.sheet.conversion import blobs_of, sheet_of
from ...core.sheet.sheet import Sheet
from ...disk import check_writable, write_text
from ...formats import registry
from ...formats.papermill import executed
from ...git.plumbing.checkout import checkout
from ...git.plumbing.commit_tree import file_at
from ...runs.records.run_comparison import Comparison, compare
from ...runs.records.run_snapshot import as_left
from ...runs.request import RunRequest, plan_run
from ...runs.run_file import ended, run_file
from ...workspace.protocol import Workspace
from ..forges.find_forge import known_tokens
from ..redactor import Redactor

LIMIT_SECONDS = 900.0
"""How long a validation run may take, where nobody says otherwise."""
Tell = Callable[[str], None]


class RunAtCommit(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook as it was run at one commit."""

    commit: str
    status: str
    """Of the run; `unavailable` where it could not begin."""
    run: LogId | None = None
    fault: str = ""
    """What went wrong, in a line."""
    seconds: float | None = None
    notebook: Notebook | None = None
    sheet: Sheet = Sheet()
    """With all that the cells showed."""
    secrets: dict[str, str] = {}

    @property
    def succeeded(self) -> bool:
        """Whether all cells ran to their end."""
        return self.status == "success"


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook before and after a change."""

    path: str
    base: RunAtCommit | None
    """None: it is not there at the base."""
    head: RunAtCommit | None
    """None: the change removes it."""
    comparison: Comparison | None = None
    output: str | None = None
    """Where the notebook lies as it was executed at the head, from the top of the repository."""
    parameters: dict[str, Any] = {}

    @property
    def succeeded(self) -> bool:
        """Whether the notebook runs as it is proposed; one that goes has nothing to run."""
        return self.head is None or self.head.succeeded


class ValidationPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is run, and how."""

    base: str
    head: str
    parameters: dict[str, Any] = {}
    timeout: float = LIMIT_SECONDS
    folder: str = "runs/proposals"
    """Where executed notebooks go, from the top of the repository."""


async def validate(
    workspace: Workspace, top: Path, path: str, plan: ValidationPlan, redactor: Redactor, tell: Tell
) -> Validation:
    """Run a notebook at the base and at the head of a change, and put both side by side."""
    parameters = plan.parameters
    sides: list[RunAtCommit | None] = []
    for commit, side in ((plan.base, "base"), (plan.head, "head")):
        if file_at(commit, path, top) is None:
            sides.append(None)
            continue
        tell(f"Running {path} at the {side}, {commit[:10]}")
        sides.append(await _run_at(workspace, top, path, commit, plan, redactor))
    base, head = sides
    comparison = _compared(base, head)
    made = Validation(path=path, base=base, head=head, comparison=comparison, parameters=parameters)
    if head is None or head.notebook is None or head.run is None:
        return made
    return replace(made, output=_written(top, path, plan.folder, head, redactor))


def _compared(base: RunAtCommit | None, head: RunAtCommit | None) -> Comparison | None:
    if base is None or head is None or base.notebook is None or head.notebook is None:
        return None
    if base.run is None or head.run is None:
        return None
    return compare((base.run, base.notebook), (head.run, head.notebook)).comparison


async def _run_at(
    workspace: Workspace,
    top: Path,
    path: str,
    commit: str,
    wanted: ValidationPlan,
    redactor: Redactor,
) -> RunAtCommit:
    with checkout(commit, top) as folder:
        redactor = redactor.with_folder(folder)
        request = RunRequest(
            source=str(folder / path),
            values=dict(wanted.parameters),
            cwd=folder,
            timeout=wanted.timeout,
            start_timeout=min(60, wanted.timeout),
        )
        # Whoever wrote the change is not to push with our token.
        environ = {name: value for name, value in os.environ.items() if name not in known_tokens(os.environ)}
        try:
            plan = await plan_run(None, request, environ, dt.datetime.now().astimezone())
            outcome = await _outcome(workspace, plan)
        except QuireError as error:
            return RunAtCommit(commit=commit, status="unavailable", fault=redactor.clean(str(error)))
        if outcome.run is None:
            return RunAtCommit(commit=commit, status=outcome.status)
        notebook = await as_left(workspace, outcome.run)
        blobs = {ref.hash: await workspace.read_blob(ref.hash) for ref in blobs_of(notebook)}
        sheet = executed(sheet_of(notebook, blobs, outcome.run), notebook, input_path=path, output_path=None)
        cleaned = registry.read(
            redactor.with_secrets(plan.secrets).clean(registry.write(sheet, "run.ipynb")), "run.ipynb"
        )
        return RunAtCommit(
            commit=commit,
            status=outcome.status,
            run=outcome.run,
            fault=redactor.with_secrets(plan.secrets).clean(_fault(outcome)),
            seconds=outcome.duration_seconds,
            notebook=notebook,
            sheet=cleaned,
            secrets=dict(plan.secrets),
        )


async def _outcome(workspace: Workspace, plan: Any) -> Outcome:
    try:
        return await run_file(workspace, plan, StopReason(), RunObserver())
    except QuireError:
        outcome = await ended(workspace, plan)
        if outcome is None:
            raise
        return outcome


def _fault(outcome: Outcome) -> str:
    failed = outcome.failed_cell
    if failed is not None:
        return f"cell {failed.index + 1} ({failed.id}): {failed.ename}: {failed.evalue}".rstrip(": ")
    return f"{outcome.fault.ename}: {outcome.fault.evalue}" if outcome.fault is not None else ""


def _written(top: Path, path: str, folder: str, head: RunAtCommit, redactor: Redactor) -> str:
    """Write the notebook as it was executed at the head, and return where, from the top of the repository."""
    name = f"{folder}/{Path(path).with_suffix('.ipynb').name}"
    target = top / name
    check_writable(target)
    write_text(target, redactor.with_secrets(head.secrets).clean(registry.write(head.sheet, name)))
    return name
