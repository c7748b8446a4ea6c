"""A runtime for one live notebook: claims what is requested there, and runs it in one kernel.

Requests are taken in the order of the log, one at a time. Somebody else's claim is
respected; a cell that fails does not stop the next one, for each was asked for by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import msgspec

from ...core import events as e
from ...core.errors import Conflict, NotFound, Refused
from ...core.events import Draft
from ...core.ids import ExecutionId, LogId, RuntimeId
from ...core.notebook import Cell, Execution, Notebook
from ...workspace.clock import new_id
from ...workspace.workspace import Workspace
from .client import KernelClient, stop
from .execution import CellRunner, Stopping
from .holding import held
from .kernels import Spec, start
from .recorder import Recorder
from .secrets import Remover
from .sql import as_code
from .widgets import WidgetStates


class Serving(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime is to serve, and with what kernel."""

    log: LogId
    spec: Spec
    cwd: Path
    variables: dict[str, str]
    name: str = ""
    """What a request may call it."""
    secrets: dict[str, str] = {}
    start_timeout: float = 60
    startup: str = ""
    """What the kernel runs, silently, before the first cell: one expression."""


async def serve(runtime: Workspace, serving: Serving, until: asyncio.Event) -> None:
    """Serve a notebook until somebody says that it is enough. What runs then is interrupted."""
    server = _Server(runtime, serving, await _started(serving))
    try:
        await server.serve(until)
    finally:
        await asyncio.shield(stop(server.client.kernel, server.client))


async def _started(serving: Serving) -> KernelClient:
    return KernelClient(await start(serving.spec, cwd=serving.cwd, env=serving.variables))


class _Server:
    """A runtime with its kernel."""

    def __init__(self, runtime: Workspace, serving: Serving, client: KernelClient) -> None:
        self._runtime, self._serving, self.client = runtime, serving, client
        self._me = RuntimeId(runtime.identity.actor)
        self._remover = Remover(serving.secrets)
        self._widgets = WidgetStates(self._remover)
        self._running: tuple[ExecutionId, Stopping] | None = None
        self._news = asyncio.Event()
        self._is_over = False

    async def serve(self, until: asyncio.Event) -> None:
        """Attach, work, detach."""
        spec = self._serving.spec
        info = await self._ready()
        environment = {"interpreter": spec.interpreter, "kernel": spec.name, "language_info": info.get("language_info")}
        await self._say(
            e.RuntimeAttached(
                runtime=self._me, name=self._serving.name, language=spec.language, environment=environment
            ),
            e.KernelStarted(runtime=self._me, kernel=self.client.kernel.id, language=spec.language),
        )
        tasks = [asyncio.ensure_future(self._listen()), asyncio.ensure_future(self._end(until))]
        try:
            while not self._is_over:
                self._news.clear()
                if not await self._run_next():
                    await self._news.wait()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._say(e.RuntimeDetached(runtime=self._me))

    async def _ready(self) -> dict[str, Any]:
        """Wait until the kernel answers, and prepare it."""
        info = await self.client.ready(self._serving.start_timeout)
        if self._serving.startup:
            async for _ in self.client.execute("", silent=True, expressions={"startup": self._serving.startup}):
                pass  # without it the cells run all the same
        return info

    async def _begin_anew(self, why: str) -> None:
        """Another kernel in place of the one that died."""
        await stop(self.client.kernel, self.client)
        self.client, self._widgets = await _started(self._serving), WidgetStates(self._remover)
        await self._ready()
        await self._say(e.KernelRestarted(runtime=self._me, kernel=self.client.kernel.id, why=why))

    async def _say(self, *events: e.RunEvent) -> None:
        await self._runtime.submit(self._serving.log, [Draft(id=new_id(), event=event) for event in events])

    async def _listen(self) -> None:
        """Hear of requests and interrupts, on a way that no output can block."""
        async for page in self._runtime.follow(self._serving.log):
            for entry in page:
                if isinstance(entry.event, e.InterruptRequested):
                    self._interrupt(entry.event.execution)
            self._news.set()

    async def _end(self, until: asyncio.Event) -> None:
        await until.wait()
        self._is_over = True
        if self._running is not None:
            self._running[1].ask("cancelled")
        self._news.set()

    def _interrupt(self, execution: ExecutionId) -> None:
        if self._running is not None and self._running[0] == execution:
            self._running[1].ask("cancelled")

    # ---- One execution after the other

    async def _run_next(self) -> bool:
        """Run what was requested first; False when nothing is."""
        notebook = await self._runtime.read(self._serving.log)
        for execution, cell in _queued(notebook):
            if execution.wants not in (None, self._me, self._serving.name, self._serving.spec.language):
                continue
            try:
                await self._run(execution, cell)
            except (Conflict, NotFound, Refused):
                continue  # somebody else took it, or took it back
            return True
        return False

    async def _run(self, execution: Execution, cell: Cell) -> None:
        # Nobody kills a kernel that others work in because a cell does not listen: they can restart it.
        stopping = Stopping(inf)
        claim = e.ExecutionClaimed(execution=execution.id, runtime=self._me)
        async with held(self._runtime, self._serving.log, claim, lambda: stopping.ask("cancelled")) as epoch:
            self._running = execution.id, stopping
            # Somebody waits for what a cell shows: nothing waits here to be sent together.
            recorder = Recorder(self._runtime, self._serving.log, self._remover, pause_seconds=0)
            try:
                runner = CellRunner(
                    self.client,
                    recorder,
                    epoch,
                    self._serving.spec.language,
                    remover=self._remover,
                    widgets=self._widgets,
                )
                code = cell.source
                if cell.kind == "sql":
                    code = as_code(code, self._serving.spec.language, cell.name)
                ran = await runner.run(execution.id, cell.id, cell.source, code, stopping, None)
            finally:
                self._running = None
                await recorder.close()
        if not ran.lives:
            await self._begin_anew(ran.fault.evalue if ran.fault is not None else "")


def _queued(notebook: Notebook) -> Iterator[tuple[Execution, Cell]]:
    """What waits for a runtime, in the order in which it was asked for."""
    for id, place in notebook.executions.items():
        cell = notebook.cells[place]
        if cell.queued is not None and cell.queued.id == id and cell.queued.state == "queued":
            yield cell.queued, cell
