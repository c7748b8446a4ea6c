"""Whether a server's store can be read and written, found out without ever waiting for it long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ....core.errors import Unavailable
from ....core.ids import WORKSPACE_LOG
from ....workspace.local import LocalWorkspace

PATIENCE_SECONDS = 1.5
"""How long the store has to answer: whoever asks for the health of a server hears something within 2 seconds."""
FRESH_SECONDS = 1.0
"""For how long an answer of the store counts: nobody makes it write by asking often."""


class Pulse:
    """Whether the store can be read and written, found out by one at a time for all who ask."""

    def __init__(self, patience_seconds: float = PATIENCE_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience_seconds, self._clock = patience_seconds, clock
        self._asked: asyncio.Task[None] | None = None
        self._asked_at = 0.0

    async def check(self, workspace: LocalWorkspace) -> None:
        """Raise Unavailable, with the reason, when the store is not well."""
        now = self._clock()
        is_old = self._asked is not None and self._asked.done() and now - self._asked_at > FRESH_SECONDS
        if self._asked is None or is_old:
            self._asked, self._asked_at = asyncio.ensure_future(_use(workspace)), now
            # Who asked may have gone: then nobody else looks at it.
            self._asked.add_done_callback(_take_note)
        await asyncio.wait((self._asked,), timeout=self._patience_seconds)
        if not self._asked.done() and (outage := workspace.outage) is not None:
            raise Unavailable(f"{outage.store}: {outage.fault}. It is waited for; everything goes on when it is back.")
        if not self._asked.done():
            told = f"The store has not answered for {self._clock() - self._asked_at:.0f} s"
            raise Unavailable(f"{told}: it hangs, or another process holds its lock. Look at its disk or database.")
        if (error := self._asked.exception()) is not None:
            raise Unavailable(f"Nothing can be recorded: {error}") from error


def _take_note(asked: asyncio.Task[None]) -> None:
    if not asked.cancelled():
        asked.exception()


async def _use(workspace: LocalWorkspace) -> None:
    await workspace.entries(WORKSPACE_LOG, limit=1)
    await workspace.probe()
