"""Four processes at one notebook, at once: nothing lost, one order."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

EACH = 60
PROCESSES = 4


async def race(place: str) -> set[tuple[str, int, str]]:
    """Let four processes write to one log until each has written its share; return what they were told."""
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.stores.race_writer",
            place,
            f"r{n}",
            str(EACH),
            stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        for n in range(PROCESSES)
    ]
    outputs = await asyncio.gather(*(process.communicate() for process in processes))
    assert [process.returncode for process in processes] == [0] * PROCESSES
    told = {(log, int(seq), id) for out, _ in outputs for log, seq, id in map(str.split, out.decode().splitlines())}
    assert len(told) == PROCESSES * EACH
    return told
