"""`papermill --engine quire`: the real papermill, with cells that run here."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest

from quire.connection import connect
from quire.core.results import Outcome, outcome_of

from ..doors.cli.test_papermill_flags import DECLARED, PAPERMILL, WAITS, book, code, prose, shown, told, write
from ..doors.cli.test_papermill_flags import papermill as start_papermill

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")}


def papermill(*args: str, at: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    command = [PAPERMILL, *args, "--no-progress-bar"]
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, timeout=120, env=CLEAN)
    assert done.returncode == status, done.stderr
    return done


def outcomes(folder: Path) -> list[Outcome]:
    """What the logs in a folder say of their runs, the first of them first."""

    async def read() -> list[Outcome]:
        workspace = await connect(folder)
        try:
            logs = await workspace.logs("run")
            return [outcome_of(info.log, await workspace.read(info.log)) for info in reversed(logs)]
        finally:
            await workspace.close()

    return asyncio.run(read())


LATER = code(
    "from IPython.display import display\nhandle = display('first', display_id='a')\nprint(month, top)\ntop * 2"
)
CHANGES = code("handle.update('second')\nimport sys\nprint('careful', file=sys.stderr)")
WIDGET = code("import ipywidgets\nipywidgets.IntSlider(value=3)")


@pytest.mark.parametrize(
    ("cells", "args", "status"),
    [
        ((prose("# Sales"), DECLARED, LATER, CHANGES, prose("end")), ["-p", "top", "2", "--inject-paths"], 0),
        pytest.param(
            (code("print('before')"), code("1 / 0"), prose("never"), code("print('never')")),
            [],
            1,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            (code("print(1)"), code("import sys\nsys.exit(0)"), code("print('never')")),
            [],
            0,
            marks=pytest.mark.slow,
        ),
    ],
    ids=["parameters", "error", "exit-0"],
)
def test_the_file_is_the_one_that_papermills_own_engine_leaves(
    tmp_path: Path, cells: tuple[dict[str, Any], ...], args: list[str], status: int
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for place in (ours, theirs):
        place.mkdir()
        write(place / "in.ipynb", *cells)
    with start_papermill("in.ipynb", "out.ipynb", *args, at=theirs):
        done = papermill("in.ipynb", "out.ipynb", "--engine", "quire", *args, at=ours, status=status)
    assert told(book(ours / "out.ipynb")) == told(book(theirs / "out.ipynb"))
    # papermill raises, as ever; and the run has its log, as every run here.
    assert ("PapermillExecutionError" in done.stderr) == bool(status)
    (outcome,) = outcomes(ours)
    assert (outcome.status, outcome.interpreter) == ("error" if status else "success", sys.executable)


def test_streams_widgets_and_the_folder_are_as_papermill_was_told(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    shows = code("import os, sys\nprint(os.getcwd())\nprint('careful', file=sys.stderr)")
    write(tmp_path / "in.ipynb", shows, WIDGET)
    # papermill opens these when the first text comes, in the folder that it has changed to.
    files = ("--stdout-file", str(tmp_path / "out.txt"), "--stderr-file", str(tmp_path / "err.txt"), "--log-output")
    done = papermill("in.ipynb", "out.ipynb", "--engine", "quire", "--cwd", "elsewhere", *files, at=tmp_path)
    assert (tmp_path / "out.txt").read_text() == f"{tmp_path / 'elsewhere'}\n"
    assert (tmp_path / "err.txt").read_text() == "careful\n"
    assert "careful" in done.stderr
    made = book(tmp_path / "out.ipynb")
    (view,) = made.cells[1].outputs
    model = view.data["application/vnd.jupyter.widget-view+json"]["model_id"]
    states = made.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    assert states[model]["state"]["value"] == 3


@pytest.mark.slow
def test_papermill_saves_while_a_cell_runs(tmp_path: Path) -> None:
    begun = 'any("begun" in "".join(each.get("text", "")) for each in second["outputs"])'
    # papermill writes the file itself, and not all at once.
    whole = "text = out.read_text() if out.exists() else ''\n    if not text.endswith('}'): return False"
    looks = WAITS.format(condition=begun).replace("if not out.exists(): return False", whole)
    looks = looks.replace("json.loads(out.read_text())", "json.loads(text)")
    write(tmp_path / "in.ipynb", code("1"), code(looks))
    papermill("in.ipynb", "out.ipynb", "--engine", "quire", "--autosave-cell-every", "1", at=tmp_path)
    assert shown(book(tmp_path / "out.ipynb")) == "begun\nTrue\n"


@pytest.mark.parametrize(
    ("source", "args", "status", "error", "ended"),
    [
        ("import os\nos._exit(3)", [], 138, "DeadKernelError", "dead_kernel"),
        pytest.param(
            "import time\ntime.sleep(600)",
            ["--execution-timeout", "1"],
            1,
            "CellTimeoutError",
            "timeout",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["dead", "timeout"],
)
def test_cells_that_never_ran_are_never_called_done(
    tmp_path: Path, source: str, args: list[str], status: int, error: str, ended: str
) -> None:
    """papermill's own engine calls them completed."""
    write(tmp_path / "in.ipynb", code("print('before')"), code(source), code("print('never')"))
    done = papermill("in.ipynb", "out.ipynb", "--engine", "quire", *args, at=tmp_path, status=status)
    assert error in done.stderr
    made = book(tmp_path / "out.ipynb")
    assert [cell.metadata.papermill.status for cell in made.cells] == ["completed", "failed", "pending"]
    assert made.metadata.papermill.exception is True
    (outcome,) = outcomes(tmp_path)
    assert outcome.status == ended
    assert outcome.failed_cell is not None
    assert outcome.failed_cell.index == 1


def test_ctrl_c_is_a_cancelled_run_and_its_file_is_whole(tmp_path: Path) -> None:
    write(tmp_path / "in.ipynb", code("import time\nprint('waiting', flush=True)\ntime.sleep(600)"), code("1"))
    command = [PAPERMILL, "in.ipynb", "out.ipynb", "--engine", "quire", "--no-progress-bar", "--log-output"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=CLEAN) as process:
        assert process.stderr is not None
        while "waiting" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.stderr.read()
    assert process.returncode != 0
    made = book(tmp_path / "out.ipynb")
    assert (shown(made), made.cells[1].metadata.papermill.status) == ("waiting\n", "pending")
    (outcome,) = outcomes(tmp_path)
    assert outcome.status == "cancelled"


@pytest.mark.slow
def test_a_notebook_that_names_no_kernel_is_one_in_python(tmp_path: Path) -> None:
    """papermill's own engine refuses it."""
    write(tmp_path / "in.ipynb", code("print(x)"))
    bare = json.loads((tmp_path / "in.ipynb").read_text()) | {"metadata": {}}
    (tmp_path / "in.ipynb").write_text(json.dumps(bare))
    papermill("in.ipynb", "out.ipynb", "--engine", "quire", "-p", "x", "1", at=tmp_path)
    made: Any = cast("Any", nbformat).read(tmp_path / "out.ipynb", as_version=4)
    assert (shown(made), made.metadata.language_info.name) == ("1\n", "python")
