"""Runs of some cells, and runs that go on where another ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest

import quire

from ..command import run_process as run

BOOK = """\
# %% tags=["parameters"]
n = 1

# %% name="load" tags=["prepare"]
print("load", n)

# %% [markdown]
# Text never runs.

# %% name="fit" tags=["model", "slow"]
print("fit", n)

# %% name="report" tags=["model"]
print("report", n)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "n.py").write_text(BOOK)
    return tmp_path


def printed(folder: Path, **part: Any) -> list[str]:
    quire.run(folder / "n.py", folder / "out.ipynb", {"n": 5}, at=folder, progress_bar=False, **part)
    book: Any = cast("Any", nbformat).read(folder / "out.ipynb", as_version=4)
    return ["".join(output.text for output in cell.outputs) for cell in book.cells if cell.cell_type == "code"]


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ({"start": "6"}, ["", "", "report 5\n"]),  # as it is shown: with the injected cell and the text
        ({"only": ["prepare", "slow"]}, ["load 5\n", "fit 5\n", ""]),
        ({"start": "report", "only": ["model"]}, ["", "", "report 5\n"]),
    ],
)
def test_some_cells_run_and_parameters_always_do(folder: Path, part: dict[str, Any], shown: list[str]) -> None:
    assert printed(folder, **part)[2:] == shown


def test_what_is_left_out_is_on_record_as_left_out(folder: Path) -> None:
    done = run("run", "n.py", "--only", "slow", "--json", at=folder)
    log = json.loads(done.stdout)["run"]
    assert json.loads(done.stdout)["cells_executed"] == 2
    cells = json.loads(run("runs", "show", log, "--json", at=folder).stdout)["cells"]
    assert [cell["state"] for cell in cells if cell["kind"] == "code"] == ["ok", "skipped", "ok", "skipped"]


def test_a_part_that_is_not_there_is_refused_before_anything_runs(folder: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"start": "fitt"}, "There is no cell 'fitt'. Nearest: fit"),
        ({"start": "99"}, "There is no cell '99'."),
        ({"only": ["modle"]}, "No cell that runs has the tag modle. Tags here: model"),
        ({"start": "report", "only": ["prepare"]}, "No cell that runs has the tag prepare"),
        ({"resume": "nothing"}, "There is no notebook or run 'nothing'"),
    ]
    for part, said in wrong:
        with pytest.raises(quire.NotFound) as refused:
            quire.run(folder / "n.py", at=folder, progress_bar=False, **part)
        assert said in str(refused.value)
    assert json.loads(run("runs", "list", "--json", at=folder).stdout) == []


def test_a_run_that_succeeded_has_nothing_to_resume_but_a_part_can_be_run_again(folder: Path) -> None:
    log = json.loads(run("run", "n.py", "--json", "--keep", at=folder).stdout)["run"]
    refused = run("run", "--resume", log, at=folder)
    assert refused.returncode == 2 and "nothing is left to run" in refused.stderr
    again = run("run", "--resume", log, "--from", "report", "--json", at=folder)
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    # The parameters, and the one cell: what the others showed is carried over from the run before.
    assert told["cells_executed"] == 2
    cells = json.loads(run("runs", "show", told["run"], "--json", at=folder).stdout)["cells"]
    assert [cell["carried"] for cell in cells if cell["kind"] == "code"] == [False, True, True, False]


def test_resuming_takes_parameters_and_results_along(folder: Path) -> None:
    (folder / "n.py").write_text(
        '# %% tags=["parameters"]\nn = 1\n\n# %%\nfrom quire.kernel import result\nresult("twice", 2 * n)\n\n'
        "# %%\nimport os\nassert os.path.exists('ready'), 'not yet'\n\n# %%\nresult('thrice', 3 * n)\n"
    )
    failed = run("run", "n.py", "-p", "n", "7", "--keep", "--json", at=folder)
    assert failed.returncode == 1
    (folder / "ready").touch()
    done = run("run", "--resume", json.loads(failed.stdout)["run"], "--json", at=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["scraps"] == {"twice": 14, "thrice": 21}
    assert told["cells_executed"] == 2
    # With another value all that stands on it runs anew.
    other = run("run", "--resume", json.loads(failed.stdout)["run"], "-p", "n", "8", "--json", at=folder)
    assert json.loads(other.stdout)["scraps"] == {"twice": 16, "thrice": 24}
