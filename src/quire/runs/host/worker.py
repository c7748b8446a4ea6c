"""A runtime that somebody brings: their machine runs cells of a workspace that may be elsewhere.

It serves the notebooks in which something waits for it: by its name, by its actor, by its language, or for anybody. Each
has a kernel of its own; so many at once, and no longer than there is something to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from ...actors.runtime.lease_renewal import renew_adopted
from ...actors.runtime.live_runtime import ServeOptions, serve
from ...actors.runtime.queue import language_of, queued, skip_waiting
from ...actors.runtime.retry import patiently, pauses
from ...actors.runtime.spool import send_left_behind, spools
from ...actors.runtime.spool_files import SpoolInfo, left_behind
from ...actors.runtime.start.launcher import ASKS, WAITING, grown_since, next_page
from ...actors.runtime.store_lanes import lanes_beside
from ...core.errors import NotFound, QuireError, Refused, Unavailable
from ...core.ids import ActorId, LogId, actor_kind
from ...core.notebook.notebook import Execution, Notebook
from ...kernels.kernel_protocol import AdoptedKernel, adopt_served, served
from ...workspace.protocol import LaneAccess, Workspace
from ...workspace.tasks import alongside, cancel_and_wait
from .host_settings import adopting, serving_of, until_quiet
from .kept_kernel import kept

LOOK_SECONDS = 2.0
"""How often to look again whether there is room for a notebook in which something waits."""


ENDING_SECONDS = 60.0
"""How long the end may take; a workspace that is away is not waited for any longer."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody's machine does for a workspace."""

    folder: Path
    """Where the kernels work."""
    name: str = ""
    """What a request may call it."""
    language: str | None = None
    """The language of its kernels; None: that of each notebook."""
    only: LogId | None = None
    """The one notebook that it serves, from the start on; None: wherever something waits for it."""
    most: int = 4
    idle_seconds: float = 1800
    lease_seconds: float | None = None
    spools: Path | None = None
    where: str = ""
    """The address of a server, by which the next process finds the kernels of this one; without one, none does."""
    memory_bytes: int | None = None
    """How much each kernel may use."""
    state: Path | None = None
    """The folder in which a server beside the same store says where it is: for the lanes."""

    def may_take(self, notebook: Notebook, execution: Execution, me: str) -> bool:
        """Whether a request is for this runtime."""
        language = language_of(notebook)
        if execution.wants is None:
            return self.language is None or self.language.lower() == language.lower()
        return execution.wants in {me, self.name} or execution.wants.lower() == (self.language or language).lower()


async def offer(
    workspace: Workspace, offered: Offer, over: asyncio.Event, tell: Callable[[str], None], ready: Callable[[str], None]
) -> None:
    """Serve until `over`. `ready` is told who it is, once it can be asked for something."""
    working = asyncio.ensure_future(_AtWork(workspace, offered, over, tell).run(ready))
    ending = asyncio.ensure_future(over.wait())
    try:
        await asyncio.wait((working, ending), return_when=asyncio.FIRST_COMPLETED)
        # What runs is interrupted then, and the rest is sent or left on disk.
        await asyncio.wait((working,), timeout=ENDING_SECONDS)
        if working.done():
            working.result()
    finally:
        over.set()
        await cancel_and_wait(working, ending)


class _AtWork:
    """The notebooks that are served, and those that wait for room."""

    def __init__(self, workspace: Workspace, offered: Offer, over: asyncio.Event, tell: Callable[[str], None]) -> None:
        self._workspace, self._offer, self._over, self._tell = workspace, offered, over, tell
        self._spools = offered.spools or spools()
        who = workspace.identity.actor
        self._is_runtime = actor_kind(who) == "runtime"
        self._name = workspace.runtime_name(offered.name)
        self._me = who if self._is_runtime else ActorId(f"runtime:{self._name}")
        self._lease_seconds = offered.lease_seconds or workspace.lease_seconds
        self._served: dict[LogId, asyncio.Task[None]] = {}
        self._waiting: set[LogId] = set()
        self._looks_everywhere = False
        self._failed: set[LogId] = set()
        """Where it could not begin: what was asked of anybody there is left to others."""

    async def run(self, ready: Callable[[str], None]) -> None:
        """Send what was left, and serve until it is enough."""

        async def runtime_of(about: SpoolInfo) -> Workspace:
            return await self._runtime_in(about.log)

        mine = [each for each in left_behind(self._spools) if each.actor == self._me]
        await patiently(lambda: send_left_behind(self._workspace, mine, runtime_of, self._spools, self._tell))
        ready(self._me)
        if self._offer.only is not None:
            await self._serve(self._offer.only)
            return
        over = asyncio.ensure_future(self._over.wait())
        listening = asyncio.ensure_future(self._listen())
        try:
            await asyncio.wait((listening, over), return_when=asyncio.FIRST_COMPLETED)
            if listening.done():
                listening.result()
        finally:
            self._over.set()
            await cancel_and_wait(listening, over)
            await self._ended()

    async def _ended(self) -> None:
        """Wait until all that is served has come to its end."""
        tasks = list(self._served.values())
        try:
            if tasks:
                await asyncio.wait(tasks)
        finally:
            await cancel_and_wait(*tasks)

    async def _runtime_in(self, log: LogId) -> Workspace:
        """The workspace as this runtime has it in a log."""
        return self._workspace if self._is_runtime else await self._workspace.as_runtime(self._name, log)

    # ---- Where something waits

    async def _listen(self) -> None:
        """Hear of requests, wherever they are made that it may read."""
        waits = pauses()
        for log in served(self._offer.where, self._me) if self._offer.where else ():
            with contextlib.suppress(NotFound, Refused):
                self._begin(log, (await patiently(lambda log=log: self._workspace.find(log))).name)
        async with alongside(self._look_again()):
            while True:
                try:
                    await self._hear()
                except Unavailable:
                    await asyncio.sleep(next(waits))

    async def _hear(self) -> None:
        feed = self._workspace.feed()
        page = asyncio.ensure_future(next_page(feed))
        try:
            await self._look_everywhere()
            # From where the feed counts a server says only when it is asked: what came just before is looked for later.
            self._looks_everywhere = True
            while True:
                grown = grown_since(await page)
                page = asyncio.ensure_future(next_page(feed))
                for log, since in grown.items():
                    if await self._workspace.entries(log, since, types=ASKS, limit=1):
                        await self._look(log)
        finally:
            await cancel_and_wait(page)

    async def _look_everywhere(self) -> None:
        try:
            logs = [LogId(log) for (log,) in (await self._workspace.query(WAITING)).rows]
        except Refused:  # its token is for some notebooks
            logs = [info.log for info in await self._workspace.logs()]
        for log in logs:
            await self._look(log)

    async def _look_again(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            with contextlib.suppress(Unavailable):
                if self._looks_everywhere:
                    await self._look_everywhere()
                    self._looks_everywhere = False
                for log in list(self._waiting):
                    await self._look(log)

    async def _look(self, log: LogId) -> None:
        """Serve a notebook if something in it waits for this runtime, and there is room."""
        self._waiting.discard(log)
        if log in self._served or self._over.is_set():
            return
        try:
            notebook = await self._workspace.read(log)
        except (NotFound, Refused):
            return
        goes_on = notebook.run is not None and notebook.run.is_open  # a run has a runtime of its own until it is over
        if goes_on or not any(self._for_me(log, notebook)):
            return
        if len(self._served) >= self._offer.most:
            self._waiting.add(log)
            return
        self._begin(log, notebook.name)

    def _begin(self, log: LogId, name: str) -> None:
        if log not in self._served:  # somebody else may have looked meanwhile
            self._served[log] = asyncio.ensure_future(self._serve_for_a_while(log, name))

    def _for_me(self, log: LogId, notebook: Notebook) -> Iterator[Execution]:
        for found in queued(notebook):
            is_left_to_others = found.wants is None and log in self._failed
            if not is_left_to_others and self._offer.may_take(notebook, found, self._me):
                yield found

    # ---- Serving

    async def _serve_for_a_while(self, log: LogId, name: str) -> None:
        self._tell(f"Serving {name} [{log}]")
        try:
            await self._serve(log)
        except QuireError as error:
            self._tell(f"{name} [{log}] is not served: {error}")
            self._failed.add(log)
            with contextlib.suppress(QuireError):
                runtime = await self._runtime_in(log)
                await skip_waiting(runtime, log, str(error), self._is_named)
        finally:
            del self._served[log]
            # What came while it ended is not to wait for somebody else's word.
            self._waiting.add(log)

    def _is_named(self, execution: Execution) -> bool:
        return execution.wants in {self._me, self._offer.name} - {""}

    async def _serve(self, log: LogId) -> None:
        """Serve one notebook, until nothing happens in it any more or all is over."""
        runtime = await patiently(lambda: self._runtime_in(log))
        serving, adopted = await self._serving(runtime, log)
        over = asyncio.Event()
        async with (
            self._counted(log),
            lanes_beside(runtime, log, self._offer.state) as lanes,
            alongside(self._say_when_over(runtime, log, over, lanes)),
        ):
            await serve(runtime, serving, over, self._tell, lanes, adopted)

    @asynccontextmanager
    async def _counted(self, log: LogId) -> AsyncGenerator[None]:
        """Be counted among the runtimes of the workspace, for as long as this takes."""
        keeping = await patiently(lambda: self._workspace.count_runtime(log, self._me))
        if keeping is None:
            yield
            return
        try:
            async with alongside(keeping.keep(lambda other: None)):
                yield
        finally:
            await keeping.let_go()

    async def _serving(self, runtime: Workspace, log: LogId) -> tuple[ServeOptions, AdoptedKernel | None]:
        notebook = await patiently(lambda: runtime.read(log))
        offered = self._offer
        how: dict[str, Any] = {
            "name": offered.name,
            "lease_seconds": self._lease_seconds,
            "spools": self._spools,
            "memory_bytes": offered.memory_bytes,
            "where": offered.where,
        }
        adopted = await adopt_served(offered.where, log, self._me) if offered.where else None
        if adopted is not None:
            self._tell(f"Goes on with kernel {adopted.kernel.id} of the process before")
            await renew_adopted(runtime, log, adopted.flight, self._lease_seconds)
        if notebook.run is not None:
            return await kept(runtime, log, notebook.run, offered.folder, os.environ, adopted, **how)
        serving = serving_of(log, notebook, offered.folder, os.environ, self._tell, language=offered.language, **how)
        return adopting(serving, adopted), adopted

    async def _say_when_over(self, runtime: Workspace, log: LogId, over: asyncio.Event, lanes: LaneAccess) -> None:
        ends: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._over.wait())]
        if self._offer.only is None:
            ends.append(asyncio.ensure_future(until_quiet(runtime, log, self._offer.idle_seconds, lanes)))
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            over.set()
            await cancel_and_wait(*ends)
