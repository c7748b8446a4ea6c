"""A workspace that is away may come back: whoever serves or runs a notebook asks again until it does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from ...core.errors import Unavailable

if TYPE_CHECKING:
    from ...core.events import Draft
    from ...outputs.recorder import Outlet
    from ...outputs.streams import Blob

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
OUTAGE_SECONDS = 600.0
"""How long a run waits for a workspace that is away: a restart, a failover, somebody who makes room on a disk."""
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


class OutageTooLong(Unavailable):
    """The workspace was away for longer than a run waits, or whoever runs it does not want to wait."""


class OutageWait:
    """Waits for a workspace that is away, for so long at most. Told when it begins, and when it is over.

    Each request has its own time: a full disk still takes what is small, and that says nothing of what is not.
    `gives_up` says that there is nobody any more who wants to wait.
    """

    def __init__(
        self,
        seconds: float = OUTAGE_SECONDS,
        tell: Callable[[str], None] = lambda message: None,
        gives_up: Callable[[], bool] = lambda: False,
    ) -> None:
        self._seconds, self._tell, self._gives_up = seconds, tell, gives_up
        self._clock = asyncio.get_running_loop().time
        self._waiting = 0
        self._away_since = 0.0
        self._answered = 0.0

    async def patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until there is an answer; OutageTooLong when there is none in time."""
        waits = pauses()
        since: float | None = None
        try:
            while True:
                asked = self._clock()
                try:
                    answer = await ask()
                except Unavailable as error:
                    # Where somebody else had an answer since it was asked, it may have been away then and be back.
                    if since is None and asked >= self._answered:
                        since = self._begin(error)
                    if since is not None:
                        self._check(error, since)
                else:
                    self._answered = self._clock()
                    if since is not None and self._waiting == 1:
                        away = self._answered - self._away_since
                        self._tell(f"The workspace is back after {away:.0f} s: the run goes on")
                    return answer
                await asyncio.sleep(next(waits))
        finally:
            self._waiting -= since is not None

    def _begin(self, error: Unavailable) -> float:
        """Note that one more request waits, and say so of the first; return since when."""
        now = self._clock()
        self._waiting += 1
        if self._waiting == 1:
            self._away_since = now
            if self._seconds > 0 and not self._gives_up():
                self._tell(f"{error} The run waits for it, {self._seconds:g} s at most (--wait)")
        return now

    def _check(self, error: Unavailable, since: float) -> None:
        if self._gives_up():
            told = "The run was stopped while it waited: what its cells did since then is not recorded."
            raise OutageTooLong(f"{error} {told}") from error
        if self._clock() - since >= self._seconds:
            raise OutageTooLong(f"{error} It was waited for, {self._seconds:g} s (--wait).") from error


class PatientOutlet:
    """An outlet that waits while the workspace is away. The same ids again: nothing is recorded twice."""

    def __init__(self, outlet: Outlet, wait: OutageWait) -> None:
        self._outlet, self._wait = outlet, wait

    async def submit(self, drafts: Sequence[Draft]) -> None:
        """Record these, in this order."""
        await self._wait.patiently(lambda: self._outlet.submit(drafts))

    async def keep(self, blob: Blob) -> None:
        """Keep a blob that later drafts name."""
        await self._wait.patiently(lambda: self._outlet.keep(blob))
