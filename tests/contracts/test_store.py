"""What every store does. A new kind of store is done when it passes all of this."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

import pytest

from quire.core.chain import GENESIS, Record, Verifier, digest, link
from quire.core.errors import BadInput, Conflict
from quire.core.ids import ActorId, EventId, LogId
from quire.stores.index import IndexRows
from quire.stores.memory_store import MemoryStore
from quire.stores.store import Append, Growth, LogSummary, Mask, ReadMark, Snapshot, Store, UnsealedRecord

from ..conftest import OpenStore

T = TypeVar("T")
LOG = LogId("n1")
ADA = ActorId("human:ada")


def unsealed(
    id: str,
    payload: str = "{}",
    key: str | None = None,
    at: str = "2026-01-01T00:00:00.000000Z",
    actor: ActorId = ADA,
) -> UnsealedRecord:
    return UnsealedRecord(EventId(id), key, None, at, actor, None, "metadata_set", payload, digest(payload))


def append(*ids: str, expected: int = 0, log: LogId = LOG, about: LogSummary | None = None) -> Append:
    return Append(log=log, kind="notebook", expected=expected, records=tuple(map(unsealed, ids)), about=about)


async def first(pages: AsyncIterator[list[T]], count: int) -> list[T]:
    """The first `count` things that a follower sees."""
    seen: list[T] = []
    async with asyncio.timeout(120):
        async for page in pages:
            seen += page
            if len(seen) >= count:
                break
    return seen


def seqs(records: list[Record]) -> list[int]:
    return [record.seq for record in records]


# ---- Appending and reading


async def test_an_append_gives_numbers_without_gaps_and_a_chain(store: Store) -> None:
    """Rules 2 and 4."""
    (one,) = await store.append([append("a", "b")])
    (two,) = await store.append([append("c", expected=2)])
    records = [*one.records, *two.records]
    assert seqs(records) == [1, 2, 3]
    previous = GENESIS
    for record in records:
        assert record.hash == link(record, previous)
        previous = record.hash
    assert await store.read(LOG) == records
    info = await store.info(LOG)
    assert info is not None
    assert (info.head.seq, info.head.hash) == (3, previous)


async def test_an_append_at_another_number_is_a_conflict_and_records_nothing(store: Store) -> None:
    """Rule 2: append is compare-and-set."""
    await store.append([append("a")])
    for expected in (0, 2):
        with pytest.raises(Conflict) as refused:
            await store.append([append("b", expected=expected)])
        assert refused.value.details["seq"] == 1
    assert seqs(await store.read(LOG)) == [1]


async def test_several_logs_are_appended_together_or_not_at_all(store: Store) -> None:
    await store.append([append("a")])
    other = LogId("n2")
    with pytest.raises(Conflict):
        await store.append([append("b", log=other), append("c", expected=0)])
    assert await store.read(other) == []
    assert await store.info(other) is None
    one, two = await store.append([append("b", log=other), append("c", expected=1)])
    assert (one.records[0].log, two.records[0].log) == (other, LOG)


async def test_appends_can_be_sent_on_top_of_one_that_still_waits(store: Store) -> None:
    answers = await asyncio.gather(*(store.append([append(f"e{n}", expected=n)]) for n in range(200)))
    assert [answer[0].records[0].seq for answer in answers] == list(range(1, 201))


async def test_of_many_who_expect_the_same_number_one_wins(store: Store) -> None:
    answers = await asyncio.gather(*(store.append([append(f"e{n}")]) for n in range(50)), return_exceptions=True)
    assert sum(isinstance(answer, list) for answer in answers) == 1
    assert sum(isinstance(answer, Conflict) for answer in answers) == 49


async def test_the_same_id_again_answers_with_the_first_event(store: Store) -> None:
    (one,) = await store.append([append("a", "b")])
    (again,) = await store.append([append("a", "b", expected=7)])
    assert again.repeated
    assert again.records == one.records
    assert len(await store.read(LOG)) == 2


async def test_the_same_key_again_answers_with_the_first_event_also_from_another_log(store: Store) -> None:
    keyed = Append(log=LOG, kind="notebook", expected=0, records=(unsealed("a", key="nightly@06:00"),))
    (one,) = await store.append([keyed])
    other = Append(log=LogId("n2"), kind="notebook", expected=0, records=(unsealed("b", key="nightly@06:00"),))
    (again,) = await store.append([other])
    assert again.repeated
    assert again.records == one.records
    assert await store.info(LogId("n2")) is None
    found = await store.find_key("nightly@06:00", ADA)
    assert found is not None
    assert found.id == "a"
    assert await store.find(EventId("b")) is None


async def test_a_clients_key_is_unique_per_actor_and_one_of_the_house_in_the_workspace(store: Store) -> None:
    bob = ActorId("human:bob")
    for number, (key, actor, is_first) in enumerate(
        [
            ("nightly", ADA, True),
            ("nightly", bob, True),
            ("nightly", ADA, False),
            ("nightly", bob, False),
            ("quire:nightly", ADA, True),
            ("quire:nightly", bob, False),
        ]
    ):
        one = unsealed(f"e{number}", key=key, actor=actor)
        (done,) = await store.append([Append(log=LogId(f"n{number}"), kind="notebook", expected=0, records=(one,))])
        assert done.repeated is not is_first, (key, actor)
        found = await store.find_key(key, actor)
        assert found is not None and found.id == done.records[0].id
    assert await store.find_key("nightly", ActorId("human:eve")) is None


async def test_one_id_sent_twice_at_once_is_recorded_once(store: Store) -> None:
    answers = await asyncio.gather(*(store.append([append("a")]) for _ in range(20)))
    assert sum(not answer[0].repeated for answer in answers) == 1
    assert len(await store.read(LOG)) == 1


async def test_an_old_id_among_new_ones_is_bad_input(store: Store) -> None:
    await store.append([append("a")])
    with pytest.raises(BadInput):
        await store.append([append("a", "b", expected=1)])
    assert len(await store.read(LOG)) == 1


async def test_reading_gives_just_the_numbers_and_types_asked_for(store: Store) -> None:
    await store.append([append(*(f"e{n}" for n in range(10)))])
    assert seqs(await store.read(LOG, 3)) == [4, 5, 6, 7, 8, 9, 10]
    assert seqs(await store.read(LOG, 3, 5)) == [4, 5]
    assert seqs(await store.read(LOG, 3, limit=2)) == [4, 5]
    assert seqs(await store.read(LOG, types=["metadata_set"], limit=1)) == [1]
    assert await store.read(LOG, types=["cell_added"]) == []
    assert await store.read(LogId("nowhere")) == []


async def test_time_in_a_log_never_runs_backwards(store: Store) -> None:
    late, early = unsealed("a", at="2026-01-02T00:00:00.000000Z"), unsealed("b", at="2026-01-01T00:00:00.000000Z")
    await store.append([Append(log=LOG, kind="notebook", expected=0, records=(late, early))])
    assert [record.at for record in await store.read(LOG)] == [late.at, late.at]


async def test_payloads_come_back_to_the_byte(store: Store) -> None:
    payloads = ['"\\u0000"', '"🦊 é \U0010ffff \r\n"', '"' + "x" * 1_000_000 + '"']
    records = tuple(unsealed(f"e{number}", payload) for number, payload in enumerate(payloads))
    await store.append([Append(log=LOG, kind="notebook", expected=0, records=records)])
    kept = await store.read(LOG)
    assert [record.payload for record in kept] == payloads
    assert [record.digest for record in kept] == [digest(payload) for payload in payloads]


async def test_a_list_shows_names_and_heads_with_the_newest_first(store: Store) -> None:
    await store.append([append("a", about=LogSummary(name="old"))])
    late = unsealed("b", at="2026-02-01T00:00:00.000000Z")
    await store.append([Append(log=LogId("r1"), kind="run", expected=0, records=(late,), about=LogSummary(name="run"))])
    await store.append([append("c", expected=1, about=LogSummary(name="new", archived=True))])
    await store.append([append("d", expected=2)])
    logs = await store.logs()
    assert [(info.log, info.name, info.archived, info.head.seq) for info in logs] == [
        ("r1", "run", False, 1),
        (LOG, "new", True, 3),
    ]
    assert [info.log for info in await store.logs("notebook")] == [LOG]
    assert logs[1].created_by == ADA


async def test_a_mask_replaces_a_payload_and_the_chain_still_verifies(store: Store) -> None:
    """Rule 4."""
    secret, mask = '{"text":"hunter2"}', '{"text":"███████"}'
    await store.append([Append(log=LOG, kind="notebook", expected=0, records=(unsealed("a", secret), unsealed("b")))])
    told = f'{{"type":"payload_redacted","seq":1,"why":"leak","replacement":"{digest(mask)}"}}'
    redaction = UnsealedRecord(
        EventId("r"), None, None, "2026-01-02T00:00:00.000000Z", ADA, None, "payload_redacted", told, digest(told)
    )
    masks = (Mask(1, mask),)
    await store.append([Append(log=LOG, kind="notebook", expected=2, records=(redaction,), masks=masks)])
    records = await store.read(LOG)
    assert (records[0].payload, records[0].redacted, records[0].digest) == (mask, True, digest(secret))
    info = await store.info(LOG)
    assert info is not None
    verifier = Verifier(LOG, info.head)
    for record in records:
        verifier.add(record)
    assert verifier.finish() is None


async def test_imported_records_keep_their_hashes_and_block_no_id_or_key(store: Store) -> None:
    elsewhere = MemoryStore()
    keyed = Append(log=LOG, kind="notebook", expected=0, records=(unsealed("a", key="k"), unsealed("b")))
    (there,) = await elsewhere.append([keyed])
    imported = Append(log=LOG, kind="notebook", expected=0, records=(unsealed("c"),), imported=there.records)
    (done,) = await store.append([imported])
    assert [record.imported for record in done.records] == [True, True, False]
    assert [record.hash for record in done.records[:2]] == [record.hash for record in there.records]
    assert await store.find_key("k", ADA) is None
    (local,) = await store.append([append("a", log=LogId("n2"))])
    assert not local.repeated
    info = await store.info(LOG)
    assert info is not None
    verifier = Verifier(LOG, info.head, imported=2)
    for record in await store.read(LOG):
        verifier.add(record)
    assert verifier.finish() is None


async def test_records_are_read_from_the_end_in_pages(store: Store) -> None:
    await store.append([append(*"abcdefg")])
    assert seqs(await store.read(LOG, newest_first=True, limit=3)) == [7, 6, 5]
    assert seqs(await store.read(LOG, until=4, newest_first=True, limit=3)) == [4, 3, 2]
    assert seqs(await store.read(LOG, 2, 5, newest_first=True)) == [5, 4, 3]
    assert await store.read(LOG, newest_first=True, types=["cell_added"]) == []
    assert seqs(await store.read(LOG, newest_first=True, types=["metadata_set"], limit=2)) == [7, 6]
    assert seqs(await store.read(LOG, limit=2)) == [1, 2]


# ---- Following


async def test_a_follower_sees_what_was_there_and_what_comes(store: Store) -> None:
    await store.append([append("a", "b")])
    following = asyncio.create_task(first(store.follow(LOG, 1), 3))
    await asyncio.sleep(0)
    await store.append([append("c", expected=2)])
    await store.append([append("d", expected=3)])
    assert seqs(await following) == [2, 3, 4]


async def test_a_follower_sees_what_another_process_writes(open_store: OpenStore) -> None:
    here, there = await open_store(), await open_store()
    following = asyncio.create_task(first(here.follow(LOG), 100))
    for n in range(100):
        await there.append([append(f"e{n}", expected=n)])
    assert seqs(await following) == list(range(1, 101))


async def test_a_hundred_followers_see_the_same(store: Store) -> None:
    following = [asyncio.create_task(first(store.follow(LOG), 50)) for _ in range(100)]
    for n in range(50):
        await store.append([append(f"e{n}", expected=n)])
    for seen in await asyncio.gather(*following):
        assert seqs(seen) == list(range(1, 51))


async def test_a_follower_far_behind_catches_up_page_by_page(store: Store) -> None:
    for n in range(0, 10_000, 1000):
        await store.append([append(*(f"e{n + k}" for k in range(1000)), expected=n)])
    assert seqs(await first(store.follow(LOG), 10_000)) == list(range(1, 10_001))


async def test_the_feed_tells_which_logs_have_grown_in_the_order_of_commits(store: Store) -> None:
    await store.append([append("a", "b")])
    start = await store.position()
    following = asyncio.create_task(first(store.feed(start), 2))
    await store.append([append("c", log=LogId("n2"))])
    await store.append([append("d", expected=2)])
    grown = await following
    assert [(each.log, each.seq) for each in grown] == [("n2", 1), (LOG, 3)]
    assert start < grown[0].position < grown[1].position
    everything = {each.log: each.seq for each in await first(store.feed(), 2)}
    assert everything == {LOG: 3, "n2": 1}


async def test_the_feed_misses_nothing_that_several_handles_write_at_once(open_store: OpenStore) -> None:
    handles = [await open_store() for _ in range(3)]
    seen: dict[LogId, Growth] = {}

    async def watch() -> None:
        async for page in handles[0].feed():
            seen.update({each.log: each for each in page})
            if len(seen) == 60 and all(each.seq == 5 for each in seen.values()):
                return

    async def write(store: Store, log: LogId) -> None:
        for n in range(5):
            await store.append([append(f"{log}-{n}", expected=n, log=log)])

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(write(handles[n % 3], LogId(f"log{n}")) for n in range(60)))
    async with asyncio.timeout(120):
        await watching


async def test_closing_a_store_ends_its_followers(open_store: OpenStore) -> None:
    store = await open_store()
    following = asyncio.create_task(first(store.follow(LOG), 1))
    await asyncio.sleep(0)
    await store.close()
    assert await following == []


# ---- Snapshots


async def test_the_latest_snapshot_that_is_not_too_late_is_found(store: Store) -> None:
    await store.append([append("a")])
    for seq in (5, 10, 20_000):
        await store.save_snapshot(Snapshot(LOG, seq, 1, str(seq).encode()))
    latest = await store.snapshot(LOG, 1)
    assert latest == Snapshot(LOG, 20_000, 1, b"20000")
    earlier = await store.snapshot(LOG, 1, 19_999)
    assert earlier is not None
    assert earlier.seq in (5, 10)  # a store may thin out old ones
    assert await store.snapshot(LOG, 1, 4) is None
    assert await store.snapshot(LOG, 2) is None
    await store.drop_snapshots(LOG, 6)
    left = await store.snapshot(LOG, 1)
    assert left is not None
    assert left.seq == 5


# ---- Leases


async def test_a_lease_is_held_by_one_and_a_later_one_has_a_higher_epoch(open_store: OpenStore) -> None:
    """Rule 10."""
    here, there = await open_store(), await open_store()
    mine = await here.acquire("execution:1", "runtime:a", 60)
    assert mine is not None
    assert await there.acquire("execution:1", "runtime:b", 60) is None
    held = await there.lease("execution:1")
    assert held is not None
    assert (held.holder, held.epoch) == ("runtime:a", mine.epoch)
    await here.release(mine)
    theirs = await there.acquire("execution:1", "runtime:b", 60)
    assert theirs is not None
    assert theirs.epoch > mine.epoch
    assert await here.renew(mine, 60) is None
    await here.release(mine)  # too late: does nothing
    assert await there.renew(theirs, 60) is not None


async def test_a_lease_that_ran_out_can_be_taken_and_not_renewed(store: Store) -> None:
    """Rule 10: an old epoch is refused."""
    lost = await store.acquire("execution:1", "runtime:a", 0)
    assert lost is not None
    assert await store.lease("execution:1") is None
    assert await store.renew(lost, 60) is None
    taken = await store.acquire("execution:1", "runtime:b", 60)
    assert taken is not None
    assert taken.epoch > lost.epoch
    assert await store.renew(lost, 60) is None


async def test_a_lease_that_ran_out_can_be_given_more_time_unless_it_was_taken_or_given_back(store: Store) -> None:
    lost = await store.acquire("execution:1", "runtime:a", 0)
    assert lost is not None
    assert await store.revive(lost, 60) is not None
    assert await store.acquire("execution:1", "runtime:b", 60) is None
    assert await store.renew(lost, 0) is not None
    taken = await store.acquire("execution:1", "runtime:b", 60)
    assert taken is not None
    assert await store.revive(lost, 60) is None
    await store.release(taken)
    assert await store.revive(taken, 60) is None


async def test_leases_are_listed_until_they_are_given_back(open_store: OpenStore) -> None:
    """Rule 10: one that ran out is seen by the next who looks, whatever became of its holder."""
    here, there = await open_store(), await open_store()
    held, given_back = [await here.acquire(name, "runtime:a", 60) for name in ("run:held", "run:given")]
    lost = await here.acquire("run:lost", "runtime:b", 0)
    assert held is not None and given_back is not None and lost is not None
    await here.release(given_back)
    found = {lease.name: (lease.holder, lease.epoch, lease.seconds_left > 0) for lease in await there.leases()}
    assert found == {"run:held": ("runtime:a", held.epoch, True), "run:lost": ("runtime:b", lost.epoch, False)}
    await there.release(lost)
    assert [lease.name for lease in await here.leases()] == ["run:held"]


async def test_a_lease_is_never_held_by_two(open_store: OpenStore) -> None:
    handles = [await open_store() for _ in range(4)]
    for round in range(25):
        tried = await asyncio.gather(
            *(each.acquire(f"x{round}", f"runtime:{n}", 60) for n, each in enumerate(handles * 4))
        )
        assert sum(lease is not None for lease in tried) == 1


# ---- Tokens


async def test_a_token_is_found_by_its_hash_alone(store: Store) -> None:
    await store.save_token("hash", "t1")
    assert await store.token("hash") == "t1"
    assert await store.token("t1") is None


# ---- How far actors have seen logs


async def test_how_far_somebody_has_seen_a_log_goes_only_forwards(store: Store) -> None:
    await store.append([append("a", "b", "c")])
    assert await store.seen(LOG, ADA) is None
    assert await store.save_seen(ReadMark(LOG, ADA, 2, "10:00")) == ReadMark(LOG, ADA, 2, "10:00")
    assert await store.save_seen(ReadMark(LOG, ADA, 1, "10:01")) == ReadMark(LOG, ADA, 2, "10:00")
    assert await store.save_seen(ReadMark(LOG, ADA, 2, "10:02")) == ReadMark(LOG, ADA, 2, "10:02")  # looked at again
    assert await store.save_seen(ReadMark(LOG, ADA, 3, "10:03")) == ReadMark(LOG, ADA, 3, "10:03")
    assert await store.seen(LOG, ADA) == ReadMark(LOG, ADA, 3, "10:03")


async def test_each_actor_has_seen_each_log_by_themselves(store: Store) -> None:
    bob, other = ActorId("human:bob"), LogId("n2")
    await store.save_seen(ReadMark(LOG, ADA, 3, "10:00"))
    await store.save_seen(ReadMark(other, ADA, 5, "10:00"))
    assert await store.seen(LOG, bob) is None
    await store.save_seen(ReadMark(LOG, bob, 1, "11:00"))
    assert [(await store.seen(LOG, ADA)), (await store.seen(other, ADA)), (await store.seen(LOG, bob))] == [
        ReadMark(LOG, ADA, 3, "10:00"),
        ReadMark(other, ADA, 5, "10:00"),
        ReadMark(LOG, bob, 1, "11:00"),
    ]


async def test_of_two_windows_that_say_so_at_once_the_larger_number_stays(store: Store) -> None:
    await asyncio.gather(*(store.save_seen(ReadMark(LOG, ADA, seq, f"at {seq}")) for seq in (3, 9, 1, 7, 5)))
    assert await store.seen(LOG, ADA) == ReadMark(LOG, ADA, 9, "at 9")


async def test_what_somebody_has_seen_is_no_part_of_the_log(store: Store) -> None:
    await store.append([append("a")])
    before = await store.info(LOG), await store.position()
    await store.save_seen(ReadMark(LOG, ADA, 1, "10:00"))
    assert (await store.info(LOG), await store.position()) == before


# ---- The index


async def test_an_index_that_was_forgotten_takes_no_rows_from_before(store: Store) -> None:
    """What was masked must not come back through somebody who was indexing meanwhile."""
    await store.append([append("a")])
    before = await store.indexed()
    await store.forget_index()
    assert not await store.save_index(IndexRows(), before, 1)
    now = await store.indexed()
    await store.forget_index()
    assert not await store.save_index(IndexRows(), now, 1)
    assert await store.save_index(IndexRows(), await store.indexed(), 1)
    assert await store.indexed() == 1
