"""Running cells in the living kernel, and code without a cell."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ..core import events as e
from ..core.errors import BadInput, Conflict, NotFound, Refused
from ..core.events import Draft, ExecutionRequested, KnownEvent
from ..core.ids import ExecutionId, LogId, new_cell_id
from ..core.notebook import Cell, Notebook
from ..core.text import source_hash
from ..workspace.clock import new_id
from ..workspace.proposing import proposed
from .answer import Answer, Here
from .awaiting import wait
from .choosing import chosen, unrun
from .finding import opened
from .telling import asked, told
from .waiting import Ended, Tell, ended
from .wanted import Execute, RunWanted

ATTEMPTS = 5
"""So often cells are looked at again, when others ask for them at the same time."""
__all__ = ["Ended", "Tell", "chosen", "ended", "execute", "requested", "run", "wait"]


async def run(here: Here, wanted: RunWanted, tell: Tell | None = None) -> Answer:
    """Run cells of a notebook, or all of it in a kernel of its own; wait for the end."""
    if wanted.parameters is not None or wanted.fresh:
        from .headless import run_apart

        return await run_apart(here, wanted, tell)
    log = await opened(here, wanted.notebook)
    for left in reversed(range(ATTEMPTS)):
        now = await here.workspace.read(log)
        cells = chosen(now, wanted.cells, unrun(now))
        if not cells:
            return _nothing(log, now, wanted)
        requests, executions = requested(now, cells)
        events = [*outdated(cells, requests), *requests]
        await here.at(log, "running", cells[0].id)
        try:
            return await _asked_for(here, log, now, events, executions, wanted, tell)
        except (Conflict, NotFound, Refused):
            # Somebody asked for one of them, changed it or took it back, since they were looked at.
            if not left or (await here.workspace.read(log)).seq == now.seq:
                raise
    raise AssertionError  # the last attempt answers, or raises


async def execute(here: Here, wanted: Execute, tell: Tell | None = None) -> Answer:
    """Run code that is in no cell of the notebook, in its kernel. It is on record."""
    log = await opened(here, wanted.notebook)
    now = await here.workspace.read(log)
    id = ExecutionId(new_id())
    cell = new_cell_id(now.cells, os.urandom)
    event = e.ScratchRequested(execution=id, cell=cell, source=wanted.code)
    await here.at(log, "running")
    return await _asked_for(here, log, now, [event], [id], wanted, tell)


async def _asked_for(
    here: Here,
    log: LogId,
    now: Notebook,
    events: Sequence[KnownEvent],
    executions: Sequence[ExecutionId],
    wanted: RunWanted | Execute,
    tell: Tell | None,
) -> Answer:
    """Record what asks for executions, and wait for their end; or say that it was proposed."""
    if events:
        drafts = [Draft(id=new_id(), event=event) for event in events]
        entries = await here.workspace.submit(log, drafts)
        if (made := proposed(drafts, entries)) is not None:
            return asked(log, now, wanted.notebook, made, entries[-1].seq)
    found = await ended(here, log, executions, now.seq, wanted.seconds, tell)
    return told(log, wanted.notebook, found, wanted.budget)


def _nothing(log: LogId, now: Notebook, wanted: RunWanted) -> Answer:
    if isinstance(wanted.cells, tuple):
        raise BadInput('No cell is named. Name some, or say "stale" or "all".')
    why = "it has no cell that runs" if wanted.cells == "all" else f"no cell is {wanted.cells}"
    hint = "" if wanted.cells == "all" else ' · cells="all" runs all'
    told = f"nothing to run: {why} · cursor {now.seq}{hint}"
    return Answer(text=told, facts={"notebook": log, "name": now.name, "cursor": now.seq, "state": "done", "cells": []})


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
