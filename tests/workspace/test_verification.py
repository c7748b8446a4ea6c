"""A log that is verified while others write to it is not blamed for that (rule 4)."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from pathlib import Path

from msgspec.structs import replace

from quire.core.chain import Record, digest, link
from quire.core.ids import ActorId, EventId, LogId
from quire.stores.memory_store import MemoryStore
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.stores.store import Append, LogInfo, Mask, Store, UnsealedRecord
from quire.workspace.verification import verify_log

LOG = LogId("n1")
ADA = ActorId("human:ada")
AT = "2026-01-01T00:00:00.000000Z"


def unsealed(id: str, payload: str = "{}", type: str = "metadata_set") -> UnsealedRecord:
    return UnsealedRecord(EventId(id), None, None, AT, ADA, None, type, payload, digest(payload))


async def add(store: Store, *records: UnsealedRecord, expected: int, masks: tuple[Mask, ...] = ()) -> None:
    await store.append([Append(log=LOG, kind="notebook", expected=expected, records=records, masks=masks)])


async def info_of(store: Store) -> LogInfo:
    info = await store.info(LOG)
    assert info is not None
    return info


async def test_what_was_added_after_the_head_was_read_is_walked_too(store: Store) -> None:
    await add(store, unsealed("a"), unsealed("b"), expected=0)
    before = await info_of(store)
    await add(store, unsealed("c"), expected=2)
    found = await verify_log(store, before)
    assert found.flaw is None
    assert found.head == (await info_of(store)).head


async def test_an_event_that_no_head_knows_is_named(tmp_path: Path) -> None:
    """Its hash is right: only the head, kept apart, tells that nobody recorded it."""
    store = SqliteStore(tmp_path / "quire.db")
    await add(store, unsealed("a"), expected=0)
    (record,) = await store.read(LOG)
    forged = replace(record, seq=2, id=EventId("forged"))
    forged = replace(forged, hash=link(forged, record.hash))
    with sqlite3.connect(tmp_path / "quire.db") as db:
        row = db.execute("SELECT * FROM events").description
        names = [name for name, *_ in row if name != "position"]
        values = [getattr(forged, name) for name in names]
        db.execute(f"INSERT INTO events ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", values)
    db.close()
    flaw = (await verify_log(store, await info_of(store))).flaw
    assert flaw is not None and (flaw.seq, flaw.kind) == (2, "added")
    await store.close()


class Masked(MemoryStore):
    """A store that is read page by page, and in which somebody masks the first event when it has been read."""

    masked = False

    async def read(
        self,
        log: LogId,
        since: int = 0,
        until: int | None = None,
        *,
        limit: int = 1,
        types: Collection[str] | None = None,
        newest_first: bool = False,
        most_bytes: int | None = None,
    ) -> list[Record]:
        found = await super().read(
            log, since, until, limit=limit, types=types, newest_first=newest_first, most_bytes=most_bytes
        )
        if not self.masked:
            self.masked = True
            told = f'{{"type":"payload_redacted","seq":1,"why":"leak","replacement":"{digest("{}")}"}}'
            await add(self, unsealed("r", told, "payload_redacted"), expected=2, masks=(Mask(1, "{}"),))
        return found


async def test_an_event_that_is_masked_during_the_walk_is_no_flaw() -> None:
    store = Masked()
    await add(store, unsealed("a", '{"name":"hunter2"}'), unsealed("b"), expected=0)
    found = await verify_log(store, await info_of(store))
    assert store.masked and (await store.read(LOG))[0].redacted
    assert found.flaw is None
