"""Tasks that a piece of work begins, and that end with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


async def cancel_and_wait(*tasks: asyncio.Future[Any]) -> None:
    """Cancel tasks and wait until they have ended; what they raise is dropped."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def alongside(work: Coroutine[Any, Any, Any]) -> AsyncGenerator[None]:
    """Run `work` beside the block, and cancel it when the block ends."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        await cancel_and_wait(task)
