"""Starts a runtime, as a process of its own, for a notebook in which something waits and that nobody serves.

The process outlives whoever started it (rule 11): it has a session of its own, talks to the
store itself and ends by itself when nothing has happened for a while. Whoever serves a notebook
holds it, under `runtime_hold`: so there is one, however many servers look. What the process does
is its own business (runs/host/host_process.py); here is only when one is needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Generator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from ....core.errors import NotFound, QuireError, Refused, Unavailable
from ....core.ids import LogId
from ....core.notebook.notebook import Notebook
from ....kernels.kernel_environment import kernel_environment, store_variables
from ....kernels.kernel_protocol import served
from ....workspace.local import LocalWorkspace
from ....workspace.log.lapse_watch import LapseWatch
from ....workspace.log.leases import LEASE_SECONDS
from ....workspace.log.locks import runtime_hold
from ....workspace.log.process_id import is_gone, process_of
from ....workspace.tasks import cancel_and_wait
from ..queue import ASKS, OTHERS_SECONDS, Others, skip_waiting, waits_here
from .capacity import IDLE_SECONDS, Room
from .start_requests import RuntimeRequests

LOOKS_FOR_LEFT = 5
"""With every so many-th look, kernels are looked for whose runtimes were killed."""
LONG_SECONDS = 60.0
"""One that was killed after so long did not fail to begin."""
MOST_FAILURES = 2
"""After so many in a row, what waits is told that nobody comes."""
STOP_SECONDS = 60.0
"""How long a runtime may take to end when it is told to: what runs is interrupted first."""
LOG_BYTES = 1_000_000
"""What a runtime printed is kept up to here, and then once more as `.log.1`."""
WAITING = "SELECT DISTINCT log FROM executions WHERE state = 'queued'"


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime is told when it is started: on its standard input, for an address may hold a password."""

    where: str
    """The address of the workspace."""
    log: LogId
    folder: str
    """The folder that paths of files are relative to."""
    idle_seconds: float
    state: str | None = None
    """The folder in which servers say where they are: for the lanes."""
    memory_bytes: int | None = None
    """How much a kernel may use."""
    variables: dict[str, str] = {}
    """What else it takes to open the store, of this process's variables."""
    lease_seconds: float = LEASE_SECONDS
    """How long what it holds and claims is its own without being renewed."""
    most: int | None = None
    """How many runtimes may live: of two that were started at once for the last place, the later one goes."""
    replaces: str | None = None
    """Whose hold of the notebook may be taken although its process may live: it was seen lapsed for a whole lease."""


class StartOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How runtimes are started here."""

    command: tuple[str, ...]
    """The program; the id of the notebook is added."""
    where: str
    folder: Path
    logs: Path
    """The folder for what runtimes print."""
    idle_seconds: float
    most: int
    """How many runtimes live at once in the workspace, whoever started them; what is asked for beyond that waits."""
    room_seconds: float = IDLE_SECONDS
    """How long one that has nothing to do lives where another is waited for and there may be no more."""
    tells_full: bool = True
    """Whether it is told here that there is no room; whoever waits can be told why in any case."""
    state: Path | None = None
    """The folder in which servers say where they are."""
    memory_bytes: int | None = None
    """How much a kernel may use."""
    look_seconds: float = 2.0
    """How often to look again where something waits and somebody else serves, or is about to."""
    others_seconds: float = OTHERS_SECONDS
    """How long what waits is left to a runtime that somebody brought."""
    lease_seconds: float = LEASE_SECONDS
    """How long a runtime holds and claims without being heard of, and how long one that stands still is waited for then."""


async def start_runtimes(
    system: LocalWorkspace,
    starting: StartOptions,
    *,
    tell: Callable[[str], None] = lambda message: None,
    requests: RuntimeRequests | None = None,
) -> None:
    """Start a runtime wherever one is needed or requested, until cancelled. `system` acts as Quire itself; the runtimes stay."""
    starter = _Starter(system, starting, tell)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(starter.listen())
            group.create_task(starter.look_again())
            if requests is not None:
                group.create_task(requests.serve(starter.start_requested, starter.stop_requested))
    finally:
        starter.leave()


class _Starter:
    def __init__(self, system: LocalWorkspace, starting: StartOptions, tell: Callable[[str], None]) -> None:
        self._system, self._starting, self._tell = system, starting, tell
        self._started: dict[LogId, subprocess.Popen[bytes]] = {}
        self._replaced: list[subprocess.Popen[bytes]] = []
        """Those that stood still for so long that another one serves in their place; they find out when they go on."""
        self._failures: dict[LogId, int] = {}
        self._began: dict[LogId, float] = {}
        self._waiting: set[LogId] = set()
        self._left: set[LogId] = set()
        """Where a kernel may be that nobody uses any more."""
        self._others = Others(patience_seconds=starting.others_seconds)
        self._lapses: dict[LogId, LapseWatch] = {}
        """Where a runtime lives that does not renew its hold."""
        self._replaces: dict[LogId, str] = {}
        """Who held a notebook for so long without a word that another is to serve it."""
        self._room = Room(system, starting.most, starting.room_seconds)
        self._is_full = False
        self._is_cut_off = False
        """Whether nothing was heard since the feed failed."""
        self._one_at_a_time = asyncio.Lock()

    async def listen(self) -> None:
        """Hear of requests, wherever they are made."""
        while True:
            try:
                await self._listen(self._system.feed())
            except QuireError as error:
                # A connection that was lost in an outage may be found so only after it, and is made anew: once is no news.
                if self._is_cut_off or not isinstance(error, Unavailable):
                    self._tell(str(error))
                self._is_cut_off = True
                await asyncio.sleep(self._starting.look_seconds)

    async def _listen(self, feed: AsyncIterator[Any]) -> None:
        # It counts from when it is first asked: what was there before is looked up meanwhile, and never in between.
        page = asyncio.ensure_future(next_page(feed))
        try:
            await self._look_everywhere()
            while True:
                grown = grown_since(await page)
                self._is_cut_off = False
                page = asyncio.ensure_future(next_page(feed))
                for log, since in grown.items():
                    if await self._system.entries(log, since, types=ASKS, limit=1):
                        await self._look(log)
        finally:
            await cancel_and_wait(page)

    async def look_again(self) -> None:
        """Look after what waits although somebody serves the notebook: they may be gone before its turn."""
        await asyncio.sleep(self._starting.look_seconds)
        await self._look_everywhere()
        for round in count():
            if round % LOOKS_FOR_LEFT == 0:
                self._left |= set(served(self._starting.where)) - set(self._started)
            self._reap()
            for log in self._waiting | self._left:
                await self._look(log)
            await asyncio.sleep(self._starting.look_seconds)

    async def _look_everywhere(self) -> None:
        """Find what has waited since before anybody listened."""
        try:
            found = (await self._system.query(WAITING)).rows
        except QuireError as error:
            # Where nobody may ask questions, requests are heard all the same.
            self._tell(f"What waits since before the start is not known: {error}")
            return
        for (log,) in found:
            await self._look(LogId(log))

    async def _look(self, log: LogId) -> None:
        async with self._one_at_a_time:
            try:
                await self._start_if_needed(log)
            except NotFound:
                # A kernel that was left may be of a workspace that stood here before this one.
                self._waiting.discard(log)
                self._left.discard(log)
            except QuireError as error:
                self._tell(f"No runtime was started for {log}: {error}")

    async def _start_if_needed(self, log: LogId) -> None:
        notebook = await self._system.read(log)
        goes_on = notebook.run is not None and notebook.run.is_open  # a run has a runtime of its own until it is over
        self._reap()
        is_left = log in self._left and log in served(self._starting.where)
        self._left.discard(log)
        if goes_on or not (is_left or any(waits_here(notebook))):
            self._waiting.discard(log)
            return
        self._waiting.add(log)
        if not is_left and self._others.take(log, notebook):
            return
        if await self._is_served(log):
            return
        if self._failures.get(log, 0) >= MOST_FAILURES:
            del self._failures[log]
            await self._give_up(log, notebook)
            return
        # A kernel that is there has its place already.
        if not is_left and await self._has_no_room(log):
            return
        try:
            self._start(log, None if is_left else self._starting.most)
        except OSError as error:
            self._failed(log, str(error))
        else:
            self._tell(f"Started a runtime for {notebook.name} [{log}]")

    async def start_requested(self, log: LogId) -> None:
        """Start a runtime although nothing waits to be run; where one serves the notebook, it stays."""
        async with self._one_at_a_time:
            notebook = await self._system.read(log)
            if notebook.run is not None and notebook.run.is_open:
                raise Refused(f"{notebook.name!r} is a run that goes on: it has a kernel of its own.")
            self._reap()
            if await self._is_served(log):
                return
            if await self._has_no_room(log):
                raise Refused(f"A runtime for {notebook.name!r} {self._room.why}. Stop one, or try again then.")
            try:
                self._start(log, self._starting.most)
            except OSError as error:
                raise Unavailable(f"No runtime could be started: {error}.") from error
            self._tell(f"Started a runtime for {notebook.name} [{log}]")

    async def stop_requested(self, log: LogId) -> None:
        """End the runtime that was started here for a notebook, and wait until it is gone."""
        async with self._one_at_a_time:
            self._reap()
            pid = self._started[log].pid if log in self._started else await self._server_of(log)
            if pid is None:
                raise NotFound(
                    "No runtime of this server serves the notebook. One that somebody brought is ended there."
                )
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            async with asyncio.timeout(STOP_SECONDS):
                while await self._is_served(log):
                    await asyncio.sleep(0.05)  # a process tells nobody that it has ended
                    self._reap()

    async def _server_of(self, log: LogId) -> int | None:
        """The process that serves a notebook, started by an earlier server of this machine."""
        holder = await self._system.holder(runtime_hold(log))
        return process_of(holder) if holder is not None else None

    async def _has_no_room(self, log: LogId) -> bool:
        """Whether there are as many as there may be, which is told once."""
        was_full, self._is_full = self._is_full, await self._room.is_full(log, self._started)
        if self._is_full and not was_full and self._starting.tells_full:
            self._tell(f"A cell {self._room.why}")
        return self._is_full

    async def _is_served(self, log: LogId) -> bool:
        """Whether some process has the notebook. Only looked at: to take its hold would end one that stood still."""
        hold = await self._system.hold_of(runtime_hold(log))
        self._replaces.pop(log, None)
        if hold is None or is_gone(hold.holder):
            self._lapses.pop(log, None)
            return log in self._started  # it may be about to take it
        if hold.seconds_left > 0:
            self._lapses.pop(log, None)
            return True
        watch = self._lapses.setdefault(log, LapseWatch(self._starting.lease_seconds))
        if not watch.look([f"{hold.holder} {hold.epoch}"]):
            return True
        self._replaces[log] = hold.holder
        return False

    async def _give_up(self, log: LogId, notebook: Notebook) -> None:
        """Nothing waits for ever: say why it does not run."""
        why = f"its runtime failed {MOST_FAILURES} times without running it; see {self._log_file(log)}"
        self._tell(f"{notebook.name} [{log}]: {why}")
        await skip_waiting(self._system, log, why)

    def _start(self, log: LogId, most: int | None) -> None:
        with self._open_log(log) as printed:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [*self._starting.command, log],
                stdin=subprocess.PIPE,
                stdout=printed,
                stderr=subprocess.STDOUT,
                cwd=self._starting.folder,
                # It acts for itself, and where the store is it is told.
                env=kernel_environment(os.environ),
                start_new_session=True,
            )
        told = Assignment(
            where=self._starting.where,
            log=log,
            folder=str(self._starting.folder),
            idle_seconds=self._starting.idle_seconds,
            state=str(self._starting.state) if self._starting.state is not None else None,
            memory_bytes=self._starting.memory_bytes,
            variables=store_variables(os.environ),
            lease_seconds=self._starting.lease_seconds,
            most=most,
            replaces=self._replaces.pop(log, None),
        )
        _hand_over(process, msgspec.json.encode(told))
        if (stands_still := self._started.pop(log, None)) is not None:
            self._replaced.append(stands_still)
        self._started[log], self._began[log] = process, time.monotonic()

    def _log_file(self, log: LogId) -> Path:
        return self._starting.logs / f"{log}.log"

    def _open_log(self, log: LogId) -> contextlib.AbstractContextManager[int]:
        file = self._log_file(log)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        if file.exists() and file.stat().st_size > LOG_BYTES:
            file.replace(file.with_suffix(".log.1"))
        return _closing(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))

    def leave(self) -> None:
        """Let the processes live on: nobody here waits for their end."""
        self._reap()
        for process in (*self._started.values(), *self._replaced):
            process.returncode = 0  # or Python would complain that they still run

    def _reap(self) -> None:
        """Take note of the processes that have ended."""
        self._replaced = [process for process in self._replaced if process.poll() is None]
        for log, process in list(self._started.items()):
            if (status := process.poll()) is None:
                continue
            del self._started[log]
            self._left.add(log)
            if status == 0 or time.monotonic() - self._began.pop(log, 0.0) > LONG_SECONDS:
                self._failures.pop(log, None)
            else:
                self._failed(log, f"exit status {status}; {self._log_file(log)} says why")

    def _failed(self, log: LogId, why: str) -> None:
        self._failures[log] = self._failures.get(log, 0) + 1
        self._tell(f"The runtime of {log} is not there: {why}")


def _hand_over(process: subprocess.Popen[bytes], told: bytes) -> None:
    assert process.stdin is not None  # noqa: S101 - asked for
    # If it is gone already, that is found when it is looked for.
    with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
        pipe.write(told)


def grown_since(page: Any) -> dict[LogId, int]:
    """From which number on each log has grown: one question for each, however much is written at once."""
    found: dict[LogId, int] = {}
    for growth in page:
        found.setdefault(growth.log, growth.first - 1)
    return found


async def next_page(feed: AsyncIterator[Any]) -> Any:
    """What a feed brings next: to be waited for beside something else."""
    return await anext(feed)


@contextlib.contextmanager
def _closing(descriptor: int) -> Generator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)
