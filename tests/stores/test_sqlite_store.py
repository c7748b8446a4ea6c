"""What is SQLite's own: damaged files, full disks, several processes on one file."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from quire.core.errors import QuireError, Refused, Unavailable
from quire.core.ids import LogId
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.stores.store import Append, ReadMark

from ..contracts.test_store import ADA, LOG, append, unsealed
from ..contracts.test_store_prune import prune_of


async def made(path: Path, events: int = 50) -> None:
    """A database with one log, closed."""
    store = SqliteStore(path)
    for number in range(events):
        await store.append([append(f"e{number}", expected=number)])
    await store.close()


def closed_off(path: Path) -> None:
    """Fold the write-ahead log into the file, as a copy or a backup would have it."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database at all" * 100)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_inside_the_header(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def overwritten_in_the_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(bytes(data))


def somebody_elses(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.executescript("create table mine (x); pragma user_version = 3;")
    connection.close()


def newer(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (garbage, Unavailable),
        (truncated, Unavailable),
        (cut_inside_the_header, Unavailable),
        (overwritten_in_the_middle, Unavailable),
        (somebody_elses, Unavailable),
        (newer, Refused),
    ],
)
async def test_a_file_that_is_damaged_or_not_ours_is_named_and_left_untouched(
    tmp_path: Path, damage: object, error: type[QuireError]
) -> None:
    """Rule 15, and: nothing that was there before is lost."""
    assert callable(damage)
    path = tmp_path / "quire.db"
    await made(path)
    closed_off(path)
    damage(path)
    before = path.read_bytes()
    with pytest.raises(error) as told:
        store = SqliteStore(path)
        try:
            await store.read(LOG)
        finally:
            await store.close()
    assert str(path) in str(told.value)
    assert path.read_bytes() == before


async def test_a_file_from_before_anybody_kept_what_was_seen_opens_and_keeps_it(tmp_path: Path) -> None:
    """Rule 15."""
    path = tmp_path / "quire.db"
    await made(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "DROP TABLE seen; DROP TABLE used; DROP TABLE used_keys; DROP TABLE pruned; PRAGMA user_version = 2;"
        )
    store = SqliteStore(path)
    assert await store.read(LOG)
    assert await store.seen(LOG, ADA) is None
    seen = await store.save_seen(ReadMark(LOG, ADA, 1, "10:00"))
    await store.close()
    store = SqliteStore(path)
    assert await store.seen(LOG, ADA) == seen
    await store.close()


async def test_a_folder_in_its_place_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "quire.db").mkdir()
    with pytest.raises(Unavailable):
        SqliteStore(tmp_path / "quire.db")


async def test_a_file_that_may_only_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        SqliteStore(tmp_path / "nowhere" / "quire.db")


async def test_a_process_that_holds_the_file_for_long_is_waited_for(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "quire.db")
    other = sqlite3.connect(tmp_path / "quire.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(store.append([append("a")]))
    await asyncio.sleep(0)
    assert await store.read(LOG) == []
    other.execute("COMMIT")
    other.close()
    async with asyncio.timeout(120):
        await waiting
    await store.close()


async def test_a_new_file_opened_by_many_at_once_is_made_once(tmp_path: Path) -> None:
    stores = await asyncio.gather(*(asyncio.to_thread(_opened, tmp_path / "quire.db") for _ in range(8)))
    assert all(count == 0 for count in stores)


def _opened(path: Path) -> int:
    async def count() -> int:
        store = SqliteStore(path)
        logs = await store.logs()
        await store.close()
        return len(logs)

    return asyncio.run(count())


@pytest.fixture
def small_disk(tmp_path: Path) -> list[str]:
    """How to run a Python module on a disk of 2 MB at `tmp_path/disk`, as an ordinary user."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("unshare (util-linux) is needed for a small disk: apt-get install util-linux")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = 'mount -t tmpfs -o size=2m small "$0" && exec "$@"'
    return [unshare, "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(disk), sys.executable, "-m"]


@pytest.mark.parametrize("module", ["fill_disk", "open_on_full_disk"])
async def test_a_full_disk_is_told_and_damages_nothing(small_disk: list[str], tmp_path: Path, module: str) -> None:
    """While somebody appends, and when a store is opened: SQLite calls some of that an I/O error."""
    process = await asyncio.create_subprocess_exec(
        *small_disk,
        f"tests.stores.{module}",
        str(tmp_path / "disk"),
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()
    assert out.decode().splitlines()[-1] == "went on"


async def test_four_processes_write_one_notebook_and_lose_nothing(tmp_path: Path) -> None:
    from .test_crash import check
    from .test_race import race

    place = f"sqlite:{tmp_path / 'quire.db'}"
    await check(place, await race(place))


async def test_the_log_is_a_table_anybody_can_read(tmp_path: Path) -> None:
    await made(tmp_path / "quire.db", 3)
    with contextlib.closing(sqlite3.connect(tmp_path / "quire.db")) as database:
        rows = database.execute("select log, seq, type, payload from events order by seq").fetchall()
    assert rows == [(LogId("n1"), number, "metadata_set", "{}") for number in (1, 2, 3)]


def locks_on(path: Path) -> set[str]:
    """The kinds of lock that this process holds on a file, as the system lists them."""
    inode = str(path.stat().st_ino)
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return {line[3] for line in lines if line[4] == str(os.getpid()) and line[5].endswith(f":{inode}")}


async def test_a_second_store_in_one_process_does_not_take_the_locks_of_the_first(tmp_path: Path) -> None:
    """A process loses its locks on a file when it closes any descriptor of it; others would then clear up behind it."""
    first = SqliteStore(tmp_path / "quire.db")
    await first.logs()
    held = locks_on(tmp_path / "quire.db")
    assert held
    second = SqliteStore(tmp_path / "quire.db")
    await second.logs()
    assert locks_on(tmp_path / "quire.db") == held
    await second.close()
    assert locks_on(tmp_path / "quire.db") == held
    await first.close()
    third = SqliteStore(tmp_path / "quire.db")  # looked at again: nobody uses it
    await third.close()


async def test_the_room_of_a_pruned_log_goes_back_to_the_disk(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "quire.db")
    large = unsealed("large", f'"{"x" * 4_000_000}"')
    await store.append([Append(log=LOG, kind="run", expected=0, records=(large,))])
    await store.prune(await prune_of(store, LOG))
    done = await store.compact()
    await store.close()
    assert done.before - done.after > 4_000_000
    assert (tmp_path / "quire.db").stat().st_size < 1_000_000
