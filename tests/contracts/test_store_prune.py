"""What every store does when a log is removed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from quire.core.chain import Verifier
from quire.core.errors import Conflict, Refused
from quire.core.ids import WORKSPACE_LOG, LogId
from quire.stores.index import IndexRows
from quire.stores.store import Prune, ReadMark, Snapshot, Store

from ..conftest import OpenStore
from .test_store import ADA, append, seqs, unsealed

RUN, OTHER = LogId("r1"), LogId("n1")


async def prune_of(store: Store, log: LogId = RUN, **more: Any) -> Prune:
    info = await store.info(log)
    assert info is not None
    note = unsealed(
        f"note-{log}", f'{{"type":"log_pruned","log":"{log}","seq":{info.head.seq},"hash":"{info.head.hash}"}}'
    )
    return Prune(log=log, head=info.head, note=note, since=await store.position(), refers=lambda _: True, **more)


async def filled(store: Store) -> None:
    """A run and a notebook, with all that a store keeps beside a log."""
    keyed = replace(unsealed("b"), key="nightly@1")
    begun = replace(append("a", log=RUN), kind="run")
    await store.append([replace(begun, records=(*begun.records, keyed)), append("x", log=OTHER)])
    await store.save_snapshot(Snapshot(RUN, 2, 1, b"folded"))
    await store.save_seen(ReadMark(RUN, ADA, 2, "10:00"))
    await store.save_index(
        IndexRows(logs=[RUN], run_values=[(RUN, "result", "n", "number", 1.0, "1")]), 0, await store.position()
    )


async def test_a_pruned_log_is_gone_whole_and_the_workspace_log_tells_of_it(store: Store) -> None:
    """Rule 4: the rest still verifies, and so does the log that tells of it."""
    await filled(store)
    before = await store.position()
    wanted = await prune_of(store)
    record = await store.prune(wanted)
    assert (record.log, record.seq, record.id) == (WORKSPACE_LOG, 1, "note-r1")
    assert await store.position() == before + 1  # positions are never used again
    assert await store.read(RUN) == []
    assert await store.info(RUN) is None
    assert {info.log for info in await store.logs()} == {WORKSPACE_LOG, OTHER}
    assert await store.snapshot(RUN, 1) is None
    assert await store.seen(RUN, ADA) is None
    assert (await store.index_rows(RUN)).run_values == []
    assert await store.find(wanted.note.id) == record
    for log in (WORKSPACE_LOG, OTHER):
        info = await store.info(log)
        assert info is not None
        verifier = Verifier(log, info.head)
        for each in await store.read(log):
            verifier.add(each)
        assert verifier.finish() is None
    (gone,) = await store.pruned()
    assert (gone.log, gone.kind, gone.head, gone.pruned_at) == (RUN, "run", wanted.head, record.at)
    assert await store.pruned(RUN) == [gone]
    assert await store.pruned(OTHER) == []
    sizes = await store.sizes("9999")
    assert (sizes.notebooks, sizes.runs, sizes.pruned, sizes.events) == (1, 0, 1, 2)
    told = await store.query("SELECT log, events, hash FROM pruned", limit=10, seconds=30)
    assert told.rows == ((RUN, 2, wanted.head.hash),)
    compacted = await store.compact()
    assert compacted.skipped == ""
    assert seqs(await store.read(OTHER)) == [1]


async def test_what_a_pruned_log_used_stays_used(store: Store, open_store: OpenStore) -> None:
    """Ids, keys and the log's own id, here and in another process that had the log open; also after it is opened anew."""
    await filled(store)
    other = await open_store()
    await other.append([append("y", expected=1, log=OTHER)])
    await store.prune(await prune_of(store))
    for each in (store, other, await open_store()):
        for id, key in (("a", None), ("new", "nightly@1")):
            again = replace(append(log=LogId("r2")), records=(replace(unsealed(id), key=key),))
            with pytest.raises(Refused, match="r1, which was pruned"):
                await each.append([again])
        with pytest.raises(Refused, match="was pruned"):
            await each.append([replace(append("c", log=RUN), kind="run")])
        with pytest.raises(Refused, match="was pruned"):
            await each.append([append("d", expected=2, log=RUN)])
        assert await each.info(LogId("r2")) is None
    # The key is another actor's own.
    bobs = replace(unsealed("e", actor=type(ADA)("human:bob")), key="nightly@1")
    await other.append([replace(append(log=LogId("r3")), records=(bobs,))])
    await store.append([append("z", expected=2, log=OTHER)])
    assert seqs(await other.read(OTHER)) == [1, 2, 3]


async def test_a_log_that_grew_or_is_referred_to_by_now_is_not_pruned(store: Store) -> None:
    await filled(store)
    wanted = await prune_of(store)
    await store.append([append("refers", expected=1, log=OTHER)])
    with pytest.raises(Conflict, match="refers to log r1"):
        await store.prune(wanted)
    wanted = await prune_of(store)
    await store.append([append("more", expected=2, log=RUN)])
    with pytest.raises(Conflict, match="has grown"):
        await store.prune(wanted)
    with pytest.raises(Conflict, match="is gone"):
        await store.prune(replace(wanted, log=LogId("nowhere")))
    assert seqs(await store.read(RUN)) == [1, 2, 3]
    assert await store.pruned() == []
    assert await store.info(WORKSPACE_LOG) is None
    await store.prune(await prune_of(store))
    with pytest.raises(Conflict, match="is gone"):
        await store.prune(wanted)


async def test_rows_and_snapshots_that_were_made_before_are_not_kept_after(store: Store) -> None:
    """Whoever indexes or folds a log while it is removed leaves nothing of it behind."""
    await filled(store)
    rows, at = await store.index_rows(RUN), await store.indexed()
    rows.logs = [RUN]
    await store.prune(await prune_of(store))
    assert await store.save_index(rows, at, await store.position())
    await store.save_snapshot(Snapshot(RUN, 2, 1, b"folded"))
    assert (await store.index_rows(RUN)).run_values == []
    assert await store.snapshot(RUN, 1) is None


async def test_nobody_records_anything_while_it_is_still(store: Store, open_store: OpenStore) -> None:
    await filled(store)
    other = await open_store()
    waiting: list[asyncio.Future[Any]] = []

    async def work() -> None:
        for each, id in ((store, "one"), (other, "two")):
            waiting.append(asyncio.ensure_future(each.append([append(id, log=LogId(id))])))
        for _ in range(100):
            await asyncio.sleep(0)
            assert not await store.info(LogId("one"))
            assert not await store.info(LogId("two"))

    await store.while_still(work)
    await asyncio.gather(*waiting)
    assert await store.info(LogId("one"))
    assert await store.info(LogId("two"))
