"""Runtimes for what a workspace was asked to run, from the first time on until it is closed."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack

from ...workspace.protocol import Workspace
from ..cli.auto_runtime import runtimes_beside

LOG = logging.getLogger("quire")


class RuntimeStarter:
    """Starts runtimes where nobody else does. What was started stays."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._starting = AsyncExitStack()

    async def begin(self) -> bool:
        """Start what is needed from now on; return whether anybody does, this process or a server."""
        starting = AsyncExitStack()
        # Anew each time: a server may have come since, or gone.
        is_served = await starting.enter_async_context(runtimes_beside(self._workspace, LOG.info))
        before, self._starting = self._starting, starting
        await before.aclose()
        return is_served

    async def end(self) -> None:
        """Start nothing any more."""
        await self._starting.aclose()
