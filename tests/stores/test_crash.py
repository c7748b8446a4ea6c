"""`kill -9` at random moments: what was acknowledged is there, once, in order, verified."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from asyncio.subprocess import Process
from pathlib import Path
from typing import Any

import pytest

from quire.workspace.verification import verify_log

from ..conftest import Postgres
from ..store_location import open_place
from .test_race import race

CYCLES = 100 if os.environ.get("QUIRE_TORTURE") else 5
FEW_CYCLES = 3
"""For daily work: each starts processes, and what they leave is looked at again after every kill."""
WRITERS = 2
"""Processes; each writes with four tasks."""


async def start_writer(place: str, name: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.stores.crash_writer",
        place,
        name,
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )


async def acknowledged(writer: Process, count: int) -> list[str]:
    """The first lines of a writer; it goes on writing."""
    assert writer.stdout is not None
    lines: list[str] = []
    while len(lines) < count and (line := await writer.stdout.readline()):
        lines.append(line.decode())
    return lines


async def rest(writer: Process) -> list[str]:
    """What it wrote until it was killed; a last line may be cut off."""
    assert writer.stdout is not None
    left = (await writer.stdout.read()).decode()
    await writer.wait()
    return [line for line in left.splitlines(keepends=True) if line.endswith("\n")]


async def write_and_kill(place: str, cycle: int, moment: random.Random) -> set[tuple[str, int, str]]:
    """Let writers write, kill them all at a random moment, and return what they were told is recorded."""
    writers = [await start_writer(place, f"w{cycle}-{n}") for n in range(WRITERS)]
    lines = await asyncio.gather(*(acknowledged(writer, moment.randint(1, 300)) for writer in writers))
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
    lines += await asyncio.gather(*(rest(writer) for writer in writers))
    return read_lines(lines)


def read_lines(lines: list[list[str]]) -> set[tuple[str, int, str]]:
    """What writers were told: log, number and id of each acknowledged event."""
    fields = [line.split() for each in lines for line in each]
    return {(log, int(seq), id) for log, seq, id in fields}


async def check(place: str, told: set[tuple[str, int, str]]) -> None:
    """Every acknowledged event is there, none twice, numbers gapless, chains valid.

    Looked at up to the head as it was read first: what a killed writer had sent already, a database may commit later.
    """
    store = await open_place(place)
    try:
        recorded: list[tuple[str, int, str]] = []
        for info in await store.logs():
            seq = 0
            while page := await store.read(info.log, seq, info.head.seq):
                for record in page:
                    assert record.seq == seq + 1
                    seq = record.seq
                    recorded.append((record.log, record.seq, record.id))
            assert seq == info.head.seq
            assert (await verify_log(store, info)).flaw is None
        assert told <= set(recorded)
        assert len({id for _, _, id in recorded}) == len(recorded)
    finally:
        await store.close()


async def crash(place: str, cycles: int = CYCLES) -> None:
    moment = random.Random((os.environ.get("QUIRE_TORTURE") and random.randrange(10**9)) or 7)
    told: set[tuple[str, int, str]] = set()
    for cycle in range(cycles):
        told |= await write_and_kill(place, cycle, moment)
        await check(place, told)
    assert len(told) > cycles * WRITERS


async def server_crash(server: Postgres, place: str) -> None:
    """Crash the database itself under writers that go on as soon as it is back."""
    moment = random.Random(7)
    told: set[tuple[str, int, str]] = set()
    writers = [await start_writer(place, f"s{n}") for n in range(WRITERS)]
    for _ in range(max(2, CYCLES // 5)):
        lines = await asyncio.gather(*(acknowledged(writer, moment.randint(1, 300)) for writer in writers))
        told |= read_lines(lines)
        await asyncio.to_thread(server.control, "restart", "-m", "immediate")
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
    told |= read_lines(await asyncio.gather(*(rest(writer) for writer in writers)))
    await check(place, told)


async def test_writers_killed_at_random_lose_nothing_on_sqlite(tmp_path: Path) -> None:
    await crash(f"sqlite:{tmp_path / 'quire.db'}", FEW_CYCLES)


@pytest.mark.slow
async def test_writers_killed_at_random_lose_nothing_on_postgres(postgres: Postgres) -> None:
    async with postgres.schema() as schema:
        await crash(f"{postgres.url}#{schema}")


async def test_what_a_killed_writer_had_sent_is_committed_later_with_its_head(postgres: Postgres) -> None:
    """The database goes on with what it was given: a reader may see a log grow whose only writer is gone."""
    waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%counters%'"
    async with postgres.schema() as schema:
        place = f"{postgres.url}#{schema}"
        writer = await start_writer(place, "w")
        await acknowledged(writer, 20)
        lock = await postgres.connect()
        async with lock.transaction():
            await lock.execute(f"SELECT FROM {schema}.counters FOR UPDATE")
            backends = await some(lock, waiting)
            writer.send_signal(signal.SIGKILL)
            await rest(writer)
            store = await open_place(place)
            before = await store.logs()
        await some(lock, f"SELECT 1 WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = {backends[0][0]})")
        after = await store.logs()
        assert sum(info.head.seq for info in after) > sum(info.head.seq for info in before)
        for info in after:
            assert [record.seq for record in await store.read(info.log)] == list(range(1, info.head.seq + 1))
        assert [(await verify_log(store, info)).flaw for info in before] == [None] * len(before)
        await store.close()
        await lock.close()


async def some(connection: Any, question: str) -> list[Any]:
    """The answer, as soon as there is one."""
    async with asyncio.timeout(120):
        while not (rows := await connection.fetch(question)):  # noqa: ASYNC110 - the database does not tell
            await asyncio.sleep(0.01)
    return rows


@pytest.mark.slow
async def test_a_database_that_crashes_under_its_writers_loses_nothing() -> None:
    server = Postgres()
    try:
        await server_crash(server, f"{server.url}#quire")
    finally:
        server.stop()


@pytest.mark.torture
@pytest.mark.timeout(3600)
async def test_torture_writers_killed_at_random_on_sqlite(tmp_path: Path) -> None:
    await crash(f"sqlite:{tmp_path / 'quire.db'}")


@pytest.mark.torture
@pytest.mark.timeout(3600)
async def test_torture_writers_killed_at_random_on_postgres(postgres: Postgres) -> None:
    async with postgres.schema() as schema:
        await crash(f"{postgres.url}#{schema}")


@pytest.mark.torture
@pytest.mark.timeout(3600)
async def test_torture_a_database_that_crashes_under_its_writers() -> None:
    server = Postgres()
    try:
        await server_crash(server, f"{server.url}#quire")
    finally:
        server.stop()


async def test_four_processes_write_one_notebook_on_postgres_and_lose_nothing(postgres: Postgres) -> None:
    async with postgres.schema() as schema:
        place = f"{postgres.url}#{schema}"
        await check(place, await race(place))
