"""Presence of agents: each call of a tool says where its actor is and what it does, and a quiet time that it is gone.

An agent has no window, so its calls speak for one: `mcp:` and the actor, which nobody else may use (presence.py). What is
said goes over the lane `presence` like any window's, by whichever way leads to the people who listen.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol

import msgspec

from ...core.errors import QuireError, Refused
from ...core.ids import ActorId, CellId, LogId
from ...core.values import Json
from ..local import LocalWorkspace
from ..protocol import LaneAccess
from ..subscriptions.subscriptions import ConnectionSubscriptions
from ..wire.frames import Frame
from . import lane_messages
from .lane_messages import Doing
from .presence import agent_window

QUIET_SECONDS = 180.0
"""After so long without a call an agent is gone from a notebook."""
_OVER_WITH_THE_CALL: tuple[Doing, ...] = ("running", "waiting")


class PresenceLane(Protocol):
    """A way to the lane `presence` of logs, for one actor."""

    async def say(self, log: LogId, message: Json) -> None:
        """Tell everybody who listens."""
        ...

    def close(self) -> None:
        """Say that the actor is gone from everywhere."""
        ...


class AgentPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent is in one notebook."""

    cell: CellId | None
    doing: Doing
    timer: asyncio.TimerHandle


class AgentPresence:
    """Where one agent is, in all notebooks that its calls touched lately."""

    def __init__(self, actor: ActorId, lane: PresenceLane, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._window, self._lane, self._quiet = agent_window(actor), lane, quiet_seconds
        self._places: dict[LogId, AgentPlace] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._last: LogId | None = None

    @property
    def is_away(self) -> bool:
        """Whether it is in no notebook."""
        return not self._places

    async def at(self, log: LogId, doing: Doing, cell: CellId | None = None) -> None:
        """Say what the agent does; without a cell, at the cell where it was. Nothing fails because nobody hears it."""
        before = self._places.get(log)
        if before is not None:
            before.timer.cancel()
            cell = cell if cell is not None else before.cell
        timer = asyncio.get_running_loop().call_later(self._quiet, self._end, log)
        self._places[log] = AgentPlace(cell=cell, doing=doing, timer=timer)
        self._last = log
        here = lane_messages.WindowHere(window=self._window, cell=cell, doing=doing)
        with contextlib.suppress(QuireError, OSError):
            await self._lane.say(log, lane_messages.said(here))

    async def rest(self) -> None:
        """A call has ended: what runs and what is waited for goes on without the agent."""
        place = self._places.get(self._last) if self._last is not None else None
        if self._last is not None and place is not None and place.doing in _OVER_WITH_THE_CALL:
            await self.at(self._last, "reading")

    def _end(self, log: LogId) -> None:
        task = asyncio.ensure_future(self._leave(log))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _leave(self, log: LogId) -> None:
        self._places.pop(log, None)
        with contextlib.suppress(QuireError, OSError):
            await self._lane.say(log, lane_messages.said(lane_messages.WindowGone(window=self._window)))
        if self.is_away:
            self._lane.close()

    def close(self) -> None:
        """The agent has gone."""
        for place in self._places.values():
            place.timer.cancel()
        self._places.clear()
        self._lane.close()


class LocalPresenceLane:
    """The lane in this process: like a socket's, so that a right that is lost ends it."""

    def __init__(self, workspace: LocalWorkspace) -> None:
        self._workspace = workspace
        self._watching: ConnectionSubscriptions | None = None

    async def say(self, log: LogId, message: Json) -> None:
        """Tell everybody who listens here."""
        if self._watching is None or self._watching.is_over:
            self._watching = await self._workspace.watch(_Deaf(), most=0)
        await self._watching.say(log, lane_messages.PRESENCE_LANE, message)

    def close(self) -> None:
        """Leave; what says something later comes back."""
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.close()


class RemotePresenceLane:
    """The lane of a server elsewhere, which says that the agent is gone when its connection ends."""

    def __init__(self, lanes: LaneAccess) -> None:
        self._lanes = lanes

    async def say(self, log: LogId, message: Json) -> None:
        """Tell everybody who listens there."""
        self._lanes.say(f"{log}/{lane_messages.PRESENCE_LANE}", message)

    def close(self) -> None:
        """Nothing is held here."""


class _Deaf:
    """A connection that only speaks."""

    def wake(self) -> None:
        """Nothing is watched."""

    def tell(self, frame: Frame) -> None:
        """Nothing was asked for."""

    def end(self, error: Refused) -> None:
        """The next call is refused anyway."""
