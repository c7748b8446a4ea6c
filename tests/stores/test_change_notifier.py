"""A process on a SQLite file learns at once what another wrote, without looking; and looks where nobody can tell it."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from quire.core.ids import LogId
from quire.stores.sqlite import change_notifier, writer
from quire.stores.sqlite.change_notifier import FileListener, folder_of, notify
from quire.stores.sqlite.database_file import connect
from quire.stores.sqlite.sqlite_store import SqliteStore

from ..contracts.test_store import LOG, append

NEVER = 100_000.0
PATIENCE = 30
linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[tuple[SqliteStore, SqliteStore]]:
    """Two on one file, each with a thread and connections of its own, as two processes have them."""
    made = SqliteStore(tmp_path / "quire.db"), SqliteStore(tmp_path / "quire.db")
    yield made
    for store in made:
        await store.close()


async def seen_by(reader: SqliteStore, writer: SqliteStore, between: Callable[[], None] = lambda: None) -> list[int]:
    """What a follower sees of one event written before it came and of one written after it had nothing more to read."""
    pages = reader.follow(LOG)
    await writer.append([append("e0")])
    async with asyncio.timeout(PATIENCE):
        first = await anext(pages)
        second = asyncio.ensure_future(anext(pages))
        await asyncio.sleep(0)
        between()
        await writer.append([append("e1", expected=1)])
        return [record.seq for record in first + await second]


@linux
async def test_what_another_process_writes_is_seen_though_nobody_ever_looks_by_itself(
    stores: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("POLL_SECONDS", "UNTOLD_SECONDS"):
        monkeypatch.setattr(change_notifier, name, NEVER)
    assert await seen_by(*stores) == [1, 2]


@linux
async def test_who_follows_a_log_does_not_look_while_others_grow_and_leases_change(
    stores: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook in which nothing happens costs nothing: its runtime looks when it is told, and is told of its own log alone."""
    looks: list[str] = []

    def connect_traced(path: Path, *, read_only: bool) -> sqlite3.Connection:
        connection = connect(path, read_only=read_only)
        connection.set_trace_callback(lambda sql: looks.append(sql) if "data_version" in sql else None)
        return connection

    monkeypatch.setattr(change_notifier, "connect", connect_traced)
    monkeypatch.setattr(change_notifier, "UNTOLD_SECONDS", NEVER)
    reader, writer = stores
    pages = reader.follow(LOG)
    await writer.append([append("e0")])
    async with asyncio.timeout(PATIENCE):
        assert [record.seq for record in await anext(pages)] == [1]
        waiting = asyncio.ensure_future(anext(pages))
        lease = await writer.acquire("execution", "runtime:gpu", 30)
        assert lease is not None
        other = next(LogId(f"log{n}") for n in range(100) if _file(f"log{n}") != _file(LOG))
        for number in range(100):
            assert await writer.renew(lease, 30)
            await writer.append([append(f"o{number}", log=other, expected=number)])
        await writer.append([append("e1", expected=1)])
        assert [record.seq for record in await waiting] == [2]
    assert len(looks) <= 5, "when it begins, and for each event of its own log"


def silent(folder: Path, logs: object) -> None:
    """Tell nobody."""


async def test_a_writer_that_was_killed_before_it_could_tell_is_seen_all_the_same(
    stores: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "notify", silent)
    monkeypatch.setattr(change_notifier, "UNTOLD_SECONDS", 0.05)
    assert await seen_by(*stores) == [1, 2]


@pytest.mark.parametrize("step", ["_open", pytest.param("_try_out", marks=linux)])
async def test_where_the_system_cannot_tell_it_is_looked(
    stores: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """It has no inotify, or the file system takes a watch and never says anything."""

    def none_left(self: FileListener) -> None:
        raise OSError("too many open files")

    monkeypatch.setattr(change_notifier.FileListener, step, none_left)
    monkeypatch.setattr(writer, "notify", silent)
    monkeypatch.setattr(change_notifier, "UNTOLD_SECONDS", NEVER)
    assert await seen_by(*stores) == [1, 2]


@linux
async def test_it_is_looked_again_when_somebody_takes_the_folder_away(
    stores: tuple[SqliteStore, SqliteStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_notifier, "UNTOLD_SECONDS", NEVER)
    assert await seen_by(*stores, lambda: shutil.rmtree(folder_of(tmp_path / "quire.db"))) == [1, 2]


@linux
def test_only_who_follows_a_log_is_woken_by_it_and_who_follows_all_by_each(tmp_path: Path) -> None:
    """40 notebooks in which nothing happens are not woken by the one in which something does."""
    folder = tmp_path / "wake"
    one, everything = FileListener(folder), FileListener(folder)
    one.watch(LOG)
    everything.watch(None)
    try:
        for listener in (one, everything):
            assert listener.works
            listener.wait(0)  # what trying it out left
        other = next(LogId(f"log{n}") for n in range(100) if (folder / _file(f"log{n}")) != (folder / _file(LOG)))
        for log, woken in ((other, [False, True]), (LOG, [True, True])):
            notify(folder, [log])
            assert [listener.wait(0) for listener in (one, everything)] == woken
    finally:
        one.close()
        everything.close()


def _file(log: str) -> str:
    return change_notifier.file_of(LogId(log))
