"""How long a mirror waits before it looks, reads and tries again."""

from __future__ import annotations

from typing import NamedTuple


class Pace(NamedTuple):
    """The waits of a mirror. The defaults suit people and their editors; a test waits less."""

    together_seconds: float = 0.05
    """Changes within this time are handled together: a kernel that prints, an editor that saves."""
    quiet_seconds: float = 0.15
    """How long a file has to stay unchanged before it is read. Longer than a tick of the disk's clock."""
    gone_seconds: float = 0.5
    """How long a missing file may be on its way: an editor may remove it before it writes the new one."""
    lease_poll_seconds: float = 0.1
    """How often to ask for the lease of a notebook that another mirror holds."""
    retry_seconds: float = 2.0
    """How long to wait after a disk or a store was unavailable."""
    watch_step_milliseconds: int = 50
    """How long a folder has to be quiet before the system's notice of a change is passed on."""


NORMAL = Pace()
