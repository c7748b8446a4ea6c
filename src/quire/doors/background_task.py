"""What works beside a door, in its process: begun again when it fails, so that nothing of it takes the door down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from ..workspace.tasks import alongside

AGAIN_SECONDS = 5.0
"""After how long something that failed is begun again."""


@asynccontextmanager
async def keep_running(
    what: str, work: Callable[[], Awaitable[None]], tell: Callable[[str], None]
) -> AsyncGenerator[None]:
    """Run `work` beside the block, again and again if it fails."""
    async with alongside(_again_and_again(what, work, tell)):
        yield


async def _again_and_again(what: str, work: Callable[[], Awaitable[None]], tell: Callable[[str], None]) -> None:
    while True:
        try:
            await work()
            return
        except Exception as error:  # whatever it is, the door stays open
            tell(f"{what} failed, and begins again: {error or type(error).__name__}")
            await asyncio.sleep(AGAIN_SECONDS)
