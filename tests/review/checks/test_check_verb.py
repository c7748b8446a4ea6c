"""`quire check`: notebooks are run, and compared with what is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ...command import run

SCRIPT = """\
# %% name="load"
rows = 3
print("rows:", rows)

# %%
# CHECK_EXPECT: score >= 0.9
import time

from quire.kernel import result

result("score", 0.9 + time.time() % 0.1, display=True)

# %%
# NBVAL_IGNORE_OUTPUT
print(time.time())
"""


def code(source: str, *outputs: dict[str, Any], tags: tuple[str, ...] = (), count: int | None = 1) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": "code", "source": source, "outputs": list(outputs), "execution_count": count}
    return made | {"metadata": {"tags": list(tags)} if tags else {}}


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def write(path: Path, *cells: dict[str, Any]) -> Path:
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells)]
    path.write_text(json.dumps({"cells": numbered, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    return path


def test_each_cell_has_a_verdict_also_after_one_that_failed(tmp_path: Path) -> None:
    write(
        tmp_path / "sales.ipynb",
        code("a = 1\nprint(a)", printed("1\n")),
        code("print('x')\nprint(a)", printed("x\n2\n")),
        code("1 / 0"),
        code("# NBVAL_IGNORE_OUTPUT\nprint(2)", printed("3\n")),
        code("raise SystemExit(0)", tags=("skip-execution",)),
        code("import asyncio\nawait asyncio.sleep(0)\nprint(a)", printed("1\n")),
        code("open('out.txt', 'w').write(str(a))\nprint(a)", printed("1\n")),
    )
    done = run("check", "sales.ipynb", "--json", at=tmp_path)
    assert done.returncode == 1
    said = json.loads(done.stdout)
    (notebook,) = said["notebooks"]
    cells = notebook["cells"]
    assert [cell["status"] for cell in cells] == ["passed", "failed", "failed", "passed", "skipped", "passed", "passed"]
    assert not said["ok"]
    assert cells[1]["differences"] == [
        {"medium": "stdout", "fault": "it differs", "expected": "x\n2\n", "actual": "x\n1\n"}
    ]
    assert cells[2]["fault"] == "It raised ZeroDivisionError: division by zero"
    assert (tmp_path / "out.txt").read_text() == "1"  # cells work in the folder of the notebook
    assert not (tmp_path / ".quire").exists()  # and nothing is recorded

    # Where a cell stands is told with its line in the file.
    lines = (tmp_path / "sales.ipynb").read_text().splitlines()
    assert "print('x')" in lines[cells[1]["line"] - 1]


def test_a_script_has_its_outputs_in_a_snapshot_that_update_writes(tmp_path: Path) -> None:
    (tmp_path / "sales.py").write_text(SCRIPT)
    snapshot = tmp_path / "sales.py.snapshot.yaml"
    done = run("check", "sales.py", "--update", at=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    written = snapshot.read_text()
    assert "- cell: load\n" in written and "  - stdout: |\n      rows: 3\n" in written
    assert "score" not in written  # it may be anything in its range

    edited = SCRIPT.replace("rows = 3", "rows = 4").replace(">= 0.9", "< 0.9")
    promise = '\n# %%\n# /// script\n# [tool.quire.results]\n# missing = "float"\n# ///\n'
    (tmp_path / "sales.py").write_text(edited + promise)
    done = run("check", "sales.py", at=tmp_path)
    assert done.returncode == 1
    assert "sales.py:2: load: It shows something else than what is stored." in done.stdout
    assert "  │ -rows: 3\n  │ +rows: 4\n" in done.stdout
    assert "and expected to be < 0.9" in done.stdout
    assert "sales.py: result 'missing'" in done.stdout
    assert snapshot.read_text() == written


@pytest.mark.slow
def test_what_cells_show_is_stored_in_the_notebook_and_an_error_is_no_reference(tmp_path: Path) -> None:
    fine = write(tmp_path / "fine.ipynb", code("print(1)", printed("2\n")), code("print(2)", count=None))
    broken = write(tmp_path / "broken.ipynb", code("print(1)", printed("2\n")), code("1 / 0"))
    before = broken.read_text()
    done = run("check", "--update", "--jobs", "2", "fine.ipynb", "broken.ipynb", at=tmp_path)
    assert done.returncode == 1
    assert broken.read_text() == before
    first, second = json.loads(fine.read_text())["cells"]
    assert first["outputs"][0]["text"] in ("1\n", ["1\n"]) and second["execution_count"] == 2
    assert run("check", "fine.ipynb", at=tmp_path).returncode == 0


@pytest.mark.slow
def test_a_cell_that_takes_too_long_and_one_that_ends_the_kernel_fail_and_those_below_did_not_run(
    tmp_path: Path,
) -> None:
    write(tmp_path / "slow.ipynb", code("while True: pass"), code("1"))
    write(tmp_path / "dead.ipynb", code("import os; os._exit(1)"), code("1"))
    done = run("check", "slow.ipynb", "dead.ipynb", "--cell-timeout", "1", "--json", at=tmp_path)
    assert done.returncode == 1
    slow, dead = json.loads(done.stdout)["notebooks"]
    assert [cell["status"] for cell in slow["cells"]] == ["failed", "not_run"]
    assert slow["cells"][0]["fault"] == "It took longer than 1 s."
    assert [cell["status"] for cell in dead["cells"]] == ["failed", "not_run"]
    assert "lost its kernel" in dead["cells"][1]["fault"]


def test_what_is_no_notebook_and_a_kernel_that_is_not_there_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text("{")
    done = run("check", "a.ipynb", at=tmp_path)
    assert done.returncode == 2
    assert "a.ipynb" in done.stdout
    write(tmp_path / "b.ipynb", code("1"))
    done = run("check", "b.ipynb", "-k", "no-such-kernel", at=tmp_path)
    assert done.returncode == 2 and "no-such-kernel" in done.stdout
    assert run("check", "missing.ipynb", at=tmp_path).returncode != 0
    assert run("check", "--static", "--update", "b.ipynb", at=tmp_path).returncode == 2
