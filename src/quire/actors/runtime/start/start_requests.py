"""Requests to start or stop the runtime of a notebook, from a door to the task that starts runtimes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

from ....core.errors import QuireError, Unavailable
from ....core.ids import LogId

ANSWER_SECONDS = 90.0
"""How long a door waits for the answer."""


class _StartRequest(NamedTuple):
    wants: Literal["start", "stop"]
    log: LogId
    done: asyncio.Future[None]


class RuntimeRequests:
    """A queue of requests, each with its answer."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[_StartRequest] = asyncio.Queue()

    async def start(self, log: LogId) -> None:
        """Ask for a runtime, and wait until its process was started. Where one serves the notebook, it stays."""
        await self._ask("start", log)

    async def stop(self, log: LogId) -> None:
        """Ask for the runtime of a notebook to end, and wait until it has."""
        await self._ask("stop", log)

    async def _ask(self, wants: Literal["start", "stop"], log: LogId) -> None:
        request = _StartRequest(wants, log, asyncio.get_running_loop().create_future())
        self._queue.put_nowait(request)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await request.done
        except TimeoutError:
            raise Unavailable(f"The runtime did not {wants} within {ANSWER_SECONDS:g} seconds. Try again.") from None

    async def serve(self, start: Callable[[LogId], Awaitable[None]], stop: Callable[[LogId], Awaitable[None]]) -> None:
        """Do what is asked for, one after the other, until cancelled."""
        while True:
            request = await self._queue.get()
            if request.done.done():  # the door waits no longer
                continue
            try:
                await (start if request.wants == "start" else stop)(request.log)
            except (QuireError, TimeoutError) as error:
                fault = error if isinstance(error, QuireError) else Unavailable("It takes too long. Try again.")
                with contextlib.suppress(asyncio.InvalidStateError):
                    request.done.set_exception(fault)
            else:
                with contextlib.suppress(asyncio.InvalidStateError):
                    request.done.set_result(None)
