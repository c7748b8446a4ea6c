"""When what a cell shows goes into the log."""

from __future__ import annotations

import asyncio
from collections import deque
from math import inf

import msgspec

from ...kernels.kernel_client import KernelClient
from ...kernels.relay.execution_state import Flight, FlushNote
from ...outputs.display_events import ExecutionDisplays
from ...outputs.recorder import Recorder

TICK_SECONDS = 0.05
"""How often what a running cell shows goes into the log."""
MOST_UNFLUSHED = 2_000_000


class FlushPolicy:
    """At every tick; or, where an execution is gone through again, as it was before."""

    def __init__(
        self, client: KernelClient, recorder: Recorder, showing: ExecutionDisplays, flight: Flight | None
    ) -> None:
        self._client, self._recorder, self.showing = client, recorder, showing
        self._loop = asyncio.get_running_loop()
        self.is_again = flight is not None
        self.was_stopped = flight is not None and flight.stopped is not None
        self._before = deque(flight.flushes if flight is not None else ())
        self._last = flight.last if flight is not None else 0
        self._marked = 0
        self.at = self._loop.time() + (0 if self.is_again else TICK_SECONDS)

    async def catch_up(self, number: float = inf) -> None:
        """Flush what had been flushed before this message came."""
        while self._before and self._before[0] < number:
            self._before.popleft()
            await self._recorder.show(self.showing.flush())
        self.is_again &= number <= self._last

    async def flush(self, *, has_more: bool) -> None:
        """Flush, and have it known before it is recorded: whoever goes through it again has to do it here, too."""
        if self.is_again and has_more and self.showing.size <= MOST_UNFLUSHED:
            return
        if not has_more:
            await self.catch_up()
        shown = self.showing.flush()
        if self._client.taken > self._marked and not self.is_again:
            self._marked = self._client.taken
            await self._client.mark(msgspec.json.encode(FlushNote(self._marked)))
        await self._recorder.show(shown)
        self.at = self._loop.time() + (0 if self.is_again else TICK_SECONDS)
