"""A kernel that loads while `quire run` does: it is the one that would have been started, or it is not used."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from quire.kernels.process.prestart import WAIT

from ..command import run_process as run

TELL = """# %%
import os, sys
asked = open('/proc/self/cmdline').read().split(chr(0))
print(os.getcwd(), sys.argv[0].rpartition('/')[2], os.environ.get('TOLD'))
print('early' if '--wait-for-order' in asked else 'late')
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(TELL)
    return tmp_path


def waiting(mark: str) -> list[int]:
    """The processes that wait for an order, of those that were started with this variable."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            asked, variables = ((process / name).read_bytes() for name in ("cmdline", "environ"))
        except OSError:
            continue
        if WAIT.encode() in asked and mark.encode() in variables:
            found.append(int(process.name))
    return found


def told(folder: Path, *arguments: str, **variables: str) -> list[str]:
    """What the cell prints, in words."""
    done = run("run", "a.py", "--log-output", *arguments, at=folder, env=variables)
    assert done.returncode == 0, done.stderr
    return (done.stdout + done.stderr).split()


def test_it_is_used_and_knows_its_place(folder: Path) -> None:
    words = told(folder, TOLD="here")
    assert "early" in words
    assert {str(folder), "ipykernel_launcher.py", "here"} <= set(words)


def test_another_folder_is_no_matter(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    words = told(folder, "--cwd", str(other))
    assert {"early", str(other)} <= set(words)


def test_a_file_of_variables_makes_it_useless(folder: Path) -> None:
    (folder / ".env").write_text("TOLD=by-file\n")
    assert {"late", "by-file"} <= set(told(folder))


@pytest.mark.parametrize("arguments", [("no-such.py",), ("a.py", "--no-such-option"), ("a.py", "-p", "x")])
def test_a_mistake_leaves_nothing_behind(folder: Path, arguments: tuple[str, ...]) -> None:
    mark = f"TOLD={folder}"
    assert run("run", *arguments, at=folder, env={"TOLD": str(folder)}).returncode == 2
    deadline = time.monotonic() + 60
    while waiting(mark):
        assert time.monotonic() < deadline, os.getpid()
        time.sleep(0.01)
