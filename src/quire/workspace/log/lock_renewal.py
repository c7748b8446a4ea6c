"""Going on with a hold: renewed in time, taken again when it lapsed, given up only to another holder (rule 10)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...core.errors import Unavailable
from .leases import LEASE_SECONDS
from .locks import Hold

if TYPE_CHECKING:
    from ..local import LocalWorkspace

LET_GO_SECONDS = 5.0
"""How long a process that ends waits for a store to take it back."""


class KeptHold:
    """A hold of this process, for as long as nobody else has it."""

    def __init__(self, workspace: LocalWorkspace, name: str, hold: Hold, seconds: float = LEASE_SECONDS) -> None:
        self._workspace, self._name, self._hold, self._seconds = workspace, name, hold, seconds

    async def renew(self) -> str | None:
        """Go on holding; return who has it instead, if somebody does. Unavailable while the store does not answer."""
        if await self._workspace.renew_hold(self._hold, self._seconds) is not None:
            return None
        # Given back in our place, by somebody who took it and left: it is free, and ours again if we are first.
        taken = await self._workspace.hold(self._name, self._seconds)
        if taken is None:
            return await self._workspace.holder(self._name) or "another process"
        self._hold = taken
        return None

    async def keep(self, lost: Callable[[str], None]) -> None:
        """Renew until another holder is found, who is told to `lost`. A store that is away is waited for."""
        pause = self._seconds / 3
        while True:
            try:
                if (other := await self.renew()) is not None:
                    lost(other)
                    return
            except Unavailable:
                pass  # nobody can take it meanwhile, either
            await asyncio.sleep(pause)

    async def let_go(self) -> None:
        """Give it back. Where the store is away it lapses, and of a process that is gone it is free at once."""
        with contextlib.suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(LET_GO_SECONDS):
                await self._workspace.let_go(self._hold)
