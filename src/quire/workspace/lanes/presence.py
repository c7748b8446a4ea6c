"""Who is where: the last `here` of each window, for those who come later, and `gone` for windows whose connection ended.

Kept in memory for as long as the connection lasts that said it. A window is one actor's: somebody else can neither move
nor close it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Set

import msgspec

from ...core.errors import BadInput, Refused
from ...core.ids import ActorId, LogId
from ...core.values import Json
from . import lane_messages

MOST_WINDOWS = 200
"""How many windows one connection may have: an agent or a proxy may speak for several."""
AGENT_WINDOW = "mcp:"
"""How the windows of agents begin: the actor follows."""


def agent_window(actor: ActorId) -> str:
    """The window that stands for an agent, which has none of its own."""
    return f"{AGENT_WINDOW}{actor}"


class PresentWindow(msgspec.Struct, frozen=True, kw_only=True):
    """A window that is open in a log, as its connection said last."""

    log: LogId
    by: ActorId
    here: lane_messages.WindowHere
    connection: Hashable


class Presence:
    """The windows of all connections of one process."""

    def __init__(self) -> None:
        self._windows: dict[tuple[LogId, str], PresentWindow] = {}
        self._mine: dict[Hashable, dict[tuple[LogId, str], None]] = {}

    def note(
        self, connection: Hashable, log: LogId, message: Json, by: ActorId, most_windows: int = MOST_WINDOWS
    ) -> None:
        """Keep where a window is, or forget it. Messages of other kinds are none of its business."""
        try:
            said = lane_messages.read(message, lane_messages.PRESENCE)
        except BadInput:
            return  # those who listen hear it as it is
        if said.window.startswith(AGENT_WINDOW) and said.window != agent_window(by):
            raise Refused(
                f"Window {said.window!r} is not {by}'s: windows that begin with {AGENT_WINDOW!r} name an agent."
            )
        key = log, said.window
        before = self._windows.get(key)
        if before is not None and before.by != by:
            raise Refused(f"Window {said.window!r} is {before.by}'s. Give each window an id of its own.")
        if isinstance(said, lane_messages.WindowGone):
            self._forget(key)
            return
        mine = self._mine.setdefault(connection, {})
        if key not in mine and len(mine) >= most_windows:
            raise Refused(f"This connection has {most_windows} windows, and no more are allowed. Close one.")
        self._forget(key)  # a connection that is lost and made again takes its windows along
        self._windows[key] = PresentWindow(log=log, by=by, here=said, connection=connection)
        self._mine.setdefault(connection, {})[key] = None

    def _forget(self, key: tuple[LogId, str]) -> PresentWindow | None:
        window = self._windows.pop(key, None)
        if window is not None:
            mine = self._mine.get(window.connection, {})
            mine.pop(key, None)
            if not mine:
                self._mine.pop(window.connection, None)
        return window

    def windows(self, log: LogId) -> Iterator[PresentWindow]:
        """The windows that are open in a log, in the order in which they moved last."""
        return (window for (where, _), window in self._windows.items() if where == log)

    def all(self) -> list[PresentWindow]:
        """The windows that are open in all logs."""
        return list(self._windows.values())

    def window(self, log: LogId, name: str) -> PresentWindow | None:
        """The window of this name, if it is open."""
        return self._windows.get((log, name))

    def actors(self) -> dict[LogId, list[ActorId]]:
        """Who is in which log."""
        found: dict[LogId, dict[ActorId, None]] = {}
        for window in self._windows.values():
            found.setdefault(window.log, {})[window.by] = None
        return {log: list(actors) for log, actors in found.items()}

    def logs_of(self, connection: Hashable) -> set[LogId]:
        """The logs in which a connection has windows."""
        return {log for log, _ in self._mine.get(connection, {})}

    def leave(
        self, connection: Hashable, log: LogId | None = None, *, but: Set[tuple[LogId, str]] = frozenset()
    ) -> list[PresentWindow]:
        """Forget the windows of a connection, in one log or in all, but for some, and return them."""
        keys = [key for key in self._mine.get(connection, {}) if log in (None, key[0]) and key not in but]
        return [window for key in keys if (window := self._forget(key)) is not None]
