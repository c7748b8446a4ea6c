"""Running cells. Only the runtime that holds the claim, under its epoch, may say what happened."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from .. import events as e
from ..errors import BadInput, Conflict, NotFound, Refused
from ..ids import ActorId, CellId, ExecutionId, RuntimeId, actor_kind, check_cell_id, check_id, check_name
from ..notebook.notebook import INLINE_TEXT, RUNS, Cell, Execution, Notebook
from ..text import source_hash
from ..values import Json
from .cell_rules import live_cell, running_cell
from .context import SubmissionContext

MOST_SCRATCH = 1_000_000
"""Characters of code that is executed without a cell."""


def accept(now: Notebook, event: e.ExecutionEvent, asking: SubmissionContext) -> e.ExecutionEvent:
    """Return the event as it is to be recorded."""
    match event:
        case e.StreamAppended():
            _check_stream(_held(now, event.execution, event.epoch, asking.actor), event)
        case e.OutputAdded():
            _held(now, event.execution, event.epoch, asking.actor)
            if isinstance(event.output, e.Display):
                _check_inline(event.execution, event.output.data)
        case e.DisplayUpdated():
            _held(now, event.execution, event.epoch, asking.actor)
            _check_inline(event.execution, event.data)
        case e.OutputsCleared():
            _held(now, event.execution, event.epoch, asking.actor)
        case e.ResultRecorded():
            check_name(event.name, "A result's name")
            _held(now, event.execution, event.epoch, asking.actor)
        case e.ExecutionRequested():
            check_request(now, event.execution, event.cell, event.source_hash)
            check_needed(now, event.execution, event.needs)
        case e.ScratchRequested():
            check_scratch(now, event)
        case e.ExecutionClaimed():
            return _complete_claim(now, event, asking)
        case e.ExecutionStarted():
            _check_start(now, event, asking)
        case e.ExecutionFinished():
            _check_finish(now, event, asking)
        case e.ExecutionSkipped():
            _check_skip(now, event, asking)
        case e.InterruptRequested():
            _open(now, event.execution)
        case e.ExecutionCancelled():
            _check_cancel(now, event, asking)
        case e.InputAnswered():
            _check_answer(now, event, asking)
        case _:
            assert_never(event)
    return event


def _check_cancel(now: Notebook, event: e.ExecutionCancelled, asking: SubmissionContext) -> None:
    """What waits is taken back by whoever may run; by a runtime only if it can no longer be run."""
    found = _open(now, event.execution)
    if found.state == "running":
        raise Refused(f"Execution {event.execution!r} is running. Interrupt it instead (interrupt_requested).")
    cell = now.cells[found.cell]
    can_run = (not cell.removed or cell.scratch) and cell.kind == found.cell_kind
    if actor_kind(asking.actor) == "runtime" and can_run and found.runtime != asking.actor:
        raise Refused(f"Execution {event.execution!r} is not {asking.actor}'s to take back: its cell can be run.")


def _check_answer(now: Notebook, event: e.InputAnswered, asking: SubmissionContext) -> None:
    """Input comes from whoever may run; from a runtime only to what it runs itself, as at a terminal."""
    found = _open(now, event.execution)
    if found.state != "running":
        raise Refused(f"Execution {event.execution!r} is not running, so it asks for no input.")
    holder = found.runtime or (now.run.runtime if now.run is not None else None)
    if actor_kind(asking.actor) == "runtime" and holder != asking.actor:
        raise Refused(f"Execution {event.execution!r} is {holder}'s: {asking.actor} does not answer what it asks.")


def check_request(now: Notebook, execution: ExecutionId, cell: CellId, wanted_hash: str) -> Cell:
    """A cell runs as it was seen, and waits in the queue at most once."""
    check_id(execution, "Execution")
    found = live_cell(now, cell)
    if not found.runs:
        raise Refused(f"Cell {cell!r} is a {found.kind} cell and does not run. Change its kind to code first.")
    if found.queued is not None:
        raise Conflict(
            f"Cell {cell!r} is queued already, by {found.queued.by}. Wait for execution {found.queued.id!r}, or cancel it.",
            execution=found.queued.id,
        )
    _check_new(now, execution, found)
    current = source_hash(found.source)
    if wanted_hash != current:
        raise Refused(
            f"Cell {cell!r} is not the source that {wanted_hash[:12]!r} names; {found.author} changed it last. "
            f"Read it again, then request it with source_hash={current}.",
            source=found.source,
            source_hash=current,
        )
    return found


def check_needed(now: Notebook, execution: ExecutionId, needed: ExecutionId | None) -> None:
    """What an execution waits for has to be under way."""
    if needed is not None and needed not in now.executions:
        told = f"Execution {execution!r} needs {needed!r}, which is not under way in notebook {now.name!r}"
        raise NotFound(f"{told}. Leave `needs` out if that ended well.")


def check_scratch(now: Notebook, event: e.ScratchRequested) -> None:
    """Code without a cell has ids that nothing else has, is of a kind that runs, and is no data."""
    check_id(event.execution, "Execution")
    check_cell_id(event.cell)
    if event.cell in now.cells:
        raise Refused(f"Cell {event.cell!r} exists already in notebook {now.name!r}. Choose another id.")
    if event.execution in now.executions:
        raise Refused(f"Execution {event.execution!r} exists already. Choose another id.")
    if event.kind not in RUNS:
        raise BadInput(f"A {event.kind} cell does not run. Send code or sql.")
    if len(event.source) > MOST_SCRATCH:
        told = (
            f"The code of execution {event.execution!r} has {len(event.source):,} characters; {MOST_SCRATCH:,} may be"
        )
        raise BadInput(f"{told}. Put data into a file, and read that.")


def check_imported(now: Notebook, event: e.OutputsImported, asking: SubmissionContext) -> None:
    """What a file shows belongs to the source that it has. In a run it is what an earlier one left, laid out beforehand."""
    if now.run is not None and not (now.run.status == "queued" and now.run.by == asking.actor):
        raise Refused(f"{now.name!r} is a run: its outputs come from its runtime, not from a file.")
    for result in event.results:
        check_name(result.name, "A result's name")
    cell = check_request(now, event.execution, event.cell, event.source_hash)
    if cell.execution is not None and cell.execution.is_open:
        raise Conflict(f"Cell {event.cell!r} is running, as execution {cell.execution.id!r}. Wait for it.")
    for output in event.outputs:
        match output:
            case e.Display():
                if output.display_id is not None:
                    raise Refused(
                        f"Execution {event.execution!r}: an imported display has no display_id, for nobody updates it."
                    )
                _check_inline(event.execution, output.data)
            case e.Stream():
                _check_inline(event.execution, {"head": output.head, "tail": output.tail})
            case e.Raised():
                pass


def _check_new(now: Notebook, execution: ExecutionId, cell: Cell) -> None:
    if execution in now.executions or (cell.execution is not None and cell.execution.id == execution):
        raise Refused(f"Execution {execution!r} exists already. Choose another id.")


def _open(now: Notebook, execution: ExecutionId) -> Execution:
    found = now.execution(execution)
    if found is None:
        raise NotFound(
            f"There is no open execution {execution!r} in notebook {now.name!r}. It may be over: read its cell."
        )
    return found


def _complete_claim(now: Notebook, event: e.ExecutionClaimed, asking: SubmissionContext) -> e.ExecutionClaimed:
    check_runtime(event.runtime, asking.actor)
    found = _open(now, event.execution)
    if found.state != "queued":
        raise Conflict(f"Execution {event.execution!r} was claimed by {found.runtime}.", runtime=found.runtime)
    if found.blocked:
        raise Refused(f"Execution {event.execution!r} needed {found.needs!r}, which did not end well. Skip it.")
    if found.needs in now.executions:
        raise Conflict(f"Execution {event.execution!r} begins once {found.needs!r} has ended well. Run that first.")
    if found.wants is not None and not is_called(now, event.runtime, found.wants):
        raise Refused(f"Execution {event.execution!r} is for runtime {found.wants!r}, not for {event.runtime!r}.")
    return replace(event, epoch=asking.epoch)


def is_called(now: Notebook, runtime: RuntimeId, wanted: str) -> bool:
    """Whether a request means a runtime. A language is the same however it is written: r is R."""
    known = now.runtimes.get(runtime)
    language = known.language if known is not None else None
    return wanted in names_of(now, runtime) or (language is not None and wanted.lower() == language.lower())


def names_of(now: Notebook, runtime: RuntimeId) -> set[str]:
    """What a request may call a runtime: its id, or the name and language it attached with."""
    known = now.runtimes.get(runtime)
    return {runtime, *((known.name, known.language or "") if known is not None else ())} - {""}


def check_runtime(runtime: str, actor: ActorId) -> None:
    """Only a runtime claims, and only for itself."""
    if actor_kind(actor) != "runtime" or runtime != actor:
        raise Refused(f"{actor} cannot act as runtime {runtime!r}. Use the token of that runtime.")


def _check_start(now: Notebook, event: e.ExecutionStarted, asking: SubmissionContext) -> None:
    cell = running_cell(now, event.cell)
    if cell.execution is not None and cell.execution.state == "running":
        raise Conflict(f"Cell {event.cell!r} is running already, as execution {cell.execution.id!r}.")
    if now.run is not None and now.run.is_open:
        check_run_held(now, event.epoch, asking.actor)
        if now.run.status != "running":
            raise Refused(f"Run {now.name!r} is {now.run.status}: its cells run after run_started.")
        check_request(now, event.execution, event.cell, event.source_hash)
        return
    found = _open(now, event.execution)
    if found.cell != event.cell or found.source_hash != event.source_hash:
        raise Refused(
            f"Execution {event.execution!r} was requested for cell {found.cell!r} as {found.source_hash[:12]}: run that."
        )
    if found.state != "claimed":
        raise Refused(f"Execution {event.execution!r} is {found.state}: claim it before it starts.")
    if found.cell_kind != cell.kind:
        raise Refused(f"Cell {event.cell!r} is a {cell.kind} cell now; {found.cell_kind} was requested. Cancel it.")
    _check_epoch(found, event.epoch, asking.actor)


def _held(now: Notebook, execution: ExecutionId, epoch: int, actor: ActorId) -> Execution:
    """The running execution, if `actor` holds it under `epoch`."""
    found = _open(now, execution)
    if found.state != "running":
        raise Refused(f"Execution {execution!r} is {found.state}, not running: start it before it shows anything.")
    if found.runtime is None:
        check_run_held(now, epoch, actor)
    else:
        _check_epoch(found, epoch, actor)
    return found


def _check_epoch(found: Execution, epoch: int, actor: ActorId) -> None:
    if found.epoch != epoch or found.runtime != actor:
        raise Refused(
            f"Execution {found.id!r} is held by {found.runtime} under epoch {found.epoch}, not by {actor} under {epoch}. "
            "The lease was lost: stop this work and claim anew."
        )


def check_run_held(now: Notebook, epoch: int, actor: ActorId) -> None:
    """A run is held as a whole; so are its cells."""
    run = now.run
    if run is None or not run.is_open:
        raise Refused(f"{now.name!r} is not a run that is going on, so nothing runs in it without a request.")
    if run.epoch != epoch or run.runtime != actor:
        raise Refused(
            f"Run {now.name!r} is held by {run.runtime} under epoch {run.epoch}, not by {actor} under {epoch}."
        )


def _check_stream(found: Execution, event: e.StreamAppended) -> None:
    last = found.outputs[-1] if found.outputs else None
    length = last.length if isinstance(last, e.Stream) and last.name == event.name else 0
    if event.chunk <= found.chunk:
        return  # seen already, and adds nothing
    if event.offset < 0 or (event.offset > length and event.blob is None):
        raise BadInput(
            f"Execution {event.execution!r}: {event.name} has {length} code points, "
            f"so text cannot begin at {event.offset}. Send what comes before it, or the whole as a blob."
        )
    if event.offset + len(event.text) > INLINE_TEXT and event.blob is None:
        raise BadInput(
            f"Execution {event.execution!r}: {event.name} is longer than {INLINE_TEXT:,} code points. "
            "Put the whole of it into a blob, and send head and tail with that (rule 5)."
        )
    _check_inline(event.execution, {"text": event.text})


def _check_inline(execution: ExecutionId, data: dict[str, Json]) -> None:
    for name, value in data.items():
        if isinstance(value, str) and len(value) > INLINE_TEXT:
            raise BadInput(
                f"Execution {execution!r}: {name} has {len(value):,} code points; {INLINE_TEXT:,} stay inline. "
                "Put the whole into a blob, and an excerpt here (rule 5)."
            )


def _check_finish(now: Notebook, event: e.ExecutionFinished, asking: SubmissionContext) -> None:
    found = _open(now, event.execution)
    if asking.actor.startswith("system:") and event.status == "lost" and found.epoch == event.epoch:
        return
    if found.state == "queued":
        raise Refused(f"Execution {event.execution!r} was never claimed. Cancel or skip it instead.")
    if found.runtime is None:
        check_run_held(now, event.epoch, asking.actor)
    else:
        _check_epoch(found, event.epoch, asking.actor)


def _check_skip(now: Notebook, event: e.ExecutionSkipped, asking: SubmissionContext) -> None:
    check_id(event.execution, "Execution")
    system = asking.actor.startswith("system:")
    if actor_kind(asking.actor) != "runtime" and not system:
        raise Refused(f"{asking.actor} cannot skip executions; cancel it instead (execution_cancelled).")
    if now.run is not None and now.run.is_open and not system:
        check_run_held(now, now.run.epoch or 0, asking.actor)
    cell = running_cell(now, event.cell)
    if cell.queued is None:
        _check_new(now, event.execution, cell)
    elif cell.queued.id != event.execution:
        raise Conflict(f"Cell {event.cell!r} waits as execution {cell.queued.id!r}. Skip or cancel that one.")
    elif cell.queued.runtime not in (None, asking.actor) and not system:
        raise Refused(f"Execution {event.execution!r} is held by {cell.queued.runtime}, not by {asking.actor}.")
