"""Tasks that end with the work that began them, and work that many ask for at once, done once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar


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


T = TypeVar("T")


class SingleFlight(Generic[T]):
    """What is answered was begun after it was asked for: as fresh as if each had done it alone.

    One is under way and one is about to begin, at most; who asks meanwhile waits for the latter.
    """

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self._work = work
        self._current: asyncio.Future[T] | None = None
        self._next: asyncio.Future[T] | None = None

    async def __call__(self) -> T:
        """Have it done, together with whoever else asks."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._after(self._current))
            self._next.add_done_callback(_look_at)
        # Shielded: it is for all who wait for it, and one of them may go away.
        return await asyncio.shield(self._next)

    async def _after(self, current: asyncio.Future[T] | None) -> T:
        if current is not None and not current.done():
            await asyncio.wait([current])
        self._current, self._next = self._next, None
        return await self._work()


def _look_at(done: asyncio.Future[T]) -> None:
    """Everybody who asked may have gone away before it failed: then it is nobody's."""
    if not done.cancelled():
        done.exception()
