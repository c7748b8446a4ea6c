"""Schedules: when they are due, how their runs ended, and what people say to them."""

from __future__ import annotations

from datetime import UTC, datetime

from litestar.params import FromPath

from ....core import events as e
from ....core.errors import Refused
from ....core.events import Draft
from ....core.ids import WORKSPACE_LOG, check_schedule_name, due_run
from ....core.schedule.timetable import settled
from ....core.values import Json
from ....disk import in_thread
from ....verbs.schedules.schedule_history import ScheduledRunRecord, history_of
from ....verbs.schedules.schedule_list import ScheduleEntry, entry_of, find_schedule, list_schedules
from ....verbs.schedules.schedule_plan import plan_of
from ....verbs.schedules.sync_schedules import given_scopes
from ....workspace.clock import new_id
from ....workspace.local import LocalWorkspace
from ....workspace.wire.bodies import Reason, ScheduleAskedBody, ScheduleWanted
from ..auth import Asked, door_of
from ..response_stream import while_there
from ..route import Asking, body_of, route

SHOWN = 50
"""So many of the last runs of a schedule are shown."""


@route("GET", "/api/schedules", "schedules", tag="schedules", answer=list[ScheduleEntry])
async def schedules(request: Asking, workspace: Asked) -> list[ScheduleEntry]:
    """List the schedules with the next times at which they are due, and their last runs."""
    await workspace.check(WORKSPACE_LOG, "read")
    return await while_there(request, list_schedules(workspace, datetime.now(UTC)))


@route("POST", "/api/schedules", "add_schedule", tag="schedules", body=ScheduleWanted, answer=ScheduleEntry)
async def add(request: Asking, workspace: Asked) -> ScheduleEntry:
    """Run a notebook file of the server's folder by the clock. Needs `run`.

    What can be said against it is said here: a time that never comes, a zone or a file that is not there, an output outside the folder.
    """
    wanted = await body_of(request, ScheduleWanted)
    folder, now = door_of(request).home, datetime.now(UTC)
    if folder is None:
        raise Refused("This server has no folder of files, and a schedule runs one. Add it where the files are.")
    name = check_schedule_name(wanted.name)
    plan = await in_thread(lambda: plan_of(name, _fields(wanted, now), folder))
    asks: tuple[e.Scope, ...] = ("edit",) if "edit" in workspace.identity.asks else ()
    await _say(workspace, e.ScheduleAdded(schedule=name, plan=plan, scopes=given_scopes(workspace), asks=asks))
    return await entry_of(workspace, name, await find_schedule(workspace, name), now)


def _fields(wanted: ScheduleWanted, now: datetime) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "schedule": settled(wanted.schedule, now),
        "path": wanted.path,
        "timezone": wanted.timezone,
        "parameters": wanted.parameters,
        "output_path": wanted.output_path,
        "missed": wanted.missed,
        "overlap": wanted.overlap,
        "retries": wanted.retries or None,
        "timeout": wanted.timeout,
        "results": list(wanted.results),
        "notify": [{"webhook": wanted.webhook}] if wanted.webhook is not None else None,
        "commit": wanted.commit,
        "report": wanted.report or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


@route("GET", "/api/schedules/{name}/runs", "schedule_runs", tag="schedules", answer=list[ScheduledRunRecord])
async def runs(request: Asking, name: FromPath[str], workspace: Asked) -> list[ScheduledRunRecord]:
    """List the last runs of a schedule, the newest first, with their results and what was delivered."""
    await workspace.check(WORKSPACE_LOG, "read")
    return await while_there(request, history_of(workspace, name, SHOWN))


@route("POST", "/api/schedules/{name}/now", "run_schedule", tag="schedules", answer=ScheduleAskedBody)
async def now(name: FromPath[str], workspace: Asked) -> ScheduleAskedBody:
    """Have a schedule run once, out of turn: as soon as a scheduler lives and no run of it goes on."""
    schedule = await find_schedule(workspace, name)
    asked = await _say(workspace, e.ScheduleAsked(schedule=name))
    return ScheduleAskedBody(run=due_run(schedule.id, asked.at))


@route("POST", "/api/schedules/{name}/pause", "pause_schedule", tag="schedules", body=Reason, answer=None)
async def pause(request: Asking, name: FromPath[str], workspace: Asked) -> None:
    """Begin no runs of a schedule until it is resumed."""
    why = (await body_of(request, Reason)).why
    await _say(workspace, e.SchedulePaused(schedule=name, why=why))


@route("POST", "/api/schedules/{name}/resume", "resume_schedule", tag="schedules", answer=None)
async def resume(name: FromPath[str], workspace: Asked) -> None:
    """Let a schedule go on that was paused."""
    await _say(workspace, e.ScheduleResumed(schedule=name))


@route("POST", "/api/schedules/{name}/remove", "remove_schedule", tag="schedules", answer=None)
async def remove(name: FromPath[str], workspace: Asked) -> None:
    """Remove a schedule. Its runs stay."""
    await _say(workspace, e.ScheduleRemoved(schedule=name))


async def _say(workspace: LocalWorkspace, event: e.ScheduleEvent) -> e.Entry:
    (entry,) = await workspace.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=event)])
    return entry


ROUTES = [schedules, add, runs, now, pause, resume, remove]
