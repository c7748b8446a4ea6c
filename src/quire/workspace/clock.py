"""Time and randomness, for everything above core: the one place where they come from."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta

from ..core.ids import EventId, ulid

_POOL_BYTES = 4000


class _Pool:
    """Random bytes of the system, fetched many at a time: a call for ten of them costs as much."""

    def __init__(self) -> None:
        self._left = b""

    def take(self, count: int) -> bytes:
        if len(self._left) < count:
            self._left = os.urandom(_POOL_BYTES)
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def empty(self) -> None:
        self._left = b""


_pool = _Pool()
# A forked child must not go on with its parent's bytes: both would make the same ids.
os.register_at_fork(after_in_child=_pool.empty)


def now() -> str:
    """The time to stamp: UTC with microseconds, as text that sorts."""
    return stamp(datetime.now(UTC))


def later(seconds: float) -> str:
    """The time so many seconds from now."""
    return stamp(datetime.now(UTC) + timedelta(seconds=seconds))


def earlier(now: str, later: str) -> str:
    """The time that is as long before `now` as `later` is after it."""
    at = datetime.fromisoformat(now)
    return stamp(at - (datetime.fromisoformat(later) - at))


def stamp(time: datetime) -> str:
    """A time in UTC as text that sorts."""
    return time.isoformat(timespec="microseconds")[:26] + "Z"


def new_id() -> EventId:
    """A new id for an event, a log, an execution, a proposal …"""
    return EventId(ulid(time.time_ns() // 1_000_000, _pool.take))
