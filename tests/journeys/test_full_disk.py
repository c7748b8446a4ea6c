"""A full disk ends no process: cells wait, people are told, and when there is room everything goes on (rule 10)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .faulty_notebook import DEADLINE_SECONDS

ROOT = Path(__file__).parents[2]


def test_a_cell_that_prints_while_the_disk_is_full_goes_on_when_there_is_room(tmp_path: Path) -> None:
    disk, beside = tmp_path / "disk", tmp_path / "beside"
    disk.mkdir()
    beside.mkdir()
    mount = 'mount -t tmpfs -o size=4m small "$0" && exec "$@"'
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(disk)]
    done = subprocess.run(
        [*alone, sys.executable, "-m", "tests.journeys.fill_disk", str(disk), str(beside)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3 * DEADLINE_SECONDS,
    )
    assert done.stdout.splitlines()[-1:] == ["went on"], (done.stdout, done.stderr)
