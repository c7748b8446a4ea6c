"""What one connection watches, as whoever it is: logs, the feed, and lanes.

What there is to send is taken frame by frame, whenever the connection is ready, one thing after the other in
turn. Rights are looked at when something is asked for, and for everybody again whenever the workspace log has
grown or a token has ended (`Watchings.look`), before anything that came after that is shown to anybody.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Collection
from functools import partial
from typing import Protocol, TypeAlias, cast

from ...core.codec import MAX_INTEGER
from ...core.errors import BadInput, NotFound, QuireError, Refused
from ...core.events import Scope
from ...core.ids import WORKSPACE_LOG, ActorId, LogId, actor_kind, check_id
from ...core.notebook.directory import Directory
from ...core.values import Json
from ...stores.store import Store
from ..identity import identities
from ..identity.identities import Identity
from ..identity.permissions import ActorStanding, Rights
from ..lanes import lane_messages
from ..lanes.lanes import LaneEntry, LaneListener, Lanes
from ..wire.frames import FailedFrame, Frame, LaneFrame, encoded_frame, fault_of
from .fanout import Fanout, OfFeed
from .log_channel import OfLog

OPEN_LANES = frozenset(("presence", "selections"))
"""On these, whoever may read may say something. What is said on others reaches a kernel, or comes from one."""
QUESTIONS = {lane_messages.COMPLETION: "ask", lane_messages.INSPECTION: "ask", lane_messages.STDIN: "answer"}
"""What is said to a runtime and never by one, by lane: the `kind` of the message."""
RETRY_SECONDS = 1.0
LOOK_SECONDS = 3600.0
"""How long tokens are left alone at most: clocks may be set."""
ALLOWED = 1000
"""How many things that may be said are remembered, so that not each takes a look."""
NEVER = "9999"
_LANE = re.compile(r"[a-z][a-z0-9_-]{0,31}")


class Watcher(Protocol):
    """A connection, as those see it who have something for it."""

    def wake(self) -> None:
        """There may be something to take."""
        ...

    def tell(self, frame: Frame) -> None:
        """Send this, too."""
        ...

    def end(self, error: Refused) -> None:
        """Whoever it is may do nothing more here."""
        ...


class OfLane:
    """A lane that is listened to."""

    def __init__(self, id: str, log: LogId, listening: LaneListener) -> None:
        self.log = log
        self.is_ready = False
        self._id = id
        self._listening = listening

    @property
    def is_due(self) -> bool:
        """Whether there is something to send."""
        return self.is_ready and self._listening.is_behind

    async def take(self) -> str | None:
        """The next frame."""
        heard = self._listening.take()
        if heard is None:
            return None
        return encoded_frame(LaneFrame(id=self._id, by=heard.by or identities.SYSTEM, message=heard.message))

    def stop(self) -> None:
        """Listen no longer."""
        self._listening.stop()


Watched: TypeAlias = OfLog | OfFeed | OfLane


class ConnectionSubscriptions:
    """All that one connection watches."""

    def __init__(self, shared: Watchings, identity: Identity, watcher: Watcher, most: int) -> None:
        self.identity = identity
        self.is_over = False
        self._shared = shared
        self._watcher = watcher
        self._most = most
        self._watched: dict[str, Watched] = {}
        self._due: dict[str, None] = {}
        self._allowed: set[tuple[LogId, Scope]] = set()
        self._looks = 0
        self._standing: ActorStanding | None = None

    def __contains__(self, id: str) -> bool:
        return id in self._watched

    # ---- What is asked for

    async def follow(self, id: str, log: LogId, since: int) -> None:
        """Watch a log after a number."""
        self._check_room()
        check_id(log, "Log")
        _check_number(since)
        cursor = await self._shared.fanout.watch(log, since, partial(self._wake, id))
        await self._begin(id, OfLog(id, log, cursor))

    async def feed(self, id: str, since: int | None) -> None:
        """Watch which logs grow."""
        self._check_room()
        _check_number(since or 0)
        identities.check_scope(self.identity, "read")
        cursor = await self._shared.fanout.watch_feed(since, partial(self._wake, id))
        await self._begin(id, OfFeed(id, cursor, self._readable))

    async def listen(self, id: str, log: LogId, lane: str) -> None:
        """Hear what is said on a lane of a log."""
        self._check_room()
        name = await self._lane(log, lane)
        listening = self._shared.lanes.listening(name, partial(self._wake, id), self.identity.actor)
        await self._begin(id, OfLane(id, log, listening))
        if lane == lane_messages.PRESENCE_LANE:
            for window in self._shared.lanes.presence.windows(log):
                listening.hear(LaneEntry(lane_messages.said(window.here), window.by))

    async def say(self, log: LogId, lane: str, message: Json) -> None:
        """Say something on a lane of a log, under the true name."""
        scope = scope_on(lane, message, self.identity.actor)
        if (log, scope) not in self._allowed:
            looks = self._looks
            await self._lane(log, lane)
            await self._shared.rights.check(self.identity, log, scope)
            if scope in self.identity.asks:
                raise Refused(
                    f"{self.identity.actor} has to ask before it may {scope}, and saying on {lane!r} needs that."
                )
            if looks == self._looks and len(self._allowed) < ALLOWED:
                self._allowed.add((log, scope))
        if lane == lane_messages.PRESENCE_LANE:
            message = self._with_principal(message)
            self._shared.lanes.presence.note(self, log, message, self.identity.actor)
        self._shared.lanes.say(f"{log}/{lane}", message, self.identity.actor)

    def _with_principal(self, message: Json) -> Json:
        """A message about a window, with for whom its actor acts: as the credentials say, not as the message does."""
        if not isinstance(message, dict):
            return message
        said = {name: value for name, value in cast("dict[str, Json]", message).items() if name != "on_behalf_of"}
        behalf = self.identity.on_behalf_of
        return said if behalf is None else said | {"on_behalf_of": behalf}

    def _leave(self, log: LogId | None = None) -> None:
        """Say that this connection's windows are gone, in one log or in all."""
        for window in self._shared.lanes.presence.leave(self, log):
            gone = lane_messages.said(lane_messages.WindowGone(window=window.here.window))
            self._shared.lanes.say(f"{window.log}/{lane_messages.PRESENCE_LANE}", gone, window.by)

    async def _lane(self, log: LogId, lane: str) -> str:
        check_id(log, "Log")
        if not _LANE.fullmatch(lane):
            raise BadInput(f"Lane {lane[:40]!r} is not a name: 1 to 32 small letters, digits, _ and - are allowed.")
        if await self._shared.store.info(log) is None:
            # Who may hear a run's lanes depends on what it is a run of: that is known once it has begun.
            raise NotFound(f"There is no notebook or run {log!r} to have a lane. Begin it first.")
        return f"{log}/{lane}"

    def _check_room(self) -> None:
        if len(self._watched) >= self._most:
            told = f"This connection follows {self._most} things already, and no more are allowed."
            raise Refused(f"{told} Stop one, or open another connection.")

    async def _begin(self, id: str, watched: Watched) -> None:
        """Known before it is checked: rights that change in between are noticed by one or the other."""
        self._watched[id] = watched
        try:
            await self._check(watched, await self._shared.rights.standing(self.identity))
        except QuireError:
            if self._watched.get(id) is not watched:
                return  # told already
            self.stop(id)
            raise
        watched.is_ready = True
        self._wake(id)

    def stop(self, id: str) -> None:
        """Watch that no longer."""
        watched = self._watched.pop(id, None)
        self._due.pop(id, None)
        if watched is not None:
            watched.stop()

    def close(self) -> None:
        """Watch nothing any more."""
        self._leave()
        self._shared.leave(self)
        for id in list(self._watched):
            self.stop(id)

    # ---- What there is to send

    def _wake(self, id: str) -> None:
        watched = self._watched.get(id)
        if watched is not None and watched.is_due:
            self._due[id] = None
            self._watcher.wake()

    @property
    def is_due(self) -> bool:
        """Whether there may be something to take."""
        return bool(self._due) and not self.is_over

    async def take(self) -> str | None:
        """The next frame; None when there is nothing to send now."""
        while self._due and not self.is_over:
            id = next(iter(self._due))
            del self._due[id]
            watched = self._watched[id]
            try:
                frame = await watched.take()
            except QuireError as error:
                self._end(id, watched, error)
                continue
            if self._watched.get(id) is not watched:
                continue  # stopped meanwhile
            if watched.is_due:
                self._due[id] = None  # behind all others
            if frame is not None:
                return frame
        return None

    def _end(self, id: str, watched: Watched, error: QuireError) -> None:
        if self._watched.get(id) is watched:
            self.stop(id)
            self._watcher.tell(FailedFrame(id=id, error=fault_of(error)))

    # ---- Rights

    async def look(self, directory: Directory) -> None:
        """See what of it is still allowed."""
        self._looks += 1
        self._allowed.clear()
        try:
            self._standing = await self._shared.rights.standing(self.identity, directory)
        except Refused as error:
            self.is_over = True
            self._leave()
            self._watcher.end(error)
            return
        for log in self._shared.lanes.presence.logs_of(self):
            if not await self._shared.rights.readable(self._standing, [log]):
                self._leave(log)
        for id, watched in list(self._watched.items()):
            try:
                await self._check(watched, self._standing)
            except Refused as error:
                self._end(id, watched, error)

    async def _check(self, watched: Watched, standing: ActorStanding) -> None:
        identities.check_scope(self.identity, "read")
        if watched.log is not None and self.identity.is_bound:
            standing.check(await self._shared.rights.place(watched.log, standing.directory), "read")

    async def _readable(self, logs: Collection[LogId]) -> set[LogId]:
        rights = self._shared.rights
        self._standing = self._standing or await rights.standing(self.identity)
        return await rights.readable(self._standing, logs)


def scope_on(lane: str, message: Json, actor: ActorId) -> Scope:
    """The scope that saying something on a lane takes: a runtime serves there, and asks nothing of others."""
    if lane in OPEN_LANES:
        return "read"
    kind = cast("dict[str, Json]", message).get("kind") if isinstance(message, dict) else None
    is_question = lane in QUESTIONS and kind == QUESTIONS[lane]
    return "serve" if actor_kind(actor) == "runtime" and not is_question else "run"


def _check_number(since: int) -> None:
    if not 0 <= since <= MAX_INTEGER:
        raise BadInput(f"`since` is 0 or the last number that was seen, not {str(since)[:20]}.")


class Watchings:
    """Everything that is watched in this process, and whoever watches it."""

    def __init__(self, store: Store, rights: Rights, lanes: Lanes) -> None:
        self.store = store
        self.rights = rights
        self.lanes = lanes
        self.fanout = Fanout(store, self.look)
        self._all: dict[ConnectionSubscriptions, None] = {}
        self._seen = -1
        self._ends = NEVER
        """When the first token ends."""
        self._looking = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timed: asyncio.Task[None] | None = None

    async def enter(self, identity: Identity, watcher: Watcher, most: int) -> ConnectionSubscriptions:
        """Begin to watch, nothing so far."""
        watching = ConnectionSubscriptions(self, identity, watcher, most)
        self._all[watching] = None
        try:
            await watching.look(await self.rights.directory())
        except BaseException:
            self.leave(watching)
            raise
        if self._following is None:
            self._following = asyncio.ensure_future(self._follow())
        self._set_timer()
        return watching

    def leave(self, watching: ConnectionSubscriptions) -> None:
        """End that."""
        self._all.pop(watching, None)
        if not self._all:
            self._stop()

    def _stop(self) -> None:
        for task in (self._following, self._timer, self._timed):
            if task is not None:
                task.cancel()
        self._following = self._timer = self._timed = None

    async def close(self) -> None:
        """Watch nothing any more."""
        self._stop()
        await self.fanout.close()

    async def look(self, begun: Collection[LogId] = ()) -> None:
        """See what everybody may still read, if anything has changed since the last time."""
        async with self._looking:
            info = await self.store.info(WORKSPACE_LOG)
            head = info.head.seq if info is not None else 0
            if head == self._seen and not begun and self.rights.now() < self._ends:
                return
            directory = await self.rights.directory()
            for watching in list(self._all):
                await watching.look(directory)
            self._seen = head
            self._set_timer()

    async def _follow(self) -> None:
        """Look whenever the workspace log has grown."""
        while True:
            with contextlib.suppress(QuireError):
                async for _ in self.store.follow(WORKSPACE_LOG, max(0, self._seen)):
                    await self.look()
            await asyncio.sleep(RETRY_SECONDS)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        there = [each.identity for each in self._all if not each.is_over and each.identity.expires_at is not None]
        first = min(there, key=lambda identity: identity.expires_at or NEVER, default=None)
        self._ends = first.expires_at or NEVER if first is not None else NEVER
        if self._all:
            left = self.rights.left(first) if first is not None else None
            seconds = min(LOOK_SECONDS if left is None else left, LOOK_SECONDS)
            self._timer = asyncio.get_running_loop().call_later(seconds, self._look_soon)

    def _look_soon(self) -> None:
        self._timed = asyncio.ensure_future(self._look_timed())

    async def _look_timed(self) -> None:
        with contextlib.suppress(QuireError):  # the next tick tells whoever follows something
            await self.look()
        self._set_timer()
