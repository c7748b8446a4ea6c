"""Cells that run behind a server: how soon what they show is there, and what a cell costs that prints a million lines.

Ours goes from the client through the server, the runtime's process and the kernel, with every event on the disk;
beside it a Jupyter Server with a WebSocket client. Kernels have started on both sides before anything is measured.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from .fanout import Server
from .figures import Figure
from .jupyter import asked, jupyter
from .peers import OURS, environ
from .runtimes_clients import Client, Ended, Place, Printed, Saw, client_of

TIMES, WARM = 200, 20
LINES, FOLLOWERS = 1_000_000, 50
ROUNDS, ROUND_LINES = 8, 200_000
THEIRS = "Jupyter Server"
UNLIMITED = ("--ZMQChannelsWebsocketConnection.limit_rate=False",)


def printing(lines: int) -> str:
    """A cell that prints so many lines."""
    return f"for i in range({lines}):\n    print(i)"


def length_of(lines: int) -> int:
    """How many code points that comes to."""
    return sum(len(str(i)) + 1 for i in range(lines))


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A server with a kernel."""

    server: Server
    place: Place
    """For whoever runs cells."""
    seat: Place
    """For those who follow."""
    cells: dict[str, str]
    """By their source, where cells have to be there before they run."""

    async def run(self, client: Client, source: str) -> str:
        """Have it run."""
        return await client.execute(self.cells.get(source, ""), source)

    async def blob(self, hash: str) -> bytes:
        """Large bytes, of ours."""
        return await asked(f"http://127.0.0.1:{self.server.port}/api/blobs/{hash}", self.place.authorization)


# ---- Ours


@contextlib.asynccontextmanager
async def ours(folder: Path, sources: list[str]) -> AsyncGenerator[Host]:
    """`quire serve`, with a notebook of these cells, and a runtime for it that has run one."""
    async with serving(folder, environ(), tokens=2) as (server, tokens):
        yield await _notebook(server, tokens, sources)


@contextlib.asynccontextmanager
async def serving(
    folder: Path, environment: dict[str, str], tokens: int, **settings: str
) -> AsyncGenerator[tuple[Server, list[str]]]:
    """`quire serve` with these settings, and tokens for it; its runtimes end with it."""
    environment = {name: value for name, value in environment.items() if not name.startswith("QUIRE_")}
    await _quire(folder, environment, "init")
    secrets = [await _token(folder, environment) for _ in range(tokens)]
    environment |= {f"QUIRE_SERVE_{name.upper()}": value for name, value in settings.items()}
    process = await asyncio.create_subprocess_exec(
        OURS / "quire", "serve", "--no-browser", "--json", cwd=folder, env=environment, stdout=PIPE, stderr=DEVNULL
    )
    try:
        port = json.loads(await _line(process))["port"]
        yield Server(port=port, secret=secrets[0], process=process), secrets
    finally:
        process.terminate()
        await process.wait()
        await end_runtimes(folder)


async def _quire(folder: Path, environment: dict[str, str], *words: str) -> bytes:
    process = await asyncio.create_subprocess_exec(
        OURS / "quire", *words, cwd=folder, env=environment, stdout=PIPE, stderr=DEVNULL
    )
    return (await process.communicate())[0]


async def _token(folder: Path, environment: dict[str, str]) -> str:
    words = ("token", "new", "--actor", "human:bench", "--scope", "read,edit,run", "--json")
    return json.loads(await _quire(folder, environment, *words))["secret"]


async def _line(process: Process) -> bytes:
    if process.stdout is None or not (line := await process.stdout.readline()):
        raise RuntimeError("A process ended before it said anything.")
    return line


async def _notebook(server: Server, tokens: list[str], sources: list[str]) -> Host:
    first, second = (f"Bearer {token}" for token in tokens)
    body = msgspec.json.encode({"name": "measured", "cells": [{"source": source} for source in sources]})
    made = json.loads(await asked(f"http://127.0.0.1:{server.port}/api/notebooks", first, "POST", body))
    place = Place(side="ours", port=server.port, authorization=first, log=made["log"], since=made["seq"])
    seat = msgspec.structs.replace(place, authorization=second)
    return Host(server=server, place=place, seat=seat, cells=dict(zip(sources, made["cells"], strict=True)))


async def end_runtimes(folder: Path) -> None:
    """What a server started outlives it."""
    with contextlib.closing(sqlite3.connect(folder / ".quire" / "quire.db")) as database:
        holders = [name for (name,) in database.execute("SELECT holder FROM leases WHERE name LIKE 'hold:runtime:%'")]
    for holder in holders:
        pid = int(holder.split("-")[2])
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
            while True:
                os.kill(pid, 0)
                await asyncio.sleep(0.05)


# ---- Theirs


@contextlib.asynccontextmanager
async def theirs(folder: Path, *flags: str, quick: bool = False) -> AsyncGenerator[Host]:
    """A Jupyter Server with a kernel. `quick`: its client acknowledges at once, or 40 ms are lost in every answer."""
    async with jupyter(folder, *flags) as server:
        base, authorization = f"http://127.0.0.1:{server.port}/api/kernels", f"token {server.secret}"
        kernel = json.loads(await asked(base, authorization, "POST", b"{}"))["id"]
        place = Place(side="theirs", port=server.port, authorization=authorization, kernel=kernel, quick=quick)
        try:
            yield Host(server=server, place=place, seat=place, cells={})
        finally:
            await asked(f"{base}/{kernel}", authorization, "DELETE")


# ---- From asking to seeing


class Timed:
    """A client that is timed: from the request to the first output, and to the end."""

    def __init__(self, host: Host, client: Client) -> None:
        self._host, self._client = host, client
        self._seen: AsyncIterator[Printed | Ended] = client.seen()
        self.to_output: list[float] = []
        self.to_end: list[float] = []

    async def once(self, source: str) -> None:
        """Run a cell that prints."""
        start = time.perf_counter()
        execution = await self._host.run(self._client, source)
        shown = False
        async for each in self._seen:
            if each.execution != execution:
                continue
            if isinstance(each, Ended):
                self.to_end.append(time.perf_counter() - start)
                break
            if not shown:
                self.to_output.append(time.perf_counter() - start)
                shown = True
        if not shown:
            raise RuntimeError(f"{source} showed nothing.")


async def latency(folder: Path) -> list[Figure]:
    """`print(i)`, again and again, by turns."""
    sources = [f"print({i})" for i in range(TIMES + WARM)]
    async with AsyncExitStack() as stack:
        hosts = [
            await stack.enter_async_context(ours(_made(folder, "ours"), sources)),
            await stack.enter_async_context(theirs(_made(folder, "theirs"))),
            await stack.enter_async_context(theirs(_made(folder, "quick"), quick=True)),
        ]
        sides = [Timed(host, await client_of(host.place)) for host in hosts]
        for source in sources:
            for side in sides:
                await side.once(source)
    what = "print(i), asked to seen"
    rows = [(f"{what}, p{part}", [_part(side.to_output, part) for side in sides]) for part in (50, 99)]
    rows.append((f"{what} to its end, p50", [_part(side.to_end, 50) for side in sides]))
    return [
        Figure(name=name, ours=figures[0], unit="s", floor=floor, floor_name=floor_name)
        for name, figures in rows
        for floor_name, floor in ((THEIRS, figures[1]), (f"{THEIRS}, quick", figures[2]))
    ]


def _part(times: list[float], part: int) -> float:
    measured = sorted(times[WARM:])
    return measured[min(len(measured) - 1, len(measured) * part // 100)]


def _made(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir()
    return made


# ---- A million lines


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a cell that prints and is followed."""

    seconds: float
    """Until the last follower had everything."""
    lag: float
    """The 99th percentile, of all pieces at all followers."""
    whole: int
    """How many followers had all of it."""
    memory: int
    """By how much the server's memory is more than before, in bytes."""
    cpu: float


async def followed(host: Host, lines: int, followers: int) -> Outcome:
    """Print so many lines while so many follow."""
    client = await client_of(host.place)
    warm = Timed(host, client)
    await warm.once("print(0)")
    process = await _following(host, followers)
    memory, cpu = host.server.memory_bytes(), host.server.cpu_seconds()
    start = time.monotonic()
    await host.run(client, printing(lines))
    draining = asyncio.ensure_future(_drain(client))
    saw = msgspec.json.decode(await _line(process), type=list[Saw])
    await process.wait()
    draining.cancel()
    lags = sorted(lag for each in saw for lag in each.lags)
    return Outcome(
        seconds=max(each.done for each in saw) - start,
        lag=lags[int(len(lags) * 0.99)],
        whole=await _whole(host, saw, lines),
        memory=host.server.memory_bytes() - memory,
        cpu=host.server.cpu_seconds() - cpu,
    )


async def _following(host: Host, followers: int) -> Process:
    words = (OURS / "python", "-m", "benchmarks.runtimes_clients")
    process = await asyncio.create_subprocess_exec(*words, stdin=PIPE, stdout=PIPE, limit=1 << 28)
    if process.stdin is None:
        raise RuntimeError("There is nothing to write to.")
    process.stdin.write(msgspec.json.encode((host.seat, followers)) + b"\n")
    await _line(process)
    return process


async def _drain(client: Client) -> None:
    """Whoever asked for it takes what comes, too."""
    async for _ in client.seen():
        pass


async def _whole(host: Host, saw: list[Saw], lines: int) -> int:
    """How many have all of it: by its length, and where it is a blob by what is in that."""
    found = 0
    blobs: dict[str, int] = {}
    for each in saw:
        if each.blob is not None and each.blob not in blobs:
            blobs[each.blob] = (await host.blob(each.blob)).count(b"\n")
        found += each.length == length_of(lines) and blobs.get(each.blob or "", lines) == lines
    return found


async def million(folder: Path) -> list[Figure]:
    """The cell that prints too much, and everybody looks."""
    async with ours(_made(folder, "ours"), ["print(0)", printing(LINES)]) as host:
        our = await followed(host, LINES, FOLLOWERS)
    async with theirs(_made(folder, "theirs"), *UNLIMITED) as host:
        their = await followed(host, LINES, FOLLOWERS)
    what = f"{LINES:,} lines, {FOLLOWERS} followers"
    memory = our.memory / 2**20
    return [
        _beside(f"{what}: lines", LINES / our.seconds, "/s", LINES / their.seconds),
        _beside(f"{what}: stamped to seen, p99", our.lag, "s", their.lag),
        _beside(f"{what}: CPU of the server", our.cpu, "s", their.cpu),
        _beside(f"{what}: followers with all of it", our.whole, "", their.whole, "all", our.whole == FOLLOWERS),
        _beside(f"{what}: memory grown", memory, " MiB", their.memory / 2**20, "≤ 32 MiB", memory <= 32),
    ]


def _beside(name: str, our: float, unit: str, their: float, target: str = "", good: bool | None = None) -> Figure:
    return Figure(
        name=name, ours=our, unit=unit, floor=their, floor_name=f"{THEIRS}, no limit", target=target, good=good
    )


# ---- Again and again


async def flat(folder: Path) -> list[Figure]:
    """Big cells, one after the other: the server's memory stays where it was."""
    sizes: list[int] = []
    async with ours(_made(folder, "ours"), [printing(ROUND_LINES)]) as host:
        timed = Timed(host, await client_of(host.place))
        for _ in range(ROUNDS):
            await timed.once(printing(ROUND_LINES))
            sizes.append(host.server.memory_bytes())
    grown = (sizes[-1] - sizes[ROUNDS // 2 - 1]) / 2**20
    return [
        Figure(
            name=f"{ROUNDS} cells of {ROUND_LINES:,} lines: memory of the server grown",
            ours=max(0.0, grown),
            unit=" MiB",
            target="≤ 8 MiB",
            good=grown <= 8,
        )
    ]


async def runtime_figures() -> list[Figure]:
    """All of it."""
    figures: list[Figure] = []
    for part in (latency, million, flat):
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            figures += await part(Path(folder))
    return figures
