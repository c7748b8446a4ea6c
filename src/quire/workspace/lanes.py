"""What is worth saying and not worth keeping: presence, selections, prompts, progress.

A lane is a name; who listens gets what is said while they listen. Nothing is stored, and a
listener that does not keep up misses the oldest, never slows anybody down (rule 5). Lanes
reach the tasks of one process; a server carries them over its sockets to others.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from ..core.values import Json

KEPT = 1000
"""How far behind a listener may fall before it misses something."""


class Lanes:
    """The lanes of one workspace."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[_Listener]] = {}

    def say(self, lane: str, message: Json) -> None:
        """Tell everybody who listens now."""
        for listener in self._listeners.get(lane, ()):
            listener.hear(message)

    async def listen(self, lane: str) -> AsyncIterator[Json]:
        """Yield what is said from the first step on, for as long as somebody asks for more."""
        listener = _Listener()
        self._listeners.setdefault(lane, set()).add(listener)
        try:
            while True:
                yield await listener.next()
        finally:
            self._listeners[lane].discard(listener)
            if not self._listeners[lane]:
                del self._listeners[lane]


class _Listener:
    def __init__(self) -> None:
        self._heard: deque[Json] = deque(maxlen=KEPT)
        self._waiting = asyncio.Event()

    def hear(self, message: Json) -> None:
        self._heard.append(message)
        self._waiting.set()

    async def next(self) -> Json:
        while not self._heard:
            self._waiting.clear()
            await self._waiting.wait()
        return self._heard.popleft()
