"""Notebooks that nobody works in: what 40 of them with live kernels cost, in processor time and memory.

Counted are the server and all that descends from it: runtimes, relays, watchers, kernels. Memory is PSS: what processes
share is divided among them, so that the sum is what the machine would get back.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec

from quire.core.text import source_hash

from .fanout import Server
from .figures import Figure
from .jupyter import asked
from .peers import environ
from .runtimes import serving

NOTEBOOKS = 40
AT_ONCE = 4
"""How many kernels start at the same time."""
SETTLE_SECONDS = 15.0
MEASURE_SECONDS = 60.0
MOST_CPU_PERCENT = 3.0
MOST_MEGABYTES = 65.0
_TICKS = os.sysconf("SC_CLK_TCK")


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What idle notebooks cost."""

    server_percent: float
    """Of one core."""
    notebooks_percent: float
    megabytes: float
    """Of all processes but the server."""


async def idle_figures() -> list[Figure]:
    """All of it."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        cost = await idle_cost(Path(folder), NOTEBOOKS, MEASURE_SECONDS)
    percent, each = cost.server_percent + cost.notebooks_percent, cost.megabytes / NOTEBOOKS
    return [
        Figure(
            name=f"{NOTEBOOKS} idle notebooks: of one core, in all",
            ours=percent,
            unit=" %",
            target=f"< {MOST_CPU_PERCENT:g} %",
            good=percent < MOST_CPU_PERCENT,
        ),
        Figure(name="the same: of it the server", ours=cost.server_percent, unit=" %"),
        Figure(
            name="the same: memory of each (PSS)",
            ours=each,
            unit=" MB",
            target=f"≤ {MOST_MEGABYTES:g} MB",
            good=each <= MOST_MEGABYTES,
        ),
    ]


async def idle_cost(folder: Path, notebooks: int, seconds: float) -> Cost:
    """Start so many kernels, leave them alone, and look how much is used for so long."""
    async with serving(folder, environ(), tokens=1, most_runtimes=str(notebooks)) as (server, _):
        gate = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(_begin(server, number, gate) for number in range(notebooks)))
        await asyncio.sleep(SETTLE_SECONDS)
        root = server.process.pid
        before, start = dict(_used(root)), time.monotonic()
        await asyncio.sleep(seconds)
        after, took = dict(_used(root)), time.monotonic() - start
        percent = {pid: 100 * (used - before.get(pid, 0.0)) / took for pid, used in after.items()}
        megabytes = {pid: _megabytes(pid) for pid in after}
    return Cost(
        server_percent=percent.pop(root),
        notebooks_percent=sum(percent.values()),
        megabytes=sum(megabytes.values()) - megabytes[root],
    )


async def _begin(server: Server, number: int, gate: asyncio.Semaphore) -> None:
    """A notebook whose cell has run, so that it has a kernel with something in it."""
    base, authorization = f"http://127.0.0.1:{server.port}/api", f"Bearer {server.secret}"
    async with gate:
        body = msgspec.json.encode({"name": f"idle {number}", "cells": [{"source": f"x = {number}"}]})
        made = json.loads(await asked(f"{base}/notebooks", authorization, "POST", body))
        log, cell = made["log"], made["cells"][0]
        event = {"type": "execution_requested", "execution": f"idle{number}", "cell": cell}
        event["source_hash"] = source_hash(f"x = {number}")
        drafts = msgspec.json.encode({"drafts": [{"id": f"idle{number}", "event": event}]})
        await asked(f"{base}/logs/{log}/events", authorization, "POST", drafts)
        while True:
            notebook = json.loads(await asked(f"{base}/notebooks/{log}", authorization))
            if notebook["cells"][cell].get("execution", {}).get("state") == "ok":
                return
            await asyncio.sleep(0.2)


# ---- Processes


def _used(root: int) -> Iterator[tuple[int, float]]:
    """The processes that descend from one, with the seconds that each has used."""
    children: dict[int, list[int]] = defaultdict(list)
    used: dict[int, float] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                children[int(fields[1])].append(int(folder.name))
                used[int(folder.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid, used[pid]
        waiting += children[pid]


def _megabytes(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1000
    return 0.0
