"""The file that a run leaves: current while it runs, whole at every moment, and what happens when it cannot be written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.core.ids import CellId
from quire.core.sheet.conversion import WHOLE_TEXT
from quire.core.sheet.sheet import Sheet, SheetCell
from quire.formats import registry
from quire.formats.ipynb.stream_parts import parts

from ..command import QUIRE
from ..command import run_process as run
from ..conftest import examples
from ..corpus import IPYNB, for_each

WAIT = (
    "import pathlib, time\nprint('waiting', flush=True)\nwhile not pathlib.Path('go').exists():\n    time.sleep(0.01)"
)


TALK = WAIT.replace("time.sleep(0.01)", "time.sleep(0.05)\n    print('still', flush=True)")
"""The same, and it says so all the while."""


def notebook(folder: Path, *sources: str) -> None:
    (folder / "a.py").write_text("".join(f"# %%\n{source}\n\n" for source in sources))


def book(path: Path) -> Any:
    """The notebook in the file, which is valid."""
    read: Any = cast("Any", nbformat).read(path, as_version=4)
    cast("Any", nbformat).validate(read)
    return read


def states(path: Path) -> list[str]:
    return [cell.metadata.papermill.status for cell in book(path).cells if "papermill" in cell.metadata]


def until(holds: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 240
    while not holds():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def begun(folder: Path, *args: str) -> subprocess.Popen[str]:
    """A run whose last cell waits, once it does."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")}
    command = [QUIRE, "run", "a.py", *args, "--json", "--log-output", "--no-progress-bar"]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean
    )
    assert process.stderr is not None
    while "waiting" not in process.stderr.readline():
        assert process.poll() is None
    return process


def talked(process: subprocess.Popen[str]) -> None:
    """Let the running cell talk for a while, and see that nobody else says a word."""
    assert process.stderr is not None
    assert [process.stderr.readline() for _ in range(12)] == ["still\n"] * 12


def ended(process: subprocess.Popen[str], folder: Path) -> tuple[int, Any, str]:
    (folder / "go").touch()
    out, err = process.communicate(timeout=240)
    return process.returncode, json.loads(out), err


# ---- While it runs


def test_the_file_is_current_and_valid_at_every_moment_of_a_run(tmp_path: Path) -> None:
    notebook(tmp_path, "print('first')", f"{WAIT}\nprint('over')", "print('last')")
    output = tmp_path / "runs" / "new" / "a.ipynb"
    process = begun(tmp_path, "runs/new/a.ipynb", "--autosave-cell-every", "0.1")
    until(lambda: output.exists() and states(output) == ["completed", "running", "pending"], process)
    until(lambda: len(book(output).cells[1].outputs) == 1, process)
    assert book(output).cells[1].outputs[0].text == "waiting\n"
    assert book(output).cells[0].outputs[0].text == "first\n"
    status, outcome, _ = ended(process, tmp_path)
    assert (status, outcome["output"], outcome["output_fault"]) == (0, "runs/new/a.ipynb", None)
    assert states(output) == ["completed"] * 3
    assert book(output).cells[1].outputs[0].text == "waiting\nover\n"
    assert [path.name for path in output.parent.iterdir()] == ["a.ipynb"]


def test_papermills_settings_say_what_is_saved_before_the_end(tmp_path: Path) -> None:
    notebook(tmp_path, "print('first')", TALK, "print('last')")
    process = begun(tmp_path, "a.ipynb", "--autosave-cell-every", "0")
    until(
        lambda: (tmp_path / "a.ipynb").exists() and states(tmp_path / "a.ipynb") == ["completed", "running", "pending"],
        process,
    )
    saved = (tmp_path / "a.ipynb").stat()
    talked(process)
    assert (tmp_path / "a.ipynb").stat() == saved
    assert ended(process, tmp_path)[0] == 0
    assert states(tmp_path / "a.ipynb") == ["completed"] * 3
    (tmp_path / "go").unlink()
    process = begun(tmp_path, "b.ipynb", "--no-request-save-on-cell-execute")
    talked(process)
    assert not (tmp_path / "b.ipynb").exists()
    assert ended(process, tmp_path)[0] == 0
    assert states(tmp_path / "b.ipynb") == ["completed"] * 3


@pytest.mark.parametrize("ending", ["html", "md"])
def test_pages_and_logbooks_are_written_as_well(tmp_path: Path, ending: str) -> None:
    png = "b'\\x89PNG\\r\\n\\x1a\\n' + bytes(5000)"
    notebook(tmp_path, f"from IPython.display import Image\nprint('y' * 100_000)\nImage(data={png}, format='png')")
    quire.run(tmp_path / "a.py", tmp_path / f"a.{ending}", at=tmp_path, progress_bar=False)
    text = (tmp_path / f"a.{ending}").read_text()
    assert "y" * 1000 in text
    assert ("data:image/png;base64,iVBORw0KGgo" in text) == (ending == "html")


def test_standard_output_gets_the_notebook_at_the_end_and_nothing_else(tmp_path: Path) -> None:
    notebook(tmp_path, "print('y' * 200_000)")
    done = run("run", "a.py", "-", at=tmp_path)
    assert done.returncode == 0, done.stderr
    made: Any = cast("Any", nbformat).reads(done.stdout, as_version=4)
    assert made.cells[0].outputs[0].text == "y" * 200_000 + "\n"
    assert made.metadata.papermill.output_path == "-"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [QUIRE, "run", "a.py", "-"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=240
        )
    assert done.returncode == 4
    assert "Standard output cannot be written: No space left on device." in done.stderr
    assert "Traceback" not in done.stderr
    with subprocess.Popen([QUIRE, "run", "a.py", "-"], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(10) == b'{\n "cells"'
        process.stdout.close()
        assert process.wait(240) == 0


# ---- What is large


@pytest.mark.slow
def test_a_gigabyte_of_text_and_many_images_take_little_memory(tmp_path: Path) -> None:
    """Rule 5: the whole text is in a blob, and the file stays usable."""
    line = "line = 'x' * 1023 + '\\n'"
    image = "display(Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + os.urandom(1_000_000), format='png'))"
    notebook(
        tmp_path,
        f"import sys\n{line}\nfor _ in range(1024):\n    sys.stdout.write(line * 1024)",
        f"import os\nfrom IPython.display import Image, display\nfor _ in range(40):\n    {image}",
        "print('z' * 9_000_000)\n'w' * 200_000",
    )
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, QUIRE, "run", "a.py", "a.ipynb", "--no-progress-bar", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    told, peak = done.stdout.splitlines()
    # The images alone are 53 MB as they stand in the file; the kernel's own memory is in it, if that is larger.
    assert int(peak) < 300 * 1024
    made = book(tmp_path / "a.ipynb")
    text: str = made.cells[0].outputs[0].text
    run_id, cell = json.loads(told)["run"], made.cells[0].id
    assert text.startswith("x" * 1023 + "\n") and text.endswith("x" * 1023 + "\n")
    assert f" characters left out; `quire output {run_id} {cell}` prints all of it …]" in text
    assert len(text) < WHOLE_TEXT
    assert [len(output.data["image/png"]) for output in made.cells[1].outputs] == [1_333_344] * 40
    assert made.cells[2].outputs[0].text == "z" * 9_000_000 + "\n"
    assert made.cells[2].outputs[1].data["text/plain"] == repr("w" * 200_000)
    printed = subprocess.Popen([QUIRE, "output", run_id, cell], cwd=tmp_path, stdout=subprocess.PIPE)
    with printed, cast("IO[bytes]", printed.stdout) as text_of_it:
        size = sum(len(piece) for piece in iter(partial(text_of_it.read, 1 << 20), b""))
    assert (size, printed.returncode) == (1 << 30, 0)
    shutil.rmtree(tmp_path / ".quire")  # pytest keeps what tests leave, and this is much


MEASURED = """
import os, sys
# From a small process: what a child is said to have used includes what its parent had.
child = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@for_each(IPYNB)
def test_a_notebook_in_parts_is_the_notebook(path: Path) -> None:
    sheet = registry.read(path.read_bytes().decode(), str(path))
    whole = registry.write(sheet, "a.ipynb")
    assert "".join(parts(sheet, ((cell, None) for cell in sheet.cells), "a.ipynb")) == whole
    code = [(cell, cell.outputs if cell.kind in ("code", "sql") else None) for cell in sheet.cells]
    assert "".join(parts(sheet, code, "a.ipynb")) == whole


@pytest.mark.parametrize("other", ["", "@quire.place@0@quire.place@", 'no "Base64"'])
def test_large_pictures_in_parts_are_the_pictures(other: str) -> None:
    """Also where a text is about how it is done, or a picture is none."""
    large = {"image/png": "abcd" * 200_000, "image/jpeg": "e/+=" * 200_000, "application/pdf": (other or "a") * 600_000}
    shows = [{"output_type": "display_data", "data": large | {"text/plain": other}, "metadata": {}}]
    cell = SheetCell(id=CellId("a"), kind="code", source="", outputs=shows)
    sheet = Sheet(cells=(cell,))
    assert "".join(parts(sheet, [(cell, shows)], "a.ipynb")) == registry.write(sheet, "a.ipynb")


@pytest.mark.generated
@examples(40)
@given(st.text("ab\r\n\x85\u2028", max_size=40), st.integers(0, 3))
def test_a_long_text_in_parts_is_the_text(text: str, times: int) -> None:
    output = {"output_type": "stream", "name": "stderr", "text": (text + "x" * 499_990) * times + text}
    sheet = Sheet(cells=(SheetCell(id=CellId("a"), outputs=[output, output]),))
    assert "".join(parts(sheet, ((cell, cell.outputs) for cell in sheet.cells), "a.ipynb")) == registry.write(
        sheet, "a.ipynb"
    )


# ---- When it cannot be written


def test_a_folder_that_is_gone_and_comes_back_is_told_once_and_costs_nothing(tmp_path: Path) -> None:
    notebook(tmp_path, "print('first')", TALK, "print('last')")
    (tmp_path / "runs").mkdir()
    process = begun(tmp_path, "runs/a.ipynb", "--autosave-cell-every", "0.1")
    shutil.rmtree(tmp_path / "runs")
    assert process.stderr is not None
    while "cannot be written" not in (warning := process.stderr.readline()):
        assert process.poll() is None
    assert "runs/a.ipynb cannot be written: there is no folder" in warning
    assert "The run goes on, and this is tried again." in warning
    talked(process)  # meanwhile it is tried again
    (tmp_path / "runs").mkdir()
    status, outcome, err = ended(process, tmp_path)
    assert "cannot be written" not in err
    assert (status, outcome["status"], outcome["output_fault"]) == (0, "success", None)
    assert states(tmp_path / "runs" / "a.ipynb") == ["completed"] * 3


def test_a_folder_that_stays_away_leaves_the_run_in_its_log_and_says_how_to_get_it(tmp_path: Path) -> None:
    notebook(tmp_path, WAIT, "print('last')")
    (tmp_path / "runs").mkdir()
    process = begun(tmp_path, "runs/a.ipynb")
    shutil.rmtree(tmp_path / "runs")
    status, outcome, err = ended(process, tmp_path)
    assert (status, outcome["status"], outcome["output"]) == (4, "success", "runs/a.ipynb")
    assert "runs/a.ipynb cannot be written: there is no folder" in err
    assert f"`quire export {outcome['run']} FILE` writes it elsewhere." in err
    assert outcome["output_fault"] in err
    assert run("export", outcome["run"], "b.ipynb", at=tmp_path).returncode == 0
    assert book(tmp_path / "b.ipynb").cells[0].outputs[0].text == "waiting\n"


def test_the_folder_that_a_run_was_asked_in_may_go(tmp_path: Path) -> None:
    """What a path means is settled before the first cell: a relative one would mean nothing afterwards."""
    notebook(tmp_path, "import os, shutil\nshutil.rmtree(os.getcwd())\nprint('gone')")
    (tmp_path / "here").mkdir()
    done = run("run", "../a.py", "../out.ipynb", "--at", tmp_path, "--json", at=tmp_path / "here")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["output"] == "../out.ipynb", "as it was said"
    assert book(tmp_path / "out.ipynb").cells[0].outputs[0].text == "gone\n"


@pytest.fixture
def on_disks(tmp_path: Path) -> Callable[[str], str]:
    """Runs a script as an ordinary user, in `tmp_path`, that may mount disks of its own."""

    def run_script(script: str) -> str:
        names = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-euc", f"quire={QUIRE}\n{script}"]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("QUIRE_")}
        done = subprocess.run(names, cwd=tmp_path, capture_output=True, text=True, env=clean, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run_script


SHOW = (
    "from IPython.display import Image\nimport os\nImage(data=b'\\x89PNG\\r\\n\\x1a\\n' + os.urandom({}), format='png')"
)


def test_a_disk_that_is_read_only_is_refused_before_the_first_cell(
    tmp_path: Path, on_disks: Callable[[str], str]
) -> None:
    notebook(tmp_path, "open('ran', 'w').close()")
    said = on_disks(
        """
        mkdir out && mount -t tmpfs -o ro none out
        status=0; "$quire" run a.py out/runs/a.ipynb || status=$?; echo "folder: $status"
        status=0; "$quire" run a.py out/a.ipynb || status=$?; echo "file: $status"
        """
    )
    assert "folder: 2" in said and "file: 2" in said
    assert "out/runs/a.ipynb cannot be written in" in said and "out/a.ipynb cannot be written in" in said
    assert "that disk is read-only. Name another place." in said
    assert not (tmp_path / "ran").exists()
    assert json.loads(run("sql", "select * from runs", "--json", at=tmp_path).stdout) == []


@pytest.mark.slow
def test_a_full_disk_keeps_the_last_whole_version_and_the_run_is_whole_in_its_log(
    tmp_path: Path, on_disks: Callable[[str], str]
) -> None:
    notebook(tmp_path, "print('first')\nimport time\ntime.sleep(1.1)", SHOW.format(3_000_000), "print('last')")
    said = on_disks(
        """
        mkdir out && mount -t tmpfs -o size=2m none out
        status=0; "$quire" run a.py out/a.ipynb --json > outcome.json || status=$?; echo "status: $status"
        ls -A out; cp out/a.ipynb left.ipynb
        """
    )
    outcome = json.loads((tmp_path / "outcome.json").read_text())
    assert "status: 4\na.ipynb\n" in said
    assert outcome["status"] == "success"
    assert "out/a.ipynb cannot be written: the disk is full. Make room, and try again. It is as it was." in said
    assert f"`quire export {outcome['run']} FILE`" in said
    assert set(states(tmp_path / "left.ipynb")) <= {"completed", "running", "pending"}
    assert states(tmp_path / "left.ipynb")[-1] == "pending"
    assert run("export", outcome["run"], "b.ipynb", at=tmp_path).returncode == 0
    assert len(book(tmp_path / "b.ipynb").cells[1].outputs[0].data["image/png"]) > 4_000_000


@pytest.mark.slow
def test_a_store_on_a_full_disk_ends_the_run_and_its_log_is_true_once_there_is_room(
    tmp_path: Path, on_disks: Callable[[str], str]
) -> None:
    notebook(tmp_path, "print('first')", SHOW.format(3_000_000), "print('never')")
    said = on_disks(
        """
        mkdir disk && mount -t tmpfs -o size=2m none disk
        status=0; "$quire" run a.py a.ipynb --wait 3 --at disk || status=$?; echo "status: $status"
        mount -o remount,size=20m disk
        "$quire" sql "select status from runs" --json --at disk > runs.json
        "$quire" verify --at disk
        """
    )
    assert "status: 4" in said
    assert "the disk is full" in said
    assert "Traceback" not in said
    (row,) = json.loads((tmp_path / "runs.json").read_text())
    assert row["status"] in ("error", "lost")
    assert states(tmp_path / "a.ipynb") == ["completed", "running", "pending"]
