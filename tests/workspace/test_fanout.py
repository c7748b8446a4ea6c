"""One following of each log for all who watch it, and what is kept of it meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.chain import Record, digest
from quire.core.errors import Unavailable
from quire.core.ids import ActorId, EventId, LogId
from quire.stores.memory_store import MemoryStore
from quire.stores.store import Append, Growth, UnsealedRecord
from quire.workspace.subscriptions import fanout as fanout_module
from quire.workspace.subscriptions import log_channel
from quire.workspace.subscriptions.fanout import AT_ONCE, FEW, OFTENER, Fanout
from quire.workspace.subscriptions.log_channel import (
    FRAME_BYTES,
    RING_BYTES,
    RING_ENTRIES,
    SLACK_BYTES,
    Cursor,
    EncodedPage,
    Ring,
)
from quire.workspace.wire.frames import Events

LOG = LogId("n1")


class CountedStore(MemoryStore):
    """Counts who follows it."""

    def __init__(self) -> None:
        super().__init__()
        self.followed = 0
        self.read_since: list[int] = []
        self.is_gone = False

    def feed(self, since: int = 0) -> AsyncIterator[list[Growth]]:
        self.followed += 1
        return super().feed(since)

    async def read(self, log: LogId, since: int = 0, *arguments: object, **named: object) -> list[Record]:
        if self.is_gone:
            raise Unavailable("The disk is gone.")
        self.read_since.append(since)
        return await super().read(log, since, *arguments, **named)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.fixture
def store() -> CountedStore:
    return CountedStore()


@pytest.fixture
async def fanout(store: CountedStore) -> AsyncIterator[Fanout]:
    async def look(begun: Collection[LogId]) -> None:
        pass

    fanout = Fanout(store, look)
    yield fanout
    await fanout.close()


async def append(store: MemoryStore, count: int, text: str = "", type: str = "metadata_set") -> None:
    info = await store.info(LOG)
    head = info.head.seq if info is not None else 0
    for number in range(head + 1, head + count + 1):
        payload = f'{{"type":"{type}","values":{{"n":{number},"text":"{text}"}}}}'
        now = "2026-01-01T00:00:00.000000Z"
        record = UnsealedRecord(
            EventId(f"e{number}"), None, None, now, ActorId("human:ada"), None, type, payload, digest(payload)
        )
        await store.append([Append(log=LOG, kind="notebook", expected=number - 1, records=(record,))])


class Reader:
    """One who watches, and takes what there is whenever it is woken."""

    def __init__(self) -> None:
        self.woken = asyncio.Event()
        self.pages: list[EncodedPage] = []
        self.cursor: Cursor

    async def watch(self, fanout: Fanout, since: int = 0) -> Reader:
        self.cursor = await fanout.watch(LOG, since, self.woken.set)
        return self

    async def until(self, seq: int) -> list[int]:
        async with asyncio.timeout(240):
            while self.cursor.seq < seq:
                self.woken.clear()
                while (page := await self.cursor.take()) is not None:
                    self.pages.append(page)
                if self.cursor.seq < seq:
                    await self.woken.wait()
        return [entry.seq for page in self.pages for entry in frame_of(page).entries]


def frame_of(page: EncodedPage) -> Events:
    return msgspec.json.decode(page.frame("x"), type=Events)


# ---- All together


async def test_a_log_is_followed_once_for_all_who_watch_it(store: CountedStore, fanout: Fanout) -> None:
    readers = [await Reader().watch(fanout) for _ in range(20)]
    await append(store, 50)
    for reader in readers:
        assert await reader.until(50) == list(range(1, 51))
    assert store.followed == 1
    for reader in readers:
        reader.cursor.close()
    assert not fanout.logs
    assert fanout.held_bytes == 0


async def test_those_at_the_same_number_are_given_the_same_page(store: CountedStore, fanout: Fanout) -> None:
    readers = [await Reader().watch(fanout) for _ in range(5)]
    await append(store, 10)
    await readers[0].woken.wait()
    pages = [await reader.cursor.take() for reader in readers]
    assert pages[0] is not None
    assert all(page is pages[0] for page in pages)
    assert pages[0].frame("a") is pages[0].frame("a")


@pytest.mark.parametrize(("watchers", "at_once"), [(FEW, AT_ONCE), (1, AT_ONCE * OFTENER)])
async def test_what_comes_after_a_quiet_moment_is_shown_at_once_and_more_of_it_to_few(
    store: CountedStore, fanout: Fanout, monkeypatch: pytest.MonkeyPatch, watchers: int, at_once: int
) -> None:
    monkeypatch.setattr(fanout_module, "TICK_SECONDS", 3600.0)
    reader, *_ = [await Reader().watch(fanout) for _ in range(watchers)]
    for number in range(1, at_once + 1):
        await append(store, 1)
        await reader.until(number)
    assert len(reader.pages) == at_once


async def test_what_comes_within_a_tick_is_one_page(store: CountedStore, fanout: Fanout) -> None:
    reader = await Reader().watch(fanout)
    await append(store, 100)
    assert await reader.until(100) == list(range(1, 101))
    assert len(reader.pages) < 10


async def test_who_is_far_behind_is_fed_from_the_store_and_then_from_memory(
    store: CountedStore, fanout: Fanout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_channel, "SLACK_BYTES", 0)
    await append(store, 3000)
    near = await Reader().watch(fanout, 3000)
    far = await Reader().watch(fanout, 10)
    assert await far.until(3000) == list(range(11, 3001))
    read = len(store.read_since)
    await append(store, 10)
    assert await near.until(3010) == list(range(3001, 3011))
    assert (await far.until(3010))[-10:] == list(range(3001, 3011))
    # The one following read it, and nobody else.
    assert all(since >= 3000 for since in store.read_since[read:])


async def test_nobody_is_shown_anything_before_rights_were_looked_at(store: CountedStore) -> None:
    looked: list[tuple[LogId, ...]] = []
    may_go_on = asyncio.Event()

    async def look(begun: Collection[LogId]) -> None:
        looked.append(tuple(begun))
        await may_go_on.wait()

    fanout = Fanout(store, look)
    reader = await Reader().watch(fanout)
    await append(store, 3)
    async with asyncio.timeout(240):
        while not looked:  # noqa: ASYNC110 - it is told to nobody else
            await asyncio.sleep(0)
    assert await reader.cursor.take() is None
    assert not reader.woken.is_set()
    may_go_on.set()
    assert await reader.until(3) == [1, 2, 3]
    await append(store, 1)
    await reader.until(4)
    assert looked == [(LOG,), ()]  # that it has begun is told once
    await fanout.close()


async def test_a_store_that_is_gone_is_told_to_all_who_watch(store: CountedStore, fanout: Fanout) -> None:
    readers = [await Reader().watch(fanout) for _ in range(3)]
    await append(store, 1)
    for reader in readers:
        await reader.until(1)
    store.is_gone = True
    await append(store, 1)
    for reader in readers:
        with pytest.raises(Unavailable):
            await reader.until(2)
    store.is_gone = False
    again = await Reader().watch(fanout, 1)
    assert await again.until(2) == [2]


async def test_what_was_masked_is_not_given_from_memory(store: CountedStore, fanout: Fanout) -> None:
    await append(store, 1)
    reader = await Reader().watch(fanout, 1)
    behind = await Reader().watch(fanout, 1)
    await append(store, 5, "secret")
    await reader.until(6)
    await append(store, 1, type="payload_redacted")
    await reader.until(7)
    before = len(store.read_since)
    await behind.until(7)
    assert 1 in store.read_since[before:]  # as it is now, from the store


# ---- What is kept


@given(st.lists(st.integers(1, 300_000), max_size=60), st.lists(st.integers(0, 60), max_size=4))
def test_a_ring_keeps_what_is_needed_and_never_more_than_its_bounds(sizes: list[int], cursors: list[int]) -> None:
    ring = Ring()
    for number, size in enumerate(sizes, 1):
        ring.add(bytes(size))
        needed = min(cursors, default=number)
        ring.forget(needed)
        assert ring.head == number
        assert ring.size == sum(sizes[ring.first - 1 : number])
        assert ring.size <= RING_BYTES
        assert ring.first <= needed + 1 or ring.size > RING_BYTES - 300_000
        if needed >= number:
            assert ring.size <= SLACK_BYTES


def test_a_ring_has_so_many_entries_at_most() -> None:
    ring = Ring(7)
    for _ in range(RING_ENTRIES + 100):
        ring.add(b"x")
        ring.forget(0)
    assert ring.first == 7 + 101
    assert ring.head == 7 + RING_ENTRIES + 100


@given(st.lists(st.integers(1, FRAME_BYTES * 2), min_size=1, max_size=8), st.data())
def test_a_page_is_as_large_as_a_frame_at_most_or_one_entry(sizes: list[int], data: st.DataObject) -> None:
    ring = Ring(10)
    for size in sizes:
        ring.add(bytes(size))
    since = data.draw(st.integers(10, ring.head - 1))
    until = data.draw(st.integers(since + 1, ring.head))
    parts = ring.after(since, until)
    assert 1 <= len(parts) <= until - since
    assert len(parts) == 1 or sum(map(len, parts)) <= FRAME_BYTES
    assert [len(part) for part in parts] == sizes[since - 10 : since - 10 + len(parts)]


@given(st.text(), st.integers(0, 10))
def test_a_frame_is_what_encoding_it_would_give(id: str, head: int) -> None:
    try:
        id.encode()
    except UnicodeEncodeError:
        return
    page = EncodedPage(3, [], head)
    assert page.frame(id).encode() == msgspec.json.encode(Events(id=id, entries=[], head=head))
