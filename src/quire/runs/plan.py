"""A run as it will be: what was requested, the part of it, and what an earlier run left to it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from ..actors.runtime.run_notebook import RunPlan
from ..workspace.protocol import Workspace
from .cell_selection import in_part
from .provision import Prompter
from .request import RunRequest, prepare


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
