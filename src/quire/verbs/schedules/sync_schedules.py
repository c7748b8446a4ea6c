"""`schedules.yaml` and the workspace: what the file says becomes so, and what it said before is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ...core.events import Draft, ScheduleAdded, ScheduleChanged, ScheduleEvent, ScheduleRemoved
from ...core.ids import WORKSPACE_LOG
from ...core.values import Json
from ...workspace.clock import new_id
from ...workspace.protocol import Workspace
from .schedule_plan import plan_of

SyncAction: TypeAlias = Literal["added", "changed", "unchanged", "removed", "not in the file"]


class SyncedSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """What a synchronisation does, or would do, to one schedule."""

    schedule: str
    action: SyncAction


async def sync_schedules(
    workspace: Workspace,
    folder: Path,
    wanted: Mapping[str, Mapping[str, Json]],
    *,
    removes: bool = False,
    dry_run: bool = False,
) -> list[SyncedSchedule]:
    """Add and change schedules so that they are as wanted, all or none; with `removes`, remove all others."""
    plans = {name: plan_of(name, fields, folder) for name, fields in wanted.items()}
    living = {name: each for name, each in (await workspace.directory()).schedules.items() if each.removed is None}
    done: list[SyncedSchedule] = []
    events: list[ScheduleEvent] = []
    for name, plan in plans.items():
        known = living.get(name)
        action: SyncAction = "added" if known is None else "unchanged" if known.plan == plan else "changed"
        done.append(SyncedSchedule(schedule=name, action=action))
        if action == "added":
            events.append(
                ScheduleAdded(schedule=name, plan=plan, scopes=given_scopes(workspace), asks=_asks(workspace))
            )
        elif action == "changed":
            events.append(ScheduleChanged(schedule=name, plan=plan))
    for name in sorted(set(living) - set(plans)):
        done.append(SyncedSchedule(schedule=name, action="removed" if removes else "not in the file"))
        events += [ScheduleRemoved(schedule=name)] if removes else []
    if events and not dry_run:
        await workspace.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=event) for event in events])
    return done


def given_scopes(workspace: Workspace) -> tuple[Literal["read", "edit", "run"], ...]:
    """Return what a schedule gets of whoever adds it: to read, edit and run, as far as they may."""
    scopes: tuple[Literal["read", "edit", "run"], ...] = ("read", "edit", "run")
    return tuple(scope for scope in scopes if scope in workspace.identity.scopes)


def _asks(workspace: Workspace) -> tuple[Literal["edit"], ...]:
    return ("edit",) if "edit" in workspace.identity.asks else ()
