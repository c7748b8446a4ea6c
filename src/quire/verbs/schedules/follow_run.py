"""Waiting for a run that somebody asked a schedule for."""

from __future__ import annotations

import asyncio

from ...actors.scheduler import Scheduler
from ...core.errors import NotFound, Refused
from ...core.ids import LogId
from ...workspace.protocol import Workspace

LOOK_SECONDS = 0.5


async def run_ended(
    workspace: Workspace, run: LogId, name: str, asked_at: str, scheduler: Scheduler | None = None
) -> None:
    """Return once the run is over, and delivered where a scheduler of this process began it; Refused if it cannot begin."""
    while not await _is_over(workspace, run):
        if scheduler is not None:
            await scheduler.look_at(name)
        schedule = (await workspace.directory()).schedules[name]
        skipped = schedule.skipped
        if skipped is not None and skipped.due == asked_at:
            raise Refused(f"Schedule {name!r} could not run: {skipped.why}")
        await asyncio.sleep(LOOK_SECONDS)
    if scheduler is not None:
        await scheduler.look_at(name)
        await scheduler.settle()


async def _is_over(workspace: Workspace, run: LogId) -> bool:
    try:
        found = (await workspace.read(run)).run
    except NotFound:
        return False
    return found is not None and not found.is_open
