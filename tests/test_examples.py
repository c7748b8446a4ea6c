"""What the docs show is what works."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from .journeys.live_runtimes import end_runtimes

ROOT = Path(__file__).parents[1]
QUIRE = Path(sys.executable).with_name("quire")


def test_the_run_of_the_readme_works_as_it_is_shown(tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "sales.py", tmp_path)
    words = shlex.split("run sales.py 'runs/{month}.ipynb' -p month 2026-11 -p top=2")
    readme = (ROOT / "README.md").read_text()
    assert f"$ quire {shlex.join(words)}" in readme
    done = subprocess.run([QUIRE, *words], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout in readme
    for line in done.stderr.splitlines()[:-1]:
        assert line.rpartition(" s  ")[2] in readme, "each cell is told as shown"
    listed = subprocess.run([QUIRE, "results", "runs/"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert [line.split()[2:] for line in listed.stdout.splitlines()[2:]] == [
        ["best", "text", "Basel"],
        ["sold", "json", "42"],
    ]


def test_the_first_notebook_of_the_readme_works_as_it_is_shown(tmp_path: Path) -> None:
    example = ROOT / "examples" / "first_notebook.py"
    code = example.read_text().split('"""\n\n', 1)[1]
    assert code in (ROOT / "README.md").read_text()
    done = subprocess.run([sys.executable, example], cwd=tmp_path, check=True, capture_output=True, text=True)
    end_runtimes(tmp_path)
    assert done.stdout == "hello, choir\n\n"
    shown = subprocess.run(
        [QUIRE, "show", "hello", "--view", "source"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert "print('hello, choir')" in shown.stdout
