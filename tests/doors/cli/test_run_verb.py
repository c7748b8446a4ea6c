"""`quire run`, as a person types it: real kernels, real files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest

from ...command import DEADLINE_SECONDS, QUIRE, run

SALES = """\
# %% [markdown]
# Sales

# %% tags=["parameters"]
month = "2026-10"  # as YYYY-MM
top = 5

# %% name="report"
print(month, top)
top * 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sales.py").write_text(SALES)
    return tmp_path


def outcome(*args: str | Path, at: Path, status: int = 0) -> Any:
    done = run("run", *args, "--json", at=at)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def book(path: Path) -> Any:
    read: Any = cast("Any", nbformat).read(path, as_version=4)
    cast("Any", nbformat).validate(read)
    return read


def test_a_notebook_runs_with_parameters_and_leaves_a_file_as_papermill_does(folder: Path) -> None:
    told = outcome("sales.py", "{month}.ipynb", "-p", "top", "2", "-p", "month=2026-11", at=folder)
    assert told["status"] == "success"
    assert (told["output"], told["cells_executed"], told["failed_cell"]) == ("2026-11.ipynb", 3, None)
    made = book(folder / "2026-11.ipynb")
    assert [cell.metadata.get("tags", []) for cell in made.cells] == [[], ["parameters"], ["injected-parameters"], []]
    assert made.cells[3].outputs[0].text == "2026-11 2\n"
    assert made.cells[3].outputs[1].data["text/plain"] == "4"
    assert made.metadata.papermill.parameters == {"top": 2, "month": "2026-11"}
    assert made.metadata.papermill.exception is None
    assert [cell.metadata.papermill.status for cell in made.cells] == ["completed"] * 4
    assert (folder / "sales.py").read_text() == SALES
    assert "run success" in run("show", told["run"], at=folder).stdout


def test_a_cell_that_raises_is_named_and_what_came_after_it_never_ran(folder: Path) -> None:
    (folder / "bad.py").write_text("# %%\nprint('before')\n\n# %%\n1 / 0\n\n# %%\nprint('never')\n")
    told = outcome("bad.py", "bad.ipynb", at=folder, status=1)
    assert told["status"] == "error"
    assert (told["failed_cell"]["index"], told["failed_cell"]["ename"]) == (1, "ZeroDivisionError")
    made = book(folder / "bad.ipynb")
    states = [cell.metadata.papermill.status for cell in made.cells if "source" in cell and cell.cell_type == "code"]
    assert states == ["completed", "failed", "pending"]
    assert made.metadata.papermill.exception is True


@pytest.mark.parametrize(
    ("args", "status", "said"),
    [
        (["sales.py", "-p", "top=five"], 2, "wants an int"),
        (["sales.py", "-k", "pyton3"], 2, "pyton3"),
        (["nowhere.py"], 2, "not there"),
        (["sales.py", "out.docx"], 2, "the ending says the format"),
        (["sales.py", "-p", "top"], 2, "has no value"),
        (["sales.py", "-y", "[1]"], 2, "names with values"),
        (["sales.py", "{nothing}.ipynb"], 2, "nothing"),
        (["needy.py"], 2, "API_KEY"),
        (["sales.py", "sales.py"], 2, "a run never changes its source. Name another OUTPUT."),
        (["sales.py", "link.py"], 2, "a run never changes its source"),
        (["sales.py", "./sales.py", "--prepare-only"], 2, "a run never changes its source"),
        (["sales.py", "pipe.ipynb"], 2, "is a pipe or a device"),
        (["sales.py", "loop.ipynb"], 2, "it is a link to itself"),
        (["sales.py", f"{'x' * 300}.ipynb"], 2, "name too long"),
        (["sales.py", "--timeout", "nan"], 2, "nan is no time to wait"),
        (["sales.py", "--execution-timeout", "nan"], 2, "nan is no time to wait"),
    ],
)
def test_what_is_missing_or_wrong_is_told_before_the_first_cell(
    folder: Path, args: list[str], status: int, said: str
) -> None:
    block = '# /// script\n# dependencies = []\n# [tool.quire]\n# variables = ["API_KEY"]\n# ///\n'
    (folder / "needy.py").write_text(f"{block}\n# %%\nprint('never')\n")
    (folder / "link.py").symlink_to("sales.py")
    (folder / "loop.ipynb").symlink_to("loop.ipynb")
    os.mkfifo(folder / "pipe.ipynb")
    done = run("run", *args, at=folder)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "sales.py").read_text() == SALES and (folder / "pipe.ipynb").is_fifo()


def test_a_file_may_be_called_what_no_list_could_show(folder: Path) -> None:
    odd = f" {'x' * 230}\x1b[2J\n.py"
    (folder / odd).write_text(SALES)
    told = outcome(odd, "--timeout", "0", at=folder)  # which is no limit
    assert told["status"] == "success"
    listed = json.loads(run("runs", "list", "--json", at=folder).stdout)
    assert [each["name"] for each in listed] == ["x" * 199]


def test_whoever_closed_the_streams_hears_nothing_and_has_the_file(folder: Path) -> None:
    command = f"{QUIRE} run sales.py out.ipynb --json <&- >&- 2>&-"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(book(folder / "out.ipynb").cells) == 3


def test_the_command_to_go_on_is_one_to_copy(folder: Path) -> None:
    (folder / "no.py").write_text("# %%\nassert 0\n")
    said = run("run", "no.py", "no.ipynb", at=folder)
    assert said.returncode == 1
    (line,) = [line for line in said.stderr.splitlines() if "--resume" in line]
    words = line.partition("quire ")[2].split()
    assert words[:4] == ["run", "no.py", "no.ipynb", "--resume"]
    assert run(*words, at=folder).returncode == 1
    assert "raised AssertionError\n" in said.stderr, "and no colon before nothing"


def test_values_come_from_files_yaml_and_base64_in_papermills_order(folder: Path) -> None:
    (folder / "p.yaml").write_text("top: 1\nmonth: '2026-01'\n")
    told = outcome("sales.py", "o.ipynb", "-f", "p.yaml", "-y", "{top: 3}", "-r", "month", "2026-02", at=folder)
    assert told["status"] == "success"
    assert book(folder / "o.ipynb").cells[3].outputs[0].text == "2026-02 3\n"


def started(folder: Path) -> subprocess.Popen[str]:
    """A run whose only cell waits, once it waits."""
    (folder / "long.py").write_text("# %%\nimport time\nprint('waiting', flush=True)\ntime.sleep(600)\n")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")}
    process = subprocess.Popen(
        [QUIRE, "run", "long.py", "long.ipynb", "--log-output", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean,
    )
    assert process.stderr is not None
    while "waiting" not in process.stderr.readline():
        assert process.poll() is None
    return process


def ended(process: subprocess.Popen[str], folder: Path) -> Any:
    out, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 130
    made = book(folder / "long.ipynb")
    assert made.cells[-1].outputs[0].text == "waiting\n"
    return json.loads(out)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_and_loses_nothing(folder: Path, number: signal.Signals) -> None:
    process = started(folder)
    process.send_signal(number)
    told = ended(process, folder)
    assert (told["status"], told["failed_cell"]["index"]) == ("cancelled", 0)


def test_somebody_else_cancels_it(folder: Path) -> None:
    process = started(folder)
    (row,) = json.loads(run("sql", "select run from runs", "--json", at=folder).stdout)
    assert run("cancel", row["run"], "--why", "enough", at=folder).returncode == 0
    assert ended(process, folder)["status"] == "cancelled"
    again = run("cancel", row["run"], at=folder)
    assert (again.returncode, "is over" in again.stderr) == (3, True)
