"""How many runtimes live in a workspace, and whether there is room for another: as the leases on record say.

Each runtime beside the store holds a lease: one that was started for a notebook `runtime:LOG`, one that somebody brought
`runtime:LOG:ACTOR`. Whoever starts runtimes and may start no more says so with a lease, too, for as long as something
waits: so every process can say why, whatever its own settings are.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...core.ids import LogId, RuntimeId
from ..log.locks import FULL, RUNTIME, Hold, short_name
from ..log.process_id import is_gone, process_of


class LivingRuntime(msgspec.Struct, frozen=True, kw_only=True):
    """A runtime that lives, as its lease says."""

    log: LogId
    brought: RuntimeId | None = None
    """Who it is, if somebody brought it; one that was started has the notebook for itself."""
    holder: str
    epoch: int
    """Of two, the one that came first has the lower number."""


class FullRoom(msgspec.Struct, frozen=True, kw_only=True):
    """Something waits, and there are as many runtimes as there may be."""

    most: int
    idle_seconds: float
    """After how long a runtime without work makes room."""

    @property
    def why(self) -> str:
        """What to tell whoever waits."""
        running = f"{self.most} runtimes are running" if self.most != 1 else "1 runtime is running"
        told = f"waits: {running}, the most that this workspace allows (most_runtimes under [serve])"
        return f"{told}; idle ones end after {in_words(self.idle_seconds)}"


def living_runtimes(leases: Iterable[Hold]) -> list[LivingRuntime]:
    """The runtimes that live. One of this machine lives as long as its process, also if it stands still."""
    found: list[LivingRuntime] = []
    for lease in leases:
        kind, _, rest = short_name(lease.name).partition(":")
        if kind != RUNTIME or is_gone(lease.holder):
            continue
        if lease.seconds_left <= 0 and process_of(lease.holder) is None:
            continue
        log, _, brought = rest.partition(":")
        found.append(
            LivingRuntime(
                log=LogId(log),
                brought=RuntimeId(brought) if brought else None,
                holder=lease.holder,
                epoch=lease.epoch,
            )
        )
    return found


def full_hold(room: FullRoom) -> str:
    """The name under which it is said that there is no room."""
    return f"{FULL}:{room.most}:{room.idle_seconds:g}"


def full_room(leases: Iterable[Hold]) -> FullRoom | None:
    """What is said of the room, while something waits for it."""
    for lease in leases:
        kind, _, rest = short_name(lease.name).partition(":")
        if kind == FULL and lease.seconds_left > 0 and not is_gone(lease.holder):
            most, _, seconds = rest.partition(":")
            return FullRoom(most=int(most), idle_seconds=float(seconds))
    return None


def why_waiting(leases: Iterable[Hold], log: LogId) -> str | None:
    """Why what waits in a notebook is not run, if it is for want of room."""
    found = list(leases)
    room = full_room(found)
    if room is None or any(each.log == log for each in living_runtimes(found)):
        return None
    return room.why


def in_words(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 60:
        return f"{seconds:g} second{'s' * (seconds != 1)}"
    minutes = int(seconds // 60)
    return f"{minutes} minute{'s' * (minutes != 1)}"
