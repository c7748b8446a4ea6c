"""A runtime that a server started for a notebook, and what becomes of it when one of them is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from .faulty_notebook import wait_until
from .live_runtimes import end_runtimes, holders, runtime_of
from .remote_runtime import (
    NUMBERS,
    ended,
    execution_of,
    expire_leases,
    folder,
    held_seconds,
    interrupt,
    log,
    request,
    until_printed,
)
from .server import Folder, Server, events, printed, until

__all__ = ["folder", "log"]  # fixtures


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_every_number_is_there_once_after_the_server_was_restarted(
    folder: Folder, log: str, number: signal.Signals
) -> None:
    """Rule 11."""
    server = folder.start()
    token = folder.token("read", "edit", "run")
    with server.client(token) as client:
        ended(client, log, request(client, log, "first"))
        execution = request(client, log, "count")
        until_printed(client, log, execution, "99\n")
    before = holders(folder.path)
    server.end(number)
    (folder.path / "away").touch()
    wait_until((folder.path / "said").exists, "the cell does not go on")
    again = folder.start()
    with again.client(token) as client:
        (folder.path / "back").touch()
        found = ended(client, log, execution)
        assert found["state"] == "ok" and printed(found) == NUMBERS
        chunks = [entry["event"]["chunk"] for entry in events(client, log, "stream_appended")]
        assert chunks == sorted(set(chunks)), "none was recorded twice"
        assert printed(ended(client, log, request(client, log, "next"))) == "42\n"
    assert holders(folder.path) == before, "by the same process"
    assert again.end() == 0
    folder.verify()


def test_every_number_is_there_once_after_server_and_runtime_were_killed(folder: Folder, log: str) -> None:
    """Rule 11: the next server finds the kernel that nobody uses, and starts a runtime that goes on with it."""
    server = folder.start()
    token = folder.token("read", "edit", "run")
    with server.client(token) as client:
        ended(client, log, request(client, log, "first"))
        execution = request(client, log, "count")
        until_printed(client, log, execution, "99\n")
    (pid,) = holders(folder.path).values()
    server.end(signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)
    (folder.path / "away").touch()
    wait_until((folder.path / "said").exists, "the cell does not go on")
    again = folder.start("--look-every", "0.2")
    with again.client(token) as client:
        (folder.path / "back").touch()
        found = ended(client, log, execution)
        assert found["state"] == "ok" and printed(found) == NUMBERS
        assert printed(ended(client, log, request(client, log, "next"))) == "42\n", "in the same kernel"
    assert list(holders(folder.path).values()) != [pid]
    assert again.end() == 0
    folder.verify()


def test_a_cell_is_whole_although_one_runtime_after_the_other_is_killed_as_soon_as_it_went_on(
    folder: Folder, log: str
) -> None:
    """Rules 10 and 11: whoever adopts a kernel renews its claim before anything else, also one that had lapsed."""
    server = folder.start("--look-every", "0.2")
    token, said = folder.token("read", "edit", "run"), folder.path / ".quire" / "runtimes" / f"{log}.log"
    with server.client(token) as client:
        ended(client, log, request(client, log, "first"))
        execution = request(client, log, "count")
        until_printed(client, log, execution, "99\n")
        for time in range(1, 6):
            pid = runtime_of(folder.path, log)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            expire_leases(folder.path, log)
            wait_until(
                lambda time=time: said.read_text().count("Goes on with kernel") == time, "nobody goes on with it"
            )
            wait_until(lambda: held_seconds(client, execution) > 0, "its claim is not renewed")
            wait_until(lambda: runtime_of(folder.path, log) is not None, "nobody holds the notebook")
        (folder.path / "away").touch()
        (folder.path / "back").touch()
        found = ended(client, log, execution)
        assert found["state"] == "ok" and printed(found) == NUMBERS
        assert printed(ended(client, log, request(client, log, "next"))) == "42\n", "in the same kernel"
    assert server.end() == 0
    folder.verify()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Folder, Server]]:
    """A server that nobody kills, and that was told what opens the workspace."""
    made = Folder(tmp_path_factory.mktemp("served"))
    made.environ |= {"QUIRE_READER_URL": "postgresql://reader:verysecret@db/x", "QUIRE_BLOBS": "s3://verysecret"}
    server = made.start()
    yield made, server
    assert server.end() == 0
    made.close()
    end_runtimes(made.path)


def test_an_interrupt_takes_effect_while_a_cell_prints_as_fast_as_it_can(served: tuple[Folder, Server]) -> None:
    folder, server = served
    storm = 'i = 0\nwhile True:\n    print(i, "x" * 60)\n    i += 1\n'
    log = folder.notebook("storm.py", f'# %% name="storm"\n{storm}\n# %% name="after"\nprint("here")\n')
    with server.client(folder.token("read", "edit", "run")) as client:
        execution = request(client, log, "storm")
        until(lambda: execution_of(client, log, execution).get("outputs"), "it does not print")
        waiting = request(client, log, "after")
        interrupt(client, log, execution)
        found = ended(client, log, execution)
        assert found["state"] == "cancelled" and found["fault"]["ename"] == "KeyboardInterrupt"
        assert found["interrupted_by"] == "human:ada"
        assert printed(ended(client, log, waiting)) == "here\n"


def test_the_kernel_sees_nothing_of_what_opens_the_workspace(served: tuple[Folder, Server]) -> None:
    folder, server = served
    look = """
import json, os, sys, pathlib
connection = next(word for word in pathlib.Path("/proc/self/cmdline").read_text().split("\\0") if word.endswith(".json"))
seen = {"environ": dict(os.environ), "argv": pathlib.Path("/proc/self/cmdline").read_text()}
seen["folder"] = {path.name: path.read_text() for path in pathlib.Path(connection).parent.iterdir() if path.is_file()}
pathlib.Path("seen.json").write_text(json.dumps(seen))
"""
    log = folder.notebook("look.py", f'# %% name="look"{look}')
    with server.client(folder.token("read", "edit", "run")) as client:
        assert ended(client, log, request(client, log, "look"))["state"] == "ok"
    seen = (folder.path / "seen.json").read_text()
    assert "verysecret" not in seen and "quire_" not in seen and "QUIRE_" not in seen
    assert str(server.port) not in seen and "quire.db" not in seen
