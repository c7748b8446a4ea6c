"""Reading logs: decoding, folding, opening, and whether any of it slows down as a log grows."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import TypeVar

from quire.core import codec
from quire.core.chain import Record
from quire.core.events import Draft, NotebookRenamed
from quire.core.notebook.reduce import fold
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from .figures import Figure
from .logs import LOG, grow

T = TypeVar("T")
SMALL, LARGE, REPLAYED = 1_000, 1_000_000, 100_000


def opened(path: Path) -> LocalWorkspace:
    """A workspace on a file, with nothing read yet."""
    return LocalWorkspace(SqliteStore(path), MemoryBlobs())


async def made(path: Path, events: int) -> Path:
    """A file with one log of that many events."""
    workspace = opened(path)
    await grow(workspace, events)
    await workspace.close()
    return path


async def replay_figures() -> list[Figure]:
    """Folding a whole log, and decoding it apart."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        store = SqliteStore(await made(Path(folder) / "quire.db", REPLAYED))
        records: list[Record] = []
        while page := await store.read(LOG, len(records), limit=10_000):
            records += page
        await store.close()
    decode: list[float] = []
    folded: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        entries = [codec.entry(record) for record in records]
        middle = time.perf_counter()
        fold(entries)
        folded.append(len(entries) / (time.perf_counter() - middle))
        decode.append(len(entries) / (middle - start))
    return [
        Figure(name="Decoding a log", ours=median(decode), unit="/s"),
        Figure(name="Folding it", ours=median(folded), unit="/s", target="≥ 80,000/s", good=median(folded) >= 80_000),
    ]


async def open_once(path: Path) -> float:
    """From nothing to the notebook."""
    start = time.perf_counter()
    workspace = opened(path)
    await workspace.read(LOG)
    spent = time.perf_counter() - start
    await workspace.close()
    return spent


async def append_once(workspace: LocalWorkspace) -> float:
    """One durable event."""
    start = time.perf_counter()
    await workspace.submit(LOG, [Draft(id=new_id(), event=NotebookRenamed(name="bench"))])
    return time.perf_counter() - start


async def follow_once(workspace: LocalWorkspace) -> float:
    """From submitting an event until a follower at the end of the log has it."""
    since = (await workspace.read(LOG)).seq
    pages = workspace.follow(LOG, since)
    waiting = asyncio.ensure_future(anext(pages))
    await asyncio.sleep(0.005)  # so that it waits at the end before the event comes
    start = time.perf_counter()
    await workspace.submit(LOG, [Draft(id=new_id(), event=NotebookRenamed(name="bench"))])
    await waiting
    spent = time.perf_counter() - start
    await pages.aclose()  # type: ignore[attr-defined]
    return spent


async def growth_figures() -> list[Figure]:
    """Append, open and follow at a thousand and at a million events."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        small = await made(Path(folder) / "small.db", SMALL)
        large = await made(Path(folder) / "large.db", LARGE)
        figures = [await _compared("Opening a notebook", lambda path: open_once(path), small, large, limit=0.020)]
        one, other = opened(small), opened(large)
        for name, work in (("Appending one event", append_once), ("Following: submitted to seen", follow_once)):
            figures.append(await _compared(name, work, one, other))
        await one.close()
        await other.close()
    return figures


async def _compared(
    name: str, work: Callable[[T], Awaitable[float]], small: T, large: T, limit: float | None = None
) -> Figure:
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(40):
        for place, spent in zip((small, large), times, strict=True):
            spent.append(await work(place))
    ours, floor = median(times[1]), median(times[0])
    # Noise of this machine: a fifth, and half a millisecond where a figure is that small.
    good = ours <= floor * 1.2 + 0.0005 if limit is None else ours < limit
    target = "no slower" if limit is None else f"< {limit * 1000:g} ms"
    return Figure(
        name=f"{name} at 10^6 events", ours=ours, unit="s", floor=floor, floor_name="at 10^3", target=target, good=good
    )
