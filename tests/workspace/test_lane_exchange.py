"""Lanes of several servers on one PostgreSQL: heard at all of them, kept nowhere, and bounded (rule 5)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from quire.actors.runtime.store_lanes import lanes_beside
from quire.core import events as e
from quire.core.events import Draft
from quire.core.ids import ActorId, LogId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.lane_encryption import Seal
from quire.stores.postgres.notify_lanes import MOST_BYTES, QUEUE_BYTES
from quire.stores.postgres.postgres_store import PostgresStore
from quire.workspace.clock import new_id
from quire.workspace.identity import identities
from quire.workspace.identity.identities import Identity
from quire.workspace.lanes import lane_exchange
from quire.workspace.lanes.lane_exchange import MOST_ELSEWHERE, LaneCarrying
from quire.workspace.lanes.lanes import KEPT, LaneEntry, Lanes
from quire.workspace.local import LocalWorkspace
from quire.workspace.subscriptions.subscriptions import ConnectionSubscriptions
from quire.workspace.wire.frames import Frame

from ..conftest import Postgres

LOG = LogId("01M7GFVPH90000000000000000")
OTHER = LogId("01M7GFVPH90000000000000001")
ADA, BOB = ActorId("human:ada"), ActorId("human:bob")
PRESENCE, TALK = f"{LOG}/presence", f"{LOG}/comms"


class Deaf:
    """A connection of a client that only speaks."""

    def wake(self) -> None: ...
    def tell(self, frame: Frame) -> None: ...
    def end(self, error: Exception) -> None: ...


def _say_nothing(*_: object) -> None: ...


class House:
    """A server, as far as lanes go."""

    def __init__(self, workspace: LocalWorkspace) -> None:
        self.workspace = workspace
        self.lanes: Lanes = workspace._shared.lanes  # pyright: ignore[reportPrivateUsage]
        store: Any = workspace._shared.store  # pyright: ignore[reportPrivateUsage]
        self.place, self.carrier = store._place, store.carrier()
        self.carrying = asyncio.ensure_future(LaneCarrying(self.carrier, self.lanes).run())

    async def window(self, actor: ActorId) -> ConnectionSubscriptions:
        """The connection of somebody."""
        identity = Identity(actor=actor, scopes=identities.owner().scopes)
        return await self.workspace.acting_as(identity).watch(Deaf(), most=10)

    async def die(self) -> None:
        """Be gone without a word: nothing more is sent."""
        self.carrier.send = _say_nothing
        await self.end()

    async def end(self) -> None:
        """End, and say so."""
        self.carrying.cancel()
        await asyncio.gather(self.carrying, return_exceptions=True)


@asynccontextmanager
async def houses(postgres: Postgres, schema: str, count: int = 2) -> AsyncGenerator[list[House]]:
    made: list[House] = []
    for _ in range(count):
        store = await PostgresStore.open(postgres.url, schema=schema)
        made.append(House(LocalWorkspace(store, MemoryBlobs())))
    event = e.NotebookCreated(name="n")
    await made[0].workspace.submit(LOG, [Draft(id=new_id(), event=event)])
    await until_connected(made)
    try:
        yield made
    finally:
        for house in made:
            await house.end()
            await house.workspace.close()


async def until_connected(made: list[House]) -> None:
    """Speak at each until all others have heard it."""
    for house in made:
        others = [listened(other, f"{LOG}/hello") for other in made if other is not house]
        async with asyncio.timeout(60):
            while not all(other.is_behind for other in others):
                house.lanes.say(f"{LOG}/hello", "hello", ADA)
                await asyncio.sleep(0.05)
        for other in others:
            other.stop()


def listened(house: House, lane: str, who: ActorId | None = None) -> Any:
    return house.lanes.listening(lane, lambda: None, who)


async def heard(listening: Any) -> LaneEntry:
    async with asyncio.timeout(60):
        while (found := listening.take()) is None:  # noqa: ASYNC110 - of a lane that is listened to from outside
            await asyncio.sleep(0.01)
        return found


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110 - of another process, as it were
            await asyncio.sleep(0.01)


@pytest.fixture
async def pair(postgres: Postgres) -> AsyncIterator[list[House]]:
    async with postgres.schema() as schema, houses(postgres, schema) as made:
        yield made


def here(window: str, **more: Any) -> Any:
    return {"kind": "here", "window": window, **more}


async def test_windows_are_seen_at_the_other_server_and_go_when_they_are_closed(pair: list[House]) -> None:
    one, two = pair
    listening = listened(two, PRESENCE)
    window = await one.window(ADA)
    await window.say(LOG, "presence", here("w", cell="a"))
    assert await heard(listening) == LaneEntry(here("w", cell="a"), ADA)
    assert two.workspace.present() == {LOG: [ADA]}, "for those, too, who come later"
    window.close()
    assert await heard(listening) == LaneEntry({"kind": "gone", "window": "w"}, ADA)
    assert two.workspace.present() == {}


async def test_who_comes_back_at_another_server_is_there_and_nobody_else_moves_their_window(pair: list[House]) -> None:
    one, two = pair
    before, after = await one.window(ADA), await two.window(ADA)
    await before.say(LOG, "presence", here("w", cell="a"))
    await until(lambda: two.workspace.present() == {LOG: [ADA]})
    await after.say(LOG, "presence", here("w", cell="b"))
    await until(lambda: (found := one.lanes.presence.window(LOG, "w")) is not None and found.here.cell == "b")
    before.close()
    talk = listened(two, TALK)
    one.lanes.say(TALK, "all that came before is here", ADA)
    await heard(talk)
    assert one.workspace.present() == two.workspace.present() == {LOG: [ADA]}, (
        "the old connection does not take it along"
    )


async def test_windows_of_a_server_that_ends_are_gone(pair: list[House]) -> None:
    one, two = pair
    listening = listened(two, PRESENCE)
    await (await one.window(ADA)).say(LOG, "presence", here("w"))
    await heard(listening)
    await one.end()
    assert await heard(listening) == LaneEntry({"kind": "gone", "window": "w"}, ADA)


async def test_windows_of_a_server_that_died_go_within_a_bounded_time(
    pair: list[House], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = pair
    listening = listened(two, PRESENCE)
    window = await one.window(ADA)
    await window.say(LOG, "presence", here("w"))
    await heard(listening)
    monkeypatch.setattr(lane_exchange, "GONE_SECONDS", 0.0)
    await one.die()
    assert await heard(listening) == LaneEntry({"kind": "gone", "window": "w"}, ADA)


class Wire:
    """A way to other servers on which a test says what they say."""

    waiting_bytes = 0

    def __init__(self) -> None:
        self.take: Callable[[str, bytes], None] = _say_nothing

    def send(self, message: bytes, replaces: Hashable | None = None, topic: str | None = None) -> None: ...

    async def carry(self, take: Callable[[str, bytes], None], leave: Callable[[], None]) -> None:
        self.take = take
        await asyncio.Event().wait()


async def test_a_server_that_stood_still_itself_takes_no_other_for_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_exchange, "BEAT_SECONDS", 0.0)
    now, looks, wire, lanes = [0.0], [0], Wire(), Lanes()

    def clock() -> float:
        looks[0] += 1
        return now[0]

    async def pass_by(seconds: float) -> None:
        now[0] += seconds
        seen = looks[0]
        await until(lambda: looks[0] > seen + 2)

    carrying = asyncio.ensure_future(LaneCarrying(wire, lanes, clock=clock).run())
    await until(lambda: wire.take is not _say_nothing)
    window = lane_exchange.OpenWindow(LOG, ADA, here("w"))
    wire.take("other", msgspec.json.encode(lane_exchange.OpenWindows(windows=[window])))
    await pass_by(100)
    assert len(lanes.presence.all()) == 1, "nothing was heard, for nobody listened"
    for _ in range(2):
        await pass_by(9)
    assert lanes.presence.all() == []
    carrying.cancel()


async def test_a_server_that_begins_later_learns_who_is_there(postgres: Postgres, pair: list[House]) -> None:
    one, _ = pair
    await (await one.window(ADA)).say(LOG, "presence", here("w"))
    store = await PostgresStore.open(postgres.url, schema=one.place.schema)
    third = House(LocalWorkspace(store, MemoryBlobs()))
    await until(lambda: third.workspace.present() == {LOG: [ADA]})
    await third.end()
    await third.workspace.close()


async def test_a_message_of_any_size_arrives_whole_and_once_and_does_not_come_back(pair: list[House]) -> None:
    one, two = pair
    there, back = listened(two, TALK), listened(one, TALK)
    large = {"text": "ü\n" * (MOST_BYTES // 8)}
    for message in ("small", large, "next"):
        one.lanes.say(TALK, message, ADA)
    one.lanes.say(TALK, {"text": "x" * MOST_BYTES}, ADA)  # too large: it is heard here alone
    two.lanes.say(TALK, "last", BOB)
    assert [await heard(there) for _ in range(4)] == [
        LaneEntry(message, by) for message, by in (("last", BOB), ("small", ADA), (large, ADA), ("next", ADA))
    ]
    found = [await heard(back) for _ in range(5)]
    assert [each.by for each in found] == [ADA] * 4 + [BOB] and not back.is_behind and not there.is_behind


async def test_what_is_for_one_alone_is_heard_by_that_one_wherever_it_is(pair: list[House]) -> None:
    one, two = pair
    runtime = ActorId("runtime:gpu")
    meant, other = listened(two, TALK, runtime), listened(two, TALK, BOB)
    one.lanes.say(TALK, "secret", ADA, to=runtime)
    assert await heard(meant) == LaneEntry("secret", ADA)
    assert not other.is_behind


async def test_a_runtime_on_the_database_hears_what_is_said_to_runtimes_of_its_notebook_and_nothing_else(
    postgres: Postgres, pair: list[House]
) -> None:
    one, two = pair
    store = await PostgresStore.open(postgres.url, schema=one.place.schema)
    runtime = LocalWorkspace(store, MemoryBlobs()).acting_as(identities.runtime("gpu"))
    lanes: Lanes = runtime._shared.lanes  # pyright: ignore[reportPrivateUsage]
    async with lanes_beside(runtime, LOG, None) as own:
        listening = [lanes.listening(lane, lambda: None) for lane in (TALK, PRESENCE, f"{OTHER}/comms")]
        async with asyncio.timeout(60):
            while not listening[0].is_behind:
                one.lanes.say(PRESENCE, here("w"), ADA)
                one.lanes.say(f"{OTHER}/comms", "for others", ADA)
                one.lanes.say(TALK, "for runtimes", ADA)
                await asyncio.sleep(0.05)
        assert (await heard(listening[0])).message == "for runtimes"
        assert not listening[1].is_behind and not listening[2].is_behind
        there = [listened(house, f"{LOG}/stdin") for house in (one, two)]
        own.say(f"{LOG}/stdin", {"kind": "asked", "execution": "e", "prompt": "who? "})
        assert [(await heard(each)).by for each in there] == ["runtime:gpu"] * 2
        assert [len(house.lanes.board.waiting(LOG)) for house in (one, two)] == [1, 1]
    await runtime.close()


async def test_nobody_without_the_key_is_heard_and_nothing_is_heard_twice(
    postgres: Postgres, pair: list[House]
) -> None:
    one, two = pair
    channel, listening = one.place.lanes_channel(None), listened(two, TALK)
    payloads: list[str] = []
    connection = await postgres.connect()

    def listen(connection: Any, backend: int, channel: str, payload: str) -> None:
        payloads.append(payload)

    await connection.add_listener(channel, listen)
    # Too long to stand in sealed text by chance.
    one.lanes.say(TALK, "a secret", ADA)
    assert (await heard(listening)).message == "a secret"
    await until(lambda: bool(payloads))
    assert not any("a secret" in payload or "human:ada" in payload for payload in payloads)
    forged = Seal("another key").close(b"spy.1." + b'{"type":"said","lane":"l","message":1,"by":"human:ada"}')
    for payload in (*payloads, "", "a.b.c.d.e", "spy.1.0.1.AAAA", f"spy.1.0.1.{forged.hex()}", "spy.1.0.99999999.x"):
        await connection.execute("SELECT pg_notify($1, $2)", channel, payload)
    one.lanes.say(TALK, "last", ADA)
    assert (await heard(listening)).message == "last"
    await connection.close()


async def test_a_flood_is_bounded_on_both_sides(pair: list[House]) -> None:
    one, two = pair
    asleep = listened(two, PRESENCE)  # somebody who takes nothing
    await (await one.window(ADA)).say(LOG, "presence", here("there"))
    for number in range(30_000):
        one.lanes.say(PRESENCE, here(f"w{number}", cell="x" * 150), ADA)
        assert one.carrier.waiting_bytes <= QUEUE_BYTES
        if number % 100 == 0:
            await asyncio.sleep(0)
    for number in range(50_000):  # of one window only the last word is sent
        one.lanes.say(PRESENCE, here("one", cell=str(number)), ADA)
    # As a door does it. Else a server that lists its windows now, as it does from time to time, would list none.
    one.lanes.presence.note("door", LOG, here("one"), ADA)
    await until(lambda: one.carrier.waiting_bytes == 0)
    talk = listened(two, TALK)
    one.lanes.say(TALK, "still there", ADA)
    assert (await heard(talk)).message == "still there"
    # Those of the flood go with the next beat, as none of them is open at any server.
    await until(lambda: 0 < len(two.lanes.presence.all()) <= MOST_ELSEWHERE)
    taken = 0
    while asleep.take() is not None:
        taken += 1
    assert taken <= KEPT


def test_a_seal_is_opened_with_its_key_alone_and_hides_what_it_holds() -> None:
    seal = Seal("k" * 32)
    for text in (b"", b"\0", b"password", b"x" * 100_000):
        closed = seal.close(text)
        assert seal.open(closed) == text and (len(text) < 8 or text not in closed) and seal.close(text) != closed
        assert Seal("l" * 32).open(closed) is None
        for place in (0, 20, len(closed) - 1):
            changed = bytearray(closed)
            changed[place] ^= 1
            assert seal.open(bytes(changed)) is None
    assert seal.open(b"") is None
