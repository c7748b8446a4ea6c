"""A run of a schedule, begun as a process of its own that outlives the scheduler."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime
from pathlib import Path

import msgspec

from ...core.errors import BadInput, Unavailable
from ...core.events import DueRun
from ...core.ids import LogId
from ...core.notebook.directory import Schedule
from ...core.schedule.template import MissingValue, fill, fill_output, values_at
from ...core.sheet.conversion import sheet_of
from ...core.values import Json
from ...formats import registry
from ...kernels.kernel_environment import store_variables
from ...runs.detached import Apart
from ...workspace.local import LocalWorkspace
from ..run_detached import begun
from .output_path import check_output, check_source
from .time_zone import find_zone

BEGIN_SECONDS = 60.0
"""How long a run has to say that it has begun; it goes on all the same if it takes longer."""


async def begin_run(
    system: LocalWorkspace, folder: Path, name: str, schedule: Schedule, due: DueRun, run: LogId
) -> None:
    """Begin a run for a due time in the log `run`; return when it has begun, and raise what keeps it from that."""
    if not system.store_address:
        raise Unavailable(
            "The store of this workspace can be opened by no other process, so nothing can be run from it."
        )
    acting = await system.as_schedule(name)
    told = await _described(acting, folder, schedule, due, run)
    where = folder if told.text is None else _folder_of(folder, schedule)
    await begun(told, where, BEGIN_SECONDS)


async def _described(acting: LocalWorkspace, folder: Path, schedule: Schedule, due: DueRun, run: LogId) -> Apart:
    plan = schedule.plan
    path = await asyncio.to_thread(_there, folder, plan.path)
    known = await _known(acting, schedule, due)
    output = fill_output(plan.output, known) if plan.output is not None else None
    if output is not None:
        await asyncio.to_thread(check_output, folder, output)
    told = Apart(
        where=acting.store_address,
        run=run,
        identity=acting.identity,
        cwd=str(path.parent),
        output=output,
        timeout=plan.timeout_seconds,
        results=plan.results,
        keep_failed_seconds=plan.keep_seconds,
        due=msgspec.structs.replace(due, output=output),
        parameters=_filled(plan.parameters, known),
        variables=store_variables(os.environ),
    )
    bound = await acting.bound_to(plan.path)
    if bound is None:
        identity = await acting.run_identity(None, run)
        return msgspec.structs.replace(told, identity=identity, path=plan.path)
    # As the notebook is now: its file is the same, and its roles count.
    now = await acting.read(bound)
    identity = await acting.run_identity(bound, run)
    text = registry.write(sheet_of(now, {}), "notebook.ipynb")
    return msgspec.structs.replace(
        told,
        identity=identity,
        notebook=bound,
        seq=now.seq,
        text=text,
        name=now.name,
        output=_beside(folder, path, output),
    )


def _beside(folder: Path, path: Path, output: str | None) -> str | None:
    """The output path from the notebook's folder on, where the run's process starts."""
    return os.path.relpath(folder / output, path.parent) if output is not None else None


def _there(folder: Path, path: str) -> Path:
    """The notebook file. Whoever sends events by themselves may have named anything: it is looked at once more."""
    try:
        return folder / check_source(folder, path)
    except BadInput as error:
        if not (folder / path).exists():
            raise BadInput(f"{path} is not in {folder} any more. Put it back, or change the schedule.") from None
        raise error


def _folder_of(folder: Path, schedule: Schedule) -> Path:
    return (folder / schedule.plan.path).parent


async def _known(acting: LocalWorkspace, schedule: Schedule, due: DueRun) -> dict[str, Json]:
    previous = await previous_results(acting, due.schedule, due.due)
    zone = find_zone(schedule.plan.timezone)
    return values_at(due.schedule, datetime.fromisoformat(due.due), zone, due.number, previous)


async def previous_results(workspace: LocalWorkspace, name: str, before: str) -> dict[str, Json]:
    """Return the results of the last run of a schedule that succeeded before a time; of large ones, nothing."""
    from ...workspace.identity import identities

    system = workspace.acting_as(identities.system())
    found = await system.query(
        f"SELECT run FROM runs WHERE schedule = '{name}' AND actor = 'schedule:{name}' AND status = 'success' "  # noqa: S608
        f"AND due < '{before}' ORDER BY due DESC, attempt DESC LIMIT 1"
    )
    if not found.rows:
        return {}
    now = await system.read(LogId(str(found.rows[0][0])))
    return {result.name: result.value for result in now.results.values() if result.blob is None}


def _filled(parameters: dict[str, Json], known: dict[str, Json]) -> dict[str, Json]:
    """The values of the parameters. One that names a result which is not there yet is left to the notebook's default."""
    values = {name: fill(value, known) for name, value in parameters.items()}
    return {name: value for name, value in values.items() if not isinstance(value, MissingValue)}
