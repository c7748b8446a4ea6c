"""Events on their way into a run's log, behind the kernel and not before it (rule 10).

The kernel goes on while what it showed is committed. Order is kept, what waits is
committed together, and a log that cannot be written stops the work: nothing is shown that
was not recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

import msgspec

from ..core import events as e
from ..core.event_fields import batches
from ..core.events import Draft, KnownEvent
from ..core.ids import EventId, LogId
from ..workspace.clock import new_id
from ..workspace.protocol import Workspace
from .display_events import EventBatch
from .secrets import Remover
from .streams import Blob

AT_ONCE = 2000
"""So many events go into one commit at most."""
BYTES_AT_ONCE = 4_000_000
"""So large is one commit at most, but for its last event."""
PAUSE_SECONDS = 0.1
"""From one commit to the next: what comes meanwhile shares it. The first after a while goes at once."""
MOST_WAITING = 20_000
MOST_BYTES = 16_000_000
"""Past these, events and bytes of events and blobs, whoever records waits: a store slower than its kernel must not fill the memory."""
LATE_SECONDS = 1.0
"""A log that has taken nothing for so long is slow, or away: nothing new begins until it does."""
EVENT_BYTES = 500
"""What an event weighs beside what it says."""


class Outlet(Protocol):
    """Where a recorder's events go: straight into a log, or there by way of a spool."""

    async def submit(self, drafts: Sequence[Draft]) -> None:
        """Record these, in this order."""
        ...

    async def keep(self, blob: Blob) -> None:
        """Keep a blob that later drafts name."""
        ...


class Straight:
    """Into the log, or not at all."""

    def __init__(self, workspace: Workspace, log: LogId) -> None:
        self._workspace, self._log = workspace, log

    async def submit(self, drafts: Sequence[Draft]) -> None:
        """Record these, in this order."""
        await self._workspace.submit(self._log, drafts)

    async def keep(self, blob: Blob) -> None:
        """Keep a blob that later drafts name."""
        await self._workspace.put_blob(_pieces(blob), blob.ref.media)


class Recorder:
    """Records for one log, from one event loop, as one actor; nothing of it tells a secret (rule 16)."""

    def __init__(
        self,
        outlet: Outlet,
        remover: Remover | None = None,
        pause_seconds: float = PAUSE_SECONDS,
        ids: Callable[[KnownEvent], EventId] = lambda event: new_id(),
    ) -> None:
        self._outlet, self._ids = outlet, ids
        self._pause_seconds = pause_seconds
        self._hurry = asyncio.Event()
        self._remover = remover or Remover({})
        self._waiting: deque[Draft | Blob] = deque()
        """Blobs stand before the events that refer to them."""
        self._bytes = 0
        """Of what waits, and of what is on its way."""
        self._news = asyncio.Event()
        self._settled = asyncio.Event()
        self._settled.set()
        self._fault: BaseException | None = None
        self._has_failed = asyncio.Event()
        self._clock = asyncio.get_running_loop().time
        self._behind_since: float | None = None
        """When what is on its way was sent."""
        self._task = asyncio.ensure_future(self._record_all())

    def say(self, *events: KnownEvent) -> None:
        """Record these after all that was said before."""
        self._check()
        for event in events:
            self._waiting.append(Draft(id=self._ids(event), event=self._remover.clean_event(event)))
            self._bytes += weight(event)
        self._settled.clear()
        self._news.set()

    async def show(self, shown: EventBatch) -> None:
        """Record what a cell showed; its blobs are kept first."""
        for blob in shown.blobs.values():
            if blob.is_at_hand:
                self._waiting.append(blob)
                self._bytes += blob.ref.size
            else:
                await self._outlet.keep(blob)
        if shown.events:
            self.say(*shown.events)
        if len(self._waiting) > MOST_WAITING or self._bytes > MOST_BYTES:
            await self.settle()

    async def settle(self) -> None:
        """Wait until all that was said is recorded."""
        self._hurry.set()
        await self._settled.wait()
        self._check()

    async def keep_up(self) -> None:
        """Wait for a log that takes nothing: what runs goes on meanwhile, but what comes next is not to begin."""
        self._check()
        if self._behind_since is not None and self._clock() - self._behind_since > LATE_SECONDS:
            await self.settle()

    async def failed(self) -> NoReturn:
        """Wait until something cannot be recorded, and raise why."""
        await self._has_failed.wait()
        self._check()
        raise AssertionError("it fails for a reason")

    async def close(self) -> None:
        """Record the rest and end."""
        try:
            await self.settle()
        finally:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def _check(self) -> None:
        if self._fault is not None:
            raise self._fault

    async def _record_all(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            self._hurry.clear()
            try:
                while self._waiting:
                    await self._record_some()
            except Exception as fault:
                self._fault = fault
                self._has_failed.set()
                self._waiting.clear()
                self._bytes = 0
            self._behind_since = None
            self._settled.set()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._pause_seconds):
                    await self._hurry.wait()

    async def _record_some(self) -> None:
        drafts: list[Draft] = []
        size = 0
        self._behind_since = self._clock()
        try:
            while self._waiting and len(drafts) < AT_ONCE and size < BYTES_AT_ONCE:
                first = self._waiting.popleft()
                if isinstance(first, Blob):
                    await self._outlet.keep(first)
                    self._bytes -= first.ref.size
                else:
                    drafts.append(first)
                    size += weight(first.event)
        finally:
            # Also when a blob cannot be kept: what was said before it does not need it.
            for batch in batches(drafts, AT_ONCE):
                await self._outlet.submit(batch)
            self._bytes -= size


def weight(event: KnownEvent) -> int:
    """About how many bytes an event takes: of outputs, which alone are large and many, what they say."""
    match event:
        case e.StreamAppended():
            return EVENT_BYTES + len(event.text)
        case e.OutputAdded(output=e.Display() as shown):
            return EVENT_BYTES + _weight(shown.data)
        case e.OutputAdded(output=e.Raised() as raised):
            return EVENT_BYTES + sum(map(len, raised.traceback))
        case e.DisplayUpdated():
            return EVENT_BYTES + _weight(event.data)
        case _:
            return EVENT_BYTES


def _weight(data: Mapping[str, Any]) -> int:
    return sum(len(value) if isinstance(value, str) else len(msgspec.json.encode(value)) for value in data.values())


async def _pieces(blob: Blob) -> AsyncIterator[bytes]:
    for piece in blob.pieces():
        yield piece
