"""What may happen: every event passes here before it enters a log.

`accept` looks at the notebook as it is, refuses what breaks a rule, and returns the event
as it will be recorded, with the fields filled that are the workspace's. It is pure; what
it cannot know (who asks, the time, earlier edits, the epoch of a lease) is in `SubmissionContext`.
Whether the actor has the right at all is decided before, in workspace/identity/identities.
"""

from __future__ import annotations

import re
from typing import assert_never

from msgspec.structs import replace

from .. import events as e
from ..bound_paths import check_bound_path
from ..errors import BadInput, Conflict, NotFound, Refused
from ..ids import CommentId, actor_kind, check_cell_id, check_id, check_name, schedule_actor
from ..notebook.notebook import Comment, Notebook, Run
from . import cell_rules, execution_rules, proposal_rules, review_rules
from .cell_rules import known_cell
from .context import SubmissionContext
from .execution_rules import check_run_held, check_runtime, is_called, names_of

__all__ = ["SubmissionContext", "accept"]

_HASH = re.compile(r"[0-9a-f]{64}")


def accept(now: Notebook, event: e.NotebookEvent, asking: SubmissionContext) -> e.NotebookEvent:
    """Return `event` as it is to be recorded next, or raise what speaks against it."""
    _check_beginning(now, event)
    if now.review is not None:
        review_rules.check_is_of_reviews(now, event)
    if now.run is not None and now.run.is_open:
        _check_undisturbed(now.name, now.run, event, asking)
    if isinstance(event, e.CellChange):
        return cell_rules.accept(now, event, asking)
    if isinstance(event, e.ExecutionEvent):
        return execution_rules.accept(now, event, asking)
    if isinstance(event, e.RunEvent):
        return _accept_run(now, event, asking)
    if isinstance(event, e.ProposalEvent):
        return proposal_rules.accept(now, event, asking)
    if isinstance(event, e.ReviewEvent):
        return review_rules.accept(now, event, asking)
    if isinstance(event, e.FileMerged):
        return _merge_file(now, event, asking)
    _check_notebook(now, event, asking)
    return event


_NOT_WHEN_ARCHIVED = (
    e.CellChange
    | e.ExecutionRequested
    | e.ScratchRequested
    | e.ProposalMade
    | e.ProposalAccepted
    | e.FileMerged
    | e.OutputsImported
)


def _check_beginning(now: Notebook, event: e.NotebookEvent) -> None:
    begins = isinstance(event, e.NotebookCreated | e.RunRequested | e.ReviewOpened)
    if begins and now.seq:
        raise Refused(f"Notebook {now.name!r} exists already. Choose another id, or send other events to it.")
    if not begins and not now.seq:
        raise NotFound(
            "There is no such notebook. Begin its log with notebook_created, run_requested or review_opened."
        )
    if now.archived and isinstance(event, _NOT_WHEN_ARCHIVED):
        raise Refused(f"Notebook {now.name!r} is archived. Take it out again first: `quire archive --undo {now.name}`.")


def _check_notebook(
    now: Notebook,
    event: e.PlainEvent | e.CommentEvent | e.FileBound | e.ConflictRaised | e.ConflictResolved | e.OutputsImported,
    asking: SubmissionContext,
) -> None:
    match event:
        case e.NotebookCreated() | e.NotebookRenamed():
            check_name(event.name, "A notebook's name")
        case e.NotebookArchived() | e.MetadataSet():
            pass
        case e.FileBound():
            if now.run is not None:
                raise Refused(f"{now.name!r} is a run: its outputs are exported, never bound to a file (rule 13).")
            if event.path is not None:
                check_bound_path(event.path)
        case e.ConflictRaised():
            check_id(event.conflict, "Conflict")
            known_cell(now, event.cell)
            if event.conflict in now.conflicts:
                raise Refused(f"Conflict {event.conflict!r} is open already. Choose another id.")
        case e.ConflictResolved():
            if event.conflict not in now.conflicts:
                raise NotFound(f"There is no open conflict {event.conflict!r}. It may have been resolved already.")
        case e.OutputsImported():
            execution_rules.check_imported(now, event, asking)
        case e.CommentAdded():
            _check_new_comment(now, event)
        case e.CommentEdited():
            if _comment(now, event.comment).by != asking.actor:
                raise Refused(
                    f"Comment {event.comment!r} was written by {_comment(now, event.comment).by}. Answer it instead."
                )
        case e.CommentResolved():
            _comment(now, event.comment)
        case _:
            assert_never(event)


def _check_new_comment(now: Notebook, event: e.CommentAdded) -> None:
    check_id(event.comment, "Comment")
    if event.comment in now.comments:
        raise Refused(f"Comment {event.comment!r} exists already. Choose another id.")
    if event.cell is not None and now.review is None:
        known_cell(now, event.cell)
    elif event.cell is not None:
        check_cell_id(event.cell)  # of the subject, which is not in this log
    if event.reply_to is not None:
        _comment(now, event.reply_to)
    _check_line(event)


def _check_line(event: e.CommentAdded) -> None:
    """A line is one of a known source: without its hash, nobody could tell when it is another line."""
    if event.line is None and event.source_hash is None:
        return
    if event.cell is None or event.line is None or event.source_hash is None:
        raise BadInput(f"Comment {event.comment!r} on a line needs all of them: its cell, `line` and `source_hash`.")
    if event.line < 1 or not _HASH.fullmatch(event.source_hash):
        told = f"Comment {event.comment!r} is on line {event.line} of a source of hash {event.source_hash[:80]!r}"
        raise BadInput(f"{told}: lines count from 1, and a hash is the SHA-256 of the source in hexadecimal.")


def _comment(now: Notebook, comment: CommentId) -> Comment:
    if comment not in now.comments:
        raise NotFound(f"There is no comment {comment!r} in notebook {now.name!r}.")
    return now.comments[comment]


def _merge_file(now: Notebook, event: e.FileMerged, asking: SubmissionContext) -> e.FileMerged:
    if now.binding is None or now.binding.path != event.path:
        raise Refused(f"Notebook {now.name!r} is not bound to {event.path!r}. Bind it first (file_bound).")
    return cell_rules.completed_file(now, event, asking)


# ---- Runs as a whole, and the runtimes that are attached to a notebook


def _accept_run(now: Notebook, event: e.RunEvent, asking: SubmissionContext) -> e.RunEvent:
    match event:
        case e.RunRequested():
            check_name(event.name, "A run's name")
            if event.due is not None and asking.actor != schedule_actor(event.due.schedule):
                told = f"Only schedule {event.due.schedule!r} begins runs of its own"
                raise Refused(f"{told}, and {asking.actor} is not it.")
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
        case e.RunDelivered():
            _check_delivery(now, asking)
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


def _check_undisturbed(name: str, run: Run, event: e.NotebookEvent, asking: SubmissionContext) -> None:
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
    # One that nobody claimed has no epoch: its process ended between the request and the claim.
    is_its_epoch = (run.epoch or 0) == event.epoch
    lost = asking.actor.startswith("system:") and event.status == "lost" and run.is_open and is_its_epoch
    if not lost:
        check_run_held(now, event.epoch, asking.actor)
    if now.executions:
        raise Refused(
            f"Run {now.name!r} cannot finish before its executions have: {', '.join(list(now.executions)[:3])}."
        )


def _check_delivery(now: Notebook, asking: SubmissionContext) -> None:
    """What became of a run is told by the schedule that began it, once the run is over."""
    run = _run(now)
    if run.is_open:
        raise Refused(f"Run {now.name!r} is {run.status}: it is delivered once it is over.")
    if run.due is None or asking.actor != run.by:
        raise Refused(f"Only the schedule that began a run says what became of it, and {asking.actor} is not it.")
