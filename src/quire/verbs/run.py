"""Running cells in the living kernel (`changed`, `stale`, `all` or by name), and code without a cell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ..core import events as e
from ..core.errors import BadInput, Conflict, NotFound, Refused
from ..core.events import Draft, ExecutionRequested, KnownEvent, ProposalMade
from ..core.ids import CellId, ExecutionId, LogId, new_cell_id
from ..core.notebook.cell_lookup import find_cell
from ..core.notebook.notebook import Cell, Notebook
from ..core.notebook.staleness import stale_cells
from ..core.python.cell_names import Names, analyse
from ..core.sheet.conversion import sheet_of
from ..core.text import source_hash
from ..workspace.clock import new_id
from ..workspace.identity.approval import as_proposal, has_to_ask, proposed
from .answers.answer import Here, VerbAnswer
from .answers.execution_answer import asked, told
from .arguments import Cells, ExecuteArguments, RunArguments
from .execution_wait import ExecutionResults, Tell, ended
from .find import opened
from .wait import wait

ATTEMPTS = 5
"""So often cells are looked at again, when others ask for them at the same time."""
__all__ = [
    "ExecutionResults",
    "Tell",
    "chosen",
    "ended",
    "execute",
    "request",
    "request_code",
    "requested",
    "run",
    "wait",
]


class RequestedExecutions(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked of a living kernel."""

    log: LogId
    before: Notebook
    """As it was read for this."""
    executions: tuple[ExecutionId, ...] = ()
    """What comes of it, also what was under way; none: there is nothing to run, or it was proposed."""
    proposal: ProposalMade | None = None
    """What waits for somebody's yes instead."""
    seq: int = 0
    """The number of the last event that was recorded for it."""


async def run(here: Here, wanted: RunArguments, tell: Tell | None = None) -> VerbAnswer:
    """Run cells of a notebook, or all of it in a kernel of its own; wait for the end. Or begin a logbook."""
    if wanted.request is not None:
        from .logbook.begin_logbook import begin_logbook

        return await begin_logbook(here, wanted)
    if wanted.parameters is not None or wanted.fresh:
        from .run_detached import run_apart

        return await run_apart(here, wanted, tell)
    made = await request(here, wanted)
    if not made.executions and made.proposal is None:
        return _nothing(made.log, made.before, wanted)
    return await _answered(here, made, wanted, tell)


async def execute(here: Here, wanted: ExecuteArguments, tell: Tell | None = None) -> VerbAnswer:
    """Run code that is in no cell of the notebook, in its kernel. It is on record."""
    return await _answered(here, await request_code(here, wanted), wanted, tell)


async def _answered(
    here: Here, made: RequestedExecutions, wanted: RunArguments | ExecuteArguments, tell: Tell | None
) -> VerbAnswer:
    """Wait for the end of what was requested; or say that it was proposed."""
    if made.proposal is not None:
        return asked(made.log, made.before, wanted.notebook, made.proposal, made.seq)
    found = await ended(here, made.log, made.executions, made.before.seq, wanted.seconds, tell)
    return told(made.log, wanted.notebook, found, wanted.budget)


async def request(here: Here, wanted: RunArguments) -> RequestedExecutions:
    """Ask the living kernel for cells of a notebook as they are, each for when the one before has ended well."""
    log = await opened(here, wanted.notebook)
    for left in reversed(range(ATTEMPTS)):
        now = await here.workspace.read(log)
        cells = chosen(now, wanted.cells, unrun(now))
        if not cells:
            return RequestedExecutions(log=log, before=now)
        requests, executions = requested(now, cells)
        events = [*outdated(cells, requests), *requests]
        await here.at(log, "running", cells[0].id)
        try:
            return await _recorded(here, log, now, events, executions, wanted.why)
        except (Conflict, NotFound, Refused):
            # Somebody asked for one of them, changed it or took it back, since they were looked at.
            if not left or (await here.workspace.read(log)).seq == now.seq:
                raise
    raise AssertionError  # the last attempt answers, or raises


async def request_code(here: Here, wanted: ExecuteArguments) -> RequestedExecutions:
    """Ask the living kernel for code that is in no cell."""
    log = await opened(here, wanted.notebook)
    now = await here.workspace.read(log)
    id = ExecutionId(new_id())
    cell = new_cell_id(now.cells, os.urandom)
    event = e.ScratchRequested(execution=id, cell=cell, source=wanted.code)
    await here.at(log, "running")
    return await _recorded(here, log, now, [event], [id])


async def _recorded(
    here: Here,
    log: LogId,
    now: Notebook,
    events: Sequence[KnownEvent],
    executions: Sequence[ExecutionId],
    why: str = "",
) -> RequestedExecutions:
    """Record what asks for executions."""
    proposal, seq = await submitted(here, log, now, events, why)
    asked_for = () if proposal is not None else tuple(executions)
    return RequestedExecutions(log=log, before=now, executions=asked_for, seq=seq, proposal=proposal)


async def submitted(
    here: Here, log: LogId, now: Notebook, events: Sequence[KnownEvent], why: str = ""
) -> tuple[ProposalMade | None, int]:
    """Record events; return the proposal that came of it, if any, and the number of the last.

    `why` is the reason that a proposal gives: where nobody has to be asked, none is needed.
    """
    if not events:
        return None, now.seq
    me, drafts = here.workspace.identity, [Draft(id=new_id(), event=event) for event in events]
    sent = [as_proposal(me, drafts, now, why)] if why and has_to_ask(me, drafts) else drafts
    entries = await here.workspace.submit(log, sent)
    return proposed(drafts, entries), entries[-1].seq


def _nothing(log: LogId, now: Notebook, wanted: RunArguments) -> VerbAnswer:
    if isinstance(wanted.cells, tuple):
        raise BadInput('No cell is named. Name some, or say "stale" or "all".')
    why = "it has no cell that runs" if wanted.cells == "all" else f"no cell is {wanted.cells}"
    hint = "" if wanted.cells == "all" else ' · cells="all" runs all'
    told = f"nothing to run: {why} · cursor {now.seq}{hint}"
    return VerbAnswer(
        text=told, facts={"notebook": log, "name": now.name, "cursor": now.seq, "state": "done", "cells": []}
    )


def requested(now: Notebook, cells: Sequence[Cell]) -> tuple[list[ExecutionRequested], list[ExecutionId]]:
    """What asks for these cells, each for when the one before has ended well, and the executions that come of it.

    What is under way already is not asked for twice.
    """
    events: list[ExecutionRequested] = []
    executions: list[ExecutionId] = []
    for cell in cells:
        hash = source_hash(cell.source)
        under_way = [each for each in (cell.queued, cell.execution) if each is not None and each.is_open]
        same = next((each for each in under_way if each.source_hash == hash), None)
        if same is not None:
            executions.append(same.id)
            continue
        executions.append(id := ExecutionId(new_id()))
        needs = events[-1].execution if events else None
        events.append(ExecutionRequested(execution=id, cell=cell.id, source_hash=hash, needs=needs))
    return events, executions


def outdated(cells: Sequence[Cell], requests: Sequence[ExecutionRequested]) -> Iterator[e.ExecutionCancelled]:
    """What takes back those of the cells' executions that wait with a source that is no more, and stand in the way."""
    wanted = {request.cell for request in requests}
    for cell in cells:
        if cell.id in wanted and cell.queued is not None:
            yield e.ExecutionCancelled(execution=cell.queued.id, why="its source was changed")


def chosen(notebook: Notebook, cells: Cells, changed: Iterable[CellId]) -> list[Cell]:
    """Return the cells that are meant, from top to bottom. `changed` are those that were touched just now."""
    live = [cell for cell in notebook.live_cells if cell.runs]
    if cells == "all":
        return live
    if cells == "changed":
        touched = set(changed)
        return [cell for cell in live if cell.id in touched]
    if cells == "stale":
        return _stale(notebook, live, set(changed))
    return _named(notebook, cells)


def unrun(notebook: Notebook) -> set[CellId]:
    """The cells that never ran as they are now."""
    return {cell.id for cell in notebook.live_cells if cell.runs and not _ran_so(cell)}


def _ran_so(cell: Cell) -> bool:
    """Whether a cell has begun to run with the source that it has."""
    ran = cell.execution
    return ran is not None and ran.source_hash == source_hash(cell.source)


def _named(notebook: Notebook, names: tuple[str, ...]) -> list[Cell]:
    live = list(notebook.live_cells)
    places = sorted({find_cell(live, name) for name in names})
    for cell in (live[place] for place in places):
        if not cell.runs:
            raise BadInput(
                f"Cell {cell.id!r} is a {cell.kind} cell and does not run. Leave it out, or change its kind."
            )
    return [live[place] for place in places]


def _stale(notebook: Notebook, live: list[Cell], changed: set[CellId]) -> list[Cell]:
    """What is not as the notebook says: cells that changed, failed or never ran, and all that stands on them."""
    language = sheet_of(notebook, {}).language if notebook.metadata else "python"
    names = {cell.id: _names(cell, language) for cell in live}
    wanted = changed | unrun(notebook) | stale_cells(notebook)
    wanted |= {cell.id for cell in live if cell.state != "ok"}
    _add_readers(live, names, wanted)
    _add_missing(notebook, live, names, wanted)
    return [cell for cell in live if cell.id in wanted]


def _names(cell: Cell, language: str) -> Names:
    return (analyse(cell.source, language) if cell.kind == "code" else None) or Names()


def _add_readers(live: list[Cell], names: dict[CellId, Names], wanted: set[CellId]) -> None:
    """Whoever uses what a cell above will define anew, also a name that it has not defined so far."""
    renewed: set[str] = set()
    for cell in live:
        found = names[cell.id]
        if cell.id in wanted or not renewed.isdisjoint(found.uses):
            wanted.add(cell.id)
            renewed.update(found.defines)
        else:
            renewed.difference_update(found.defines)


def _add_missing(notebook: Notebook, live: list[Cell], names: dict[CellId, Names], wanted: set[CellId]) -> None:
    """Whatever defines what they use, if the kernel that did is gone: it would be a NameError."""
    there = notebook.definers if notebook.runtimes else {}
    missing: set[str] = set()
    for cell in reversed(live):
        found = names[cell.id]
        if cell.id in wanted or not missing.isdisjoint(found.defines):
            wanted.add(cell.id)
            missing.difference_update(found.defines)
            missing.update(name for name in found.uses if name not in there)
