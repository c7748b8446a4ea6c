"""Lanes of several servers on one store: what is said at one is heard at all of them, and nothing of it is kept.

Each server tells the others what was said by those who are connected to it, once: what came from another is never sent on.
Every few seconds it says which windows are open at it, so that whoever began later, or missed something, knows them all; of
a server that is not heard of for a while the windows are gone. Whoever hears something hears it as if it had been said
here: with by whom, as the server says that knows their credentials. A runtime that works on the store itself does the
same for its own log, and hears what is said to runtimes there: it needs no server that it is connected to.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec

from ...core.errors import BadInput, Refused
from ...core.ids import ActorId, LogId, actor_kind
from ...core.values import Json
from ...stores.store import Carrier
from ..tasks import cancel_and_wait
from . import lane_messages
from .presence import PresentWindow

if TYPE_CHECKING:
    from .lanes import Lanes

BEAT_SECONDS = 5.0
"""How often a server says which windows are open at it, if any are."""
GONE_SECONDS = 15.0
"""A server that is not heard of for so long is gone, and with it its windows."""
LATE_SECONDS = 10.0
"""A process whose own beat comes so late stood still: it heard nobody meanwhile, which says nothing of the others."""
MOST_ELSEWHERE = 2000
"""So many windows of one other server are known."""


class Elsewhere(msgspec.Struct, frozen=True):
    """The connections of another server, all in one."""

    origin: str


class SaidElsewhere(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="said"):
    """Something was said on a lane, to all or to one actor."""

    lane: str
    message: Json
    by: ActorId
    to: ActorId | None = None


class OpenWindow(msgspec.Struct, frozen=True):
    """A window, and whose it is."""

    log: LogId
    by: ActorId
    here: Json


class OpenWindows(msgspec.Struct, frozen=True, kw_only=True, tag="windows"):
    """All windows that are open at a server."""

    windows: list[OpenWindow]


_Carried: TypeAlias = SaidElsewhere | OpenWindows
_FOR_PEOPLE = frozenset((lane_messages.PRESENCE_LANE, "selections", lane_messages.HEALTH))
_decoder = msgspec.json.Decoder(_Carried)


class LaneCarrying:
    """What one process says to the others, and hears of them: a server about everything, a runtime about its log."""

    def __init__(
        self,
        carrier: Carrier,
        lanes: Lanes,
        log: LogId | None = None,
        clock: Callable[[], float] | None = None,
        gone_seconds: float | None = None,
    ) -> None:
        self._carrier, self._lanes, self._log = carrier, lanes, log
        self._scale = 1.0 if gone_seconds is None else gone_seconds / GONE_SECONDS
        self._clock = clock or asyncio.get_running_loop().time
        self._heard: dict[str, float] = {}
        """When servers with windows were heard of last."""
        self._has_windows = False

    async def run(self) -> None:
        """Carry, until cancelled."""
        self._lanes.carries[self._log] = self.say
        beating = asyncio.ensure_future(self._beat())
        try:
            await self._carrier.carry(self._take, self._leave)
        finally:
            self._lanes.carries.pop(self._log, None)
            await cancel_and_wait(beating)
            for origin in list(self._heard):
                self._forget(origin)

    # ---- To the others

    def say(self, lane: str, message: Json, by: ActorId, to: ActorId | None) -> None:
        """Tell the others what was said here."""
        said = SaidElsewhere(lane=lane, message=message, by=by, to=to)
        self._has_windows = self._has_windows or lane.endswith(f"/{lane_messages.PRESENCE_LANE}")
        with contextlib.suppress(TypeError, ValueError, RecursionError):  # what no wire carries is heard here alone
            self._carrier.send(msgspec.json.encode(said), _replaced(lane, message), _topic(lane, by))

    async def _beat(self) -> None:
        before = self._clock()
        while True:
            self._say_windows()
            now = self._clock()
            if now - before > LATE_SECONDS * self._scale:
                self._heard = dict.fromkeys(self._heard, now)
            before = now
            for origin in [origin for origin, at in self._heard.items() if now - at > GONE_SECONDS * self._scale]:
                self._forget(origin)
            await asyncio.sleep(BEAT_SECONDS * self._scale)

    def _say_windows(self) -> None:
        """Say which windows are open here; that none is any more, once."""
        found = [
            OpenWindow(window.log, window.by, lane_messages.said(window.here))
            for window in self._lanes.presence.all()
            if not isinstance(window.connection, Elsewhere)
        ]
        if found or self._has_windows:
            self._carrier.send(msgspec.json.encode(OpenWindows(windows=found[:MOST_ELSEWHERE])), "windows")
        self._has_windows = bool(found)

    def _leave(self) -> None:
        """Say that nobody is here any more."""
        if self._has_windows:
            self._carrier.send(msgspec.json.encode(OpenWindows(windows=[])), "windows")

    # ---- From the others

    def _take(self, origin: str, data: bytes) -> None:
        try:
            said = _decoder.decode(data)
        except (msgspec.MsgspecError, RecursionError):
            return  # of a server of another version: what it says is for those who understand it
        if origin in self._heard:
            self._heard[origin] = self._clock()
        if isinstance(said, OpenWindows):
            self._take_windows(Elsewhere(origin), said.windows)
        elif said.lane.endswith(f"/{lane_messages.PRESENCE_LANE}"):
            log = LogId(said.lane.partition("/")[0])
            self._take_window(Elsewhere(origin), OpenWindow(log, said.by, said.message))
        else:
            self._lanes.deliver(said.lane, said.message, said.by, to=said.to, is_elsewhere=True)

    def _take_windows(self, there: Elsewhere, windows: list[OpenWindow]) -> None:
        presence, said = self._lanes.presence, {(each.log, _name(each.here)) for each in windows}
        for gone in presence.leave(there, but=said):
            self._say_gone(gone)
        for window in windows[:MOST_ELSEWHERE]:
            before = presence.window(window.log, _name(window.here))
            # A list may be older than what was said: who has come here meanwhile is here.
            is_known = (
                before is not None and before.connection == there and lane_messages.said(before.here) == window.here
            )
            if before is None or (isinstance(before.connection, Elsewhere) and not is_known):
                self._take_window(there, window)

    def _take_window(self, there: Elsewhere, window: OpenWindow) -> None:
        presence, lane = self._lanes.presence, f"{window.log}/{lane_messages.PRESENCE_LANE}"
        try:
            said = lane_messages.read(window.here, lane_messages.PRESENCE)
            if isinstance(said, lane_messages.WindowGone):
                before = presence.window(window.log, said.window)
                if before is not None and before.connection == there:
                    presence.note(there, window.log, window.here, window.by)
                    self._lanes.deliver(lane, window.here, window.by, is_elsewhere=True)
                return  # who came back at another server is there, whatever the one says where they were before
            presence.note(there, window.log, window.here, window.by, MOST_ELSEWHERE)
        except (BadInput, Refused):
            return
        self._heard[there.origin] = self._clock()
        self._lanes.deliver(lane, window.here, window.by, is_elsewhere=True)

    def _forget(self, origin: str) -> None:
        """A server is gone."""
        del self._heard[origin]
        for gone in self._lanes.presence.leave(Elsewhere(origin)):
            self._say_gone(gone)

    def _say_gone(self, window: PresentWindow) -> None:
        gone = lane_messages.said(lane_messages.WindowGone(window=window.here.window))
        self._lanes.deliver(f"{window.log}/{lane_messages.PRESENCE_LANE}", gone, window.by, is_elsewhere=True)


def _name(here: Json) -> str:
    found = cast("dict[str, Any]", here).get("window") if isinstance(here, dict) else None
    return found if isinstance(found, str) else ""


def _topic(lane: str, by: ActorId) -> str | None:
    """The log whose runtimes have to hear it: what they say themselves, and where windows are, is for people."""
    log, _, name = lane.partition("/")
    return None if name in _FOR_PEOPLE or actor_kind(by) == "runtime" else log


def _replaced(lane: str, message: Json) -> Hashable | None:
    """What the message makes superfluous if it was not sent yet: where a window was before."""
    name = _name(message) if lane.endswith(f"/{lane_messages.PRESENCE_LANE}") else ""
    return (lane, name) if name else None
