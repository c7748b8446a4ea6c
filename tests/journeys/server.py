"""A real `quire serve` in a process of its own, on a folder of its own, and what is needed to talk to it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

import httpx

from quire.core.events import Scope

from .faulty_notebook import DEADLINE_SECONDS, QUIRE
from .owner import check_chains, imported, new_token

T = TypeVar("T")
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of a server without TLS: one that knows all authorities takes them longer to make than most requests."""


def free_port() -> int:
    """A port that nobody uses at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def until(look: Callable[[], T | None], why: str) -> T:
    """Look again and again until there is something: what is empty is not there yet."""
    ends = time.monotonic() + DEADLINE_SECONDS
    while not (found := look()):
        assert time.monotonic() < ends, why
        time.sleep(0.02)
    return found


class Folder:
    """A folder with a workspace, and the servers that were started on it."""

    def __init__(self, path: Path, log: Path | None = None) -> None:
        """`log` is the file for what servers print, where it is not to be in the folder."""
        self.path = self.root = path
        """Where its verbs are run, and where its workspace is: a test may have a folder in one that others share."""
        self._log = log or path / "serve.log"
        self.environ = {name: value for name, value in os.environ.items() if name not in ("QUIRE_TOKEN", "QUIRE_URL")}
        self._started: list[subprocess.Popen[str]] = []

    def quire(self, *words: str, status: int | None = 0, **more: str) -> Any:
        """Run a verb in the folder; what it prints, read if it is JSON."""
        done = subprocess.run(
            [QUIRE, *words],
            cwd=self.path,
            env=self.environ | more,
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
        )
        assert status is None or done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout) if "--json" in words and done.stdout else done

    def start(self, *flags: str) -> Server:
        """Start a server and wait until it says where it is."""
        process = self.begin("--json", *flags)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, self.printed
        return Server(self, process, json.loads(line))

    def begin(self, *flags: str) -> subprocess.Popen[str]:
        """Start one, and wait for nothing."""
        with self._log.open("a") as log:
            process = subprocess.Popen(
                [QUIRE, "serve", "--no-browser", *flags],
                cwd=self.path,
                env=self.environ,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def run(self, *words: str) -> subprocess.Popen[str]:
        """Begin a verb, and wait for nothing."""
        pipe = subprocess.PIPE
        return subprocess.Popen([QUIRE, *words], cwd=self.path, env=self.environ, stdout=pipe, stderr=pipe, text=True)

    @property
    def printed(self) -> str:
        """What servers said on stderr."""
        return self._log.read_text()

    @property
    def said(self) -> str:
        """The same without the lines of requests."""
        return "".join(line for line in self.printed.splitlines(keepends=True) if '"path":' not in line)

    def token(self, *scopes: Scope, actor: str = "human:ada") -> str:
        """The secret of a new token."""
        return new_token(self.root, actor, *scopes)

    def imported(self, file: str) -> str:
        """The log of a notebook that was taken in from a file."""
        return imported(self.root, file)

    def notebook(self, file: str, text: str) -> str:
        """Write a notebook's file, and take it in."""
        (self.path / file).write_text(text)
        return imported(self.root, file)

    def verify(self) -> None:
        """Every log is what was recorded."""
        check_chains(self.root)

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


class Server:
    """A server that runs."""

    def __init__(self, folder: Folder, process: subprocess.Popen[str], told: Any) -> None:
        self.folder, self.process, self.told = folder, process, told
        self.url: str = told["url"]
        self.port: int = told["port"]

    @contextlib.contextmanager
    def client(self, secret: str) -> Generator[httpx.Client]:
        """Somebody with a token."""
        headers = {"Authorization": f"Bearer {secret}"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=DEADLINE_SECONDS, verify=PLAIN) as made:
            yield made

    @contextlib.contextmanager
    def browser(self) -> Generator[httpx.Client]:
        """Somebody who signed in with the address that was printed."""
        headers = {"Origin": self.url}
        with httpx.Client(base_url=self.url, headers=headers, timeout=DEADLINE_SECONDS, verify=PLAIN) as made:
            token = self.told["sign_in"].partition("#sign-in=")[2]
            answer = made.post("/api/sign-in", json={"token": token})
            assert answer.status_code == 200, answer.text
            made.headers["X-Quire-Page-Key"] = answer.json()["page_key"]
            yield made

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal, and return the exit status."""
        os.kill(self.process.pid, number)
        return self.process.wait(DEADLINE_SECONDS)


def run_cell(client: httpx.Client, log: str, cell: str) -> Any:
    """Run a cell through the API, and wait for its end."""
    asked = client.post(f"/api/notebooks/{log}/executions", json={"cells": [{"cell": cell}]})
    assert asked.status_code == 200, asked.text
    (execution,) = asked.json()["executions"]

    def ended() -> Any:
        found = client.get(f"/api/notebooks/{log}/executions/{execution}").json()["execution"]
        return found if found.get("finished_at") else None

    return until(ended, f"{cell} does not end")


def events(client: httpx.Client, log: str, *types: str) -> list[Any]:
    """What a log says of these types."""
    answer = client.get(f"/api/logs/{log}/events", params={"types": ",".join(types)})
    assert answer.status_code == 200, answer.text
    return answer.json()["entries"]


def printed(execution: Any) -> str:
    """What a cell printed."""
    return "".join(each.get("head", "") + each.get("tail", "") for each in execution.get("outputs", ()))
