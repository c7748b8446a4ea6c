"""`quire.reproduce`: a recorded run made again and compared, from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...actors.runtime.run_cell import StopReason
from ...connection import connect
from ..api import LoggedWarnings, Place, now, wait_for
from ..progress import LOG
from ..run_file import run_file
from .reproduce_plan import ReproduceRequest, plan_reproduction
from .reproduction import Reproduction, compare_with_record


def reproduce(
    run: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    with_current_source: bool = False,
    kernel_name: str | None = None,
    cwd: Place | None = None,
    execution_timeout: float | None = None,
    timeout: float | None = None,
    at: Place | None = None,
) -> Reproduction:
    """Run a recorded run again, and return what is the same, what is not, and what changed around it.

    `run` is its id, the beginning of one, or its name. What comes back is true when status, cells and results are the
    same. `parameters` take the place of recorded ones; `with_current_source` runs the source as it is now; the other
    keywords are those of `quire.run`. Nothing is raised for a cell that fails.
    """
    request = ReproduceRequest(
        run=run,
        with_current_source=with_current_source,
        values=dict(parameters or {}),
        kernel=kernel_name,
        cwd=Path(cwd) if cwd is not None else None,
        execution_timeout=execution_timeout,
        timeout=timeout,
    )
    where = os.fspath(at) if at is not None else None
    return wait_for(lambda stopping: _reproduce(request, where, stopping))


async def _reproduce(request: ReproduceRequest, where: str | None, stopping: StopReason) -> Reproduction:
    workspace = await connect(where)
    try:
        planned = await plan_reproduction(workspace, request, os.environ, now())
        for warning in planned.plan.warnings:
            LOG.warning("%s", warning)
        outcome = await run_file(workspace, planned.plan, stopping, LoggedWarnings())
        found, _ = await compare_with_record(workspace, planned, outcome)
        return found
    finally:
        await workspace.close()
