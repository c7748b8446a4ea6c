"""How runtimes are started on this machine, by whoever may: `quire serve`, `quire mcp`, `quire execute`."""

from __future__ import annotations

import sys
from pathlib import Path

from ..actors.runtime.starting import Starting
from ..connect import FOLDER

COMMAND = (sys.executable, "-m", "quire.runs.live")
"""How a runtime is started."""
IDLE_MINUTES = 30.0
"""How long one lives without anything to do."""
MOST_RUNTIMES = 32
"""How many of them live at once."""


def starting_here(
    where: str,
    home: Path,
    *,
    idle_minutes: float = IDLE_MINUTES,
    most: int = MOST_RUNTIMES,
    memory_bytes: int | None = None,
) -> Starting:
    """For the workspace at an address, with `home` as the folder that paths of files are relative to."""
    state = home / FOLDER
    return Starting(
        command=COMMAND,
        where=where,
        folder=home,
        logs=state / "runtimes",
        idle_seconds=idle_minutes * 60,
        most=most,
        state=state,
        memory_bytes=memory_bytes,
    )
