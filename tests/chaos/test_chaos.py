"""Kills, stops, cuts, clocks, full disks and lost databases under load: nothing is lost, and nothing ends by itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 210
MOST_SECONDS = 280
"""For each store, with what comes before and after: both take less than ten minutes."""
SEED = os.environ.get("QUIRE_CHAOS_SEED", "1")


@pytest.mark.torture
@pytest.mark.timeout(MOST_SECONDS + 20)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_whatever_breaks_nothing_is_lost_and_nothing_ends_by_itself(kind: str, tmp_path: Path) -> None:
    """Rules 10 and 11. The disk of the SQLite file is small, so that it can be filled."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = 'mount -t tmpfs -o size=64m small "$0" && exec "$@"'
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(disk)]
    words = [sys.executable, "-m", "tests.chaos", kind, str(disk), str(tmp_path / "elsewhere"), SEED, str(SECONDS)]
    with subprocess.Popen(
        words if kind == "postgres" else [*alone, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)  # it ends all that it started
            said, _ = process.communicate()
    assert process.returncode == 0, said[-12_000:]
