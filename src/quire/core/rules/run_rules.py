"""Runs as a whole, and the runtimes that are attached to a notebook."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from .. import events as e
from ..errors import Conflict, NotFound, Refused
from ..ids import actor_kind, check_name
from ..notebook.notebook import Notebook, Run
from .cell_rules import known_cell
from .context import SubmissionContext
from .execution_rules import check_run_held, check_runtime, is_called, names_of


def accept(now: Notebook, event: e.RunEvent, asking: SubmissionContext) -> e.RunEvent:
    """Return the event as it is to be recorded."""
    match event:
        case e.RunRequested():
            check_name(event.name, "A run's name")
        case e.RunClaimed():
            return _complete_claim(now, event, asking)
        case e.RunStarted():
            check_run_held(now, event.epoch, asking.actor)
            if _run(now).status != "claimed":
                raise Refused(f"Run {now.name!r} is {_run(now).status}; it starts once, after it was claimed.")
        case e.EnvironmentRecorded():
            check_run_held(now, event.epoch, asking.actor)
            if _run(now).status != "running":
                raise Refused(f"Run {now.name!r} is {_run(now).status}; what is around it is recorded while it runs.")
        case e.RunCancelRequested():
            if not _run(now).is_open:
                raise Refused(f"Run {now.name!r} is over: {_run(now).status}. There is nothing to cancel.")
        case e.RunFinished():
            _check_finish(now, event, asking)
        case e.RuntimeAttached() | e.KernelStarted() | e.KernelRestarted():
            check_runtime(event.runtime, asking.actor)
        case e.RuntimeDetached():
            if not asking.actor.startswith("system:"):
                check_runtime(event.runtime, asking.actor)
            elif event.why:
                _check_ended(now, event)
        case e.RestartRequested():
            _check_restart(now, event)
        case _:
            assert_never(event)
    return event


def check_undisturbed(name: str, run: Run, event: e.NotebookEvent, asking: SubmissionContext) -> None:
    """What runs is what was requested: until a run is over, only its own actors touch its cells.

    Whoever requested it lays out the cells before it is claimed, its runtime after that.
    """
    if isinstance(event, e.ExecutionRequested | e.ScratchRequested | e.ExecutionClaimed | e.ProposalAccepted):
        raise Refused(f"Run {name!r} is {run.status}: cells of it can be executed or changed once it is over.")
    if isinstance(event, e.RestartRequested):
        raise Refused(f"Run {name!r} is {run.status}, and its kernel is its own. Cancel it instead (`quire cancel`).")
    owner = run.by if run.status == "queued" else run.runtime
    if isinstance(event, e.CellChange) and asking.actor != owner:
        raise Refused(f"Run {name!r} is {run.status}: until it is over only {owner} changes its cells.")


def _run(now: Notebook) -> Run:
    if now.run is None:
        raise Refused(f"{now.name!r} is a notebook, not a run: request its executions instead.")
    return now.run


def _complete_claim(now: Notebook, event: e.RunClaimed, asking: SubmissionContext) -> e.RunClaimed:
    check_runtime(event.runtime, asking.actor)
    run = _run(now)
    if run.status != "queued":
        raise Conflict(f"Run {now.name!r} was claimed by {run.runtime}.", runtime=run.runtime)
    if run.wants is not None and run.wants != event.runtime:
        raise Refused(f"Run {now.name!r} is for runtime {run.wants!r}, not for {event.runtime!r}.")
    return replace(event, epoch=asking.epoch)


def _check_ended(now: Notebook, event: e.RuntimeDetached) -> None:
    """Quire ends a runtime that lives only while it has nothing to do: who asked for something first is not disappointed."""
    if event.runtime not in now.runtimes:
        raise Conflict(f"{event.runtime} is not attached to {now.name!r} any more.")
    if now.executions:
        raise Conflict(f"{event.runtime} is not ended: something runs or waits in {now.name!r}.")


def _check_restart(now: Notebook, event: e.RestartRequested) -> None:
    """There has to be a kernel that somebody can begin anew."""
    called = set[str]().union(*(names_of(now, runtime) for runtime in now.runtimes))
    if not called:
        raise NotFound(f"No runtime is attached to {now.name!r}: there is no kernel to restart. Run a cell to get one.")
    if event.runtime is not None and not any(is_called(now, each, event.runtime) for each in now.runtimes):
        known = ", ".join(sorted(called))
        raise NotFound(f"No runtime {event.runtime[:80]!r} is attached to {now.name!r}. There is: {known}.")


def _check_finish(now: Notebook, event: e.RunFinished, asking: SubmissionContext) -> None:
    run = _run(now)
    if event.failed_cell is not None:
        known_cell(now, event.failed_cell)
    if run.status == "queued" and event.status == "cancelled" and actor_kind(asking.actor) != "runtime":
        return  # nobody has begun, so whoever may run may take it back
    lost = asking.actor.startswith("system:") and event.status == "lost" and run.is_open and run.epoch == event.epoch
    if not lost:
        check_run_held(now, event.epoch, asking.actor)
    if now.executions:
        raise Refused(
            f"Run {now.name!r} cannot finish before its executions have: {', '.join(list(now.executions)[:3])}."
        )
