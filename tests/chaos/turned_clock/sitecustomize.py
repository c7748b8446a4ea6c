"""Turns the clock of each Python process that has this folder on its path: it is as far ahead as a file says, also while it runs.

What counts time without a date (time.monotonic) goes on as before, as it does when somebody sets the clock of a machine.
"""

import os
import time

_FILE = os.environ.get("CHAOS_CLOCK", "")
_time = time.time


def _ahead() -> float:
    try:
        with open(_FILE) as file:  # noqa: PTH123 - every process loads this first: pathlib takes longer than all else here
            return float(file.read())
    except (OSError, ValueError):
        return 0.0


if _FILE:
    time.time = lambda: _time() + _ahead()
    time.time_ns = lambda: int(time.time() * 1_000_000_000)
