"""Whether a PostgreSQL server answers, as all connections of one store see it: told once when it does not, and when it does again.

A server that refuses connections is found out soon; one that hangs says nothing, so the connection that listens asks it
now and then (listener.py). While it is away, whoever asks for something hears so after AWAY_SECONDS: those, too,
who asked before that was known.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import chain, repeat
from typing import TypeVar

from ..store import Outage
from .server_connection import COMMAND_SECONDS, FAULTS, PAUSES, DatabaseSchema, explain, fault_of, is_away

T = TypeVar("T")

AWAY_SECONDS = 5.0
"""How long a question waits for a server that is known to be away: it may be back in a moment."""
LOOK_SECONDS = 5.0
"""How often a process that follows looks at the position by itself."""
ANSWER_SECONDS = 10.0
"""A server that does not answer this for so long hangs."""


class Reach:
    """What is known of one server. `tell` gets a line for whoever runs this process.

    All its times become longer or shorter with `away_seconds`.
    """

    def __init__(
        self,
        place: DatabaseSchema,
        tell: Callable[[str], None] = lambda message: None,
        away_seconds: float = AWAY_SECONDS,
    ) -> None:
        scale = away_seconds / AWAY_SECONDS
        self.away_seconds, self.look_seconds, self.answer_seconds = (
            scale * each for each in (AWAY_SECONDS, LOOK_SECONDS, ANSWER_SECONDS)
        )
        self.pauses = tuple(scale * each for each in PAUSES)
        """Seconds between attempts to reach it."""
        self.outage: Outage | None = None
        """Why it is away; None while it answers."""
        self._place, self._tell = place, tell
        self._lost_at = 0.0
        self._limits: set[asyncio.Timeout] = set()

    def lost(self, error: Exception) -> None:
        """It cannot be reached, or does not answer."""
        if self.outage is not None:
            return
        label, now = self._place.label, asyncio.get_running_loop().time()
        self.outage, self._lost_at = Outage(store=label, fault=fault_of(error)), now
        for limit in self._limits:
            with contextlib.suppress(RuntimeError):  # it has ended in this very moment
                limit.reschedule(min(limit.when() or now, now + self.away_seconds))
        self._tell(
            f"{label}: the database is away, and is waited for: {self.outage.fault}. Requests end with that reason"
        )

    def found(self) -> None:
        """It answers."""
        if self.outage is not None:
            seconds = asyncio.get_running_loop().time() - self._lost_at
            self.outage = None
            self._tell(f"{self._place.label}: the database is back after {seconds:.0f} s; everything goes on")

    @asynccontextmanager
    async def limited(self) -> AsyncGenerator[None]:
        """Do something for as long as a question may take: TimeoutError after that."""
        async with asyncio.timeout(self.away_seconds if self.outage is not None else COMMAND_SECONDS) as limit:
            self._limits.add(limit)
            try:
                yield
            finally:
                self._limits.discard(limit)


async def waited_for(
    open: Callable[[], Awaitable[T]], place: DatabaseSchema, seconds: float, tell: Callable[[str], None]
) -> T:
    """Open something at a server, which may not be there yet: it is waited for, so many seconds at most, and told once."""
    loop, is_told = asyncio.get_running_loop(), False
    ends = loop.time() + seconds
    for pause in chain(PAUSES, repeat(PAUSES[-1])):
        try:
            return await open()
        except FAULTS as error:
            if loop.time() >= ends or not (is_away(error) or isinstance(error, TimeoutError)):
                raise explain(error, place.label, f"It was waited for, {seconds:g} s." if is_told else "") from error
            if not is_told:
                tell(f"{place.label}: {fault_of(error)}. It is waited for, {seconds:g} s at most (--wait)")
            is_told = True
        await asyncio.sleep(min(pause, max(0.0, ends - loop.time())))
    raise AssertionError("the last attempt returns or raises")
