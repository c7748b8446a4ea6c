"""A server from its start to its clean end: uvicorn, what works beside it, and signals.

Beside the door, in the same process: the mirror, whoever starts runtimes, and the keeper. Each of
them goes on when it fails, and says so; none of them takes the server down.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import uvicorn

from ....actors.keeper import Keeper, expire_proposals
from ....actors.runtime.start.start_requests import RuntimeRequests
from ....core.errors import Unavailable
from ....core.events import TokenRevoked
from ....core.ids import WORKSPACE_LOG
from ....workspace.clock import now
from ....workspace.identity import identities
from ....workspace.local import LocalWorkspace
from ....workspace.log.lapse_watch import LapseWatch
from ....workspace.log.leases import LEASE_SECONDS
from ....workspace.protocol import HeldClaim
from ....workspace.tasks import cancel_and_wait
from ..app import make_app
from ..server_settings import ServerSettings
from .access_log import AccessLog, written_as_lines
from .uvicorn_http import UvicornConfig

FINISH_SECONDS = 5
"""How long requests may take to finish once the server is told to end."""
KEEP_SECONDS = 10.0
"""How often to look for what lost its lease."""
INTERRUPTED = 130
T = TypeVar("T")


class Server(uvicorn.Server):
    """uvicorn, whose signals are ours."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave them alone."""
        yield


class ServerEnding:
    """What ends a server: a signal, or that somebody else took its place. The exit status says which."""

    def __init__(self) -> None:
        self.status = 0
        self._asked = asyncio.Event()

    def ask(self, status: int = 0) -> None:
        """End soon, and cleanly; at once if somebody presses Ctrl-C a second time."""
        if self._asked.is_set() and status == INTERRUPTED:
            os._exit(INTERRUPTED)  # what was acknowledged is on disk
        if not self._asked.is_set():
            self.status = status
        self._asked.set()

    async def wait(self) -> None:
        """Wait until somebody asks."""
        await self._asked.wait()

    async def unless(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Wait for something that may take long; None, and it is given up, when somebody asks meanwhile."""
        task, asked = asyncio.ensure_future(work), asyncio.ensure_future(self.wait())
        try:
            await asyncio.wait((task, asked), return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            await cancel_and_wait(task, asked)

    @contextlib.contextmanager
    def on_signals(self) -> Generator[None]:
        """Have SIGTERM and Ctrl-C ask for it."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.ask)
        loop.add_signal_handler(signal.SIGINT, self.ask, INTERRUPTED)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


@asynccontextmanager
async def answering(
    workspace: LocalWorkspace,
    settings: ServerSettings,
    listening: socket.socket,
    ending: ServerEnding,
    folder: Path | None = None,
    home: Path | None = None,
    runtimes: RuntimeRequests | None = None,
) -> AsyncGenerator[None]:
    """Answer requests for as long as this takes. Then sockets are closed with 1012, and requests finish in seconds."""
    log = AccessLog()
    app = make_app(workspace, settings, log, folder, home, runtimes)
    server = Server(UvicornConfig(app, settings, timeout_graceful_shutdown=FINISH_SECONDS))
    with written_as_lines(log):
        running = asyncio.ensure_future(server.serve(sockets=[listening]))
        try:
            while not server.started and not running.done():  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.005)
            running.add_done_callback(lambda _: ending.ask(1))
            yield
        finally:
            server.should_exit = True
            await running


async def keep(
    workspace: LocalWorkspace,
    look_seconds: float = KEEP_SECONDS,
    lease_seconds: float = LEASE_SECONDS,
    is_left: Callable[[HeldClaim], bool] = lambda held: True,
) -> None:
    """End what nobody works on any more, and expire proposals; look for them every `look_seconds`."""
    # Three looks that are late mean that this process, or its store, stood still.
    watch = LapseWatch(lease_seconds, gap_seconds=max(3 * look_seconds, lease_seconds / 2))
    system = workspace.acting_as(identities.system())
    keeper, revoked = Keeper(system, watch, is_left), asyncio.Event()
    listening = asyncio.ensure_future(_hear_revoked(system, revoked))
    try:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(revoked.wait(), look_seconds)
            revoked.clear()
            with contextlib.suppress(Unavailable):  # a store that is away is told elsewhere; the watch begins anew
                await keeper.look()
                await expire_proposals(system, now())
    finally:
        await cancel_and_wait(listening)


async def _hear_revoked(system: LocalWorkspace, revoked: asyncio.Event) -> None:
    """What a runtime runs ends soon after its token: nobody waits for its lease."""
    since = 0
    while True:
        try:
            async for page in system.follow(WORKSPACE_LOG, since):
                since = page[-1].seq
                if any(isinstance(entry.event, TokenRevoked) for entry in page):
                    revoked.set()
        except Unavailable:
            await asyncio.sleep(KEEP_SECONDS)
