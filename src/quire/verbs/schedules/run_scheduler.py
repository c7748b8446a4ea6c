"""A scheduler put together: what decides, what begins runs, and what becomes of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from ...actors.keeper import end_lost
from ...actors.scheduler import Scheduler, SchedulerClock, SystemClock
from ...connection import kernel_is_left
from ...core.errors import QuireError
from ...workspace.identity import identities
from ...workspace.local import LocalWorkspace
from .begin_run import begin_run
from .deliver_run import deliver_run
from .time_zone import find_zone


def make_scheduler(
    workspace: LocalWorkspace, folder: Path, tell: Callable[[str], None], clock: SchedulerClock | None = None
) -> Scheduler:
    """Return a scheduler of a workspace whose files are in `folder`."""
    system = workspace.acting_as(identities.system())
    return Scheduler(
        system, partial(begin_run, system, folder), partial(deliver_run, system, folder), find_zone, tell, clock
    )


class KeepingClock(SystemClock):
    """The clock of a process without a server: whenever it wakes, runs whose process was killed are ended."""

    def __init__(self, workspace: LocalWorkspace) -> None:
        self._system = workspace.acting_as(identities.system())

    async def wait(self, until: datetime | None, woken: asyncio.Event) -> None:
        """Wait as the system's clock does, then end what is lost."""
        await super().wait(until, woken)
        with contextlib.suppress(QuireError):
            await end_lost(self._system, is_left=kernel_is_left)
