"""A real `quire runtime` in a process of its own, somewhere else; the line between it and the server; a cell that waits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Coroutine, Generator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ..workspace.cutting_proxy import Relay
from .faulty_notebook import DEADLINE_SECONDS, QUIRE, wait_until
from .live_runtimes import end_runtimes
from .owner import new_token
from .server import Folder, printed, until

COUNTING = """
# %% name="first"
x = 41

# %% name="count"
import pathlib, time
def until(name):
    while not pathlib.Path(name).exists():
        time.sleep(0.01)
for i in range(100):
    print(i)
until("away")
for i in range(100, 200):
    print(i)
    time.sleep(0.005)
pathlib.Path("said").touch()
until("back")
for i in range(200, 300):
    print(i)

# %% name="next"
print(x + 1)
"""
"""Its second cell counts: before, while and after the test does something."""
NUMBERS = "".join(f"{number}\n" for number in range(300))


class Far:
    """A runtime that somebody brings, with a folder, a state and an environment of its own."""

    def __init__(self, home: Path, url: str, secret: str | None, *flags: str) -> None:
        self.home, self.work = home, home / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self._url, self._flags = url, flags
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")}
        self.environ |= {"XDG_STATE_HOME": str(home / "state"), "HOME": str(home)}
        self.environ |= {"QUIRE_TOKEN": secret} if secret is not None else {}
        self.process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        said = self.told.count('"ready"')
        with (self.home / "out").open("ab") as out, (self.home / "err").open("ab") as err:
            process = subprocess.Popen(
                [QUIRE, "runtime", "--at", self._url, "--json", *self._flags],
                cwd=self.work,
                env=self.environ,
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        wait_until(lambda: self.told.count('"ready"') > said or process.poll() is not None, "it does not begin")
        assert process.poll() is None, (self.home / "err").read_text()
        return process

    def again(self) -> None:
        """Start another process in its place."""
        assert self.process.poll() is not None
        self.process = self._started()

    @property
    def told(self) -> str:
        """All that it said."""
        return "".join((self.home / name).read_text() for name in ("out", "err") if (self.home / name).exists())

    @property
    def actor(self) -> str:
        return next(line["actor"] for line in map(json.loads, self.told.splitlines()) if "actor" in line)

    @property
    def spool(self) -> list[Path]:
        """What waits on its disk."""
        return list((self.home / "state" / "quire" / "spool").glob("*/*.lines"))

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        os.kill(self.process.pid, number)
        return self.process.wait(DEADLINE_SECONDS)

    def close(self) -> None:
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGCONT)
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(30)
            self.process.kill()
        self.process.wait()


def token_of_runtime(folder: Folder, name: str = "gpu", *notebooks: str) -> str:
    return new_token(folder.path, f"runtime:{name}", "read", "serve", notebooks=notebooks)


class Line:
    """The network between a runtime and a server: it can be cut, and it can lead to another server."""

    def __init__(self, port: int) -> None:
        self._loop = asyncio.new_event_loop()
        self._relay = Relay(port)
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server: asyncio.Server = self._do(asyncio.start_server(self._relay.accept, "127.0.0.1", 0))
        self._relay.port = self._server.sockets[0].getsockname()[1]

    @property
    def url(self) -> str:
        return self._relay.url

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(DEADLINE_SECONDS)

    def cut(self) -> None:
        """From now on, nothing goes through."""

        async def cut() -> None:
            self._relay.target = None
            self._relay.cut()

        self._do(cut())

    @property
    def refused(self) -> int:
        """How many connections were tried while it led nowhere."""
        return self._relay.refused

    def mend(self, port: int) -> None:
        """Lead to a server again."""

        async def mend() -> None:
            self._relay.target = port

        self._do(mend())

    def close(self) -> None:
        self._server.close()
        self._do(self._relay.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextlib.contextmanager
def line_to(port: int) -> Generator[Line]:
    made = Line(port)
    try:
        yield made
    finally:
        made.close()


# ---- What a cell shows


def request(client: httpx.Client, log: str, cell: str, runtime: str | None = None) -> str:
    """Ask for a cell to be run, and wait for nothing."""
    wanted = {"cells": [{"cell": cell}]} | ({"runtime": runtime} if runtime is not None else {})
    asked = client.post(f"/api/notebooks/{log}/executions", json=wanted)
    assert asked.status_code == 200, asked.text
    (execution,) = asked.json()["executions"]
    return execution


def execution_of(client: httpx.Client, log: str, execution: str) -> Any:
    return client.get(f"/api/notebooks/{log}/executions/{execution}").json()["execution"]


def until_printed(client: httpx.Client, log: str, execution: str, text: str) -> None:
    until(lambda: text in printed(execution_of(client, log, execution)), f"{text!r} does not arrive")


def ended(client: httpx.Client, log: str, execution: str) -> Any:
    """The execution, once it is over."""

    def over() -> Any:
        found = execution_of(client, log, execution)
        return found if found.get("finished_at") else None

    return until(over, f"{execution} does not end")


def interrupt(client: httpx.Client, log: str, execution: str) -> None:
    """Ask for what runs to stop."""
    asked = client.post(f"/api/logs/{log}/executions/{execution}/interrupt")
    assert asked.status_code == 200, asked.text


def held_seconds(client: httpx.Client, execution: str) -> float:
    """How long the claim of an execution still holds; 0 when nobody has claimed it."""
    claims = client.get("/api/claims")
    assert claims.status_code == 200, claims.text
    found = [each["seconds_left"] for each in claims.json() if each["claim"].get("execution") == execution]
    return found[0] if found else 0.0


def expire_leases(folder: Path, log: str) -> None:
    """Let the leases of what runs in a notebook be over, as if their time had passed. Nobody may renew them meanwhile."""
    with contextlib.closing(sqlite3.connect(folder / ".quire" / "quire.db", timeout=DEADLINE_SECONDS)) as db, db:
        assert db.execute("UPDATE leases SET ends = 0 WHERE name LIKE ?", (f"execution:{log}:%",)).rowcount == 1


# ---- Fixtures that journeys share


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    """A workspace with the notebook that counts."""
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "count.py").write_text(COUNTING)
    made = Folder(tmp_path / "here")
    yield made
    made.close()
    end_runtimes(made.path)


@pytest.fixture
def log(folder: Folder) -> str:
    """The notebook that counts."""
    return folder.imported("count.py")


@pytest.fixture
def far() -> Iterator[list[Far]]:
    """Runtimes that a test started."""
    started: list[Far] = []
    yield started
    for each in started:
        each.close()
