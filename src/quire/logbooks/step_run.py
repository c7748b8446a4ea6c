"""A logbook done step by step: laid out as a notebook, which people and agents work through.

Each step's cell carries the hash of what the template has there, so what becomes otherwise shows by itself. What only
somebody can say (why, what was done, the evidence) is said with `answer_event`.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..core.errors import BadInput, Refused
from ..core.events import CellMetadataSet, Draft, ExecutionRequested, KnownEvent, NotebookCreated
from ..core.ids import CellId, ExecutionId, LogId
from ..core.notebook.logbook_record import (
    INJECTED,
    LogbookMark,
    LogbookStep,
    StepAnswer,
    as_metadata,
    logbook_of,
    steps_of,
)
from ..core.notebook.notebook import Notebook
from ..core.sheet.conversion import added, metadata_of
from ..core.text import source_hash
from ..formats.papermill import parameterized
from ..workspace.clock import new_id
from ..core.event_fields import batches
from ..workspace.protocol import Workspace
from .export_file import write_export
from .run_request import LogbookRequest
from .run_mark import bound_values, check_request, files_folder, mark_of, with_files_folder
from .template_steps import marked


class StepRun(msgspec.Struct, frozen=True, kw_only=True):
    """A logbook that was laid out, to be done step by step."""

    log: LogId
    name: str
    mark: LogbookMark
    file: Path
    """The file that is written of it."""


async def begin_steps(workspace: Workspace, request: LogbookRequest, now: dt.datetime) -> StepRun:
    """Lay a template out as a notebook, ask for its parameters to be run, and write its file for the first time."""
    _check(workspace, request)
    log, template, root = LogId(new_id()), request.template, request.root
    values = with_files_folder(template, root, log, now, request.values)
    bound = bound_values(template, values)
    try:
        filled = parameterized(template.sheet, bound, template.sheet.language)
    except BadInput as error:
        raise BadInput(f"{template.path}: {error}", **error.details) from None
    sheet = marked(replace(filled, metadata=template.sheet.metadata), by_steps=True)
    mark = mark_of(template, root, log, now, values, request.request, "steps")
    mark = replace(mark, laid=1 + len(sheet.cells), sources=request.sources, approve=request.approve)
    name = f"{template.name} {now.astimezone():%Y-%m-%d %H.%M.%S}"
    events: list[KnownEvent] = [NotebookCreated(name=name, metadata=metadata_of(sheet) | as_metadata(mark))]
    after: CellId | None = None
    for cell in sheet.cells:
        events.append(added(cell, after))
        after = cell.id
    # Steps stand on the values: without them the first one would not know its parameters.
    given = [cell for cell in sheet.cells if INJECTED in cell.tags]
    if "run" in workspace.identity.scopes:
        hashes = ((cell.id, source_hash(cell.source)) for cell in given)
        events += (
            ExecutionRequested(execution=ExecutionId(new_id()), cell=id, source_hash=hash) for id, hash in hashes
        )
    for batch in batches([Draft(id=new_id(), event=event) for event in events]):
        await workspace.submit(log, batch)
    if "logbook_files" in mark.parameters:
        files_folder(root, log, now).mkdir(parents=True, exist_ok=True)
    file = await write_export(workspace, log, root)
    return StepRun(log=log, name=name, mark=mark, file=file or root)


def _check(workspace: Workspace, request: LogbookRequest) -> None:
    check_request(request.request)
    identity = workspace.identity
    if identity.asks:
        asked = " and ".join(sorted(identity.asks))
        told = f"{identity.actor} has to ask before it may {asked}, and the beginning of a logbook cannot be proposed"
        raise Refused(f"{told}. Ask a person to begin it: quire logbook run {request.template.name} --step-by-step.")
    unknown = [name for name in request.sources if name not in {each.name for each in request.template.parameters}]
    if unknown:
        raise BadInput(f"`sources` names {unknown[0]!r}, which is no parameter of {request.template.path}.")


# ---- Answers


def answer_event(
    notebook: Notebook, cell: CellId, answer: StepAnswer | None, why: str = "", did: str = "", evidence: str = ""
) -> CellMetadataSet:
    """Return what says how a step was answered, or why it is otherwise than in the template; refused where that is wrong."""
    from ..core.edits.step_answer import answered_mark

    if logbook_of(notebook) is None:
        raise BadInput(f"{notebook.name!r} is no logbook that is done step by step. `quire logbook run` begins one.")
    mark = answered_mark(notebook.cells[cell], answer, why, did, evidence)
    return CellMetadataSet(cell=cell, values=as_metadata(mark))


def next_step(notebook: Notebook) -> LogbookStep | None:
    """Return the first step that nobody has answered; None: all are."""
    return next((step for step in steps_of(notebook) if step.state in ("open", "running")), None)


def unsaid(notebook: Notebook) -> list[LogbookStep]:
    """Return the steps that are otherwise than in the template, and of which nobody has said why."""
    otherwise = (step for step in steps_of(notebook) if step.deviated or step.added or step.left_out)
    return [step for step in otherwise if not step.why]
