"""A runtime in a process of its own. Run as `python -m … WHERE NOTEBOOK COUNT`: it ends after so many executions."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from quire.actors.runtime.live_runtime import ServeOptions, serve
from quire.connection import connect
from quire.core import events as e
from quire.core.ids import LogId
from quire.kernels.environments import find
from quire.workspace.identity import identities
from quire.workspace.protocol import Workspace


async def count(workspace: Workspace, log: LogId, executions: int, over: asyncio.Event) -> None:
    async for page in workspace.follow(log):
        executions -= sum(isinstance(entry.event, e.ExecutionFinished) for entry in page)
        if executions <= 0:
            over.set()


async def main(where: str, notebook: str, executions: int) -> None:
    workspace = await connect(where, identities.runtime("local"))
    log = (await workspace.find(notebook)).log
    spec = find("python", None, cwd=Path.cwd(), environ=os.environ)
    over = asyncio.Event()
    counting = asyncio.ensure_future(count(workspace, log, executions, over))
    try:
        await serve(
            workspace,
            ServeOptions(log=log, spec=spec, cwd=Path.cwd(), variables=dict(os.environ), spools=Path.cwd() / "spool"),
            over,
        )
    finally:
        counting.cancel()
        await asyncio.gather(counting, return_exceptions=True)
        await workspace.close()


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
