"""Everybody on the same live notebook: a real server and its clients, each in processes of their own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from bisect import bisect_left
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec

from quire.core.events import Draft, MetadataSet
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace
from quire.workspace.wire.frames import from_record

from .fanout_clients import follower
from .fanout_server import LOG
from .figures import Figure

FOLLOWERS, PROCESSES = 200, 2
RATE, WRITERS, SECONDS = 1000.0, 20, 10.0
IDLE = 1000
BEHIND = 100_000
SOAK_SECONDS, SOAK_ROUNDS = 3.0, 6
TICKS = os.sysconf("SC_CLK_TCK")


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """A server that runs."""

    port: int
    secret: str
    process: Process

    def cpu_seconds(self) -> float:
        """What it has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_bytes(self) -> int:
        """What it holds now."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


async def _python(*arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-m", *arguments, stdin=PIPE, stdout=PIPE)


@contextlib.asynccontextmanager
async def serving(folder: Path) -> AsyncGenerator[Server]:
    """A server on a workspace in a folder."""
    process = await _python("benchmarks.fanout_server", str(folder))
    if process.stdout is None:
        raise RuntimeError("There is nothing to read from.")
    told = json.loads(await process.stdout.readline())
    try:
        yield Server(port=told["port"], secret=told["secret"], process=process)
    finally:
        process.terminate()
        await process.wait()


@contextlib.asynccontextmanager
async def following(server: Server, count: int, folder: Path) -> AsyncGenerator[list[Path]]:
    """Followers in processes of their own. What they saw is in these files afterwards."""
    async with follower_at(server) as head:
        since = head
    files = [folder / f"seen-{number}.json" for number in range(PROCESSES)]
    places = [("followers", str(server.port), server.secret, str(file)) for file in files]
    processes = [
        await _python("benchmarks.fanout_clients", *place, str(count // PROCESSES), str(since)) for place in places
    ]
    for process in processes:
        if process.stdout is None or not await process.stdout.readline():
            raise RuntimeError("A follower could not connect.")
    yield files
    for process in processes:
        await process.communicate(b"")  # without anything, its stdin would stay open


@contextlib.asynccontextmanager
async def follower_at(server: Server) -> AsyncGenerator[int]:
    """How far the log goes."""
    made = await follower(server.port, server.secret, 0)
    yield made.head
    made.transport.close()


async def write(server: Server, folder: Path, seconds: float, batch: int = 1) -> dict[int, float]:
    """Submit at the pace, so many at a time; return when each number was sent."""
    out = folder / "sent.json"
    arguments = (str(server.port), server.secret, str(out), str(WRITERS), str(RATE), str(seconds), str(batch))
    process = await _python("benchmarks.fanout_clients", "writers", *arguments)
    if await process.wait():
        raise RuntimeError("A writer failed.")
    return {int(seq): at for seq, at in json.loads(out.read_text()).items()}


def delays(sent: dict[int, float], files: list[Path]) -> list[float]:
    """From submitting to seeing, of every event by every follower."""
    found: list[float] = []
    for file in files:
        for seen in json.loads(file.read_text()):
            lasts = [last for _, _, last in seen]
            for seq, at in sent.items():
                frame = bisect_left(lasts, seq)
                if frame == len(seen) or seen[frame][1] > seq:
                    raise RuntimeError(f"Event {seq} was not seen.")
                found.append(seen[frame][0] - at)
    return sorted(found)


async def live(folder: Path) -> list[Figure]:
    """Two hundred followers, a thousand events a second: one by one as people type, and many at a time as runtimes send."""
    async with serving(folder) as server:
        return [*await _live(server, folder, 1), *await _live(server, folder, 20)]


async def _live(server: Server, folder: Path, batch: int) -> list[Figure]:
    async with following(server, FOLLOWERS, folder) as files:
        await write(server, folder, 2.0, batch)  # warm
        cpu, start = server.cpu_seconds(), time.monotonic()
        sent = await write(server, folder, SECONDS, batch)
        cpu, spent = server.cpu_seconds() - cpu, time.monotonic() - start
        await asyncio.sleep(1)  # what was sent last is on its way
    found = delays(sent, files)
    what = f"{FOLLOWERS} followers, {RATE:,.0f} events/s, {batch} at a time"
    last = max(sent.values()) + found[-1] - min(sent.values())
    return [
        Figure(name=f"{what}: submit to seen, p50", ours=found[len(found) // 2], unit="s"),
        Figure(name=f"{what}: submit to seen, p99", ours=found[int(len(found) * 0.99)], unit="s"),
        Figure(name=f"{what}: delivered", ours=len(found) / last, unit="/s"),
        Figure(name=f"{what}: CPU of the server", ours=1e6 * cpu / len(sent), unit=" µs/event"),
        Figure(name=f"{what}: its share of a core", ours=100 * cpu / spent, unit=" %"),
    ]


async def idle(folder: Path) -> list[Figure]:
    """What a follower costs that only waits."""
    async with serving(folder) as server:
        there = [await follower(server.port, server.secret, 0) for _ in range(50)]  # warm
        before = server.memory_bytes()
        for _ in range(IDLE // 50):
            there += await asyncio.gather(*(follower(server.port, server.secret, 0) for _ in range(50)))
        after = server.memory_bytes()
        cpu = server.cpu_seconds()
        await asyncio.sleep(3)
        cpu = server.cpu_seconds() - cpu
        for each in there:
            each.transport.close()
    return [
        Figure(name="memory of an idle follower", ours=(after - before) / IDLE / 1024, unit=" KiB"),
        Figure(name=f"CPU of a server with {IDLE + 50:,} of them", ours=100 * cpu / 3, unit=" % of a core"),
    ]


async def catching_up(folder: Path) -> list[Figure]:
    """Everything there is, to somebody who comes late."""
    workspace = LocalWorkspace(SqliteStore(folder / "quire.db"), MemoryBlobs())
    head = (await workspace.read(LOG)).seq
    while head < BEHIND:
        drafts = [Draft(id=new_id(), event=MetadataSet(values={"text": "x" * 250})) for _ in range(2000)]
        head = (await workspace.submit(LOG, drafts))[-1].seq
    await workspace.close()
    floor = await _read_and_encode(folder)
    async with serving(folder) as server:
        start = time.monotonic()
        late = await follower(server.port, server.secret, 0, head)
        await late.done
        spent = time.monotonic() - start
        late.transport.close()
    return [
        Figure(
            name=f"catching up {head:,} events",
            ours=head / spent,
            unit="/s",
            floor=floor,
            floor_name="read and encoded, no socket",
        )
    ]


async def _read_and_encode(folder: Path) -> float:
    store, encoder = SqliteStore(folder / "quire.db"), msgspec.json.Encoder()
    start, since = time.monotonic(), 0
    while page := await store.read(LOG, since, limit=2000):
        for record in page:
            encoder.encode(from_record(record))
        since = page[-1].seq
    spent = time.monotonic() - start
    await store.close()
    return since / spent


async def soak(folder: Path) -> list[Figure]:
    """Round after round of the same: followers come and go, events are written; memory stays where it was."""
    sizes: list[int] = []
    async with serving(folder) as server:
        for _ in range(SOAK_ROUNDS):
            async with following(server, FOLLOWERS, folder):
                await write(server, folder, SOAK_SECONDS)
            sizes.append(server.memory_bytes())
    grown = (sizes[-1] - sizes[SOAK_ROUNDS // 2 - 1]) / 2**20
    what = f"{SOAK_ROUNDS * SOAK_SECONDS:.0f} s of that, followers coming and going"
    return [
        Figure(
            name=f"{what}: memory grown",
            ours=max(0.0, grown),
            unit=" MiB",
            target="≤ 8 MiB",
            good=grown <= 8,
        )
    ]


async def fanout_figures() -> list[Figure]:
    """All of it."""
    figures: list[Figure] = []
    for part in (live, idle, catching_up, soak):
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            if part is catching_up:
                async with serving(Path(folder)):
                    pass  # makes the notebook
            figures += await part(Path(folder))
    return figures
