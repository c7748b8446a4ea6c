"""A runtime for a live notebook, as a process: `python -m quire.runs.host.host_process LOG`, started by actors/runtime/start/launcher.

It reads its assignment from standard input, serves that notebook in the environment that a
run of it would have, and ends when nothing has happened for a while, when it is told to
(SIGTERM), or when another one holds the notebook. What keeps it from starting is told where
people look: in the cells that wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import sys
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from ...actors.keeper import GONE, SILENT, bury
from ...actors.runtime.lease_renewal import renew_adopted
from ...actors.runtime.live_runtime import ServeOptions, serve
from ...actors.runtime.queue import LOCAL, skip_waiting
from ...actors.runtime.retry import patiently
from ...actors.runtime.spool import send_left_behind, spools
from ...actors.runtime.spool_files import SpoolInfo, left_behind
from ...actors.runtime.start.launcher import Assignment
from ...actors.runtime.store_lanes import lanes_beside
from ...connection import FOLDER, ConnectTimeouts, connect_store
from ...core.errors import Conflict, QuireError
from ...core.ids import ActorId
from ...kernels.kernel_protocol import AdoptedKernel, adopt_served
from ...workspace.identity import identities
from ...workspace.local import LocalWorkspace
from ...workspace.log.lock_renewal import KeptHold
from ...workspace.log.locks import Hold, runtime_hold, started_runtime
from ...workspace.log.process_id import is_gone, process_of, this_process
from ...workspace.protocol import LaneAccess, Workspace
from ...workspace.tasks import alongside
from .host_settings import adopting, folder_of, serving_of, until_quiet
from .kept_kernel import kept

WAIT_SECONDS = 60.0
"""How long a database that is away is waited for at the start."""


class StopSignal(asyncio.Event):
    """Says that it is enough, and whether that is so because another process has the notebook."""

    taken = False


async def serve_live(runtime: LocalWorkspace, told: Assignment, over: StopSignal) -> None:
    """Serve the notebook until `over`, or until nothing happens in it any more."""
    async with _held(runtime, told, over) as is_ours:
        if not is_ours:
            return
        try:
            await _serve(runtime, told, over)
        except QuireError as error:
            say(str(error))
            await skip_waiting(runtime, told.log, str(error))


async def _serve(workspace: LocalWorkspace, told: Assignment, over: StopSignal) -> None:
    adopted = await _adopted(told)
    name = adopted.actor.partition(":")[2] if adopted is not None else started_runtime(secrets.token_hex(4))
    runtime = workspace.acting_as(identities.runtime(name))
    if adopted is not None:
        await renew_adopted(runtime, told.log, adopted.flight, told.lease_seconds)
    await patiently(lambda: _bury_the_others(workspace, told, runtime.identity.actor))
    async with (
        lanes_beside(runtime, told.log, _path(told.state)) as lanes,
        alongside(_quiet(runtime, told, over, lanes)),
    ):
        serving, adopted = await _serving(runtime, told, adopted)
        await serve(runtime, serving, over, say, lanes, adopted, lambda: over.taken)


async def _adopted(told: Assignment) -> AdoptedKernel | None:
    """The kernel of a runtime that was killed."""
    try:
        adopted = await adopt_served(told.where, told.log)
    except Conflict as error:
        say(f"{error} Another kernel is started")
        return None
    if adopted is not None:
        say(f"Goes on with kernel {adopted.kernel.id} of {adopted.actor}, whose process is gone")
    return adopted


async def _bury_the_others(workspace: LocalWorkspace, told: Assignment, me: ActorId) -> None:
    """Whoever was started here for this notebook and is not this one is gone: there is one at a time."""

    async def as_it(about: SpoolInfo) -> LocalWorkspace:
        return workspace.acting_as(identities.runtime(about.actor.partition(":")[2]))

    parent, system = spools(Path(told.folder) / FOLDER), workspace.acting_as(identities.system())
    left = [each for each in left_behind(parent) if each.log == told.log and each.actor != me]
    await send_left_behind(system, left, as_it, parent, say)
    for runtime in (await system.read(told.log)).runtimes.values():
        if runtime.name == LOCAL and runtime.id != me:
            await bury(system, told.log, runtime.id, GONE if told.replaces is None else SILENT)


async def _serving(
    runtime: LocalWorkspace, told: Assignment, adopted: AdoptedKernel | None
) -> tuple[ServeOptions, AdoptedKernel | None]:
    """What a run of the notebook would have around it; of a run that is over, also the kernel that it left alive."""
    notebook, workspace = await patiently(lambda: runtime.read(told.log)), Path(told.folder)
    spools_here = spools(workspace / FOLDER)
    folder = folder_of(notebook, workspace)
    how: dict[str, Any] = {
        "name": LOCAL,
        "spools": spools_here,
        "memory_bytes": told.memory_bytes,
        "where": told.where,
        "lease_seconds": told.lease_seconds,
    }
    if notebook.run is not None:
        return await kept(runtime, told.log, notebook.run, folder, os.environ, adopted, **how)
    return adopting(serving_of(told.log, notebook, folder, os.environ, say, **how), adopted), adopted


async def _quiet(runtime: Workspace, told: Assignment, over: asyncio.Event, lanes: LaneAccess) -> None:
    await until_quiet(runtime, told.log, told.idle_seconds, lanes)
    say(f"Nothing happened in {told.idle_seconds / 60:g} minutes")
    over.set()


def _path(text: str | None) -> Path | None:
    return Path(text) if text is not None else None


# ---- One per notebook


@asynccontextmanager
async def _held(runtime: LocalWorkspace, told: Assignment, over: StopSignal) -> AsyncGenerator[bool]:
    # It is Quire's own business who serves: a runtime's rights end at its notebook.
    system, name = runtime.acting_as(identities.system()), runtime_hold(told.log)
    hold = await patiently(lambda: _hold(system, name, told))
    if hold is None:
        say(f"Another runtime serves {told.log}")
        yield False
        return

    if told.most is not None and await _is_too_many(system, hold.epoch, told.most):
        await system.let_go(hold)
        say(f"{told.most} runtimes live already: {told.log} waits")
        yield False
        return

    def lost(other: str) -> None:
        process = process_of(other)
        who = f"process {process}" if process is not None else other
        say(f"This process stood still for so long that the notebook is served by another runtime now: {who}")
        over.taken = True
        over.set()

    kept = KeptHold(system, name, hold, told.lease_seconds)
    try:
        async with alongside(kept.keep(lost)):
            yield True
    finally:
        await kept.let_go()


async def _hold(system: LocalWorkspace, name: str, told: Assignment) -> Hold | None:
    """Take the notebook, unless somebody has it who may only stand still: that a hold lapsed proves nothing (rule 10)."""
    held = await system.hold_of(name)
    if held is not None and held.seconds_left <= 0 and not is_gone(held.holder) and held.holder != told.replaces:
        return None
    return await system.hold(name, told.lease_seconds)


async def _is_too_many(system: LocalWorkspace, epoch: int, most: int) -> bool:
    """Whether so many live that came before this one. Two that were started for the last place see the same numbers."""
    return sum(each.epoch < epoch for each in await system.living_runtimes()) >= most


# ---- The process


_unwritten: deque[bytes] = deque(maxlen=100)
"""What was said while the log could not be written."""


def say(message: str) -> None:
    """A line into the log of the process, which is its standard error. While the disk is full it is kept, and written later."""
    _unwritten.append(f"quire: {message}\n".encode())
    with contextlib.suppress(OSError):
        while _unwritten:
            written = os.write(sys.stderr.fileno(), _unwritten[0])
            _unwritten[0] = _unwritten[0][written:]
            if not _unwritten[0]:
                _unwritten.popleft()


async def main(told: Assignment) -> None:
    """Serve, and let go of everything."""
    over = StopSignal()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    patience = ConnectTimeouts(seconds=WAIT_SECONDS, tell=say)
    workspace = await connect_store(told.where, identities.runtime(this_process()), patience=patience)
    try:
        await serve_live(workspace, told, over)
    finally:
        await workspace.close()


if __name__ == "__main__":
    try:
        told = msgspec.json.decode(sys.stdin.buffer.read(), type=Assignment)
        os.environ.update(told.variables)
        asyncio.run(main(told))
    except QuireError as error:
        say(str(error))
        sys.exit(4)
