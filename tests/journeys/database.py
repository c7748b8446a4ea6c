"""A PostgreSQL server of a test's own that is stopped, or stands still; and servers and runtimes on it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, cast

import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import psutil

from ..conftest import Postgres
from .faulty_notebook import wait_until
from .server import Folder

T = TypeVar("T")
PASSWORD = "swordfish-in-the-url"
"""In every address, and nowhere else. Everybody is let in, so it only has to be hidden."""


class OwnPostgres:
    """A server that a test may do anything to."""

    def __init__(self) -> None:
        self._server = Postgres()
        self._main = self._process()

    def _process(self) -> psutil.Process:
        return psutil.Process(int((self._server.folder / "postmaster.pid").read_text().split()[0]))

    def stop(self) -> None:
        """End it at once, as a crash does."""
        self._server.control("stop", "-m", "immediate")

    def start(self) -> None:
        """Start it again."""
        self._server.control("start")
        self._main = self._process()

    def hang(self) -> None:
        """Let all of it stand still: whoever is connected stays so, and hears nothing."""
        for process in (self._main, *self._main.children()):
            process.suspend()

    def go_on(self) -> None:
        """Let it go on."""
        for process in (*self._main.children(), self._main):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()

    @property
    def psql(self) -> Path:
        """Its own client."""
        return self._server.tools / "psql"

    def database(self, name: str) -> str:
        """The address of a new database."""
        connected(self._server.url, lambda connection: connection.execute(f"CREATE DATABASE {name}"))
        return self._server.url_of("postgres", PASSWORD).replace("/postgres?", f"/{name}?")

    def dump(self, url: str) -> str:
        """All that its tables hold."""
        words = [self._server.tools / "pg_dump", "--inserts", url]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    @property
    def log(self) -> str:
        """What the server wrote down."""
        return self._server.log.read_text()

    def close(self) -> None:
        """Leave nothing behind, in whatever state it is."""
        with contextlib.suppress(psutil.NoSuchProcess):
            self.go_on()
        with contextlib.suppress(Exception):  # a test may have left it stopped
            self.stop()
        self.start()
        self._server.stop()


def connected(url: str, work: Callable[[Any], Awaitable[T]]) -> T:
    """Do something on a connection of our own. Also where a loop runs: in a thread of its own."""

    async def asked() -> T:
        connection = await cast("Any", asyncpg).connect(url)
        try:
            return await work(connection)
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(asked())).result()


def holders(url: str) -> dict[str, int]:
    """Which process serves which notebook."""
    held = "SELECT name, holder FROM quire.leases WHERE name LIKE 'hold:runtime:%' AND holder <> ''"
    rows = connected(url, lambda connection: connection.fetch(held))
    return {name: int(holder.split("-")[2]) for name, holder in rows}


def end_runtimes(url: str) -> None:
    """End what servers have started, and wait until it is gone."""
    for pid in holders(url).values():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda pid=pid: not psutil.pid_exists(pid), "a runtime does not end")


def folder_on(url: str, path: Path) -> Folder:
    """A folder whose servers and verbs work on a database."""
    path.mkdir()
    made = Folder(path)
    made.environ |= {"QUIRE_URL": url, "QUIRE_BLOBS": str(path.parent / "blobs")}
    return made


def token_on(folder: Folder, *words: str) -> str:
    """The secret of a new token, from a database that is there."""
    return folder.quire("token", "new", *words, "--json")["secret"]
