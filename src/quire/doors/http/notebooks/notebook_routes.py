"""Notebooks as they are, and cells that are to run."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec
from litestar import Response
from litestar.params import FromPath

from ....core import events as e
from ....core.errors import NotFound
from ....core.events import Draft
from ....core.ids import ExecutionId, LogId, check_name, new_cell_id, new_cell_ids
from ....core.notebook.cell_lookup import find_cell
from ....core.notebook.notebook import Execution, Notebook
from ....core.notebook.reduce import REDUCER
from ....core.params.parameters import declared
from ....core.sheet.conversion import sheet_of
from ....core.text import source_hash
from ....workspace.bundle import BundleContents
from ....workspace.clock import new_id
from ....workspace.cut_outputs import cut_outputs
from ....workspace.identity.approval import proposed
from ....workspace.local import LocalWorkspace
from ....workspace.protocol import LogInfo
from ....workspace.wire import bodies
from ....workspace.wire.bodies import (
    Body,
    CellToRun,
    CopyWanted,
    ExecutionFound,
    ExecutionsMade,
    ExecutionsWanted,
    NotebookWanted,
    Number,
    ParameterFound,
    ScratchWanted,
)
from ...transfer import export_notebook, import_notebook
from ..auth import Asked, door_of
from ..response_stream import while_there
from ..route import Asking, body_of, checked, query_of, route

_ENDED = e.ExecutionFinished | e.ExecutionSkipped | e.ExecutionCancelled
_ENDINGS = ("execution_finished", "execution_skipped", "execution_cancelled")


class MomentAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As it was at that number; without one, as it is."""

    seq: Number | None = None
    outputs: Number | None = None
    """At most so many bytes of outputs of an execution that has ended; without it, all."""


@route("GET", "/api/notebooks", "notebooks", tag="notebooks", answer=list[LogInfo])
async def notebooks(workspace: Asked) -> list[LogInfo]:
    """List the notebooks that the bearer may read, the one begun last first."""
    return await workspace.logs("notebook")


@route("POST", "/api/notebooks", "create_notebook", tag="notebooks", body=NotebookWanted, answer=bodies.NotebookMade)
async def create_notebook(request: Asking, workspace: Asked) -> bodies.NotebookMade:
    """Make a notebook with its first cells."""
    wanted = await body_of(request, NotebookWanted)
    ids = new_cell_ids(len(wanted.cells), (), os.urandom)
    events: list[e.KnownEvent] = [e.NotebookCreated(name=wanted.name, metadata=wanted.metadata)]
    for cell, id, after in zip(wanted.cells, ids, [None, *ids], strict=False):
        events.append(
            e.CellAdded(
                cell=id,
                after=after,
                kind=cell.kind,
                source=cell.source,
                name=cell.name,
                tags=cell.tags,
                metadata=cell.metadata,
            )
        )
    entries = await workspace.submit(log := LogId(new_id()), [Draft(id=new_id(), event=each) for each in events])
    return bodies.NotebookMade(log=log, name=wanted.name, seq=entries[-1].seq, cells=tuple(ids))


@route("GET", "/api/notebooks/{log}", "notebook", tag="notebooks", query=MomentAsked, answer=Notebook)
async def notebook(request: Asking, log: FromPath[str], workspace: Asked) -> Response[Notebook]:
    """The notebook (or run) that a log comes to, as it is or as it was at a number.

    The header `Quire-Reducer` has the version of the fold: a client that folds on from here needs the same one. With
    `outputs`, an output that does not fit is an empty display whose metadata has its size under `quire_cut`; the execution
    by its id has all of it.
    """
    id, asked = LogId(checked(log, "Log")), query_of(request, MomentAsked)
    read = await while_there(request, workspace.read(id, asked.seq))
    if asked.outputs is not None:
        read = cut_outputs(read, asked.outputs)
    return Response(read, headers={"Quire-Reducer": str(REDUCER)})


@route("GET", "/api/notebooks/{log}/parameters", "parameters", tag="notebooks", answer=list[ParameterFound])
async def parameters(log: FromPath[str], workspace: Asked) -> list[ParameterFound]:
    """List what a notebook takes: its cell tagged `parameters`, and its metadata."""
    notebook = await workspace.read(LogId(checked(log, "Log")))
    return [
        ParameterFound(
            name=each.name,
            type=each.type,
            default=None if each.default is msgspec.UNSET else each.default,
            expression=each.expression,
            help=each.help,
            choices=each.choices,
            required=each.required,
        )
        for each in declared(sheet_of(notebook, {}))
    ]


@route("POST", "/api/notebooks/{log}/copy", "copy_notebook", tag="notebooks", body=CopyWanted, answer=BundleContents)
async def copy_notebook(request: Asking, log: FromPath[str], workspace: Asked) -> BundleContents:
    """Make a notebook with the same cells and outputs under another name, bound to no file. The bearer is its author."""
    info = await workspace.find(checked(log, "Log"))
    name = (await body_of(request, CopyWanted)).name
    check_name(name, "A notebook's name")
    most = door_of(request).settings.notebook_bytes
    text, _ = await while_there(request, export_notebook(workspace, info, "notebook.ipynb", most_bytes=most))
    return await import_notebook(workspace, text, "notebook.ipynb", name)


# ---- Executions


@route(
    "POST", "/api/notebooks/{log}/executions", "execute", tag="notebooks", body=ExecutionsWanted, answer=ExecutionsMade
)
async def execute(request: Asking, log: FromPath[str], workspace: Asked) -> ExecutionsMade:
    """Ask for cells to be run, in this order, as they were when somebody looked.

    A cell is named by its id, or by the beginning of it, its name or its number. With `source_hash`, a cell whose source
    moved on is refused. A runtime takes them; follow the log, or ask for the execution.
    """
    id = LogId(checked(log, "Log"))
    wanted = await body_of(request, ExecutionsWanted)
    now = await workspace.read(id)
    events = [_requested(now, cell, wanted.runtime) for cell in wanted.cells]
    return await _made(workspace, id, events)


async def _made(
    workspace: LocalWorkspace, log: LogId, events: Sequence[e.ExecutionRequested | e.ScratchRequested]
) -> ExecutionsMade:
    drafts = [Draft(id=new_id(), event=event) for event in events]
    entries = await workspace.submit(log, drafts)
    asked = proposed(drafts, entries)
    return ExecutionsMade(
        executions=tuple(event.execution for event in events),
        seq=entries[-1].seq,
        proposal=asked.proposal if asked is not None else None,
    )


def _requested(now: Notebook, wanted: CellToRun, runtime: str | None) -> e.ExecutionRequested:
    cells = list(now.live_cells)
    cell = cells[find_cell(cells, wanted.cell)]
    hash = wanted.source_hash if wanted.source_hash is not None else source_hash(cell.source)
    return e.ExecutionRequested(execution=ExecutionId(new_id()), cell=cell.id, source_hash=hash, runtime=runtime)


@route(
    "POST",
    "/api/notebooks/{log}/scratch",
    "execute_scratch",
    tag="notebooks",
    body=ScratchWanted,
    answer=ExecutionsMade,
)
async def execute_scratch(request: Asking, log: FromPath[str], workspace: Asked) -> ExecutionsMade:
    """Ask for code to be run in the notebook's kernel that is no cell of it. It is on record.

    Its execution is asked for as any other; of a bearer who has to ask, it is proposed with all of the code.
    """
    id = LogId(checked(log, "Log"))
    wanted = await body_of(request, ScratchWanted)
    cell = new_cell_id((await workspace.read(id)).cells, os.urandom)
    event = e.ScratchRequested(
        execution=ExecutionId(new_id()), cell=cell, source=wanted.source, kind=wanted.kind, runtime=wanted.runtime
    )
    return await _made(workspace, id, [event])


@route("GET", "/api/notebooks/{log}/executions/{execution}", "execution", tag="notebooks", answer=ExecutionFound)
async def execution(request: Asking, log: FromPath[str], execution: FromPath[str], workspace: Asked) -> ExecutionFound:
    """An execution with its outputs, as far as it is; also one that others came after."""
    id, wanted = LogId(checked(log, "Log")), ExecutionId(checked(execution, "Execution"))
    return await while_there(request, _found(workspace, id, wanted))


async def _found(workspace: LocalWorkspace, log: LogId, wanted: ExecutionId) -> ExecutionFound:
    now = await workspace.read(log)
    found = _last(now, wanted) or await _past(workspace, log, wanted)
    if found is None:
        raise NotFound(f"There is no execution {wanted!r} in {now.name!r}.")
    return ExecutionFound(seq=now.seq, execution=found)


def _last(now: Notebook, wanted: ExecutionId) -> Execution | None:
    for cell in now.cells.values():
        for each in (cell.execution, cell.queued, cell.missed):
            if each is not None and each.id == wanted:
                return each
    return None


async def _past(workspace: LocalWorkspace, log: LogId, wanted: ExecutionId) -> Execution | None:
    """One that others came after: as it was when it ended."""
    since = 0
    while page := await workspace.entries(log, since, types=_ENDINGS):
        for entry in page:
            if isinstance(entry.event, _ENDED) and entry.event.execution == wanted:
                return _last(await workspace.read(log, entry.seq), wanted)
        since = page[-1].seq
    return None


ROUTES = [notebooks, create_notebook, notebook, parameters, copy_notebook, execute, execute_scratch, execution]
