"""A workspace where nothing can be written, a backup or a snapshot of a disk, can still be read and checked."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from .faulty_notebook import DEADLINE_SECONDS, QUIRE
from .server import Folder

READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"'
NOTEBOOK = '# %% name="a"\nprint(1)\n\n# %% name="b"\nprint(2)\n'


def frozen(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a verb that sees the folder on a disk that is read-only."""
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", READ_ONLY, str(folder)]
    return subprocess.run([*alone, QUIRE, *words], capture_output=True, text=True, timeout=DEADLINE_SECONDS, cwd=folder)


def check(folder: Path, log: str, kept: Path) -> None:
    """What reads works, and what writes says why it does not."""
    shown = frozen(folder, "show", log)
    assert shown.returncode == 0 and "print(2)" in shown.stdout, shown
    told = frozen(folder, "log", log, "--json")
    assert told.returncode == 0 and len(json.loads(told.stdout)) == 3, told
    verified = frozen(folder, "verify")
    assert verified.returncode == 0 and "all as recorded" in verified.stdout + verified.stderr, verified
    kept.unlink(missing_ok=True)
    exported = frozen(folder, "export", log, str(kept))
    assert exported.returncode == 0 and kept.stat().st_size, exported
    refused = frozen(folder, "archive", log)
    assert refused.returncode == 4 and "read-only" in refused.stderr and "Traceback" not in refused.stderr, refused


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "here").mkdir()
    return Folder(tmp_path / "here")


def test_show_log_verify_and_export_work_on_a_read_only_disk_and_a_change_says_why_not(
    folder: Folder, tmp_path: Path
) -> None:
    log = folder.notebook("a.py", NOTEBOOK)
    assert not list((folder.path / ".quire").glob("quire.db-*")), "whoever was last has folded everything into the file"
    check(folder.path, log, tmp_path / "kept.quire")


def test_what_stands_only_in_the_write_ahead_log_is_read_too(folder: Folder, tmp_path: Path) -> None:
    """A snapshot of a disk that was taken while somebody worked."""
    log = folder.notebook("a.py", NOTEBOOK)
    copy = tmp_path / "copy"
    with contextlib.closing(sqlite3.connect(folder.path / ".quire" / "quire.db")) as db:
        db.execute("SELECT count(*) FROM events").fetchone()
        folder.quire("archive", log)
        folder.quire("archive", log, "--undo")
        shutil.copytree(folder.path, copy)
    assert (copy / ".quire" / "quire.db-wal").stat().st_size
    told = frozen(copy, "log", log, "--json")
    assert told.returncode == 0 and len(json.loads(told.stdout)) == 5, told
    (copy / ".quire" / "quire.db-shm").unlink()
    refused = frozen(copy, "log", log)
    assert refused.returncode == 4 and "Copy" in refused.stderr, "never an older state without a word"
