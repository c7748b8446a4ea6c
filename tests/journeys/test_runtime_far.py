"""A runtime on somebody else's machine, and what comes between it and the server: nothing is lost, nothing comes twice."""

from __future__ import annotations

import os
import resource
import signal
import time
from pathlib import Path

import pytest

from .far import (
    COUNTING,
    NUMBERS,
    Far,
    ended,
    execution_of,
    far,
    folder,
    line_to,
    log,
    request,
    token_of_runtime,
    until_printed,
)
from .faulty import wait_until
from .living import holders
from .server import Folder, events, free_port, printed

__all__ = ["far", "folder", "log"]  # fixtures


def test_a_server_that_is_killed_while_a_cell_counts_has_every_number_once_after_its_restart(
    folder: Folder, log: str, far: list[Far], tmp_path: Path
) -> None:
    """Rule 11."""
    server = folder.start("--port", str(free_port()))
    token = folder.token("read", "edit", "run")
    runtime = Far(tmp_path / "far", server.url, token_of_runtime(folder), "--name", "gpu")
    far.append(runtime)
    with server.client(token) as client:
        ended(client, log, request(client, log, "first", "gpu"))
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99\n")
    server.end(signal.SIGKILL)
    (runtime.work / "away").touch()
    wait_until((runtime.work / "said").exists, "the cell does not go on")
    wait_until(lambda: bool(runtime.spool), "nothing is on disk")
    again = folder.start("--port", str(server.port))
    (runtime.work / "back").touch()
    with again.client(token) as client:
        found = ended(client, log, execution)
        assert found["state"] == "ok" and printed(found) == NUMBERS
        assert found["runtime"] == "runtime:gpu"
        chunks = [entry["event"]["chunk"] for entry in events(client, log, "stream_appended")]
        assert chunks == sorted(set(chunks)), "none was recorded twice"
        assert printed(ended(client, log, request(client, log, "next"))) == "42\n", "in the same kernel"
    assert holders(folder.path) == {}, "no other runtime was started for what this one takes"
    assert runtime.end() == 0
    assert not list((runtime.home / "state" / "quire" / "spool").iterdir())
    assert again.end() == 0
    folder.quire("verify")


def cut_for(folder: Folder, log: str, far: list[Far], home: Path, seconds: float) -> None:
    """Cut the line between runtime and server while a cell counts."""
    server = folder.start()
    token = folder.token("read", "edit", "run")
    with line_to(server.port) as line, server.client(token) as client:
        runtime = Far(home, line.url, token_of_runtime(folder), "--name", "gpu")
        far.append(runtime)
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99\n")
        line.cut()
        (runtime.work / "away").touch()
        wait_until((runtime.work / "said").exists, "the cell does not go on")
        wait_until(lambda: bool(runtime.spool), "nothing is on disk")
        waiting = request(client, log, "first", "gpu")
        time.sleep(seconds)
        assert "199\n" not in printed(execution_of(client, log, execution))
        assert execution_of(client, log, waiting)["state"] == "queued", "nothing new begins meanwhile"
        line.mend(server.port)
        (runtime.work / "back").touch()
        found = ended(client, log, execution)
        assert found["state"] == "ok" and printed(found) == NUMBERS
        chunks = [entry["event"]["chunk"] for entry in events(client, log, "stream_appended")]
        assert chunks == sorted(set(chunks)), "none was recorded twice"
        assert ended(client, log, waiting)["state"] == "ok"
        assert runtime.end() == 0
    assert server.end() == 0
    folder.quire("verify")


def test_a_line_that_is_cut_for_some_seconds_loses_nothing(
    folder: Folder, log: str, far: list[Far], tmp_path: Path
) -> None:
    cut_for(folder, log, far, tmp_path / "far", 3)


@pytest.mark.torture
def test_a_line_that_is_cut_for_a_minute_loses_nothing(
    folder: Folder, log: str, far: list[Far], tmp_path: Path
) -> None:
    cut_for(folder, log, far, tmp_path / "far", 60)


def test_a_server_that_is_told_to_end_and_comes_back_finds_the_cell_running(
    folder: Folder, log: str, far: list[Far], tmp_path: Path
) -> None:
    server = folder.start("--port", str(free_port()))
    token = folder.token("read", "edit", "run")
    runtime = Far(tmp_path / "far", server.url, token_of_runtime(folder, "gpu", log), "--for", log)
    far.append(runtime)
    with server.client(token) as client:
        execution = request(client, log, "count", "runtime:gpu")
        until_printed(client, log, execution, "99\n")
    assert server.end() == 0
    (runtime.work / "away").touch()
    wait_until((runtime.work / "said").exists, "the cell does not go on")
    again = folder.start("--port", str(server.port))
    with again.client(token) as client:
        assert execution_of(client, log, execution)["state"] == "running"
        (runtime.work / "back").touch()
        assert printed(ended(client, log, execution)) == NUMBERS
    assert again.end() == 0


def test_what_a_runtime_could_not_send_before_it_ended_is_sent_by_the_next(
    folder: Folder, log: str, far: list[Far], tmp_path: Path
) -> None:
    server = folder.start("--port", str(free_port()))
    token = folder.token("read", "edit", "run")
    runtime = Far(tmp_path / "far", server.url, token_of_runtime(folder), "--name", "gpu")
    far.append(runtime)
    with server.client(token) as client:
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99\n")
    server.end(signal.SIGKILL)
    (runtime.work / "away").touch()
    wait_until((runtime.work / "said").exists, "the cell does not go on")
    assert runtime.end() == 0
    assert "the next runtime of this actor sends them" in runtime.told
    assert runtime.spool
    again = folder.start("--port", str(server.port))
    runtime.again()
    with again.client(token) as client:
        found = ended(client, log, execution)
        assert found["state"] == "cancelled", "whoever ended the runtime ended the cell"
        assert printed(found).startswith("".join(f"{number}\n" for number in range(200)))
        assert not runtime.spool
        assert ended(client, log, request(client, log, "first", "gpu"))["state"] == "ok"
    assert again.end() == 0
    folder.quire("verify")


def test_a_runtime_that_slept_past_its_lease_is_refused_drops_the_rest_and_goes_on(
    folder: Folder, log: str, far: list[Far], tmp_path: Path
) -> None:
    """Rule 10: an old epoch is refused."""
    server = folder.start()
    token = folder.token("read", "edit", "run")
    runtime = Far(tmp_path / "far", server.url, token_of_runtime(folder), "--name", "gpu", "--lease", "2")
    far.append(runtime)
    with server.client(token) as client:
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99\n")
        os.kill(runtime.process.pid, signal.SIGSTOP)
        (runtime.work / "away").touch()
        (runtime.work / "back").touch()
        found = ended(client, log, execution)
        assert found["state"] == "lost" and "not heard of in time" in found["fault"]["evalue"]
        seen = printed(found)
        os.kill(runtime.process.pid, signal.SIGCONT)
        wait_until(lambda: "is dropped" in runtime.told, "it does not say that its claim is lost")
        assert ended(client, log, request(client, log, "first", "gpu"))["state"] == "ok"
        assert printed(execution_of(client, log, execution)) == seen
        finished = [entry["event"] for entry in events(client, log, "execution_finished")]
        assert [each["execution"] for each in finished].count(execution) == 1
        assert runtime.end() == 0
    assert server.end() == 0
    folder.quire("verify")


def test_a_full_disk_holds_the_cell_back_and_loses_nothing(folder: Folder, far: list[Far], tmp_path: Path) -> None:
    (folder.path / "wide.py").write_text(COUNTING.replace("print(i)", 'print(i, "x" * 200)'))
    log: str = folder.quire("import", "wide.py", "--json")["log"]
    server = folder.start()
    token = folder.token("read", "edit", "run")
    with line_to(server.port) as line, server.client(token) as client:
        runtime = Far(tmp_path / "far", line.url, token_of_runtime(folder), "--name", "gpu")
        far.append(runtime)
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99 xx")
        # No file of the runtime gets any larger than this, as on a full disk; there is just room for its words.
        room = (runtime.home / "out").stat().st_size + 800
        limits = resource.prlimit(runtime.process.pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        line.cut()
        (runtime.work / "away").touch()
        wait_until(lambda: "the kernel waits" in runtime.told, "it does not say that the disk is full")
        # The line is back before there is room: the disk is not needed then.
        line.mend(server.port)
        (runtime.work / "back").touch()
        found = ended(client, log, execution)
        assert found["state"] == "ok" and printed(found) == "".join(f"{number} {'x' * 200}\n" for number in range(300))
        resource.prlimit(runtime.process.pid, resource.RLIMIT_FSIZE, limits)
        assert runtime.end() == 0
    assert server.end() == 0


def test_a_runtime_that_was_killed_goes_on_when_it_is_started_again_and_has_every_number_once(
    folder: Folder, log: str, far: list[Far], tmp_path: Path
) -> None:
    """Rule 11: its kernel lives, and what it said meanwhile is kept beside it."""
    server = folder.start()
    token = folder.token("read", "edit", "run")
    runtime = Far(tmp_path / "far", server.url, token_of_runtime(folder), "--name", "gpu")
    far.append(runtime)
    with server.client(token) as client:
        ended(client, log, request(client, log, "first", "gpu"))
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99\n")
        runtime.end(signal.SIGKILL)
        (runtime.work / "away").touch()
        wait_until((runtime.work / "said").exists, "the cell does not go on")
        runtime.again()
        (runtime.work / "back").touch()
        found = ended(client, log, execution)
        assert found["state"] == "ok" and printed(found) == NUMBERS
        assert printed(ended(client, log, request(client, log, "next", "gpu"))) == "42\n", "in the same kernel"
        assert runtime.end() == 0
    assert server.end() == 0
    folder.quire("verify")


def test_what_a_killed_runtime_was_at_is_lost_within_its_lease_and_the_next_execution_runs_elsewhere(
    folder: Folder, log: str, far: list[Far], tmp_path: Path
) -> None:
    """Rule 10: never run again by itself, never stuck."""
    server = folder.start()
    token = folder.token("read", "edit", "run")
    runtime = Far(tmp_path / "far", server.url, token_of_runtime(folder), "--name", "gpu", "--lease", "2")
    far.append(runtime)
    with server.client(token) as client:
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99\n")
        runtime.end(signal.SIGKILL)
        found = ended(client, log, execution)
        assert found["state"] == "lost" and printed(found).endswith("99\n")
        assert ended(client, log, request(client, log, "first"))["state"] == "ok"
        assert len(holders(folder.path)) == 1, "a runtime that was started here"
        # It comes back too late: what it was at is dropped, what its cells had defined is there.
        runtime.again()
        wait_until(lambda: "is dropped" in runtime.told, "it does not say that it is too late")
        assert ended(client, log, request(client, log, "first", "gpu"))["state"] == "ok"
        finished = [entry["event"]["execution"] for entry in events(client, log, "execution_finished")]
        assert finished.count(execution) == 1
        assert runtime.end() == 0
    assert server.end() == 0
    folder.quire("verify")


@pytest.mark.parametrize("flags", [("--name", "gpu"), ("--for", "count")])
def test_it_ends_when_its_token_is_revoked_and_is_told_to_end_while_the_server_is_away(
    folder: Folder, log: str, far: list[Far], tmp_path: Path, flags: tuple[str, str]
) -> None:
    server = folder.start()
    token = folder.token("read", "edit", "run")
    revoked = Far(tmp_path / "revoked", server.url, token_of_runtime(folder, "revoked"), *flags)
    away = Far(tmp_path / "away", server.url, token_of_runtime(folder, "away"), *flags)
    far += [revoked, away]
    with server.client(token) as client:
        for runtime in (revoked, away):
            ended(client, log, request(client, log, "first", runtime.actor))
    folder.quire("token", "revoke", "runtime:revoked")
    assert revoked.process.wait(60) == 3 and "revoked" in revoked.told
    server.end(signal.SIGKILL)
    assert away.end() == 0
    assert "Traceback" not in revoked.told + away.told
