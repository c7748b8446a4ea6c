"""Carries small messages between the processes that have one schema open: by NOTIFY, sealed, and kept nowhere.

A payload of NOTIFY has less than 8,000 bytes, so a message is cut into parts, all sent by one statement: they arrive
together and in order, or not at all. What cannot be sent fast enough is dropped, the oldest first; nobody ever waits for
anybody. A message that is not sealed with the key of the schema, or comes a second time, is not taken.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import secrets
from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple, TypeVar

from ...core.errors import QuireError
from ..lane_encryption import Seal
from .listener import PostgresListener
from .server_connection import DatabaseSchema, Links, PostgresConnection

V = TypeVar("V")
MOST_BYTES = 1 << 20
"""A message that is larger is not carried."""
QUEUE = 2000
QUEUE_BYTES = 4 << 20
"""How much may wait to be sent: beyond that the oldest is dropped."""
BATCH_BYTES = 256 << 10
BYTES_A_SECOND = 2 << 20
PAUSE_SECONDS = 0.02
"""How much is sent at once, how fast at most, and how long what is said in between is gathered."""
PART = 7_500
"""Of a payload, so many characters are the message's own."""
PARTS = 2 * MOST_BYTES // PART
OTHERS = 1000
"""Of so many processes is remembered how far they have been heard."""
LAST_SECONDS = 2.0
AGAIN_SECONDS = 2.0

# What of a message goes to whom: servers hear the channel of the schema, a runtime that of its notebook.
# Nothing of it has to survive a power cut, so nobody waits for a disk.
_SEND = (
    "SELECT pg_notify(channel, part) FROM (SELECT set_config('synchronous_commit', 'off', true)) at_once,"
    " unnest($1::text[], $2::text[]) said (channel, part)"
)
_MAKE_KEY = "INSERT INTO lanes (one, key) SELECT true, gen_random_uuid()::text || gen_random_uuid()::text ON CONFLICT DO NOTHING"


class _Message(NamedTuple):
    text: bytes
    topic: str | None


class PostgresCarrier:
    """The messages of one process, about everything or about one topic."""

    def __init__(
        self, place: DatabaseSchema, links: Links, listener: PostgresListener, topic: str | None = None
    ) -> None:
        self._place, self._links, self._listener = place, links, listener
        self._channel = place.lanes_channel(topic)
        self._origin = secrets.token_hex(8)
        self._number = 0
        self._waiting: dict[Hashable, _Message] = {}
        self._waiting_bytes = 0
        self._stirred = asyncio.Event()
        self._incoming = _MessageAssembler(self._origin)

    async def carry(self, take: Callable[[str, bytes], None], leave: Callable[[], None]) -> None:
        """Send what is waiting, and give `take` what others send, with the name of the process: until cancelled."""
        seal = Seal(await self._key())
        self._incoming.begin(seal, take)
        self._listener.hear(self._channel, self._incoming.hear)
        try:
            while True:
                await self._stirred.wait()
                await asyncio.sleep(PAUSE_SECONDS)
                await self._send(seal)
        finally:
            self._listener.hear(self._channel, None)
            leave()
            with contextlib.suppress(QuireError, TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    await self._send(seal)

    def send(self, message: bytes, replaces: Hashable | None = None, topic: str | None = None) -> None:
        """Send a message soon; not the one that waits under the same name, if there is one. Of a topic: also to its own."""
        if len(message) > MOST_BYTES:
            return
        self._number += 1
        name = replaces if replaces is not None else self._number
        if (before := self._waiting.pop(name, None)) is not None:
            self._waiting_bytes -= len(before.text)
        self._waiting_bytes += len(message)
        self._waiting[name] = _Message(message, topic)
        while len(self._waiting) > QUEUE or self._waiting_bytes > QUEUE_BYTES:
            self._next()
        self._stirred.set()

    @property
    def waiting_bytes(self) -> int:
        """How much memory is held for what is not sent yet."""
        return self._waiting_bytes

    def _next(self) -> _Message:
        message = self._waiting.pop(next(iter(self._waiting)))
        self._waiting_bytes -= len(message.text)
        return message

    async def _send(self, seal: Seal) -> None:
        self._stirred.clear()
        while self._waiting:
            parts: list[tuple[str, str]] = []
            size = 0
            while self._waiting and size < BATCH_BYTES:
                message = self._next()
                size += len(message.text)
                parts += self._parts(seal, message)
            columns = [list(column) for column in zip(*parts, strict=True)]
            with contextlib.suppress(QuireError):  # it is not said, then: a store that is away is told elsewhere
                await self._links.run(lambda db, columns=columns: db.execute(_SEND, *columns))
            await asyncio.sleep(size / BYTES_A_SECOND)

    def _parts(self, seal: Seal, message: _Message) -> Iterator[tuple[str, str]]:
        """What is sent, each with the channel."""
        self._number += 1
        head = f"{self._origin}.{self._number}"
        text = base64.b64encode(seal.close(f"{head}.".encode() + message.text)).decode()
        pieces = [text[start : start + PART] for start in range(0, len(text), PART)]
        for channel in {self._place.lanes_channel(None), self._place.lanes_channel(message.topic)}:
            for index, piece in enumerate(pieces):
                yield channel, f"{head}.{index}.{len(pieces)}.{piece}"

    async def _key(self) -> str:
        """The key of the schema; the first who needs it has the server make it."""

        async def work(connection: PostgresConnection) -> str:
            await connection.execute(_MAKE_KEY)
            return await connection.fetchval("SELECT key FROM lanes")

        while True:
            try:
                return await self._links.run(work)
            except QuireError:
                await asyncio.sleep(AGAIN_SECONDS)


class _MessageAssembler:
    """Puts messages together again, and takes each once."""

    def __init__(self, me: str) -> None:
        self._me = me
        self._seal: Seal | None = None
        self._take: Callable[[str, bytes], None] = lambda origin, message: None
        self._begun: dict[str, tuple[str, list[str]]] = {}
        """Of each process, the message of which not all parts are here."""
        self._heard: dict[str, int] = {}
        """Of each process, the number of the last message."""

    def begin(self, seal: Seal, take: Callable[[str, bytes], None]) -> None:
        """Give all that comes to `take` from now on."""
        self._seal, self._take = seal, take

    def hear(self, payload: str) -> None:
        """A part has come, from whoever can connect to the database."""
        try:
            origin, number, index, count, piece = payload.split(".", 4)
            at, of, name = int(index), int(count), f"{origin}.{int(number)}"
        except ValueError:
            return
        if origin == self._me or len(origin) > len(self._me) or not 0 <= at < of <= PARTS:
            return
        before, pieces = self._begun.pop(origin, ("", []))
        if at == 0:
            before, pieces = name, []
        if name != before or at != len(pieces):
            return  # the beginning was missed
        pieces.append(piece[:PART])
        if at + 1 == of:
            self._open(origin, int(number), name, "".join(pieces))
        else:
            _remember(self._begun, origin, (name, pieces))

    def _open(self, origin: str, number: int, name: str, text: str) -> None:
        try:
            opened = self._seal.open(base64.b64decode(text)) if self._seal is not None else None
        except (binascii.Error, ValueError):
            return
        said, _, message = (opened or b"").partition(name.encode() + b".")
        if opened is None or said or number <= self._heard.get(origin, 0):
            return
        self._heard.pop(origin, None)
        _remember(self._heard, origin, number)
        self._take(origin, message)


def _remember(there: dict[str, V], origin: str, value: V) -> None:
    there[origin] = value
    while len(there) > OTHERS:
        del there[next(iter(there))]
