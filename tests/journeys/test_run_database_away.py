"""`quire run` straight on a PostgreSQL that goes away: it waits, loses nothing, and says how to go on when it gives up."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .database import PASSWORD, OwnPostgres, connected, folder_on
from .faulty_notebook import DEADLINE_SECONDS, QUIRE, wait_until
from .server import Folder

pytestmark = pytest.mark.slow  # each stops a database of its own
SOURCE = """\
# %% name="once"
import pathlib, time
with open("ran", "a") as file:
    file.write("once\\n")
def until(name):
    while not pathlib.Path(name).exists():
        time.sleep(0.01)

# %% name="count"
pathlib.Path("begun").touch()
until("away")
for i in range(300):
    print(i)
pathlib.Path("said").touch()
until("back")
print("end")

# %% name="after"
print(pathlib.Path("ran").read_text().count("once"))
"""
COUNTED = "".join(f"{number}\n" for number in range(300)) + "end\n"
Begin = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def postgres() -> Iterator[OwnPostgres]:
    server = OwnPostgres()
    yield server
    server.close()


@pytest.fixture
def folder(postgres: OwnPostgres, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Folder]:
    made = folder_on(postgres.database(f"run_{abs(hash(request.node.nodeid)) % 10**8}"), tmp_path / "here")
    (made.path / "count.py").write_text(SOURCE)
    yield made
    made.close()


@pytest.fixture
def begun(folder: Folder, postgres: OwnPostgres) -> Begin:
    """Start a run, and take its database away while a cell runs."""

    def begin(*flags: str) -> subprocess.Popen[str]:
        with (folder.path / "stderr").open("w") as stderr:
            process = subprocess.Popen(
                [QUIRE, "run", "count.py", "out.ipynb", "--json", *flags],
                cwd=folder.path,
                env=folder.environ,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        wait_until((folder.path / "begun").exists, "the cell does not begin")
        began = "SELECT count(*) FROM quire.events WHERE type = 'execution_started'"
        url = folder.environ["QUIRE_URL"]
        wait_until(lambda: connected(url, lambda db: db.fetchval(began)) == 2, "what ran before is not recorded")
        postgres.stop()
        (folder.path / "away").touch()
        wait_until((folder.path / "said").exists, "the cell does not go on")
        return process

    return begin


def said(folder: Folder) -> str:
    text = (folder.path / "stderr").read_text()
    assert PASSWORD not in text and "Traceback" not in text, text
    return text


def printed(folder: Folder, run: str, cell: str) -> str:
    return folder.quire("output", run, cell).stdout


def outcome(process: subprocess.Popen[str], status: int) -> Any:
    out, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == status, out
    return json.loads(out) if out else None


def test_a_run_waits_for_its_database_and_loses_nothing(postgres: OwnPostgres, folder: Folder, begun: Begin) -> None:
    process = begun()
    wait_until(lambda: "The run waits for it, 600 s at most (--wait)" in said(folder), "it does not say that it waits")
    (folder.path / "back").touch()
    postgres.start()
    found = outcome(process, 0)
    assert found["status"] == "success"
    lines = re.findall("waits for it|is back after", said(folder))
    assert lines == ["waits for it", "is back after"], "each is said once"
    assert printed(folder, found["run"], "count") == COUNTED
    assert printed(folder, found["run"], "after") == "1\n"
    assert "end\\n" in (folder.path / "out.ipynb").read_text()
    folder.quire("verify", found["run"])


def test_a_run_that_gives_up_says_how_to_go_on_and_goes_on_there(
    postgres: OwnPostgres, folder: Folder, begun: Begin
) -> None:
    process = begun("--wait", "0.5")
    try:
        outcome(process, 4)
        told = re.search(
            r"waited for, 0.5 s \(--wait\)\. Run (\w+) ends.* lives for 1 h: `quire run --resume \1`", said(folder)
        )
        assert told is not None, said(folder)
    finally:
        postgres.start()
    (folder.path / "back").touch()
    words = folder.quire("run", "--resume", told[1], "--json")
    assert words["status"] == "success"
    assert printed(folder, words["run"], "count") == COUNTED
    assert (folder.path / "ran").read_text() == "once\n", "what was recorded is not run again"
    folder.quire("verify")


def test_whoever_stops_a_run_that_waits_does_not_wait(postgres: OwnPostgres, folder: Folder, begun: Begin) -> None:
    process = begun()
    try:
        wait_until(lambda: "The run waits for it" in said(folder), "it does not say that it waits")
        process.send_signal(signal.SIGINT)
        outcome(process, 130)
        assert "was stopped while it waited" in said(folder)
    finally:
        postgres.start()
