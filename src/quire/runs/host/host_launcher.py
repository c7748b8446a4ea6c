"""How runtimes are started on this machine, by whoever may: `quire serve`, `quire mcp`, `quire execute`."""

from __future__ import annotations

from pathlib import Path

from ...actors.runtime.queue import OTHERS_SECONDS
from ...actors.runtime.start.capacity import IDLE_SECONDS
from ...actors.runtime.start.launcher import StartOptions
from ...connection import FOLDER
from ...kernels.kernel_environment import python_command
from ...workspace.log.leases import LEASE_SECONDS

COMMAND = tuple(python_command("quire.runs.host.host_process"))
"""How a runtime is started."""
IDLE_MINUTES = 30.0
"""How long one lives without anything to do."""
MOST_RUNTIMES = 32
"""How many runtimes live at once in a workspace."""


def starting_here(
    where: str,
    home: Path,
    *,
    idle_minutes: float = IDLE_MINUTES,
    most: int = MOST_RUNTIMES,
    memory_bytes: int | None = None,
    look_seconds: float = 2.0,
    others_seconds: float = OTHERS_SECONDS,
    lease_seconds: float = LEASE_SECONDS,
    room_seconds: float = IDLE_SECONDS,
    tells_full: bool = True,
) -> StartOptions:
    """For the workspace at an address, with `home` as the folder that paths of files are relative to.

    It looks again every `look_seconds`; what waits is left to a runtime that somebody brought for `others_seconds`.
    """
    state = home / FOLDER
    return StartOptions(
        command=COMMAND,
        where=where,
        folder=home,
        logs=state / "runtimes",
        idle_seconds=idle_minutes * 60,
        most=most,
        state=state,
        memory_bytes=memory_bytes,
        look_seconds=look_seconds,
        others_seconds=others_seconds,
        lease_seconds=lease_seconds,
        room_seconds=room_seconds,
        tells_full=tells_full,
    )
