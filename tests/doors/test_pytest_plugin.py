"""`pytest --quire`: a test for each cell; and what an ordinary pytest pays for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ..command import clean_environ


def code(source: str, *outputs: dict[str, Any], count: int | None = 1) -> dict[str, Any]:
    made = {"cell_type": "code", "source": source, "outputs": list(outputs), "execution_count": count}
    return {**made, "metadata": {}}


def out(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def write(path: Path, *cells: dict[str, Any]) -> None:
    numbered = [{**cell, "id": f"c{number}"} for number, cell in enumerate(cells)]
    path.write_text(json.dumps({"cells": numbered, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))


def pytest_in(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a pytest of its own there; nbval is not loaded, as where it is not installed."""
    command = [sys.executable, "-m", "pytest", "-rA", "-W", "ignore", "-p", "no:cacheprovider", "-p", "no:nbval"]
    return subprocess.run(
        [*command, *options], cwd=folder, env=clean_environ(), capture_output=True, text=True, timeout=120, check=False
    )


def outcomes(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The tests of a pytest, each with what became of it."""
    lines = (line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith(("PASSED ", "FAILED ")))
    return {rest.partition(" - ")[0]: said for said, rest in lines}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("notebooks")
    shown = "from IPython.display import display\nhandle = display('first', display_id=True)"
    after = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": "'second'"}}
    write(
        made / "sales.ipynb",
        code("# NBVAL_TEST_NAME: load\nrows = 1\nprint(rows)", out("1\n")),
        code("rows += 1\nprint(rows)", out("3\n")),
        code("1 / 0"),
        code(shown, after),  # as it is once the next cell has changed it
        code("handle.update('second')"),
        code("print(0.1 + 0.2)", out("0.3\n")),
    )
    (made / "test_script.py").write_text('# %% name="start"\nassert __name__ == "__main__"\n\n# %%\n1 / 0\n')
    (made / "test_module.py").write_text("def test_it():\n    pass\n")
    return made


def test_each_cell_is_a_test_also_of_a_script_that_pytest_would_import(folder: Path) -> None:
    done = pytest_in(folder, "--quire")
    assert outcomes(done) == {
        "sales.ipynb::load": "PASSED",
        "sales.ipynb::cell 2": "FAILED",
        "sales.ipynb::cell 3": "FAILED",
        "sales.ipynb::cell 4": "PASSED",
        "sales.ipynb::cell 5": "PASSED",
        "sales.ipynb::cell 6": "PASSED",
        "test_script.py::start": "PASSED",
        "test_script.py::cell 2": "FAILED",
        "test_module.py::test_it": "PASSED",
    }, done.stdout + done.stderr
    assert "  │ -3\n  │ +2\n" in done.stdout
    assert "test_script.py:5: cell 2: It raised ZeroDivisionError: division by zero" in done.stdout


@pytest.mark.slow
def test_one_test_alone_has_the_cells_above_it_run_and_those_below_not(folder: Path) -> None:
    done = pytest_in(folder, "--quire-lax", "sales.ipynb::cell 2")
    assert outcomes(done) == {"sales.ipynb::cell 2": "PASSED"}, done.stdout + done.stderr


@pytest.mark.slow
def test_nbvals_options_are_there_where_nbval_is_not(folder: Path) -> None:
    (folder / "rules.cfg").write_text("regex: 0\\.3.*\nreplace: ALIKE\n")
    options = ("--nbval-sanitize-with=rules.cfg", "--nbval-cell-timeout=60", "--nbval-current-env")
    done = pytest_in(folder, "--nbval", *options, "sales.ipynb")
    names = [f"sales.ipynb::Cell {number}" for number in range(6)]
    expected = ["PASSED", "FAILED", "FAILED", "PASSED", "PASSED", "PASSED"]
    assert outcomes(done) == dict(zip(names, expected, strict=True)), done.stdout + done.stderr


@pytest.mark.slow
def test_the_cells_of_a_notebook_stay_on_one_worker(folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.ipynb", code(f"open('{name}.txt', 'a').write('x')"), *[code("pass")] * 5)
    done = pytest_in(tmp_path, "--quire-lax", "-n", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [(tmp_path / f"{name}.txt").read_text() for name in ("a", "b")] == ["x", "x"]


@pytest.mark.slow
def test_nbval_itself_keeps_its_options_where_it_is(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "--help", "-W", "ignore", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, env=clean_environ(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("--nbval-kernel-name") == 1 or "Jupyter Notebook validation" in done.stdout
    assert "by Quire in nbval's place" not in done.stdout
    assert "--quire-lax" in done.stdout


def test_a_pytest_that_is_not_asked_for_notebooks_loads_nothing_of_ours(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import sys\n\n\ndef test_it():\n    assert sorted(m for m in sys.modules if m.partition('.')[0] in"
        " ('quire', 'msgspec', 'yaml', 'asyncpg')) ==\\\n        ['quire', 'quire.doors', 'quire.doors.pytest_plugin',"
        " 'quire.doors.pytest_plugin.options']\n"
        "    import quire.core.text\n    assert quire.core.text.__loader__.get_source('quire.core.text')\n"
    )
    done = pytest_in(
        tmp_path, "-p", "no:asyncio", "-p", "no:xdist", "-p", "no:hypothesispytest", "-p", "no:schemathesis"
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_what_cells_show_is_stored_on_demand(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb", code("print(1)", out("2\n")), code("print(2)", out("2\n")))
    done = pytest_in(tmp_path, "--quire-update", "a.ipynb::cell 1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"2\\n"' in (tmp_path / "a.ipynb").read_text().partition("c1")[0]  # not all of its cells were run
    assert pytest_in(tmp_path, "--quire-update").returncode == 0
    assert pytest_in(tmp_path, "--quire").returncode == 0
