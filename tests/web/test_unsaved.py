"""Nothing can be saved: people are told why, go on, and everything is recorded once when it works again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ..journeys.faulty import DEADLINE_SECONDS

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_what_is_done_while_the_disk_is_full_is_told_and_recorded_once_when_there_is_room(
    built: Path, tmp_path: Path
) -> None:
    assert built
    mount = 'mount -t tmpfs -o size=16m small "$0" && exec "$@"'
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(tmp_path)]
    done = subprocess.run(
        [*alone, sys.executable, "-m", "tests.web.fill_disk", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3 * DEADLINE_SECONDS,
    )
    assert done.stdout.splitlines()[-1:] == ["recorded"], (done.stdout, done.stderr)
