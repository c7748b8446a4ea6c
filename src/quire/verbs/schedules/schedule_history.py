"""The runs of a schedule, each with what became of it."""

from __future__ import annotations

import msgspec

from ...core.errors import QuireError
from ...core.events import RunDelivered
from ...core.ids import LogId
from ...core.values import Json
from ...runs.records.run_snapshot import as_left
from ...workspace.protocol import Workspace
from .schedule_list import ScheduleOutcome, find_schedule, outcomes


class ScheduledRunRecord(ScheduleOutcome, frozen=True, kw_only=True):
    """A run of a schedule, with its results and what was delivered."""

    number: int
    error: str | None
    output: str | None
    results: dict[str, Json]
    deliveries: tuple[RunDelivered, ...]


async def history_of(workspace: Workspace, name: str, most: int) -> list[ScheduledRunRecord]:
    """Return the last runs of a schedule, the newest first."""
    await find_schedule(workspace, name)
    found: list[ScheduledRunRecord] = []
    for outcome in await outcomes(workspace, name, most):
        try:
            now = await workspace.read(LogId(outcome.run))
            left = await as_left(workspace, LogId(outcome.run), now)
        except QuireError:
            continue  # it was removed meanwhile, or is closed to whoever asks
        run = now.run
        if run is None or run.due is None:
            continue
        fault = run.fault
        found.append(
            ScheduledRunRecord(
                **msgspec.structs.asdict(outcome),
                number=run.due.number,
                error=f"{fault.ename}: {fault.evalue}" if fault is not None else None,
                output=run.due.output,
                results={each.name: each.value for each in left.results.values() if each.blob is None},
                deliveries=run.deliveries,
            )
        )
    return found
