"""A run that was planned, from its start to its outcome."""

from __future__ import annotations

import contextlib

import msgspec

from ..actors.runtime.retry import OutageTooLong, OutageWait
from ..actors.runtime.run_cell import StopReason
from ..actors.runtime.run_notebook import RunObserver, RunObservers, RunPlan, run
from ..core.errors import Conflict, NotFound, QuireError, Refused
from ..core.outcome import Outcome, outcome_of
from ..workspace.log.process_id import this_process
from ..workspace.protocol import Workspace
from .locations import shown
from .output_file import Output
from .records.run_snapshot import as_left

TAKEN = (
    "This process stood still for so long that the run was taken for lost, and its log says so. What its cells did "
    "since then is not recorded."
)


async def run_file(
    workspace: Workspace, plan: RunPlan, stopping: StopReason, observer: RunObserver | None = None
) -> Outcome:
    """Run what was planned, and return what it came to. The kernel is this process's, and ends with it."""
    runtime = await workspace.as_runtime(this_process(), plan.log)
    observer = observer or RunObserver()
    # Whoever presses Ctrl-C does not want to wait for a database.
    wait = OutageWait(plan.outage_seconds, observer.warn, lambda: stopping.why == "cancelled")
    output = Output(workspace, plan, observer.warn, wait)
    await output.check()
    try:
        await run(workspace, runtime, plan, stopping, RunObservers([observer, output]), wait)
    except OutageTooLong:
        await output.leave()
        raise
    except BaseException as error:
        fault = await output.close()
        if isinstance(error, NotFound | Refused | Conflict) and (lost := await _taken(workspace, plan)) is not None:
            observer.warn(TAKEN)
            return msgspec.structs.replace(lost, output_fault=fault)
        if fault is not None:
            observer.warn(fault)
        raise
    fault = await output.close()
    left = await wait.patiently(lambda: as_left(workspace, plan.log))
    return msgspec.structs.replace(outcome_of(plan.log, left, _shown(plan)), output_fault=fault)


async def ended(workspace: Workspace, plan: RunPlan) -> Outcome | None:
    """What the log says of a run that ended in an error of ours; None: it never came to a log, or is still open there."""
    with contextlib.suppress(QuireError):
        outcome = outcome_of(plan.log, await as_left(workspace, plan.log), _shown(plan))
        return outcome if outcome.duration_seconds is not None else None
    return None


async def _taken(workspace: Workspace, plan: RunPlan) -> Outcome | None:
    """What the log says of a run that somebody else has ended."""
    outcome = await ended(workspace, plan)
    return outcome if outcome is not None and outcome.status == "lost" else None


def _shown(plan: RunPlan) -> str | None:
    return shown(plan.output) if plan.output is not None else None
