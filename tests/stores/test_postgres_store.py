"""What is PostgreSQL's own: several servers, restarts, lost connections, rights, and a reader that can only read."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from quire.core.codec import encode
from quire.core.errors import BadInput, Conflict, QuireError, Refused, Unavailable
from quire.core.events import NotebookCreated
from quire.core.ids import LogId
from quire.stores.index import TABLES, IndexRows
from quire.stores.memory_store import MemoryStore
from quire.stores.postgres import query as postgres_ask
from quire.stores.postgres.listener import POSITION
from quire.stores.postgres.postgres_store import PostgresStore
from quire.stores.postgres.server_connection import DatabaseSchema
from quire.stores.sqlite import query as ask
from quire.stores.store import Append, LogSummary, ReadMark, Table

from ..conftest import Postgres
from ..contracts.test_store import ADA, LOG, append, first, seqs, unsealed


@pytest.fixture
async def schema(postgres: Postgres) -> AsyncIterator[str]:
    async with postgres.schema() as name:
        yield name


@pytest.fixture
async def pg(postgres: Postgres, schema: str) -> AsyncIterator[PostgresStore]:
    """A store on the server that all tests share."""
    store = await PostgresStore.open(postgres.url, schema=schema)
    yield store
    await store.close()


@pytest.fixture
async def admin(postgres: Postgres) -> AsyncIterator[Any]:
    """A connection as the superuser."""
    connection = await postgres.connect()
    yield connection
    await connection.close()


@pytest.fixture(scope="module")
def rough() -> Iterator[Postgres]:
    """A server for tests that restart it, fill it or turn its settings."""
    server = Postgres()
    with (server.folder / "postgresql.conf").open("a") as settings:
        settings.write("max_prepared_transactions = 2\n")
    server.control("restart")
    yield server
    server.stop()


@asynccontextmanager
async def opened(server: Postgres, count: int = 1) -> AsyncGenerator[list[PostgresStore]]:
    """Several handles on one new place, as several servers would have."""
    async with server.schema() as schema:
        stores = [await PostgresStore.open(server.url, schema=schema) for _ in range(count)]
        yield stores
        for store in stores:
            await store.close()


def notebook(id: str, log: LogId = LOG, name: str = "mine", expected: int = 0) -> Append:
    """An append that the index can make sense of."""
    payload = encode(NotebookCreated(name=name)) if expected == 0 else '{"type":"from_the_future"}'
    return Append(
        log=log, kind="notebook", expected=expected, records=(unsealed(id, payload),), about=LogSummary(name=name)
    )


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    """Ask again and again until it is so."""
    async with asyncio.timeout(120):
        while not await condition():
            pass


# ---- Coming about

OPEN_AND_APPEND = """
import asyncio, sys
from quire.core.ids import LogId
from quire.stores.postgres.postgres_store import PostgresStore
from tests.contracts.test_store import append

async def main(url, schema, name):
    store = await PostgresStore.open(url, schema=schema)
    await store.append([append(name, log=LogId(name))])
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
async def test_several_processes_make_the_tables_at_once(postgres: Postgres, schema: str) -> None:
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", OPEN_AND_APPEND, postgres.url, schema, f"p{number}")
        for number in range(4)
    ]
    assert [await process.wait() for process in processes] == [0, 0, 0, 0]
    store = await PostgresStore.open(postgres.url, schema=schema)
    assert {info.log for info in await store.logs()} == {"p0", "p1", "p2", "p3"}
    assert await store.position() == 4
    await store.close()


async def test_many_tasks_make_the_tables_at_once(postgres: Postgres, schema: str) -> None:
    stores = await asyncio.gather(*(PostgresStore.open(postgres.url, schema=schema) for _ in range(12)))
    await asyncio.gather(*(store.append([append(f"e{n}", log=LogId(f"n{n}"))]) for n, store in enumerate(stores)))
    assert await stores[0].position() == 12
    for store in stores:
        await store.close()


async def test_what_a_newer_quire_wrote_is_refused_and_left_alone(
    postgres: Postgres, schema: str, pg: PostgresStore, admin: Any
) -> None:
    """Rule 15."""
    await admin.execute(f"UPDATE {schema}.quire_format SET version = 99")
    with pytest.raises(Refused, match="newer Quire"):
        await PostgresStore.open(postgres.url, schema=schema)
    assert await admin.fetchval(f"SELECT version FROM {schema}.quire_format") == 99


async def test_tables_from_before_anybody_kept_what_was_seen_open_and_keep_it(
    postgres: Postgres, schema: str, pg: PostgresStore, admin: Any
) -> None:
    """Rule 15."""
    await pg.append([append("a")])
    await admin.execute(
        f"SET search_path TO {schema}; DROP TABLE seen, lanes, used, used_keys, pruned CASCADE;"
        f" UPDATE {schema}.quire_format SET version = 2"
    )
    store = await PostgresStore.open(postgres.url, schema=schema)
    assert [record.id for record in await store.read(LOG)] == ["a"]
    seen = await store.save_seen(ReadMark(LOG, ADA, 1, "10:00"))
    assert await store.seen(LOG, ADA) == seen
    await store.close()


async def test_tables_of_another_program_are_left_alone(postgres: Postgres, schema: str, admin: Any) -> None:
    await admin.execute(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.events (mine int)")
    with pytest.raises(Unavailable, match="another program"):
        await PostgresStore.open(postgres.url, schema=schema)
    tables = await admin.fetch("SELECT tablename FROM pg_tables WHERE schemaname LIKE $1", f"{schema}%")
    assert [table for (table,) in tables] == ["events"]


async def test_a_user_who_may_not_create_schemas_learns_what_a_dba_must_run(
    postgres: Postgres, schema: str, admin: Any
) -> None:
    await admin.execute(f"CREATE ROLE {schema}_user LOGIN")
    try:
        with pytest.raises(Refused, match="Let a DBA run: CREATE SCHEMA") as refused:
            await PostgresStore.open(postgres.url_of(f"{schema}_user"), schema=schema)
        await admin.execute(str(refused.value).partition("Let a DBA run: ")[2])
        store = await PostgresStore.open(postgres.url_of(f"{schema}_user"), schema=schema)
        await store.append([append("a")])
        await store.close()
    finally:
        await admin.execute(f"DROP OWNED BY {schema}_user CASCADE; DROP ROLE {schema}_user")


async def test_a_database_that_cannot_keep_all_text_is_refused(postgres: Postgres, schema: str, admin: Any) -> None:
    await admin.execute(f"CREATE DATABASE {schema} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    try:
        with pytest.raises(Refused, match="SQL_ASCII"):
            await PostgresStore.open(postgres.url.replace("/postgres?", f"/{schema}?"), schema=schema)
    finally:
        await admin.execute(f"DROP DATABASE {schema}")


@pytest.mark.parametrize("schema", ["", "Quire", 'q"; DROP SCHEMA public', "x" * 41, "1st"])
async def test_a_schema_has_a_plain_name(schema: str) -> None:
    with pytest.raises(BadInput, match="Schema"):
        await PostgresStore.open("postgresql://localhost", schema=schema)


OUT_OF_REACH = [
    "postgresql://ada:hunter2@127.0.0.1:1/db",
    "postgresql://ada:hunter2@no-such-host.invalid/db",
    "postgresql://ada:hun@ter2@127.0.0.1:1/db",
    "postgresql://ada:hunter2/x@127.0.0.1:1/db",
    "postgresql://ada:hunter2?x@127.0.0.1:1/db",
    "postgresql://ada:hunter2#x@127.0.0.1:1/db",
    "postgresql://ada@127.0.0.1:hunter2/db",
    "postgresql:///db?host=/nowhere&password=hunter2",
    "hunter2://ada:hunter2@127.0.0.1/db",
]


async def test_a_server_out_of_reach_is_told_without_the_password() -> None:
    for url in OUT_OF_REACH:
        with pytest.raises((Unavailable, BadInput)) as told:
            await PostgresStore.open(url)
        assert "hunter2" not in str(told.value)
        assert "ter2" not in str(told.value)
        assert "hun" not in str(told.value).replace("unreach", "")


async def test_a_server_without_a_free_connection_is_told(postgres: Postgres, admin: Any) -> None:
    await admin.execute("CREATE ROLE lonely LOGIN CONNECTION LIMIT 1; GRANT CREATE ON DATABASE postgres TO lonely")
    store = await PostgresStore.open(postgres.url_of("lonely"), schema="lonely")
    with pytest.raises(Unavailable, match="too many connections"):
        await PostgresStore.open(postgres.url_of("lonely"), schema="lonely")
    await store.append([append("a")])
    await store.close()
    await admin.execute("DROP OWNED BY lonely CASCADE; DROP ROLE lonely")


# ---- Appending


async def test_positions_have_no_gaps_whoever_writes_and_whatever_fails(postgres: Postgres) -> None:
    async with opened(postgres, 3) as stores:

        async def write(number: int) -> None:
            store, log = stores[number % 3], LogId(f"log{number % 10}")
            for turn in range(5):
                info = await store.info(log)
                expected = info.head.seq if info else 0
                try:
                    await store.append([notebook(f"e{number}-{turn}", log, expected=expected)])
                except Conflict:
                    with pytest.raises(BadInput):
                        await store.append([append("bad\0id", log=LogId(f"bad{number}"))])

        await asyncio.gather(*(write(number) for number in range(30)))
        count = await stores[0].position()
        rows = await stores[0].query("SELECT log, seq FROM events ORDER BY log, seq", limit=1000, seconds=30)
        assert len(rows.rows) == count
        grown = [growth async for page in _all(stores[1], count) for growth in page]
        assert sum(growth.seq - growth.first + 1 for growth in grown) == count
        assert max(growth.position for growth in grown) == count


async def _all(store: PostgresStore, count: int) -> AsyncIterator[list[Any]]:
    async with asyncio.timeout(120):
        async for page in store.feed():
            yield page
            if page[-1].position >= count:
                return


async def test_an_old_id_is_found_also_when_it_is_sent_as_if_it_were_new(pg: PostgresStore) -> None:
    """Rule 2: looking is skipped when nobody else has written; the write itself has to see it."""
    for number in range(5):
        await pg.append([append(f"e{number}", expected=number)])
    (again,) = await pg.append([append("e1", expected=5)])
    assert again.repeated
    assert again.records[0].seq == 2
    keyed = Append(log=LOG, kind="notebook", expected=5, records=(unsealed("k", key="nightly"),))
    await pg.append([keyed])
    (same_key,) = await pg.append(
        [Append(log=LOG, kind="notebook", expected=6, records=(unsealed("l", key="nightly"),))]
    )
    assert same_key.repeated
    assert seqs(await pg.read(LOG)) == [1, 2, 3, 4, 5, 6]


async def test_two_servers_that_take_turns_see_each_others_heads(postgres: Postgres) -> None:
    async with opened(postgres, 2) as stores:
        for number in range(20):
            await stores[number // 3 % 2].append([append(f"e{number}", expected=number)])
        for store in stores:
            with pytest.raises(Conflict) as conflict:
                await store.append([append("late", expected=19)])
            assert conflict.value.details["seq"] == 20


async def test_an_append_larger_than_a_statement_is_recorded_whole(pg: PostgresStore) -> None:
    await pg.append([append(*(f"e{n}" for n in range(4500)), about=LogSummary(name="big"))])
    (done,) = await pg.append([append(*(f"f{n}" for n in range(4500)), expected=4500)])
    assert done.records[-1].seq == 9000
    info = await pg.info(LOG)
    assert info is not None
    assert (info.head.seq, info.head.hash, info.name) == (9000, done.records[-1].hash, "big")
    assert await pg.position() == 9000


async def test_events_too_large_for_one_statement_are_recorded_together(pg: PostgresStore) -> None:
    large = tuple(unsealed(f"e{number}", '"' + "x" * 12_000_000 + '"') for number in range(5))
    (done,) = await pg.append([Append(log=LOG, kind="notebook", expected=0, records=large)])
    assert seqs(await pg.read(LOG)) == [1, 2, 3, 4, 5]
    info = await pg.info(LOG)
    assert info is not None
    assert info.head.hash == done.records[-1].hash


async def test_what_cannot_be_kept_takes_nobody_else_with_it(pg: PostgresStore) -> None:
    bad = Append(log=LogId("bad"), kind="notebook", expected=0, records=(unsealed("bad", '"\0"'),))
    answers = await asyncio.gather(
        *(pg.append([append(f"e{n}", log=LogId(f"n{n}"))]) for n in range(10)),
        pg.append([bad]),
        *(pg.append([append(f"f{n}", log=LogId(f"m{n}"))]) for n in range(10)),
        return_exceptions=True,
    )
    assert isinstance(answers.pop(10), BadInput)
    assert not [answer for answer in answers if isinstance(answer, BaseException)]
    assert await pg.position() == 20


async def test_a_writer_who_gives_up_waiting_does_not_disturb_the_others(pg: PostgresStore) -> None:
    waiting = [asyncio.create_task(pg.append([append(f"e{n}", log=LogId(f"n{n}"))])) for n in range(10)]
    await asyncio.sleep(0)
    waiting[3].cancel()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert sum(isinstance(answer, list) for answer in answers) == 9


# ---- Leases


async def test_the_last_lease_has_the_highest_epoch_however_many_want_it(postgres: Postgres) -> None:
    """Rule 10."""
    async with opened(postgres, 4) as stores:

        async def take(store: PostgresStore, number: int) -> list[int]:
            epochs: list[int] = []
            for turn in range(20):
                lease = await store.acquire("x", f"runtime:{number}", 0 if turn % 2 else 60)
                if lease is not None:
                    epochs.append(lease.epoch)
                    await store.release(lease)
            return epochs

        taken = await asyncio.gather(*(take(store, number) for number, store in enumerate(stores * 3)))
        epochs = [epoch for each in taken for epoch in each]
        assert len(set(epochs)) == len(epochs)
        final = await stores[0].acquire("x", "runtime:last", 60)
        assert final is not None
        assert final.epoch > max(epochs)


# ---- Trouble


@pytest.mark.slow
async def test_a_restart_of_the_server_is_told_to_whoever_waits_and_survived_by_all_others(rough: Postgres) -> None:
    async with opened(rough, 2) as (here, there):
        await here.append([append("a")])
        following = asyncio.create_task(first(there.follow(LOG), 5))
        feeding = asyncio.create_task(first(there.feed(), 1))
        await here.append([append("b", expected=1)])
        # A prepared transaction keeps its lock through a restart, so the append cannot get through just before.
        table = f"{here._place.schema}.events"  # pyright: ignore[reportPrivateUsage]
        connection = await rough.connect()
        for statement in ("BEGIN", f"LOCK TABLE {table} IN EXCLUSIVE MODE", "PREPARE TRANSACTION 'hold'"):
            await connection.execute(statement)
        waiting = asyncio.create_task(here.append([append("c", expected=2)]))
        blocked = f"SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = '{table}'::regclass)"
        await until(lambda: connection.fetchval(blocked))
        await asyncio.to_thread(rough.control, "restart", "-m", "fast")
        with pytest.raises(Unavailable, match="lost") as told:
            await waiting
        assert "same id" in str(told.value) or "Nothing was recorded" in str(told.value)
        connection = await rough.connect()
        await connection.execute("ROLLBACK PREPARED 'hold'")
        await connection.close()
        (again,) = await here.append([append("c", expected=2)])
        assert again.records[0].seq == 3
        await there.append([append("d", expected=3)])
        await here.append([append("e", expected=4)])
        assert seqs(await following) == [1, 2, 3, 4, 5]
        assert await feeding


async def test_connections_that_were_lost_while_idle_are_replaced_without_a_word(
    postgres: Postgres,
) -> None:
    async with opened(postgres) as (store,):
        await store.append([append("a")])
        await store.append([append("b", expected=1)])
        await store.read(LOG)
        connection = await postgres.connect()
        ours = "FROM pg_stat_activity WHERE application_name = 'quire'"
        await connection.execute(f"SELECT pg_terminate_backend(pid) {ours}")
        await until(lambda: connection.fetchval(f"SELECT count(*) = 0 {ours}"))
        await store.append([append("c", expected=2)])
        assert seqs(await store.read(LOG)) == [1, 2, 3]
        assert await store.acquire("x", "runtime:a", 60) is not None
        await connection.close()


async def test_a_connection_that_is_lost_within_a_transaction_is_replaced_without_a_word(postgres: Postgres) -> None:
    """As when the server ends those of whoever stood still together with it: nothing was committed, so it is done again."""
    async with opened(postgres) as (store,):
        connection = await postgres.connect()
        schema = store._place.schema  # pyright: ignore[reportPrivateUsage]
        stuck = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'quire'"
        async with connection.transaction():
            await connection.execute(f'LOCK TABLE "{schema}".logs IN ACCESS EXCLUSIVE MODE')
            waiting = asyncio.create_task(store.append([append("a")]))
            other = await postgres.connect()
            await until(lambda: other.fetchval(stuck))
            await other.execute(f"SELECT pg_terminate_backend(pid) FROM ({stuck}) AS stuck")
        await waiting
        assert seqs(await store.read(LOG)) == [1]
        await other.close()
        await connection.close()


@pytest.mark.slow
async def test_a_server_that_is_away_for_a_moment_is_waited_for(rough: Postgres) -> None:
    async with opened(rough) as (store,):
        await store.append([append("a")])
        await asyncio.to_thread(rough.control, "stop", "-m", "fast")
        reading = asyncio.create_task(store.read(LOG))
        writing = asyncio.create_task(store.append([append("b", expected=1)]))
        await asyncio.to_thread(rough.control, "start")
        await reading
        (done,) = await writing
        assert done.records[0].seq == 2


@pytest.mark.slow
async def test_a_commit_whose_answer_got_lost_is_told_as_such_and_sent_again_safely(rough: Postgres) -> None:
    """With a standby that is not there, a commit is made and then waits for ever to be acknowledged."""
    async with opened(rough) as (store,):
        connection = await rough.connect()
        stuck = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'quire'"
        await store.append([append("first")])
        for number, name in enumerate(["a", "b"], 1):
            await setting(rough, "synchronous_standby_names", "'nobody'")
            # Commits wait as soon as the checkpointer has read the setting, and it does so before it makes a checkpoint; twice,
            # because it may have begun with one just before.
            for _ in range(2):
                await connection.execute("CHECKPOINT")
            waiting = asyncio.create_task(store.append([append(name, expected=number)]))
            await until(lambda: connection.fetchval(stuck))
            await connection.execute(f"SELECT pg_terminate_backend(pid) FROM ({stuck}) AS stuck")
            with pytest.raises(Unavailable, match=r"may or may not have been recorded; send it again with the same id"):
                await waiting
            await setting(rough, "synchronous_standby_names", "''")
            (again,) = await store.append([append(name, expected=number)])
            assert again.repeated
        assert seqs(await store.read(LOG)) == [1, 2, 3]
        await connection.close()


async def test_a_server_that_takes_no_changes_is_told_and_still_read(postgres: Postgres) -> None:
    async with opened(postgres) as (store,):
        await store.append([append("a")])
        await setting(postgres, "default_transaction_read_only", "on")
        try:
            for _ in range(2):
                with pytest.raises(Unavailable, match=r"read-only.*Nothing was recorded"):
                    await store.append([append("b", expected=1)])
            assert seqs(await store.read(LOG)) == [1]
        finally:
            await setting(postgres, "default_transaction_read_only", "off")
        await store.append([append("b", expected=1)])


async def setting(server: Postgres, name: str, value: str) -> None:
    """Turn a setting of the whole server, and wait until it is so."""
    connection = await server.connect()
    await connection.execute("SET default_transaction_read_only = off")
    await connection.execute(f"ALTER SYSTEM SET {name} = {value}")
    await connection.execute("SELECT pg_reload_conf()")
    await connection.close()

    async def is_so() -> bool:
        connection = await server.connect()
        shown = await connection.fetchval(f"SHOW {name}")
        await connection.close()
        return shown == value.strip("'")

    await until(is_so)


async def test_followers_see_everything_though_the_connection_that_listens_is_lost(postgres: Postgres) -> None:
    async with opened(postgres, 2) as (here, there):
        connection = await postgres.connect()
        channel = here._place.channel  # pyright: ignore[reportPrivateUsage]
        following = asyncio.create_task(first(here.follow(LOG), 30))
        listening = "SELECT pid FROM pg_stat_activity WHERE application_name = 'quire' AND query IN ($1, $2) AND pid <> pg_backend_pid()"
        which = POSITION, f'LISTEN "{channel}"'
        for number in range(30):
            if number % 10 == 5:
                await until(lambda: connection.fetchval(listening, *which))
                await connection.execute(f"SELECT pg_terminate_backend(pid) FROM ({listening}) AS l", *which)
            await there.append([append(f"e{number}", expected=number)])
        assert seqs(await following) == list(range(1, 31))
        await connection.close()


async def test_a_notification_that_means_nothing_does_no_harm(postgres: Postgres) -> None:
    async with opened(postgres, 2) as (here, there):
        following = asyncio.create_task(first(here.follow(LOG), 2))
        connection = await postgres.connect()
        for payload in ("nonsense", "{}", "", "[1]"):
            await connection.execute("SELECT pg_notify($1, $2)", here._place.channel, payload)  # pyright: ignore[reportPrivateUsage]
            await there.append([append(f"e{payload}", log=LogId("other" + payload))])
        await there.append([append("a")])
        await there.append([append("b", expected=1)])
        assert seqs(await following) == [1, 2]
        await connection.close()


@pytest.fixture
def small_disk(rough: Postgres) -> Iterator[Path]:
    """A disk of 8 MB that the server may write to."""
    folder = Path(tempfile.mkdtemp(prefix="quire-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        folder.rmdir()
        pytest.skip("no right to mount a small disk here, and PostgreSQL knows no other full disk")
    if rough.system_user is not None:
        shutil.chown(folder, rough.system_user)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()


@pytest.mark.slow
async def test_a_full_disk_is_told_and_room_is_all_it_takes_to_go_on(rough: Postgres, small_disk: Path) -> None:
    connection = await rough.connect()
    await connection.execute(f"CREATE TABLESPACE small LOCATION '{small_disk}'")
    async with opened(rough) as (store,):
        schema = store._place.schema  # pyright: ignore[reportPrivateUsage]
        await store.append([append("a")])
        await connection.execute(f"ALTER TABLE {schema}.events SET TABLESPACE small")
        # Text that does not compress, small enough to stay in the table.
        noise = os.urandom(700).hex()
        last = 1
        with pytest.raises(Unavailable, match=r"disk is full\. Nothing was recorded"):
            while True:
                record = unsealed(f"e{last}", f'"{noise}"')
                await store.append([Append(log=LOG, kind="notebook", expected=last, records=(record,))])
                last += 1
        assert len(await store.read(LOG, limit=100_000)) == last
        await connection.execute(f"ALTER TABLE {schema}.events SET TABLESPACE pg_default")
        (done,) = await store.append([append("room", expected=last)])
        assert done.records[0].seq == last + 1
    await connection.execute("DROP TABLESPACE small")
    await connection.close()


# ---- Asking

ROWS = IndexRows(
    logs=[LOG],
    cells=[(LOG, "c1", 1, "code", None, "[]", "nul: \0", "h", "ok", True, "human:ada", "human:ada", "{}")],
    runs=[
        (
            *(
                "r1",
                "r",
                "success",
                None,
                None,
                "{}",
                "{}",
                "human:ada",
                None,
                None,
                "t",
                "t",
                "t",
                1.5,
                None,
                None,
                None,
            ),
            *(None, "3.12.1", "linux", "p", "c", False),
            *(None, None, None, None),
            *(None, None, None, None, None, None, None),
        )
    ],
    names=[("human:ada", "Ada"), ("human:ada", "Ada L.")],
)


async def asked(store: PostgresStore, sql: str, **options: Any) -> Table:
    return await store.query(sql, **{"limit": 100, "seconds": 30, **options})


async def test_the_views_have_the_same_columns_as_in_sqlite(pg: PostgresStore) -> None:
    assert postgres_ask.VIEWS.keys() == ask.VIEWS.keys()
    memory = MemoryStore()
    for name in ask.VIEWS:
        there = await memory.query(f"SELECT * FROM {name}", limit=1, seconds=30)
        assert (await asked(pg, f"SELECT * FROM {name}")).columns == there.columns, name


async def test_rows_of_the_index_are_found_and_replaced(pg: PostgresStore) -> None:
    await pg.append([append("a", about=LogSummary(name="first"))])
    assert await pg.indexed() == 0
    assert await pg.save_index(ROWS, 0, 1)
    assert not await pg.save_index(ROWS, 0, 1)
    assert await pg.indexed() == 1
    assert (await asked(pg, "SELECT source, stale FROM cells")).rows == (("nul: ␀", True),)
    assert (await asked(pg, "SELECT seconds FROM runs")).rows == ((1.5,),)
    assert (await asked(pg, "SELECT actor, kind, name, events FROM actors")).rows == (
        ("human:ada", "human", "Ada L.", 1),
    )
    assert (await asked(pg, "SELECT name, archived, events FROM notebooks")).rows == (("first", False, 1),)
    assert await pg.save_index(IndexRows(logs=[LOG]), 1, 2)
    assert (await asked(pg, "SELECT * FROM cells")).rows == ()
    assert len((await asked(pg, "SELECT * FROM runs")).rows) == 1
    await pg.forget_index()
    assert await pg.indexed() <= 0


async def test_an_index_of_another_version_is_made_anew_and_can_still_be_read(
    pg: PostgresStore, schema: str, admin: Any
) -> None:
    await pg.append([notebook("a")])
    await asked(pg, "SELECT 1")
    await admin.execute(f"UPDATE {schema}.counters SET value = 1 WHERE name = 'index'")
    await admin.execute(f"ALTER TABLE {schema}.index_cells DROP COLUMN metadata CASCADE")
    assert await pg.indexed() == 0
    assert await pg.save_index(ROWS, 0, 1)
    assert len((await asked(pg, "SELECT * FROM cells")).columns) == len(TABLES["cells"])


async def test_answers_are_values_that_json_can_carry(pg: PostgresStore) -> None:
    sql = (
        "SELECT sum(x), avg(x), now()::date = date '2000-01-01', date '2026-01-02', '\\xff00'::bytea, array[1.5, 2],"
        " row(1, 'a'), 'a'::text, null, 1e0::float8, interval '1 day', '{\"a\": 1}'::jsonb FROM generate_series(1, 3) x"
    )
    (row,) = (await asked(pg, sql)).rows
    assert row[:6] == (6, 2.0, False, "2026-01-02", "\\xff00", [1.5, 2])
    assert row[7:] == ("a", None, 1.0, "1 day, 0:00:00", '{"a": 1}')


async def test_an_answer_stops_at_the_limit_and_says_so(pg: PostgresStore) -> None:
    table = await asked(pg, "SELECT * FROM generate_series(1, 10) AS n", limit=3)
    assert table == Table(("n",), ((1,), (2,), (3,)), truncated=True)
    assert not (await asked(pg, "SELECT * FROM generate_series(1, 3) AS n", limit=3)).truncated
    assert await asked(pg, "SELECT 1 AS a, 2 AS a WHERE false") == Table(("a", "a"), ())


TRACE = Path(tempfile.gettempdir()) / f"quire-was-here-{os.getpid()}"
ATTACKS = [
    "DELETE FROM events",
    "INSERT INTO notebooks (log) VALUES ('x')",
    "WITH gone AS (DELETE FROM events RETURNING *) SELECT * FROM gone",
    "WITH made AS (UPDATE notebooks SET name = 'x' RETURNING *) SELECT * FROM made",
    "CREATE TABLE mine (x int)",
    "CREATE TEMP TABLE mine (x int)",
    "SELECT * INTO TEMP mine FROM events",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "DO $$ BEGIN PERFORM 1; END $$",
    "CALL nothing()",
    "COPY (SELECT 1) TO PROGRAM 'touch {TRACE}'",
    "COPY (SELECT 1) TO STDOUT",
    "COPY events FROM PROGRAM 'id'",
    "SELECT set_config('role', 'postgres', false)",
    "SELECT set_config('role', 'postgres', true), (SELECT count(*) FROM {schema}.tokens)",
    "SELECT set_config('role', 'postgres', true), query_to_xml('SELECT * FROM {schema}.tokens', true, true, '')",
    "SELECT set_config('session_authorization', 'postgres', true)",
    "SELECT set_config('transaction_read_only', 'off', true)",
    "SELECT query_to_xml('SELECT * FROM {schema}.tokens', true, true, '')",
    "SELECT database_to_xml(true, true, '') FROM {schema}.tokens",
    "SELECT * FROM {schema}.tokens",
    "TABLE {schema}.reader",
    "SELECT * FROM {schema}.events",
    "SELECT nextval('{schema}.epochs')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('PG_VERSION')",
    "SELECT pg_ls_dir('.')",
    "SELECT pg_stat_file('PG_VERSION')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '{TRACE}')",
    "SELECT rolpassword FROM pg_authid",
    "SELECT * FROM pg_file_settings",
    "SELECT * FROM dblink('dbname=postgres', 'SELECT 1') AS t(x int)",
    "SELECT * FROM events FOR UPDATE",
    "SET ROLE postgres",
    "RESET SESSION AUTHORIZATION",
    "BEGIN; DELETE FROM events; COMMIT",
    "SELECT 1; SELECT 2",
    "SELECT 1; DELETE FROM events",
    "COMMIT",
    "COMMIT AND CHAIN",
    "LISTEN x",
    "VACUUM",
    "EXPLAIN ANALYZE DELETE FROM events",
    "PREPARE p AS DELETE FROM events",
    "LOCK TABLE events",
    "ALTER ROLE postgres PASSWORD 'x'",
    "",
    "SELECT * FROM events WHERE",
    "SELECT * FROM nowhere",
    "SELECT $1",
    "SELECT 1/0",
]


async def test_a_question_ends_with_whoever_asked_it(pg: PostgresStore, admin: Any) -> None:
    """A server that went on would be busy for nobody, for as long as the question may take."""
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    running = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'quire sql' AND state = 'active'"
    asking = [asyncio.create_task(asked(pg, endless, seconds=3600)) for _ in range(10)]
    await until(lambda: admin.fetchval(f"SELECT count(*) = 10 FROM ({running}) AS there"))
    for task in asking:
        task.cancel()
    await asyncio.wait(asking)
    await until(lambda: admin.fetchval(f"SELECT NOT EXISTS ({running})"))


async def test_a_query_can_only_read_the_views(pg: PostgresStore, schema: str, admin: Any) -> None:
    """For real: also when the owner is a superuser, as here."""
    await pg.append([notebook("a")])
    await pg.save_token("hash", "t1")
    answers: list[tuple[str, Table]] = []
    for sql in ATTACKS:
        try:
            answers.append((sql, await asked(pg, sql.replace("{schema}", schema).replace("{TRACE}", str(TRACE)))))
        except (Refused, BadInput) as told:
            assert "t1" not in str(told), sql
        assert await pg.token("hash") == "t1", sql
        assert (await asked(pg, "SELECT name, events FROM notebooks")).rows == (("mine", 1),), sql
        assert not TRACE.exists(), sql
        assert await admin.fetchval("SELECT count(*) FROM pg_largeobject_metadata") == 0, sql
    assert answers == []


NOT_ANSWERED: list[tuple[str, type[QuireError], str]] = [
    ("DELETE FROM events", Refused, "only reads"),
    ("WITH x AS (DELETE FROM events RETURNING *) SELECT * FROM x", Refused, "only reads"),
    ("SELECT pg_read_file('/etc/passwd')", Refused, "only reads, and only the views events, notebooks"),
    ("SELECT set_config('role', 'postgres', false)", Refused, "only reads, and only the views"),
    ("SELECT 1; SELECT 2", BadInput, "takes one statement"),
    ("SELEKT 1", BadInput, 'at or near "SELEKT".*The views are events, notebooks'),
    ("SELECT nothing FROM events", BadInput, '"nothing" does not exist'),
    ("SELECT $1", BadInput, "has parameters"),
    ("SELECT date '20000-01-01'", BadInput, "Cast it to text"),
    ("SELECT histogram_bounds FROM pg_stats", BadInput, "Cast it to text"),
    ("SELECT '\0'", BadInput, "NUL"),
    ("SELECT '\ud800'", BadInput, "half a surrogate pair"),
]


async def test_a_question_that_is_not_answered_says_why(pg: PostgresStore) -> None:
    for sql, kind, told in NOT_ANSWERED:
        with pytest.raises(kind, match=told):
            await asked(pg, sql)


@pytest.mark.parametrize(
    "sql", ["SELECT pg_sleep(60)", "SELECT set_config('statement_timeout', '0', false), pg_sleep(60)"]
)
async def test_a_question_that_takes_too_long_is_stopped(pg: PostgresStore, sql: str, admin: Any) -> None:
    with pytest.raises(Unavailable, match=r"longer than 0\.2 s"):
        await asked(pg, sql, seconds=0.2)
    left = (
        "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'quire sql' AND query LIKE '%pg_sleep%')"
    )
    await until(lambda: _not(admin.fetchval(left)))


async def _not(answer: Awaitable[bool]) -> bool:
    return not await answer


async def test_what_a_question_leaves_behind_is_undone(pg: PostgresStore, admin: Any) -> None:
    """Not all of these are refused by every server; none of them must last, or be heard."""
    heard: list[str] = []

    def hear(*told: Any) -> None:
        heard.append(told[-1])

    await admin.add_listener("hey", hear)
    for sql in ("SELECT pg_notify('hey', 'x')", "SELECT lo_create(0)", "SELECT pg_advisory_lock(7)"):
        try:
            await asked(pg, sql)
        except QuireError as error:
            assert isinstance(error, Refused)
    await until(lambda: admin.fetchval("SELECT pg_try_advisory_lock(7)"))
    await admin.execute("SELECT pg_notify('hey', 'end')")
    await until(lambda: _soon("end" in heard))
    assert heard == ["end"]
    assert await admin.fetchval("SELECT count(*) FROM pg_largeobject_metadata") == 0


async def _soon(value: bool) -> bool:
    await asyncio.sleep(0)
    return value


async def test_tables_of_others_in_the_database_are_not_seen(pg: PostgresStore, schema: str, admin: Any) -> None:
    await admin.execute(f"CREATE TABLE public.secret_{schema} AS SELECT 'hunter2' AS word")
    try:
        with pytest.raises(Refused):
            await asked(pg, f"SELECT * FROM public.secret_{schema}")
    finally:
        await admin.execute(f"DROP TABLE public.secret_{schema}")


async def test_dblink_does_not_help_where_it_is_installed(pg: PostgresStore, postgres: Postgres, admin: Any) -> None:
    if not await admin.fetchval("SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'dblink')"):
        return  # then there is nothing to defend against
    await admin.execute("CREATE EXTENSION IF NOT EXISTS dblink")
    try:
        with pytest.raises((Refused, BadInput)):
            sql = f"SELECT * FROM public.dblink('user=postgres host={postgres.folder}', 'SELECT 1') AS t(x int)"
            await asked(pg, sql)
    finally:
        await admin.execute("DROP EXTENSION dblink")


async def test_several_servers_need_the_role_at_once(postgres: Postgres) -> None:
    async with opened(postgres, 4) as stores:
        answers = await asyncio.gather(*(asked(store, "SELECT 1 AS one") for store in stores * 2))
        assert {answer.rows for answer in answers} == {((1,),)}


@pytest.mark.parametrize("harm", ["ALTER ROLE {role} PASSWORD 'another'", "DROP OWNED BY {role}; DROP ROLE {role}"])
async def test_a_role_that_was_changed_or_dropped_is_mended(
    postgres: Postgres, pg: PostgresStore, schema: str, admin: Any, harm: str
) -> None:
    await asked(pg, "SELECT 1")
    role = await postgres_ask.reader_role(admin, DatabaseSchema.parse(postgres.url, schema))
    await admin.execute(harm.replace("{role}", role))
    assert (await asked(pg, "SELECT 1")).rows == ((1,),)
    assert (await asked(pg, "SELECT count(*) FROM events")).rows == ((0,),)


@pytest.mark.parametrize("right", ["ALTER ROLE {role} SUPERUSER", "GRANT pg_read_all_data TO {role}"])
async def test_a_role_that_may_do_more_than_read_is_not_used(
    postgres: Postgres, pg: PostgresStore, schema: str, admin: Any, right: str
) -> None:
    await asked(pg, "SELECT 1")
    role = await postgres_ask.reader_role(admin, DatabaseSchema.parse(postgres.url, schema))
    await admin.execute(right.replace("{role}", role))
    with pytest.raises(Refused, match="may do more than read"):
        await asked(pg, "SELECT 1")
    owned = await PostgresStore.open(postgres.url, schema=schema, reader_url=postgres.url)
    with pytest.raises(Refused, match="may do more than read"):
        await asked(owned, "SELECT 1")
    await owned.close()


async def test_an_owner_who_may_not_create_roles_learns_what_a_dba_must_run(
    postgres: Postgres, schema: str, admin: Any
) -> None:
    owner = f"{schema}_owner"
    await admin.execute(f"CREATE ROLE {owner} LOGIN; GRANT CREATE ON DATABASE postgres TO {owner}")
    url = postgres.url_of(owner)
    store = await PostgresStore.open(url, schema=schema)
    try:
        await store.append([notebook("a")])
        with pytest.raises(Refused, match="Let a DBA run: CREATE ROLE quire_reader_") as refused:
            await asked(store, "SELECT 1")
        statements, _, rest = str(refused.value).partition("Let a DBA run: ")[2].partition("; and set ")
        assert "QUIRE_READER_URL" in rest
        await admin.execute(statements.replace("<password>", "s3cret"))
        role = await postgres_ask.reader_role(admin, DatabaseSchema.parse(url, schema))
        reading = await PostgresStore.open(url, schema=schema, reader_url=postgres.url_of(role, "s3cret"))
        assert (await asked(reading, "SELECT id FROM events")).rows == (("a",),)
        await reading.forget_index()  # makes the views anew
        assert (await asked(reading, "SELECT id FROM events")).rows == (("a",),)
        with pytest.raises(Refused):
            await asked(reading, f"SELECT * FROM {schema}.tokens")
        await reading.close()
        wrong = await PostgresStore.open(url, schema=schema, reader_url=postgres.url_of(role, "wrong"))
        with pytest.raises(Refused, match="is not let in") as told:
            await asked(wrong, "SELECT 1")
        assert "wrong" not in str(told.value)
        await wrong.close()
    finally:
        await store.close()
        await admin.execute(f"DROP OWNED BY {owner} CASCADE; DROP ROLE {owner}")


async def test_the_password_of_the_role_is_not_in_the_servers_log(postgres: Postgres, schema: str, admin: Any) -> None:
    await admin.execute("ALTER SYSTEM SET log_statement = 'ddl'")
    await admin.execute("SELECT pg_reload_conf()")
    try:
        store = await PostgresStore.open(postgres.url, schema=schema)
        await asked(store, "SELECT 1")
        await store.close()
        password = await admin.fetchval(f"SELECT password FROM {schema}.reader")
        log = (postgres.folder / "log").read_text()
        assert "CREATE ROLE quire_reader_" in log
        assert password not in log
    finally:
        await admin.execute("ALTER SYSTEM RESET log_statement")
        await admin.execute("SELECT pg_reload_conf()")
