"""An agent that does logbooks step by step by its tools, in this process, with a real kernel beside it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from quire.actors.runtime.live_runtime import serve
from quire.connection import connect_store
from quire.core.ids import LogId
from quire.core.notebook.logbook_record import LogbookStep, steps_of
from quire.doors.mcp.tool_call import call
from quire.doors.mcp.tools import TOOLS
from quire.runs.host.host_settings import serving_of
from quire.verbs.answers.answer import Here
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace

DEADLINE_SECONDS = 240


class StepAgent:
    """An agent, the folder that it works in, and the logbook that it began."""

    def __init__(self, owner: LocalWorkspace, folder: Path, closing: AsyncExitStack) -> None:
        self.owner, self.folder, self._closing = owner, folder, closing
        self.here = Here(workspace=owner.acting_as(identities.agent("codex")), folder=folder)
        self.log = LogId("")
        self.file = folder

    async def tool(self, name: str, **arguments: Any) -> Any:
        """Call a tool, and return the facts of its answer with its text."""
        answer = await call(self.here, TOOLS[name], arguments)
        return answer.facts | {"text": answer.text}

    async def begin(self, template: str, *, with_kernel: bool = True, **arguments: Any) -> Any:
        """Begin a logbook; from then on a runtime serves it."""
        facts = await self.tool("run", notebook=template, **arguments)
        self.log, self.file = LogId(facts["notebook"]), self.folder / facts["file"]
        if with_kernel:
            await self.serve(self.log)
        return facts

    async def serve(self, log: LogId) -> None:
        """Have a runtime serve a log."""
        await self._closing.enter_async_context(_served(self.owner, log, self.folder))

    async def edit(self, *edits: dict[str, Any], run: Any = ()) -> Any:
        """Change cells, answer steps, and run."""
        return await self.tool("edit", notebook=self.log, edits=list(edits), run=run, seconds=25)

    async def steps(self) -> list[LogbookStep]:
        """The steps as they stand."""
        return steps_of(await self.owner.read(self.log))

    @property
    def text(self) -> str:
        """The file as it is."""
        return self.file.read_text()


@asynccontextmanager
async def _served(owner: LocalWorkspace, log: LogId, folder: Path) -> AsyncGenerator[None]:
    variables = {each: os.environ[each] for each in ("PATH", "HOME") if each in os.environ}
    serving = serving_of(log, await owner.read(log), folder, variables, print, name=f"r{log[-8:]}", spools=folder / "s")
    over = asyncio.Event()
    task = asyncio.create_task(serve(owner.acting_as(identities.runtime(f"r{log[-8:]}")), serving, over))
    try:
        yield
    finally:
        over.set()
        async with asyncio.timeout(DEADLINE_SECONDS):
            await task


@asynccontextmanager
async def step_agent(folder: Path) -> AsyncGenerator[StepAgent]:
    """An agent in a folder with a store."""
    owner = await connect_store(folder, identities.owner())
    try:
        async with AsyncExitStack() as closing:
            yield StepAgent(owner, folder, closing)
    finally:
        await owner.close()
