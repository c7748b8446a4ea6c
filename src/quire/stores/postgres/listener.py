"""How a process hears that another one has committed.

NOTIFY is a wake-up and never the data. It can get lost with the connection, so whenever the
connection is made anew everybody is woken, and the position is looked at now and then.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import msgspec

from ...core.ids import LogId
from ..wakeups import Wakes
from .reachability import Reach
from .server_connection import FAULTS, DatabaseSchema, PostgresConnection, connect, hang_up, is_away
from .writer import PostgresWriter

POSITION = "SELECT value FROM counters WHERE name = 'position'"


class PostgresListener:
    """Wakes the followers of this process when another one has committed."""

    def __init__(self, place: DatabaseSchema, wakes: Wakes, writer: PostgresWriter, reach: Reach) -> None:
        self._place = place
        self._reach = reach
        self._wakes = wakes
        self._writer = writer
        self._task: asyncio.Task[None] | None = None
        self._others: dict[str, Callable[[str], None]] = {}
        self._stirred = asyncio.Event()

    def hear(self, channel: str, take: Callable[[str], None] | None) -> None:
        """Give what comes on another channel to `take`, or to nobody any more."""
        if take is None:
            self._others.pop(channel, None)
        else:
            self._others[channel] = take
            self.start()
        self._stirred.set()

    def start(self) -> None:
        """Listen, from the first follower on."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen_on(), name="quire-listen")

    async def close(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _listen_on(self) -> None:
        while True:
            try:
                await self._listen()  # comes back when the connection is lost: make another at once
            except FAULTS as error:
                if is_away(error) or isinstance(error, TimeoutError):
                    self._reach.lost(error)
                await asyncio.sleep(self._reach.pauses[-1])

    async def _listen(self) -> None:
        # Where it is known to be away, once every pause: nobody waits for more than that when it is back.
        connection = await connect(self._place, pauses=self._reach.pauses if self._reach.outage is None else ())
        connection.add_termination_listener(lambda *_: self._stirred.set())
        listened: set[str] = set()
        try:
            await connection.add_listener(self._place.channel, self._hear)
            self._wakes.wake()  # of what came while nobody listened
            seen = None
            while not connection.is_closed():
                self._stirred.clear()
                wanted = set(self._others)
                for channel in wanted - listened:
                    await connection.add_listener(channel, self._pass_on)
                for channel in listened - wanted:
                    await connection.remove_listener(channel, self._pass_on)
                listened = wanted
                position = await self._position(connection)
                if seen is not None and position != seen:
                    self._wakes.wake()
                seen = position
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stirred.wait(), self._reach.look_seconds)
        finally:
            await hang_up(connection)

    async def _position(self, connection: PostgresConnection) -> int:
        """The position; and whether the server answers at all, for a connection to one that hangs is never lost."""
        try:
            async with asyncio.timeout(self._reach.answer_seconds):
                position: int = await connection.fetchval(POSITION)
        except TimeoutError:
            connection.terminate()
            raise
        self._reach.found()
        return position

    def _hear(self, _connection: PostgresConnection, backend: int, _channel: str, payload: str) -> None:
        if backend == self._writer.backend:
            return  # our own: its followers were woken after the commit
        try:
            logs = msgspec.json.decode(payload, type=list[LogId]) if payload else None
        except msgspec.MsgspecError:
            logs = None  # anybody who can connect can send one; it wakes, and means nothing
        self._wakes.wake(logs)

    def _pass_on(self, _connection: PostgresConnection, _backend: int, channel: str, payload: str) -> None:
        if (take := self._others.get(channel)) is not None:
            take(payload)
