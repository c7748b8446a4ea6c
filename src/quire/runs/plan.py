"""A run as it will be: what was requested, the part of it, and what an earlier run left to it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from msgspec.structs import replace

from ..actors.runtime.run_notebook import RUNS, RunPlan
from ..core.errors import NotFound
from ..core.ids import CellId, nearest
from ..core.notebook.cell_lookup import find_cell
from ..core.sheet.sheet import Sheet
from ..formats.inject import TAG as INJECTED
from ..workspace.protocol import Workspace
from .provision import Prompter
from .request import RunRequest, prepare

PARAMETERS = frozenset(("parameters", INJECTED))
"""Cells with these tags always run: without them the others would not have their parameters."""


async def plan_run(
    workspace: Workspace | None,
    request: RunRequest,
    environ: Mapping[str, str],
    now: dt.datetime,
    ask: Prompter | None = None,
) -> RunPlan:
    """Decide everything that a run needs (rule 14), or say what is missing. Only to resume a run takes a workspace."""
    if request.resume is None or workspace is None:
        return in_part(await prepare(request, environ, now, ask), request.start, request.only)
    from .resume import earlier

    before = await earlier(workspace, request.resume)
    plan = in_part(await prepare(before.request(request), environ, now, ask), request.start, request.only)
    return before.applied(plan)


def in_part(plan: RunPlan, start: str | None, tags: frozenset[str]) -> RunPlan:
    """Return the run of the cells from `start` on, and of those only that have one of the tags."""
    if start is None and not tags:
        return plan
    return replace(plan, only=_chosen(plan.sheet, start, tags))


def _chosen(sheet: Sheet, start: str | None, tags: frozenset[str]) -> frozenset[CellId]:
    first = find_cell(sheet.cells, start) if start is not None else 0
    wanted = [
        cell.id for cell in sheet.cells[first:] if cell.kind in RUNS and (not tags or not tags.isdisjoint(cell.tags))
    ]
    if not wanted:
        raise NotFound(f"No cell that runs has the tag {' or '.join(sorted(tags))}.{_known(sheet, tags)}")
    always = [cell.id for cell in sheet.cells if not PARAMETERS.isdisjoint(cell.tags)]
    return frozenset((*always, *wanted))


def _known(sheet: Sheet, tags: frozenset[str]) -> str:
    known = sorted({tag for cell in sheet.cells for tag in cell.tags})
    close = [each for tag in sorted(tags) for each in nearest(tag, known)] or known
    return f" Tags here: {', '.join(close[:10])}." if close else " No cell has a tag."
