"""Waking followers: who waits for a log, and how they learn that it has grown.

A wake-up carries no data. A follower reads from its own cursor, so a wake-up too many
costs one read and a follower that is slow gets a bigger page, never a growing queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeVar

from ..core.ids import LogId

T = TypeVar("T")


class Wakes:
    """The followers of one store in one process. Use from its event loop."""

    def __init__(self) -> None:
        self._waiting: dict[LogId | None, set[asyncio.Event]] = {}
        self._closed = False

    @property
    def anybody(self) -> bool:
        """Whether anybody waits at all."""
        return bool(self._waiting)

    def wake(self, logs: Iterable[LogId] | None = None) -> None:
        """Wake those who wait for one of `logs` (for anything when None), and for the feed."""
        keys = list(self._waiting) if logs is None else [None, *logs]
        for key in keys:
            for event in self._waiting.get(key, ()):
                event.set()

    def close(self) -> None:
        """End every follower."""
        self._closed = True
        self.wake()

    async def pages(
        self,
        log: LogId | None,
        read: Callable[[], Awaitable[tuple[list[T], bool]]],
        began: Callable[[], None] = lambda: None,
    ) -> AsyncIterator[list[T]]:
        """Yield what `read` returns, again and again; wait whenever it says that there is no more for now."""
        event = asyncio.Event()
        self._waiting.setdefault(log, set()).add(event)
        began()
        try:
            while not self._closed:
                # Cleared before reading: what comes in while we read sets it again.
                event.clear()
                page, has_more = await read()
                if page:
                    yield page
                if not has_more and not self._closed:
                    await event.wait()
        finally:
            self._waiting[log].discard(event)
            if not self._waiting[log]:
                del self._waiting[log]
