"""Schedules as lists show them: when they are due next, and how their last runs ended."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

from ...core.errors import BadInput, NotFound, Refused
from ...core.events import SchedulePlan
from ...core.ids import ActorId, nearest
from ...core.notebook.directory import Schedule, SkippedRuns
from ...core.schedule.next_step import ScheduleState, due_after
from ...core.schedule.timetable import next_times, parse_timetable
from ...workspace.clock import stamp
from ...workspace.protocol import Workspace
from .time_zone import find_zone

NEXT = 5
LAST = 20


class ScheduleOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a schedule, in short."""

    run: str
    due: str
    attempt: int
    status: str
    finished_at: str | None
    seconds: float | None
    asked_by: str | None


class ScheduleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule as it is now."""

    name: str
    state: Literal["active", "paused", "removed"]
    plan: SchedulePlan
    by: ActorId
    on_behalf_of: ActorId | None
    added_at: str
    next: list[str]
    """When it is due next, in UTC. Empty: it is paused or over."""
    last: list[ScheduleOutcome]
    """Its last runs, the newest first."""
    skipped: SkippedRuns | None
    fault: str | None = None
    """Why it cannot run here: its zone is not known on this machine."""


async def list_schedules(workspace: Workspace, now: datetime, *, removed: bool = False) -> list[ScheduleEntry]:
    """Return the schedules by name, with those that were removed if wanted."""
    known = (await workspace.directory()).schedules
    return [
        await entry_of(workspace, name, schedule, now)
        for name, schedule in sorted(known.items())
        if removed or schedule.removed is None
    ]


async def find_schedule(workspace: Workspace, name: str) -> Schedule:
    """Return a schedule that is not removed."""
    known = {
        each: schedule for each, schedule in (await workspace.directory()).schedules.items() if schedule.removed is None
    }
    if name not in known:
        close = nearest(name, known)
        hint = f" Nearest: {', '.join(close)}." if close else ""
        raise NotFound(f"There is no schedule {name[:80]!r}.{hint}")
    return known[name]


async def entry_of(workspace: Workspace, name: str, schedule: Schedule, now: datetime) -> ScheduleEntry:
    """Return one schedule as lists show it."""
    state = "removed" if schedule.removed is not None else "paused" if schedule.paused is not None else "active"
    coming, fault = _coming(name, schedule, now) if state == "active" else ([], None)
    return ScheduleEntry(
        name=name,
        state=state,
        plan=schedule.plan,
        by=schedule.by,
        on_behalf_of=schedule.on_behalf_of,
        added_at=schedule.added_at,
        next=coming,
        last=await outcomes(workspace, name, LAST),
        skipped=schedule.skipped,
        fault=fault,
    )


async def outcomes(workspace: Workspace, name: str, most: int) -> list[ScheduleOutcome]:
    """Return the last runs of a schedule, the newest first; none to who may not query the workspace."""
    try:
        found = await workspace.query(
            "SELECT run, due, attempt, status, finished_at, seconds, asked_by FROM runs "  # noqa: S608
            f"WHERE schedule = '{name}' AND actor = 'schedule:{name}' "
            f"ORDER BY due DESC, attempt DESC LIMIT {most}",
            limit=most,
        )
    except Refused:
        return []
    return [_outcome(*row) for row in found.rows]


def _outcome(*row: Any) -> ScheduleOutcome:
    return ScheduleOutcome(**dict(zip(ScheduleOutcome.__struct_fields__, row, strict=True)))


def _coming(name: str, schedule: Schedule, now: datetime) -> tuple[list[str], str | None]:
    try:
        zone = find_zone(schedule.plan.timezone)
    except BadInput as error:
        return [], str(error)
    after = max(now, due_after(ScheduleState(name=name, schedule=schedule, zone=zone)))
    since = datetime.fromisoformat(schedule.since)
    return [stamp(each) for each in next_times(parse_timetable(schedule.plan.when), zone, since, after, NEXT)], None
