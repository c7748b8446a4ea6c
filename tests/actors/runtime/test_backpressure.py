"""What waits is bounded: a kernel that is faster than whoever records is held back, and fills nobody's memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

MOST = 200_000_000
"""What a process may take, kernels included, however much is shown."""
DEADLINE_SECONDS = 240
_SHOWS = """# %%
import base64, os
from IPython.display import display
with open("kernel", "w") as file:
    file.write(str(os.getpid()))
for number in range({total}):
    display({shown}, raw=True)
    with open("progress.new", "w") as file:
        file.write(str(number + 1))
    os.replace("progress.new", "progress")
"""


def held(folder: Path, what: str, shown: str, total: int) -> Any:
    """Run a cell that shows this so often while nothing is written; return what it took."""
    (folder / "show.py").write_text(_SHOWS.format(total=total, shown=shown))
    done = subprocess.run(
        [sys.executable, "-m", "tests.actors.runtime.hold_writer", "show.py", str(total), what],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["blobs", "events"])
def test_images_wait_in_the_cell_that_shows_them_while_nothing_is_written(tmp_path: Path, what: str) -> None:
    """500 of 1 MB: neither the process that runs the notebook nor its kernel takes them all into memory."""
    took = held(tmp_path, what, "{'image/png': base64.b64encode(os.urandom(1_000_000)).decode()}", 500)
    assert took["shown"] < 500
    assert took["client"] < MOST
    assert took["kernel"] < MOST


@pytest.mark.slow
def test_what_stays_in_events_counts_by_its_size(tmp_path: Path) -> None:
    """A table of 60 kB is no blob; thousands of them are as large as any."""
    took = held(tmp_path, "events", "{'text/html': os.urandom(30_000).hex()}", 6000)
    assert took["shown"] < 6000
    assert took["client"] < MOST
    assert took["kernel"] < MOST


_TABLES = """# %%
from IPython.display import display
for number in range(1500):
    display({"text/html": f"<p>{number:05}</p>" + "x" * 60_000}, raw=True)
"""
_RUN = """
import pathlib, re, quire
quire.run("show.py", "shown.ipynb")
print(re.search(r"VmHWM:\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
def test_a_run_does_not_hold_all_that_its_cells_showed(tmp_path: Path) -> None:
    """90 MB of tables, each of which could stay in the log: they are all in the file, and never all in memory."""
    (tmp_path / "show.py").write_text(_TABLES)
    done = subprocess.run(
        [sys.executable, "-c", _RUN],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) * 1024 < MOST
    (cell,) = json.loads((tmp_path / "shown.ipynb").read_text())["cells"]
    shown = ["".join(output["data"]["text/html"]) for output in cell["outputs"]]
    assert shown == [f"<p>{number:05}</p>" + "x" * 60_000 for number in range(1500)]
