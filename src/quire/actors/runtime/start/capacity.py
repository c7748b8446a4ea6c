"""Room for another runtime: counts all that live in the workspace, and ends the one that has been idle longest.

What is decided is decided by the log: Quire's `runtime_detached` is refused where something runs or waits by then, and
where the runtime was ended already. The runtime reads it and goes. Until it is gone nobody else is ended, whoever looks:
so two who need the same place end one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from datetime import datetime

from ....core import events as e
from ....core.errors import Conflict, NotFound, Refused
from ....core.events import Draft, Entry
from ....core.ids import LogId, RuntimeId
from ....workspace import clock
from ....workspace.clock import new_id
from ....workspace.lanes.runtime_limit import FullRoom, LivingRuntime, full_hold, in_words
from ....workspace.local import LocalWorkspace
from ....workspace.log.locks import is_started

IDLE_SECONDS = 300.0
"""A runtime that has had nothing to do for so long, and in whose notebook nobody is, may be ended to make room."""
SAID_SECONDS = 10.0
"""How long it counts that there is no room, unless it is said again."""
ENDING_SECONDS = 60.0
"""How long a runtime may take to go."""
_COMINGS = ("runtime_attached", "runtime_detached")


class Room:
    """How many runtimes there may be, for one process that starts them."""

    def __init__(self, system: LocalWorkspace, most: int, idle_seconds: float = IDLE_SECONDS) -> None:
        self._system = system
        self._full = FullRoom(most=most, idle_seconds=idle_seconds)

    @property
    def why(self) -> str:
        """What to tell whoever waits."""
        return self._full.why

    async def is_full(self, log: LogId, starting: Collection[LogId]) -> bool:
        """Whether there is no room for a runtime of a notebook beside those that live and that start; then one may be ended."""
        living = await self._system.living_runtimes()
        served = {each.log for each in living}
        if len(living) + len(set(starting) - served) < self._full.most:
            return False
        if log in served:
            return True  # somebody else was quicker, and its place is among these: nobody has to go for it
        await self._say_full()
        await self._end_one(living)
        return True

    async def _say_full(self) -> None:
        name = full_hold(self._full)
        hold = await self._system.hold_of(name)
        with contextlib.suppress(Refused):  # another process says the same
            if hold is None or hold.seconds_left <= 0:
                await self._system.hold(name, SAID_SECONDS)
            elif hold.seconds_left < SAID_SECONDS / 2:
                await self._system.renew_hold(hold, SAID_SECONDS)

    async def _end_one(self, living: list[LivingRuntime]) -> None:
        present = self._system.present()
        idle: list[tuple[str, LogId, RuntimeId]] = []
        for each in living:
            if each.log not in present:
                idle += await self._idle(each)
        # Checked last: a runtime that another process ended meanwhile is not among the idle ones any more.
        for each in living:
            if await self._is_ending(each.log):
                return  # its place is free in a moment
        for since, log, runtime in sorted(idle)[:1]:
            await self._end(log, runtime, _seconds_since(since))

    async def _is_ending(self, log: LogId) -> bool:
        """Whether it was ended lately to make room. One that does not go is not waited for any longer than that."""
        last = await self._last(log, _COMINGS)
        if last is None or not isinstance(last.event, e.RuntimeDetached) or not last.by.startswith("system:"):
            return False
        return bool(last.event.why) and _seconds_since(last.at) < ENDING_SECONDS

    async def _idle(self, living: LivingRuntime) -> list[tuple[str, LogId, RuntimeId]]:
        """Since when a runtime has had nothing to do, if that is long enough."""
        notebook = await self._system.read(living.log)
        if notebook.executions:
            return []
        attached = [id for id in notebook.runtimes if (id == living.brought if living.brought else is_started(id))]
        last = await self._last(living.log)
        if not attached or last is None or _seconds_since(last.at) < self._full.idle_seconds:
            return []
        return [(last.at, living.log, attached[0])]

    async def _last(self, log: LogId, types: Collection[str] | None = None) -> Entry | None:
        found = await self._system.entries(log, types=types, newest_first=True, limit=1)
        return found[0] if found else None

    async def _end(self, log: LogId, runtime: RuntimeId, idle_seconds: float) -> None:
        limit = f"{self._full.most} at once are the most that this workspace allows (most_runtimes under [serve])"
        why = f"idle for {in_words(round(idle_seconds))}, it made room for another notebook: {limit}"
        draft = Draft(id=new_id(), event=e.RuntimeDetached(runtime=runtime, why=why))
        with contextlib.suppress(Conflict, NotFound, Refused):  # it got work, or was ended by somebody else
            await self._system.submit(log, [draft])


def _seconds_since(at: str) -> float:
    return (datetime.fromisoformat(clock.now()) - datetime.fromisoformat(at)).total_seconds()
