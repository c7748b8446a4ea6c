"""Serve a notebook as `quire runtime` does: `python -m tests.kernels.serve_notebook FOLDER LOG [dies]`.

It adopts the kernel that an earlier process of the same runtime left, or starts one. With `dies` it is killed as soon as
a claim of its own is recorded, before the kernel is sent anything.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any, cast

from quire.actors.runtime.live_runtime import ServeOptions, serve
from quire.connection import connect_store
from quire.core import events as e
from quire.core.ids import LogId
from quire.kernels.kernel_protocol import adopt_served
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from .real_kernels import ENV, python


class DiesAfterClaim:
    """A workspace whose process is killed between the record of a claim and the answer to it."""

    def __init__(self, workspace: LocalWorkspace) -> None:
        self._workspace = workspace

    def __getattr__(self, name: str) -> Any:
        return getattr(self._workspace, name)

    async def submit(self, log: LogId, drafts: Any, **more: Any) -> Any:
        """Record, and end the process if a claim was among it."""
        entries = await self._workspace.submit(log, drafts, **more)
        if any(isinstance(entry.event, e.ExecutionClaimed) for entry in entries):
            os.kill(os.getpid(), signal.SIGKILL)
        return entries


async def main(folder: str, log: LogId, dies: str = "") -> None:
    adopted = await adopt_served(folder, log)
    workspace = await connect_store(folder, identities.runtime("test"))
    serving = ServeOptions(
        log=log, spec=python(), cwd=Path(folder), variables=ENV, spools=Path(folder) / "spool", where=folder
    )
    runtime = cast("Workspace", DiesAfterClaim(workspace)) if dies else workspace
    await serve(runtime, serving, asyncio.Event(), adopted=adopted)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], LogId(sys.argv[2]), *sys.argv[3:]))
