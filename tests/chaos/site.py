"""Servers, runtimes and the store of one workspace, each of which can be hurt, and what is known of their processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast
from unittest import mock

import asyncpg  # type: ignore[import-untyped]

from quire.workspace.log.process_id import is_gone

from ..conftest import Postgres
from ..journeys.faulty_notebook import DEADLINE_SECONDS, wait_until
from ..journeys.fill_disk import fill
from ..journeys.remote_runtime import Far, Line
from ..journeys.server import Folder, Server, free_port, until

LEASE_SECONDS = "10"
"""Work is given up after a lease that lapsed was watched for another: faults that meet are shorter than that."""
LONGEST_SECONDS, LONGEST_STOP_SECONDS = 5.0, 12.0
"""Of any fault, and of a server that stands still."""
JUMPS = (-7200, -60, 0, 60, 7200)
TURNED_CLOCK = Path(__file__).parent / "turned_clock"
FLAGS = ("--lease", LEASE_SECONDS, "--look-every", "0.5", "--no-mirror")
HOLD = "hold:runtime:"


class Hurt(NamedTuple):
    """Something that is done to a workspace for a while."""

    what: str
    begin: Callable[[], object]
    end: Callable[[], object]


class Store(ABC):
    """Where the workspace is kept."""

    environ: dict[str, str]
    """What tells servers and verbs where it is."""

    @abstractmethod
    def holders(self) -> dict[str, str]:
        """Who holds what, by name."""

    @abstractmethod
    def jump(self, draw: random.Random) -> Hurt:
        """A jump of the clock by which leases are counted; it stays as it is then."""

    @abstractmethod
    def hurts(self) -> list[Hurt]:
        """What can be done to it."""

    @abstractmethod
    def close(self) -> None:
        """Leave nothing behind."""


class SmallDisk(Store):
    """A SQLite file on a disk that can be filled."""

    def __init__(self, folder: Path, clock: Path) -> None:
        """`clock` is a file on another disk: it says by how much the clocks of all processes are ahead."""
        self._folder, self._clock = folder, clock
        self.environ = {"PYTHONPATH": str(TURNED_CLOCK), "CHAOS_CLOCK": str(clock)}

    def _database(self) -> contextlib.closing[sqlite3.Connection]:
        path = self._folder / ".quire" / "quire.db"
        return contextlib.closing(sqlite3.connect(path, timeout=DEADLINE_SECONDS, isolation_level=None))

    def holders(self) -> dict[str, str]:
        with self._database() as database:
            return dict(database.execute("SELECT name, holder FROM leases").fetchall())

    def jump(self, draw: random.Random) -> Hurt:
        ahead = draw.choice(JUMPS)

        def turn() -> None:
            new = self._clock.with_suffix(".new")
            new.write_text(str(ahead))
            new.replace(self._clock)

        return Hurt(f"the clocks are turned: {ahead:+d} s", turn, lambda: None)

    def hurts(self) -> list[Hurt]:
        ballast = self._folder / "ballast"
        return [Hurt("the disk is full", lambda: fill(self._folder), lambda: ballast.unlink(missing_ok=True))]

    def close(self) -> None:
        """The disk goes with the process that mounted it."""


class Database(Store):
    """A PostgreSQL server of our own, which can be ended, killed and stopped."""

    def __init__(self, blobs: Path) -> None:
        self._server = Postgres()
        self.environ = {"QUIRE_URL": self._server.url, "QUIRE_BLOBS": str(blobs)}

    def holders(self) -> dict[str, str]:
        return dict(until(lambda: self._do("SELECT name, holder FROM quire.leases"), "the database does not come back"))

    def jump(self, draw: random.Random) -> Hurt:
        """That of the database counts, and nobody else's: its leases are over at once."""
        lapse = partial(self._do, "UPDATE quire.leases SET ends = 'epoch'")
        return Hurt("the clock jumps: all leases are over", lapse, lambda: None)

    def _do(self, statement: str) -> list[tuple[str, str]]:
        """Ask it; nothing is the answer while it is away."""

        async def done() -> list[tuple[str, str]]:
            connection = await cast("Any", asyncpg).connect(self._server.url, timeout=5, command_timeout=5)
            try:
                return [tuple(row) for row in await connection.fetch(statement)]
            finally:
                await connection.close()

        try:
            return asyncio.run(done())
        except (OSError, asyncpg.PostgresError):
            return []

    def hurts(self) -> list[Hurt]:
        begin = partial(self._server.control, "start")
        return [
            Hurt("the database ends", lambda: self._server.control("stop", "-m", "fast"), begin),
            Hurt("the database is killed", lambda: self._server.control("stop", "-m", "immediate"), begin),
            Hurt(
                "the database stands still", lambda: self._signal(signal.SIGSTOP), lambda: self._signal(signal.SIGCONT)
            ),
        ]

    def _signal(self, number: signal.Signals) -> None:
        main = int((self._server.folder / "postmaster.pid").read_text().split("\n", 1)[0])
        for pid in (main, *children(main)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # it may stand still, or be away
            self._signal(signal.SIGCONT)
        with contextlib.suppress(subprocess.CalledProcessError):
            self._server.control("stop", "-m", "immediate")
        shutil.rmtree(self._server.folder)


class Site:
    """A workspace that is served and worked in, and everything in it that can be broken."""

    def __init__(self, folder: Path, elsewhere: Path, store: Store, servers: int) -> None:
        self.store, self.folder = store, folder
        self.mark = f"CHAOS_{uuid.uuid4().hex}"
        """A variable that all processes of this site have."""
        self._guard = threading.Lock()
        self.killed: set[int] = set()
        self._runtimes: dict[str, int] = {}
        self.folders: list[Folder] = []
        for number in range(servers):
            place = folder / f"server-{number}" if servers > 1 else folder
            place.mkdir(exist_ok=True)
            # On the other disk: what a server says when this one is full is to be read.
            made = Folder(place, elsewhere.with_name(f"{elsewhere.name}-server-{number}.log"))
            made.environ |= store.environ | {self.mark: "1"}
            self.folders.append(made)
        self.servers: list[Server] = [each.start("--port", str(free_port()), *FLAGS) for each in self.folders]
        self.line = Line(self.servers[0].port)
        secret = self.token("gpu", "runtime", "read,serve")
        # Which the runtime gets from us, and the database does not; what names a store is dropped there.
        with mock.patch.dict(os.environ, store.environ | {self.mark: "1"}):
            self.far = Far(elsewhere, self.line.url, secret, "--name", "gpu", "--lease", LEASE_SECONDS)

    def token(self, actor: str, kind: str, scopes: str) -> str:
        """The secret of a new token."""
        words = ("--actor", actor, "--kind", kind, "--scope", scopes, "--json")
        return self.folders[0].quire("token", "new", *words)["secret"]

    # ---- What is known of processes

    def runtimes(self) -> dict[str, int]:
        """The processes that were started to serve notebooks, by log."""
        found = self.store.holders()
        living = {name: holder for name, holder in found.items() if name.startswith(HOLD) and not is_gone(holder)}
        return {name.removeprefix(HOLD): int(holder.split("-")[2]) for name, holder in living.items()}

    def check_servers(self, over: threading.Event) -> None:
        """Servers, and the runtime that somebody brought, run. Unless it is over: then whoever killed one tells why."""
        with self._guard:
            if over.is_set():
                return
            for server in self.servers:
                assert server.process.poll() is None, f"A server ended by itself: {server.folder.said}"
            assert self.far.process.poll() is None, f"The runtime ended by itself: {self.far.told[-2000:]}"

    def check_runtimes(self) -> None:
        """The runtimes that servers started run unless they were killed."""
        with self._guard:
            now = self.runtimes()
            for log, pid in self._runtimes.items():
                lives = Path(f"/proc/{pid}").exists()
                assert lives or pid in self.killed, f"The runtime of {log}, {pid}, ended by itself."
            self._runtimes |= now

    # ---- What can be done to processes

    def kill_server(self, draw: random.Random) -> str:
        """Kill a server or ask it to end, and start another in its place."""
        number = draw.randrange(len(self.servers))
        how = draw.choice([signal.SIGKILL, signal.SIGTERM])
        with self._guard:
            server = self.servers[number]
            status = server.end(how)
            wanted = -signal.SIGKILL if how == signal.SIGKILL else 0
            assert status == wanted, f"A server ended with {status}: {server.folder.said}"
            self.servers[number] = self._started(number, server.port)
        return f"{how.name} of server {number}"

    def _started(self, number: int, port: int) -> Server:
        """Start a server as whatever starts services does: again, as long as it says that it cannot."""
        folder = self.folders[number]
        while True:
            process = folder.begin("--json", "--port", str(port), *FLAGS)
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, folder.said
            if "url" in (told := json.loads(line)):
                return Server(folder, process, told)
            assert "disk is full" in line, line
            process.wait(DEADLINE_SECONDS)

    def kill_runtime(self, draw: random.Random) -> str:
        """Kill a runtime: that of a notebook, which the server starts again, or the one that somebody brought."""
        with self._guard:
            here = self.runtimes()
            log = draw.choice([*here, None])
            if log is None:
                self.far.end(signal.SIGKILL)
                self.far.again()
                return "SIGKILL of the runtime that somebody brought"
            self.killed.add(here[log])
            with contextlib.suppress(ProcessLookupError):
                os.kill(here[log], signal.SIGKILL)
            return f"SIGKILL of the runtime of {log}"

    def stop_one(self, draw: random.Random, over: threading.Event) -> str:
        """Let a process stand still for a while."""
        with self._guard:
            here = {f"the runtime of {log}": pid for log, pid in self.runtimes().items()}
            here |= {f"server {number}": each.process.pid for number, each in enumerate(self.servers)}
            here["the runtime that somebody brought"] = self.far.process.pid
            name = draw.choice([*here])
            seconds = draw.uniform(0.5, LONGEST_STOP_SECONDS if name.startswith("server") else LONGEST_SECONDS)
            with contextlib.suppress(ProcessLookupError):
                os.kill(here[name], signal.SIGSTOP)
                over.wait(seconds)
                os.kill(here[name], signal.SIGCONT)
        return f"{name} stood still for {seconds:.1f} s"

    # ---- The end

    def left(self) -> list[int]:
        """The processes of this site that live."""
        found: list[int] = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if int(folder.name) != os.getpid() and self.mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
        return found

    def close(self) -> list[int]:
        """End everything in order, and return the processes that were left all the same."""
        runtimes = list(self.runtimes().values())
        self.far.close()
        for server in self.servers:
            if server.process.poll() is None:
                server.end()
        for pid in runtimes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        with contextlib.suppress(AssertionError):
            wait_until(lambda: not self.left(), "processes are left")
        return self.left()

    def kill(self) -> None:
        """End everything at once, whatever state it is in."""
        for pid in self.left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for each in self.folders:
            each.close()
        self.line.close()


def children(pid: int) -> Iterator[int]:
    """The processes that a process has started."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    yield from map(int, listed.stdout.split())
