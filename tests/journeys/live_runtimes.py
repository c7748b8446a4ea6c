"""Runtimes that live on by themselves: found through what they hold, and ended when a test is over."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sqlite3
from pathlib import Path

from quire.workspace.log.process_id import is_gone

from .faulty_notebook import wait_until


def holders(folder: Path, prefix: str = "hold:runtime:") -> dict[str, int]:
    """Which processes hold what, in a workspace's folder: by the name of the hold. Those that are gone hold nothing."""
    database = folder / ".quire" / "quire.db"
    if not database.exists():
        return {}
    with contextlib.closing(sqlite3.connect(database)) as connection:
        found = connection.execute("SELECT name, holder FROM leases").fetchall()
    living = [(name, holder) for name, holder in found if name.startswith(prefix) and not is_gone(holder)]
    return {name: int(re.split("-", holder)[2]) for name, holder in living}


def runtime_of(folder: Path, log: str) -> int | None:
    """The process that was started to serve a notebook, if one does."""
    return holders(folder).get(f"hold:runtime:{log}")


def end_runtimes(folder: Path, prefix: str = "hold:runtime:") -> None:
    """End what a test has started, and wait until it is gone."""
    for pid in holders(folder, prefix).values():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not holders(folder, prefix), "a runtime does not end")
