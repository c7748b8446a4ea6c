"""Leases lapse and nobody takes them: a closed lid, a lock, a hung database. Nothing ends by itself (rule 10)."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from quire.actors.runtime.start.launcher import Assignment
from quire.core.ids import LogId
from quire.runs.host.host_launcher import starting_here

from .faulty_notebook import stand_still, wait_until
from .live_runtimes import holders, runtime_of
from .remote_runtime import NUMBERS, ended, execution_of, folder, log, request, until_printed
from .server import Folder, Server, events, printed

__all__ = ["folder", "log"]  # fixtures
SHORT = ("--lease", "1", "--look-every", "0.2")
"""Leases that lapse while a test looks on."""


@pytest.fixture
def stopped() -> Iterator[list[int]]:
    """Processes that stand still: all of them go on when a test is over."""
    found: list[int] = []
    yield found
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def stop(stopped: list[int], *pids: int) -> None:
    """Let processes stand still, none of them while it writes: that would be a lock, not a lease."""
    stopped += pids
    for pid in pids:
        stand_still(pid)


def go_on(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)


def database(folder: Path) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(folder / ".quire" / "quire.db", timeout=0.1, isolation_level=None))


def seconds_left(folder: Path) -> dict[str, float]:
    """How long each lease still holds."""
    with database(folder) as db:
        return {name: ends - time.time() for name, ends in db.execute("SELECT name, ends FROM leases")}


def have_lapsed(folder: Path, *prefixes: str) -> bool:
    return all(left < 0 for name, left in seconds_left(folder).items() if name.startswith(prefixes))


def stand_still_until_lapsed(stopped: list[int], folder: Path, *pids: int) -> None:
    """Stop processes until whatever they hold has lapsed. One that wrote just then goes on for a moment."""

    def is_lapsed() -> bool:
        stop(stopped, *pids)
        with database(folder) as db:
            try:
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                for pid in pids:
                    go_on(pid)
                return False
            db.execute("UPDATE leases SET ends = 0")
            db.execute("COMMIT")
        return True

    wait_until(is_lapsed, "they always write when they are stopped")


def start_counting(server: Server, token: str, log: str) -> str:
    with server.client(token) as client:
        ended(client, log, request(client, log, "first"))
        execution = request(client, log, "count")
        until_printed(client, log, execution, "99\n")
    return execution


def count_to_the_end(folder: Folder, server: Server, token: str, log: str, execution: str) -> None:
    """The rest of the cell arrives, the next one finds its kernel, and nobody cancelled anything."""
    (folder.path / "away").touch()
    (folder.path / "back").touch()
    with server.client(token) as client:
        found = ended(client, log, execution)
        assert found["state"] == "ok" and printed(found) == NUMBERS
        assert printed(ended(client, log, request(client, log, "next"))) == "42\n", "in the same kernel"
        assert [entry["event"]["status"] for entry in events(client, log, "execution_finished")] == ["ok"] * 3


def test_server_runtime_and_kernel_go_on_after_a_closed_lid(folder: Folder, log: str, stopped: list[int]) -> None:
    """Rules 10 and 11: all leases have lapsed, and nobody took one."""
    server = folder.start(*SHORT)
    token = folder.token("read", "edit", "run")
    execution = start_counting(server, token, log)
    before = holders(folder.path)
    pid = before[f"hold:runtime:{log}"]
    stand_still_until_lapsed(stopped, folder.path, pid, server.process.pid)
    go_on(server.process.pid)
    wait_until(lambda: seconds_left(folder.path)["hold:server"] > 0, "the server does not take its place again")
    go_on(pid)
    wait_until(lambda: not have_lapsed(folder.path, "execution:"), "the claim is not renewed")
    wait_until(lambda: not have_lapsed(folder.path, "hold:runtime:"), "the notebook is not held again")
    count_to_the_end(folder, server, token, log, execution)
    assert holders(folder.path) == before, "by the same process"
    assert server.end() == 0 and "stood still" not in folder.printed
    folder.verify()


def test_who_looks_meanwhile_ends_nothing(folder: Folder, log: str, stopped: list[int]) -> None:
    """Rule 10: a verb that opens the workspace cannot know for how long somebody has stood still."""
    server = folder.start("--look-every", "0.2")
    token = folder.token("read", "edit", "run")
    execution = start_counting(server, token, log)
    pid = runtime_of(folder.path, log)
    assert pid is not None
    stand_still_until_lapsed(stopped, folder.path, pid)
    folder.quire("show", log)
    with server.client(token) as client:
        assert execution_of(client, log, execution)["state"] == "running"
        waiting = request(client, log, "next")
        assert execution_of(client, log, waiting)["state"] == "queued", "no second runtime takes it"
    go_on(pid)
    (folder.path / "away").touch()
    (folder.path / "back").touch()
    with server.client(token) as client:
        assert printed(ended(client, log, execution)) == NUMBERS
        assert printed(ended(client, log, waiting)) == "42\n"
    assert runtime_of(folder.path, log) == pid
    assert server.end() == 0


def test_a_runtime_that_was_started_beside_one_whose_hold_lapsed_leaves_it_the_notebook(
    folder: Folder, log: str, stopped: list[int]
) -> None:
    """Rule 10: two servers may have started one each. The later one finds a lapsed hold, and knows nothing of its holder."""
    server = folder.start("--look-every", "0.2")
    token = folder.token("read", "edit", "run")
    execution = start_counting(server, token, log)
    pid = runtime_of(folder.path, log)
    assert pid is not None
    stand_still_until_lapsed(stopped, folder.path, pid)
    said = start_another(folder.path, log)
    go_on(pid)
    count_to_the_end(folder, server, token, log, execution)
    assert runtime_of(folder.path, log) == pid
    assert f"Another runtime serves {log}" in said
    assert server.end() == 0


def start_another(folder: Path, log: str) -> str:
    """Start a runtime for a notebook as servers do, wait for its end, and return what it said."""
    starting = starting_here(str(folder / ".quire"), folder)
    assignment = Assignment(where=starting.where, log=LogId(log), folder=str(folder), idle_seconds=0.1)
    told = msgspec.json.encode(assignment)
    done = subprocess.run(
        [*starting.command, log], cwd=folder, input=told, capture_output=True, check=False, timeout=120
    )
    return done.stderr.decode()


def test_an_interrupt_of_a_runtime_that_does_not_answer_says_so_and_takes_effect_when_it_is_back(
    folder: Folder, log: str, stopped: list[int]
) -> None:
    server = folder.start()
    token = folder.token("read", "edit", "run")
    execution = start_counting(server, token, log)
    pid = runtime_of(folder.path, log)
    assert pid is not None
    stand_still_until_lapsed(stopped, folder.path, pid)
    with server.client(token) as client:
        asked = client.post(f"/api/logs/{log}/executions/{execution}/interrupt").json()
        assert "runtime:live-" in asked["unanswered"] and "does not answer" in asked["unanswered"]
        (told,) = folder.quire("interrupt", log, "--json")
        assert told["did"] == "interrupted" and told["unanswered"].startswith("runtime:live-")
        go_on(pid)
        assert ended(client, log, execution)["state"] == "cancelled"
    assert server.end() == 0


def test_a_runtime_that_stands_still_for_good_loses_its_cell_and_another_one_serves(
    folder: Folder, log: str, stopped: list[int]
) -> None:
    """Rule 10: never stuck. What it ran is lost, and cancelled by nobody; it says who has its notebook, and ends."""
    server = folder.start(*SHORT)
    token = folder.token("read", "edit", "run")
    execution = start_counting(server, token, log)
    pid = runtime_of(folder.path, log)
    assert pid is not None
    stop(stopped, pid)
    with server.client(token) as client:
        found = ended(client, log, execution)
        assert found["state"] == "lost" and "not heard of in time" in found["fault"]["evalue"]
        assert ended(client, log, request(client, log, "first"))["state"] == "ok"
        other = runtime_of(folder.path, log)
        assert other not in (None, pid)
        go_on(pid)
        said = folder.path / ".quire" / "runtimes" / f"{log}.log"
        wait_until(lambda: f"by another runtime now: process {other}" in said.read_text(), "it does not say who has it")
        wait_until(lambda: not Path(f"/proc/{pid}/exe").exists(), "it does not end")
        finished = [entry["event"] for entry in events(client, log, "execution_finished")]
        assert [each["status"] for each in finished] == ["ok", "lost", "ok"]
        assert ended(client, log, request(client, log, "first"))["state"] == "ok", "the other one is not disturbed"
    assert server.end() == 0


def test_a_server_whose_place_was_taken_names_the_one_that_has_it(folder: Folder, stopped: list[int]) -> None:
    first = folder.start(*SHORT)
    stand_still_until_lapsed(stopped, folder.path, first.process.pid)
    second = folder.start()
    go_on(first.process.pid)
    assert first.process.wait(60) == 3
    assert f"took its place: {second.url} (process {second.process.pid})" in folder.printed
    assert second.end() == 0


def test_a_lock_that_somebody_holds_for_longer_than_a_lease_ends_nothing(folder: Folder, log: str) -> None:
    """Rules 10 and 11: a backup, a virus scanner, `sqlite3` with a transaction left open."""
    server = folder.start(*SHORT)
    token = folder.token("read", "edit", "run")
    execution = start_counting(server, token, log)
    before = holders(folder.path)
    with database(folder.path) as db:
        wait_until(lambda: _locked(db), "the database is never free")
        (folder.path / "away").touch()
        wait_until((folder.path / "said").exists, "the cell does not go on")
        wait_until(lambda: have_lapsed(folder.path, "hold:", "execution:"), "the leases do not lapse")
        db.execute("ROLLBACK")
    wait_until(lambda: not have_lapsed(folder.path, "hold:server"), "the server does not take its place again")
    count_to_the_end(folder, server, token, log, execution)
    assert holders(folder.path) == before
    assert server.end() == 0
    folder.verify()


def _locked(db: sqlite3.Connection) -> bool:
    try:
        db.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return False
    return True
