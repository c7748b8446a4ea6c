"""PostgreSQL is not there yet, is lost, or hangs: it is waited for, and nothing ends (rules 10 and 11)."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from quire.workspace import server_file

from .database import PASSWORD, OwnPostgres, connected, end_runtimes, folder_on, holders, token_on
from .faulty_notebook import QUIRE, wait_until
from .remote_runtime import COUNTING, NUMBERS, Far, ended, request, until_printed
from .server import Folder, Server, printed, until

pytestmark = pytest.mark.slow  # each stops a database of its own, and starts servers on it
CELLS = [
    {"name": name, "source": source.strip()}
    for name, source in re.findall(r'name="(\w+)"\n(.*?)(?=\n# %%|\Z)', COUNTING, re.DOTALL)
]
SOON = ("--away-after", "1.5")
"""A server that hangs is found out within 4.5 seconds, and requests end 1.5 seconds later: usually 15 and 5."""
SHORT = (*SOON, "--lease", "3", "--look-every", "0.5")
"""Leases that lapse while the database is away."""


@pytest.fixture(scope="module")
def postgres() -> Iterator[OwnPostgres]:
    server = OwnPostgres()
    yield server
    server.close()


@pytest.fixture
def url(postgres: OwnPostgres, request: pytest.FixtureRequest) -> str:
    return postgres.database(f"away_{abs(hash(request.node.nodeid)) % 10**8}")


@pytest.fixture
def folder(url: str, tmp_path: Path) -> Iterator[Folder]:
    made = folder_on(url, tmp_path / "here")
    yield made
    made.close()
    end_runtimes(url)


def told(folder: Folder) -> list[str]:
    """What the server told whoever runs it, but for requests."""
    lines = [json.loads(line) for line in folder.printed.splitlines()]
    return [line["told"] for line in lines if "told" in line]


def counting(server: Server, token: str, runtime: str) -> tuple[str, str]:
    """A notebook that counts in a kernel of a runtime, and what runs there."""
    with server.client(token) as client:
        log = client.post("/api/notebooks", json={"name": f"on-{runtime}", "cells": CELLS}).json()["log"]
        ended(client, log, request(client, log, "first", runtime))
        execution = request(client, log, "count", runtime)
        until_printed(client, log, execution, "99\n")
        return log, execution


def is_well(client: httpx.Client) -> bool:
    return client.get("/health").status_code == 200


def is_unavailable(answer: httpx.Response) -> bool:
    """Whether it says that the store is away, and why."""
    fault: Any = answer.json()["error"]
    assert answer.status_code == 503 and fault["kind"] == "Unavailable", answer.text
    return "postgresql://" in fault["message"]


@pytest.mark.parametrize("fault", ["lost", "hung"])
def test_a_database_that_is_away_is_waited_for_by_all_and_everything_goes_on(
    postgres: OwnPostgres, url: str, folder: Folder, tmp_path: Path, fault: str
) -> None:
    server = folder.start(*SHORT)
    token = token_on(folder, "--actor", "ada", "--kind", "human", "--scope", "read,edit,run,bind")
    far = Far(tmp_path / "far", server.url, token_on(folder, "--actor", "gpu", "--kind", "runtime"), "--name", "gpu")
    try:
        (near, near_runs), (distant, far_runs) = (counting(server, token, name) for name in ("local", "gpu"))
        (folder.path / "bound.py").write_text("1 + 1\n")
        bound: str = folder.quire("import", "bound.py", "--json")["log"]
        folder.quire("bind", bound, "bound.py")
        served = holders(url)
        postgres.stop() if fault == "lost" else postgres.hang()
        with server.client(token) as client:
            wait_until(lambda: is_unavailable(client.get("/health")), "health does not say that the database is away")
            assert is_unavailable(client.get(f"/api/notebooks/{near}")), "who reads is told"
            assert is_unavailable(client.post("/api/notebooks", json={"name": "n"})), "who writes is told"
            (folder.path / "bound.py").write_text("2 + 2\n")
            for place in (folder.path, far.work):
                (place / "away").touch()
                wait_until((place / "said").exists, "a cell does not go on")
            postgres.start() if fault == "lost" else postgres.go_on()
            wait_until(lambda: is_well(client), "the server does not go on")
            for place, log, execution in ((folder.path, near, near_runs), (far.work, distant, far_runs)):
                (place / "back").touch()
                found = ended(client, log, execution)
                assert found["state"] == "ok" and printed(found) == NUMBERS
                assert printed(ended(client, log, request(client, log, "next"))) == "42\n", "in the same kernel"
            until(lambda: "2 + 2" in client.get(f"/api/notebooks/{bound}").text, "the mirror does not go on")
        assert holders(url) == served and far.process.poll() is None
        lines = [line for line in told(folder) if "postgresql" in line]
        assert [re.sub(".*the database is (away|back).*", r"\1", line) for line in lines] == ["away", "back"], lines
        assert "Traceback" not in folder.printed + far.told
        assert PASSWORD not in folder.printed + far.told
        assert not any(PASSWORD in file.read_text() for file in folder.path.glob(".quire/runtimes/*"))
        if fault == "hung":
            postgres.hang()
        assert server.end() == 0, "it ends, whatever the database does"
        postgres.go_on()
    finally:
        far.close()


@pytest.mark.parametrize("table", ["leases", "tokens"])
def test_a_database_that_goes_away_while_a_server_starts_is_waited_for(
    postgres: OwnPostgres, url: str, folder: Folder, table: str
) -> None:
    """It takes its place by a lease before it listens; a token for the address is made when `/health` was fine already."""
    folder.quire("token", "list")  # makes the tables
    lock = subprocess.Popen(
        [postgres.psql, url, "-c", f"BEGIN; LOCK TABLE quire.{table}; SELECT pg_sleep(600)"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        locks = f"SELECT count(*) FROM pg_locks WHERE relation = 'quire.{table}'::regclass AND"
        wait_until(lambda: connected(url, lambda db: db.fetchval(f"{locks} granted")) > 0, "it is never locked")
        process = folder.begin("--json", *SOON)
        wait_until(lambda: connected(url, lambda db: db.fetchval(f"{locks} NOT granted")) > 0, "it is not needed")
        if table == "tokens":
            known = until(lambda: server_file.read(folder.path / ".quire"), "it does not listen")
            wait_until(lambda: is_well_at(known.address), "it is never well")
        postgres.stop()
    finally:
        lock.kill()
        lock.wait()
    wait_until(lambda: "the database is away" in folder.printed, "it does not say that it waits")
    folder.quire("runtime", "--wait", "2", status=4)  # for longer than a request of the server is tried again
    postgres.start()
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, folder.printed
    server = Server(folder, process, json.loads(line))
    assert is_well_at(server.url)
    postgres.stop()
    try:
        assert server.end() == 0, "it ends cleanly also while the database is away"
    finally:
        postgres.start()


def is_well_at(address: str) -> bool:
    with httpx.Client(base_url=address, timeout=60) as client:
        return is_well(client)


def test_servers_and_runtimes_wait_at_the_start_and_no_longer_than_they_were_told(
    postgres: OwnPostgres, url: str, folder: Folder, tmp_path: Path
) -> None:
    postgres.stop()
    try:
        for verb in ("serve", "runtime"):
            done = folder.quire(verb, "--wait", "0.3", status=4)
            assert "It was waited for, 0.3 s. Check that it runs" in done.stderr and PASSWORD not in done.stderr
        gone = folder.begin()
        wait_until(lambda: "It is waited for, 60 s at most" in folder.printed, "it does not say that it waits")
        gone.send_signal(signal.SIGTERM)
        assert gone.wait(60) == 0, "and ends when it is told to"
        process = folder.begin("--json")
        with (tmp_path / "runtime.log").open("w") as log:
            beside = subprocess.Popen([QUIRE, "runtime"], cwd=folder.path, env=folder.environ, stderr=log)
        said = tmp_path / "runtime.log"
        wait_until(lambda: "It is waited for" in said.read_text(), "the runtime does not say that it waits")
        wait_until(lambda: folder.printed.count("It is waited for") == 2, "the server does not say that it waits")
    finally:
        postgres.start()
    assert process.stdout is not None
    server = Server(folder, process, json.loads(process.stdout.readline()))
    wait_until(lambda: "runs cells in" in said.read_text(), "the runtime does not begin")
    beside.terminate()
    assert beside.wait(60) == 0
    assert server.end() == 0
    assert PASSWORD not in folder.printed + said.read_text()
