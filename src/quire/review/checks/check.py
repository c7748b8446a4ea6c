"""`quire.check`: run notebooks and say whether they still show what is stored."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import time
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ...actors.runtime.run_cell import StopReason
from ...actors.runtime.run_notebook import RunObserver, RunPlan
from ...core.errors import QuireError, Refused
from ...core.results import RecordedResult
from ...core.results import check as missing_results
from ...kernels.environments import find
from ...kernels.process import prestart
from ...runs.api import Place, wait_for
from ...runs.request import RunRequest, prepare
from .compare import CompareRules
from .execute import CellRun, NotebookRun, run_cells
from .expect import out_of_range
from .plan import CheckOptions, NotebookPlan, plan_notebook
from .sanitize import Sanitizer, groups_of, read_rules
from .text_comparison import Interval
from .update import may_store, update
from .verdict import NotebookVerdict, judge, stored_now


class CheckObserver:
    """Whoever wants to know how far a check is. These do nothing: override some."""

    def began(self, plan: NotebookPlan) -> None:
        """A notebook is checked now."""

    def cell_ended(self, plan: NotebookPlan, ran: CellRun) -> None:
        """A cell has run."""

    def ended(self, verdict: NotebookVerdict) -> None:
        """A notebook was checked."""


def check(
    path: Place,
    *,
    lax: bool = False,
    exact: bool = False,
    sanitize_with: Place | Sequence[Place] = (),
    sanitize: Collection[str] = (),
    no_sanitize: Collection[str] = (),
    tolerance: float | None = None,
    image_tolerance: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    kernel_name: str | None = None,
    cell_timeout: float | None = None,
    start_timeout: float = 60,
    update: bool = False,
) -> NotebookVerdict:
    """Run a notebook in any format and say whether its cells show what is stored. The verdict is true if they do.

    A cell that fails, or a notebook that cannot be read, is a verdict and no exception. With `lax` only cells that say
    so (`# NBVAL_CHECK_OUTPUT`) are compared; what raises fails either way.
    """
    options = CheckOptions(
        lax=lax,
        rules=rules_for(
            exact=exact,
            sanitize_with=(sanitize_with,) if isinstance(sanitize_with, str | os.PathLike) else sanitize_with,
            sanitize=sanitize,
            no_sanitize=no_sanitize,
            tolerance=tolerance,
            image_tolerance=image_tolerance,
        ),
        values=dict(parameters or {}),
        kernel=kernel_name,
        cell_timeout=cell_timeout,
        start_timeout=start_timeout,
        update=update,
    )
    return wait_for(lambda stopping: check_notebook(os.fspath(path), options, stopping))


def rules_for(
    *,
    exact: bool = False,
    sanitize_with: Sequence[Place] = (),
    sanitize: Collection[str] = (),
    no_sanitize: Collection[str] = (),
    tolerance: float | None = None,
    image_tolerance: float | None = None,
) -> CompareRules:
    """Return what may differ: the built-in rules, with the user's own."""
    own = tuple(rule for place in sanitize_with for rule in read_rules(Path(place)))
    if exact:
        groups = frozenset[str](sanitize)
        return CompareRules(sanitizer=Sanitizer(groups=groups, own=own), tolerance=tolerance or 0.0, exact=True)
    rules = CompareRules(sanitizer=Sanitizer(groups=groups_of(sanitize, no_sanitize), own=own))
    changed = {"tolerance": tolerance, "image_tolerance": image_tolerance}
    return msgspec.structs.replace(rules, **{name: value for name, value in changed.items() if value is not None})


class StopGroup:
    """Stops all notebooks that are checked at once. A cell of one that takes too long stops that one alone."""

    def __init__(self) -> None:
        self.is_stopped = False
        self._open: set[StopReason] = set()

    def signal(self) -> None:
        """Somebody pressed Ctrl-C, or sent a signal."""
        self.is_stopped = True
        for each in self._open:
            each.signal()

    @contextmanager
    def one(self) -> Generator[StopReason]:
        """Give a notebook a reason of its own to stop."""
        made = StopReason()
        self._open.add(made)
        if self.is_stopped:
            made.signal()
        try:
            yield made
        finally:
            self._open.discard(made)


class NextKernel(RunObserver):
    """Has the kernel of the next notebook load while this one runs."""

    async def began(self) -> None:
        """The run has a log, and its kernel starts."""
        prestart.begin_once()


async def check_all(
    paths: Sequence[str], options: CheckOptions, stops: StopGroup, observer: CheckObserver, jobs: int = 1
) -> list[NotebookVerdict]:
    """Check several notebooks, so many at once, and return the verdicts in the order of the paths."""
    turn, waiting = asyncio.Semaphore(jobs), len(paths)

    async def one(path: str) -> NotebookVerdict:
        nonlocal waiting
        async with turn:
            waiting -= 1
            with stops.one() as stopping:
                return await check_notebook(path, options, stopping, observer, NextKernel() if waiting else None)

    return list(await asyncio.gather(*(one(path) for path in paths)))


async def check_notebook(
    path: str,
    options: CheckOptions,
    stopping: StopReason,
    observer: CheckObserver | None = None,
    beside: RunObserver | None = None,
) -> NotebookVerdict:
    """Check one notebook. `beside` looks on while it runs."""
    observer = observer or CheckObserver()
    began = time.monotonic()
    try:
        plan = plan_notebook(path, options)
        observer.began(plan)
        verdict = await _checked(plan, options, stopping, observer, beside)
    except QuireError as error:
        verdict = NotebookVerdict(path=path, status="error", faults=(str(error),))
    verdict = msgspec.structs.replace(verdict, seconds=round(time.monotonic() - began, 3))
    observer.ended(verdict)
    return verdict


async def _checked(
    plan: NotebookPlan,
    options: CheckOptions,
    stopping: StopReason,
    observer: CheckObserver,
    beside: RunObserver | None,
) -> NotebookVerdict:
    if stopping.why is not None:
        raise Refused(f"{plan.path} was not checked: the check was interrupted.")
    start = dt.datetime.now(dt.UTC)
    run_plan = await planned_run(plan, options)
    ran = await run_cells(run_plan, stopping, beside, ended=lambda each: observer.cell_ended(plan, each))
    plan = within(plan, start, dt.datetime.now(dt.UTC))
    return _verdict(plan, ran, options, run_plan)


def within(plan: NotebookPlan, start: dt.datetime, end: dt.datetime) -> NotebookPlan:
    """Return the plan for what ran between the two: moments within are no difference."""
    rules = msgspec.structs.replace(plan.rules, ran=Interval(start=start, end=end))
    return msgspec.structs.replace(plan, rules=rules)


async def planned_run(
    plan: NotebookPlan, options: CheckOptions, last: int | None = None, environ: Mapping[str, str] | None = None
) -> RunPlan:
    """Return the run of the cells that are not skipped, up to a number of them."""
    environ = os.environ if environ is None else environ
    request = RunRequest(
        source=plan.path,
        values=options.values,
        kernel=options.kernel,
        cwd=plan.folder,
        start_timeout=options.start_timeout,
        execution_timeout=plan.timeout,
    )
    prepared = await prepare(request, environ, dt.datetime.now().astimezone())
    skipped = {
        each.cell.id for each in plan.cells if each.marks.is_skipped or (last is not None and each.number > last)
    }
    wanted = frozenset(cell.id for cell in prepared.sheet.cells if cell.id not in skipped)
    if options.interpreter is not None:
        # Of the environment that is active, or lies beside the notebook, nobody asks then.
        rest = {name: value for name, value in environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
        spec = find("python", None, cwd=Path("/"), environ=rest, own_interpreter=options.interpreter)
        prepared = msgspec.structs.replace(prepared, spec=spec)
    return msgspec.structs.replace(prepared, only=wanted, stops_on_error=False, declared_results=())


def _verdict(plan: NotebookPlan, ran: NotebookRun, options: CheckOptions, run_plan: RunPlan) -> NotebookVerdict:
    why = why_not_run(plan, ran.cells)
    cells = tuple(judge(plan, each, ran.cells.get(each.cell.id), ran.results, why) for each in plan.cells)
    faults = tuple(notebook_faults(plan, ran.results))
    warnings = list(run_plan.warnings)
    updated = None
    if options.update and may_store(cells):
        updated = update(plan, ran)
        cells = tuple(stored_now(cell) for cell in cells)
    elif not options.update and not plan.has_snapshot and any(each.compares for each in plan.cells):
        warnings.append(f"There is no {plan.snapshot}, so no output was compared. `quire check --update` writes it.")
    failed = bool(faults) or any(cell.status in ("failed", "not_run") for cell in cells)
    return NotebookVerdict(
        path=plan.path,
        status="failed" if failed else "passed",
        cells=cells,
        faults=faults,
        warnings=tuple(warnings),
        updated=updated,
    )


def notebook_faults(plan: NotebookPlan, results: dict[str, RecordedResult]) -> list[str]:
    """Return what the notebook as a whole expects or promises, and does not give."""
    return [*out_of_range(plan.expects, results), *missing_results(plan.promises, results)]


def why_not_run(plan: NotebookPlan, cells: Mapping[Any, CellRun]) -> str:
    """Return why cells after some cell did not run."""
    words = {"timeout": "took too long", "dead_kernel": "lost its kernel", "cancelled": "was interrupted"}
    for each in plan.cells:
        ran = cells.get(each.cell.id)
        if ran is not None and ran.status in words:
            return f"It did not run: {each.name} {words[ran.status]}."
    return "It did not run."
