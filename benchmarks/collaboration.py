"""Typing together, beside Jupyter Server with jupyter-collaboration: the same work, the same clients, by turns.

Everybody types into a cell of their own and into one that all share. An edit counts when every other client has it.
Both servers write everything to the disk meanwhile, as they do by default. One run types at a pace that both bear,
the other as fast as a server lets it: the next edit of a client goes out when all others in its process have the last.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import tempfile
import time
from array import array
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from quire.core.events import CellAdded, Draft, NotebookCreated
from quire.core.ids import CellId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.sqlite.sqlite_store import SqliteStore
from quire.workspace.clock import new_id
from quire.workspace.local import LocalWorkspace

from .fanout import Server, serving
from .fanout_server import LOG
from .figures import Figure
from .jupyter import asked, jupyter
from .peers import peers
from .runs import book

CLIENTS = (10, 50, 100)
PROCESSES = 2
RATE = 25.0
WARM, SECONDS = 2.0, 6.0
ROUNDS = 3
MOST_SECONDS = 10.0
"""What takes longer than this to be seen is not borne."""
OWN = "x = 1\n" * 40
SHARED = "y = 2\n" * 400
SCRIPT = Path(__file__).parent / "collaboration_clients.py"
THEIRS = "jupyter-collaboration"
_WANTED = b'{"format": "json", "type": "notebook"}'


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one run."""

    rate: float
    """Edits that all others have seen, by the second."""
    p50: float
    p99: float
    cpu: float
    """Seconds of the server's, for a thousand edits."""
    lost: float
    """Edits that somebody had not seen in time, connections that broke and edits that failed."""


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A server that runs, and what its clients have to know."""

    server: Server
    python: Path
    plan: dict[str, Any]
    marks: Callable[[], Awaitable[int]]
    """How many of the inserted texts are in the notebook."""


Hosting = Callable[[Path, int], AbstractAsyncContextManager[Host]]


def _sources(clients: int) -> list[str]:
    """The shared cell, then one for each."""
    return [SHARED, *([OWN] * clients)]


# ---- Ours


@contextlib.asynccontextmanager
async def ours(folder: Path, clients: int) -> AsyncGenerator[Host]:
    """Our server."""
    head = await _make_notebook(folder, clients)
    async with serving(folder) as server:
        plan = {"side": "ours", "path": "/api/socket", "authorization": f"Bearer {server.secret}", "head": head}

        async def marks() -> int:
            url = f"http://127.0.0.1:{server.port}/api/notebooks/{LOG}"
            return (await asked(url, f"Bearer {server.secret}")).count(b"#")

        yield Host(server=server, python=Path(sys.executable), plan=plan, marks=marks)


async def _make_notebook(folder: Path, clients: int) -> int:
    workspace = LocalWorkspace(SqliteStore(folder / "quire.db"), MemoryBlobs())
    drafts = [Draft(id=new_id(), event=NotebookCreated(name="shared"))]
    after = None
    for number, source in enumerate(_sources(clients)):
        cell = CellId(f"c{number}")
        drafts.append(Draft(id=new_id(), event=CellAdded(cell=cell, after=after, source=source)))
        after = cell
    head = (await workspace.submit(LOG, drafts))[-1].seq
    await workspace.close()
    return head


# ---- Theirs


@contextlib.asynccontextmanager
async def theirs(folder: Path, clients: int) -> AsyncGenerator[Host]:
    """Jupyter Server, as it is installed with jupyter-collaboration."""
    (folder / "shared.ipynb").write_text(book(*_sources(clients)))
    async with jupyter(folder) as server:
        authorization = f"token {server.secret}"
        room = json.loads(await asked(f"{_base(server)}/session/shared.ipynb", authorization, "PUT", _WANTED))
        path = f"/api/collaboration/room/json:notebook:{room['fileId']}?sessionId={room['sessionId']}"
        plan = {"side": "theirs", "path": path, "authorization": authorization}
        yield Host(server=server, python=peers("serve") / "python", plan=plan, marks=lambda: _marks(server, plan))


def _base(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}/api/collaboration"


async def _marks(server: Server, plan: dict[str, Any]) -> int:
    """Read the notebook as one more client."""
    plan = plan | {"port": server.port, "count": 0, "first": 0, "rate": None}
    reading = await _client(peers("serve") / "python", plan)
    return int(await _line(reading))


# ---- Typing


async def _client(python: Path, plan: dict[str, Any]) -> Process:
    process = await asyncio.create_subprocess_exec(python, SCRIPT, stdin=PIPE, stdout=PIPE, limit=1 << 28)
    _tell(process, plan)
    return process


def _tell(process: Process, what: object) -> None:
    if process.stdin is None:
        raise RuntimeError("There is nothing to write to.")
    process.stdin.write(json.dumps(what).encode() + b"\n")


async def _line(process: Process) -> bytes:
    if process.stdout is None or not (line := await process.stdout.readline()):
        raise RuntimeError("A client could not do its part: see above.")
    return line


async def typed(hosting: Hosting, clients: int, rate: float | None) -> Outcome:
    """Let so many type, at a rate or as fast as they can."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as made:
        folder = Path(made)
        async with hosting(folder, clients) as host:
            many = clients // PROCESSES
            shape = {"shared_size": len(SHARED), "own_size": len(OWN), "everybody": clients, "rate": rate, "log": LOG}
            shape |= {"port": host.server.port, "count": many, "warm": WARM, "seconds": SECONDS}
            files = [folder / f"delays-{number}" for number in range(PROCESSES)]
            plans = [
                host.plan | shape | {"first": number * many, "out": str(file)} for number, file in enumerate(files)
            ]
            return await _measured(host, [await _client(host.python, plan) for plan in plans], files, clients)


async def _measured(host: Host, processes: list[Process], files: list[Path], clients: int) -> Outcome:
    for process in processes:
        await _line(process)
    start = time.monotonic() + 0.5
    for process in processes:
        _tell(process, start)
    await asyncio.sleep(start + WARM - time.monotonic())
    cpu = host.server.cpu_seconds()
    total = sum([int(await _line(process)) for process in processes])
    for process in processes:
        _tell(process, total)
    told = [json.loads(await _line(process)) for process in processes]
    cpu = host.server.cpu_seconds() - cpu
    for process in processes:
        await process.wait()
    if (kept := await host.marks()) != total:
        sys.stderr.write(f"{host.plan['side']}: of {total:,} edits, {kept:,} are in the notebook.\n")
    return _outcome(told, files, clients, total, cpu)


def _outcome(told: list[dict[str, Any]], files: list[Path], clients: int, total: int, cpu: float) -> Outcome:
    seen = _seen_by_all(told, clients)
    faults = [fault for each in told for fault in each["faults"]]
    for fault in faults[:3]:
        sys.stderr.write(f"{fault}\n")
    delays = array("f")
    for file in files:
        delays.frombytes(file.read_bytes())
    ordered = sorted(delays)
    timely = [at for at in seen if WARM <= at < WARM + SECONDS]
    late = sum(delay > MOST_SECONDS for delay in ordered) / clients
    return Outcome(
        rate=len(timely) / SECONDS,
        p50=ordered[len(ordered) // 2],
        p99=ordered[int(len(ordered) * 0.99)],
        cpu=1000 * cpu / max(1, sum(at >= WARM for at in seen)),
        lost=total - len(seen) + late + len(faults),
    )


def _seen_by_all(told: list[dict[str, Any]], clients: int) -> list[float]:
    """When each edit was seen by the last of the others, of those that were."""
    found: dict[str, tuple[int, float]] = {}
    for each in told:
        for mark, count, last in each["seen"]:
            before = found.get(mark, (0, 0.0))
            found[mark] = (before[0] + count, max(before[1], last))
    return [last for count, last in found.values() if count == clients - 1]


# ---- Side by side


async def _side_by_side(clients: int, rate: float | None) -> tuple[Outcome, Outcome]:
    found: dict[Hosting, list[Outcome]] = {ours: [], theirs: []}
    for _ in range(ROUNDS):
        for hosting, outcomes in found.items():
            outcomes.append(await typed(hosting, clients, rate))
    our, their = (_middle(outcomes) for outcomes in found.values())
    return our, their


def _middle(outcomes: list[Outcome]) -> Outcome:
    rows = [msgspec.structs.asdict(outcome) for outcome in outcomes]
    return Outcome(**{name: median(row[name] for row in rows) for name in rows[0]})


def _figure(name: str, unit: str, our: float, their: float, target: str = "", good: bool | None = None) -> Figure:
    return Figure(name=name, ours=our, unit=unit, floor=their, floor_name=THEIRS, target=target, good=good)


def _figures(what: str, our: Outcome, their: Outcome, *, is_target: bool) -> list[Figure]:
    rate_good, late_good = (our.rate >= 5 * their.rate, our.p99 < their.p99) if is_target else (None, None)
    rows = [
        _figure(f"{what}: edits all have seen", "/s", our.rate, their.rate, "≥ 5 ×" if is_target else "", rate_good),
        _figure(f"{what}: sent to seen, p50", "s", our.p50, their.p50),
        _figure(f"{what}: sent to seen, p99", "s", our.p99, their.p99, "lower" if is_target else "", late_good),
        _figure(f"{what}: CPU of 1,000 edits", "s", our.cpu, their.cpu),
    ]
    if our.lost or their.lost:
        rows.append(_figure(f"{what}: lost, late or failed", "", our.lost, their.lost))
    return rows


async def collaboration_figures() -> list[Figure]:
    """At a pace, and as fast as it goes."""
    figures: list[Figure] = []
    for clients in CLIENTS:
        our, their = await _side_by_side(clients, None)
        figures += _figures(f"{clients} typing as fast as it goes", our, their, is_target=clients == CLIENTS[-1])
    our, their = await _side_by_side(CLIENTS[-1], RATE)
    figures += _figures(f"{CLIENTS[-1]} typing, {RATE:.0f} edits/s", our, their, is_target=False)
    return figures
