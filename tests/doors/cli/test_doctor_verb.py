"""`quire doctor` on things that are really broken: each is named, with what to do about it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import venv
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from quire.doors.cli.settings import VARIABLES, WEBHOOKS
from quire.doors.cli.workspace import doctor_workspace

from ...journeys.faulty_notebook import wait_until
from .cli_folder import QuickFolder


class Patient(QuickFolder):
    """A folder that is looked at."""

    def examined(self, *, status: int, **more: str) -> list[Any]:
        found = self.quire("doctor", "--json", status=status, **more)
        assert found["faults"] == sum(each["state"] == "fault" for each in found["findings"])
        return found["findings"]

    def complaint(self, area: str, state: str, **more: str) -> str:
        """The one thing that is wrong, and what to do."""
        found = self.examined(status=int(state == "fault"), **more)
        wrong = [each for each in found if each["state"] != "ok"]
        assert [(each["area"], each["state"]) for each in wrong] == [(area, state)], wrong
        return f"{wrong[0]['what']} {wrong[0]['next']}"

    @property
    def state(self) -> Path:
        return self.path / ".quire"


@pytest.fixture
def patient(tmp_path: Path) -> Iterator[Patient]:
    made = Patient(tmp_path)
    made.environ = {name: value for name, value in made.environ.items() if not name.startswith("QUIRE_")}
    # Whatever the machine of the tests has registered is not the matter here.
    made.environ |= {"JUPYTER_PATH": str(tmp_path / "none"), "JUPYTER_DATA_DIR": str(tmp_path / "none")}
    made.quire("init")
    yield made
    made.close()


def test_a_folder_that_is_well_is_told_to_be_well(patient: Patient) -> None:
    found = patient.examined(status=0)
    assert {each["state"] for each in found} == {"ok"}, found
    assert {each["area"] for each in found} >= {
        "python",
        "packages",
        "workspace",
        "store",
        "clock",
        "kernels",
        "settings",
    }
    told = patient.quire("doctor")
    assert "ok       store" in told.stdout and "0 faults, 0 warnings" in told.stderr


def test_where_nothing_is_yet_nothing_is_made(patient: Patient, tmp_path: Path) -> None:
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    patient.quire("doctor", "--at", str(empty))
    assert list(empty.iterdir()) == []


def test_others_can_read_it(patient: Patient) -> None:
    patient.state.chmod(0o755)
    assert "chmod 700" in patient.complaint("workspace", "warning")


def test_it_is_not_ignored_by_git_or_even_in_it(patient: Patient) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=patient.path, check=True, capture_output=True)

    git("init", "--quiet")
    (patient.state / ".gitignore").unlink()
    assert ".gitignore" in patient.complaint("workspace", "warning")
    git("add", ".quire/quire.db")
    assert "git rm -r --cached .quire" in patient.complaint("workspace", "fault")


def test_the_database_is_damaged(patient: Patient) -> None:
    database = patient.state / "quire.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(database.read_bytes())
    page = int.from_bytes(data[16:18], "big")
    data[page : 2 * page] = b"\xff" * page
    database.write_bytes(data)
    assert "estore a backup" in patient.complaint("store", "fault")


def test_the_database_is_cut_off_or_something_else(patient: Patient) -> None:
    database = patient.state / "quire.db"
    whole = database.read_bytes()
    database.write_bytes(whole[: len(whole) // 2])
    assert "cut off" in patient.complaint("store", "fault")
    database.write_text("no database at all, but some text instead of it, and enough of that to fill a header " * 3)
    assert "is not a database" in patient.complaint("store", "fault")


def test_the_store_is_newer_than_this_quire(patient: Patient) -> None:
    with closing(sqlite3.connect(patient.state / "quire.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert "Upgrade Quire" in patient.complaint("store", "fault")


def test_the_clock_is_behind_what_was_recorded(patient: Patient) -> None:
    (patient.path / "n.py").write_text("# %%\nprint(1)\n")
    patient.quire("import", "n.py")
    with closing(sqlite3.connect(patient.state / "quire.db")) as connection:
        connection.execute("UPDATE events SET at = '2099-01-01T00:00:00.000000Z'")
        connection.commit()
    assert "Set the clock" in patient.complaint("clock", "fault")


def test_work_that_a_killed_process_left(patient: Patient) -> None:
    (patient.path / "n.py").write_text("# %%\nopen('begun', 'w').close()\nimport time\ntime.sleep(600)\n")
    with patient.run("run", "n.py") as run:
        begun = patient.path / "begun"
        wait_until(lambda: begun.exists() or run.poll() is not None, "the cell does not begin")
        assert run.poll() is None, run.communicate()
        run.kill()
    assert "quire runs list" in patient.complaint("store", "warning")
    patient.quire("runs", "list")
    assert all(each["state"] == "ok" for each in patient.examined(status=0)), "that has ended it"


def test_a_server_that_ended_without_a_word_and_one_that_does_not_answer(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = patient.start()
    assert any("is well" in each["what"] for each in patient.examined(status=0))
    os.kill(server.process.pid, signal.SIGSTOP)
    monkeypatch.setattr(doctor_workspace, "HEALTH_SECONDS", 0.2)  # a stopped process does not answer later, either
    try:
        assert "--take-over" in patient.complaint("server", "fault")
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    server.end(signal.SIGKILL)
    assert "quire serve" in patient.complaint("server", "warning")
    (patient.state / "serve.json").write_text("{")
    assert "cannot be read" in patient.complaint("server", "warning")


def test_an_environment_without_ipykernel_or_without_python(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    venv.create(patient.path / ".venv", with_pip=False)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
        patient.environ.pop(name, None)
    assert "uv pip install ipykernel" in patient.complaint("kernels", "fault")
    assert "Unset it" in patient.complaint("kernels", "fault", VIRTUAL_ENV=str(patient.path / "gone"))


def test_kernels_of_jupyter_that_are_broken(patient: Patient, tmp_path: Path) -> None:
    kernels = tmp_path / "jupyter" / "kernels"
    (kernels / "torn").mkdir(parents=True)
    (kernels / "torn" / "kernel.json").write_text("{")
    assert "torn" in patient.complaint("kernels", "warning", JUPYTER_PATH=str(tmp_path / "jupyter"))
    spec = {"argv": ["/nowhere/julia", "{connection_file}"], "language": "julia", "display_name": "Julia"}
    (kernels / "torn" / "kernel.json").write_text(json.dumps(spec))
    assert "/nowhere/julia" in patient.complaint("kernels", "warning", JUPYTER_PATH=str(tmp_path / "jupyter"))


def test_git_that_was_told_of_quire_and_lost_it(patient: Patient) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=patient.path, check=True)
    patient.quire("git", "install")
    assert all(each["state"] == "ok" for each in patient.examined(status=0))
    subprocess.run(["git", "config", "filter.quire.process", "/nowhere/quire"], cwd=patient.path, check=True)
    subprocess.run(["git", "config", "--unset", "filter.quire.clean"], cwd=patient.path, check=False)
    assert "quire git install" in patient.complaint("git", "fault")


@pytest.mark.parametrize(
    ("file", "text", "hint"),
    [
        ("quire.toml", "[serve]\nprot = 9000\n", "port"),
        ("quire.toml", "[serv]\nport = 9000\n", "[serve]"),
        ("quire.toml", "[serve]\nport = 'many'\n", "does not fit"),
        ("quire.toml", "[serve]\nbody_bytes = -1\n", "more than 0"),
        ("quire.toml", "[serve\n", "cannot be read"),
        ("pyproject.toml", "[tool.quire.serve]\nrequests_per_secnd = 5\n", "requests_per_second"),
    ],
)
def test_settings_that_are_misspelt_or_do_not_fit(patient: Patient, file: str, text: str, hint: str) -> None:
    (patient.path / file).write_text(text)
    assert hint in patient.complaint("settings", "fault")
    assert hint in patient.quire("serve", status=2).stderr, "and a server does not start with them"


def test_variables_that_are_misspelt(patient: Patient) -> None:
    assert "QUIRE_TOKEN" in patient.complaint("settings", "warning", QUIRE_TOKN="x")
    assert "QUIRE_SERVE_PORT" in patient.complaint("settings", "warning", QUIRE_SERVE_PROT="1")
    assert "does not fit" in patient.complaint("settings", "fault", QUIRE_SERVE_PORT="many")


def test_an_address_where_nobody_answers(patient: Patient) -> None:
    found = patient.quire("doctor", "--json", "--at", "http://127.0.0.1:9", status=1)
    assert found["findings"][-1]["area"] == "server"


def test_every_variable_that_quire_looks_at_is_known_to_the_doctor() -> None:
    import re

    source = Path(__file__).parents[3] / "src"
    found = {name for path in source.rglob("*.py") for name in re.findall(r"\bQUIRE_[A-Z_]+\b", path.read_text())}
    found = {name for name in found if not name.startswith(WEBHOOKS)}
    assert found - {"QUIRE_SERVE_"} <= {*VARIABLES}, "add it to VARIABLES in doors/cli/settings.py"
