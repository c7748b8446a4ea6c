"""How long leases have been seen lapsed, by somebody who looked all the time (rule 10).

That a lease lapsed proves nothing: a closed lid, a clock that jumped, a full disk or a hung database lets all of them
lapse at once, those of whoever looks too. So what counts is not the time in the lease. It is the time for which one
process saw it lapsed and was itself awake, with a store that answered, while its holder could have renewed it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Set

from .leases import LEASE_SECONDS


def uptime() -> float:
    """Seconds that pass also while the machine sleeps, where its system counts them; no clock that can be set."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.clock_gettime(clock) if clock is not None else time.monotonic()


class LapseWatch:
    """What one process has seen lapsed since when. Looks that are further apart than `gap_seconds` begin anew."""

    def __init__(
        self,
        lease_seconds: float = LEASE_SECONDS,
        gap_seconds: float | None = None,
        clock: Callable[[], float] = uptime,
    ) -> None:
        self._lease_seconds, self._clock = lease_seconds, clock
        self._gap_seconds = gap_seconds if gap_seconds is not None else lease_seconds
        self._since: dict[str, float] = {}
        self._looked_at = clock()

    def look(self, lapsed: Iterable[str]) -> Set[str]:
        """Take note of all that is lapsed now; return what has been so for a whole lease, seen without interruption."""
        now = self._clock()
        if now - self._looked_at > self._gap_seconds:
            self.interrupt()
        self._looked_at = now
        self._since = {name: self._since.get(name, now) for name in lapsed}
        return {name for name, since in self._since.items() if now - since >= self._lease_seconds}

    def interrupt(self) -> None:
        """The store did not answer, or this process stood still: nobody could renew, or nobody saw it."""
        self._since.clear()
