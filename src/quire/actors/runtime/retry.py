"""A workspace that is away may come back: whoever serves a notebook asks again until it does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from ...core.errors import Unavailable

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
T = TypeVar("T")


def pauses() -> Iterator[float]:
    """How long to wait before each further attempt."""
    pause = FIRST_PAUSE
    while True:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE)


async def patiently(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask until there is an answer."""
    waits = pauses()
    while True:
        try:
            return await ask()
        except Unavailable:
            await asyncio.sleep(next(waits))
