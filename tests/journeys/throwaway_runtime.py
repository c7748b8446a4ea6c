"""The smallest runtime that is one: claims what is requested in a notebook, runs it in a real kernel.

Thrown away once there is actors/runtime. Run as `python -m … WHERE NOTEBOOK COUNT`: it ends
after so many executions.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import start_new_async_kernel

import quire
from quire.core import events as e
from quire.core.events import Draft, Fault, KnownEvent
from quire.core.ids import LogId, RuntimeId
from quire.workspace import access
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace


class Running:
    """One execution on its way through the kernel."""

    def __init__(self, workspace: LocalWorkspace, log: LogId, request: e.ExecutionRequested) -> None:
        self._workspace = workspace
        self._log = log
        self._request = request
        self._chunks = count()
        self._printed = 0
        self._epoch = 0
        self._fault: Fault | None = None
        self._heard: list[KnownEvent] = []

    async def _say(self, event: KnownEvent) -> e.AnyEvent:
        (entry,) = await self._workspace.submit(self._log, [Draft(id=new_id(), event=event)])
        return entry.event

    async def claim(self) -> None:
        actor = RuntimeId(self._workspace.identity.actor)
        claimed = await self._say(e.ExecutionClaimed(execution=self._request.execution, runtime=actor))
        assert isinstance(claimed, e.ExecutionClaimed)
        assert claimed.epoch is not None
        self._epoch = claimed.epoch

    async def run(self, client: AsyncKernelClient) -> None:
        notebook = await self._workspace.read(self._log)
        request = self._request
        await self._say(
            e.ExecutionStarted(
                execution=request.execution, cell=request.cell, source_hash=request.source_hash, epoch=self._epoch
            )
        )
        reply: Any = await client.execute_interactive(  # pyright: ignore[reportUnknownMemberType] - untyped there
            notebook.cells[request.cell].source, output_hook=self._hear, timeout=60
        )
        for event in self._heard:
            await self._say(event)
        status: e.ExecutionStatus = "ok" if reply["content"]["status"] == "ok" else "error"
        await self._say(
            e.ExecutionFinished(
                execution=request.execution,
                epoch=self._epoch,
                status=status,
                count=reply["content"]["execution_count"],
                fault=self._fault,
            )
        )

    def _hear(self, message: dict[str, Any]) -> None:
        kind, content = message["header"]["msg_type"], message["content"]
        place: dict[str, Any] = {"execution": self._request.execution, "epoch": self._epoch}
        if kind == "stream":
            text: str = content["text"]
            self._heard.append(
                e.StreamAppended(
                    **place, chunk=next(self._chunks), name=content["name"], offset=self._printed, text=text
                )
            )
            self._printed += len(text)
        elif kind in ("display_data", "execute_result"):
            self._heard.append(e.OutputAdded(**place, chunk=next(self._chunks), output=e.Display(data=content["data"])))
        elif kind == "error":
            said = {name: content[name] for name in ("ename", "evalue", "traceback")}
            self._fault = Fault(**said)
            self._heard.append(e.OutputAdded(**place, chunk=next(self._chunks), output=e.Raised(**said)))


async def main(where: str, notebook: str, executions: int) -> None:
    workspace = await quire.connect(where, access.runtime("throwaway"))
    log = (await workspace.find(notebook)).log
    manager, client = await start_new_async_kernel(kernel_name="python3")
    try:
        async for page in workspace.follow(log):
            for entry in page:
                if isinstance(entry.event, e.ExecutionRequested):
                    running = Running(workspace, log, entry.event)
                    await running.claim()
                    await running.run(client)
                    executions -= 1
            if executions <= 0:
                break
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)  # pyright: ignore[reportUnknownMemberType] - untyped there
        await workspace.close()


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
