"""A runtime on somebody else's machine, and what comes between it and the server: nothing is lost, nothing comes twice."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from .faulty_notebook import DEADLINE_SECONDS, stand_still, wait_until
from .live_runtimes import end_runtimes, holders
from .remote_runtime import (
    COUNTING,
    NUMBERS,
    Far,
    ended,
    execution_of,
    expire_leases,
    far,
    folder,
    held_seconds,
    line_to,
    log,
    request,
    token_of_runtime,
    until_printed,
)
from .server import Folder, Server, events, free_port, printed, until

__all__ = ["far", "folder", "log"]  # fixtures


class Site:
    """A server that outlives the tests that share it, and a notebook that counts for each of them."""

    def __init__(self, path: Path) -> None:
        self.folder = Folder(path)
        self.token = self.folder.token("read", "edit", "run")
        # It looks often, and leaves nothing to a runtime that was killed: nobody waits for what a clock says.
        self.server: Server = self.folder.start("--look-every", "0.2", "--others-first", "0.5", "--lease", "3")
        self._notebooks = 0

    def notebook(self, text: str = COUNTING) -> str:
        self._notebooks += 1
        return self.folder.notebook(f"count-{self._notebooks}.py", text)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("site"))
    yield made
    assert made.server.end() == 0
    made.folder.verify()
    made.folder.close()
    end_runtimes(made.folder.path)


# ---- The server is away


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
    folder.verify()


def cut_while_it_counts(site: Site, far: list[Far], home: Path, attempts: int) -> None:
    """Cut the line between runtime and server while a cell counts, until the runtime has knocked so often in vain."""
    log = site.notebook()
    with line_to(site.server.port) as line, site.server.client(site.token) as client:
        runtime = Far(home, line.url, token_of_runtime(site.folder), "--name", "gpu")
        far.append(runtime)
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99\n")
        line.cut()
        (runtime.work / "away").touch()
        wait_until((runtime.work / "said").exists, "the cell does not go on")
        wait_until(lambda: bool(runtime.spool), "nothing is on disk")
        waiting = request(client, log, "first", "gpu")
        before = line.refused
        wait_until(lambda: line.refused >= before + attempts, "it does not try again")
        assert "199\n" not in printed(execution_of(client, log, execution))
        assert execution_of(client, log, waiting)["state"] == "queued", "nothing new begins meanwhile"
        line.mend(site.server.port)
        (runtime.work / "back").touch()
        found = ended(client, log, execution)
        assert found["state"] == "ok" and printed(found) == NUMBERS
        chunks = [entry["event"]["chunk"] for entry in events(client, log, "stream_appended")]
        assert chunks == sorted(set(chunks)), "none was recorded twice"
        assert ended(client, log, waiting)["state"] == "ok"
        assert runtime.end() == 0


def test_a_line_that_is_cut_for_a_while_loses_nothing(site: Site, far: list[Far], tmp_path: Path) -> None:
    cut_while_it_counts(site, far, tmp_path / "far", 3)


@pytest.mark.torture
def test_a_line_that_is_cut_for_long_loses_nothing(site: Site, far: list[Far], tmp_path: Path) -> None:
    """For about a minute: every few seconds each of those who wait for the server tries again."""
    cut_while_it_counts(site, far, tmp_path / "far", 60)


@pytest.mark.slow  # as above, with a server that was asked
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


@pytest.mark.slow  # tests/actors/runtime/test_spool.py has it without a server
def test_what_a_runtime_could_not_send_before_it_ended_is_sent_by_the_next(
    site: Site, far: list[Far], tmp_path: Path
) -> None:
    log = site.notebook()
    with line_to(site.server.port) as line, site.server.client(site.token) as client:
        runtime = Far(tmp_path / "far", line.url, token_of_runtime(site.folder), "--name", "gpu")
        far.append(runtime)
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99\n")
        line.cut()
        (runtime.work / "away").touch()
        wait_until((runtime.work / "said").exists, "the cell does not go on")
        assert runtime.end() == 0
        assert "the next runtime of this actor sends them" in runtime.told
        assert runtime.spool
        line.mend(site.server.port)
        runtime.again()
        found = ended(client, log, execution)
        assert found["state"] == "cancelled", "whoever ended the runtime ended the cell"
        assert printed(found).startswith("".join(f"{number}\n" for number in range(200)))
        wait_until(lambda: not runtime.spool, "something is left on disk")
        assert ended(client, log, request(client, log, "first", "gpu"))["state"] == "ok"
        assert runtime.end() == 0


@pytest.mark.slow  # tests/actors/runtime/test_spool.py has it without a server
def test_a_full_disk_holds_the_cell_back_and_loses_nothing(site: Site, far: list[Far], tmp_path: Path) -> None:
    log = site.notebook(COUNTING.replace("print(i)", 'print(i, "x" * 200)'))
    with line_to(site.server.port) as line, site.server.client(site.token) as client:
        runtime = Far(tmp_path / "far", line.url, token_of_runtime(site.folder), "--name", "gpu")
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
        line.mend(site.server.port)
        (runtime.work / "back").touch()
        found = ended(client, log, execution)
        assert found["state"] == "ok" and printed(found) == "".join(f"{number} {'x' * 200}\n" for number in range(300))
        resource.prlimit(runtime.process.pid, resource.RLIMIT_FSIZE, limits)
        assert runtime.end() == 0


@pytest.mark.parametrize(
    "flags", [("--name", "gpu"), pytest.param(("--for", "count"), marks=pytest.mark.slow)], ids=["name", "for"]
)
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
    assert revoked.process.wait(DEADLINE_SECONDS) == 3 and "revoked" in revoked.told
    server.end(signal.SIGKILL)
    assert away.end() == 0
    assert "Traceback" not in revoked.told + away.told


def test_what_a_runtime_runs_is_lost_soon_after_its_token_was_revoked(
    folder: Folder, log: str, far: list[Far], tmp_path: Path
) -> None:
    """Rule 10: its lease of an hour is not waited for, although it says nothing any more."""
    server = folder.start()
    secret = token_of_runtime(folder)
    runtime = Far(tmp_path / "far", server.url, secret, "--name", "gpu", "--lease", "3600")
    far.append(runtime)
    with server.client(folder.token("read", "edit", "run")) as client:
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99\n")
        assert held_seconds(client, execution) > 3000, "it holds from the claim on as long as was asked for"
        stand_still(runtime.process.pid)
        folder.quire("token", "revoke", "runtime:gpu")
        found = ended(client, log, execution)
        assert found["state"] == "lost" and "revoked" in found["fault"]["evalue"]
    os.kill(runtime.process.pid, signal.SIGCONT)
    assert runtime.process.wait(DEADLINE_SECONDS) == 3
    assert server.end() == 0


# ---- The runtime is away


def test_a_runtime_that_slept_past_its_lease_is_refused_drops_the_rest_and_goes_on(
    site: Site, far: list[Far], tmp_path: Path
) -> None:
    """Rule 10: an old epoch is refused."""
    log = site.notebook()
    runtime = Far(tmp_path / "far", site.server.url, token_of_runtime(site.folder), "--name", "gpu")
    far.append(runtime)
    with site.server.client(site.token) as client:
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99\n")
        stand_still(runtime.process.pid)
        (runtime.work / "away").touch()
        (runtime.work / "back").touch()
        expire_leases(site.folder.path, log)
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


def test_a_runtime_that_was_killed_goes_on_when_it_is_started_again_and_has_every_number_once(
    site: Site, far: list[Far], tmp_path: Path
) -> None:
    """Rule 11: its kernel lives, and what it said meanwhile is kept beside it."""
    log = site.notebook()
    runtime = Far(tmp_path / "far", site.server.url, token_of_runtime(site.folder), "--name", "gpu")
    far.append(runtime)
    with site.server.client(site.token) as client:
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


def test_what_a_killed_runtime_was_at_is_lost_with_its_lease_and_the_next_execution_runs_elsewhere(
    site: Site, far: list[Far], tmp_path: Path
) -> None:
    """Rule 10: never run again by itself, never stuck."""
    log = site.notebook()
    runtime = Far(tmp_path / "far", site.server.url, token_of_runtime(site.folder), "--name", "gpu", "--lease", "600")
    far.append(runtime)
    with site.server.client(site.token) as client:
        execution = request(client, log, "count", "gpu")
        until_printed(client, log, execution, "99\n")
        until(lambda: 300 < held_seconds(client, execution) <= 600, "its claim does not hold as long as was asked for")
        runtime.end(signal.SIGKILL)
        assert execution_of(client, log, execution)["state"] == "running", "nobody knows that it is gone"
        expire_leases(site.folder.path, log)
        found = ended(client, log, execution)
        assert found["state"] == "lost" and printed(found).endswith("99\n")
        assert ended(client, log, request(client, log, "first"))["state"] == "ok"
        assert f"hold:runtime:{log}" in holders(site.folder.path), "a runtime that was started here"
        # It comes back too late: what it was at is dropped, what its cells had defined is there.
        runtime.again()
        wait_until(lambda: "is dropped" in runtime.told, "it does not say that it is too late")
        assert ended(client, log, request(client, log, "first", "gpu"))["state"] == "ok"
        finished = [entry["event"]["execution"] for entry in events(client, log, "execution_finished")]
        assert finished.count(execution) == 1
        assert runtime.end() == 0
