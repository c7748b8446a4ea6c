"""Make the workspace that `make run` serves, once: notebooks, each bound to its file, and one run.

    python tools/example.py FOLDER

What is there already is left alone. To begin anew, remove the folder.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = {"sales": "sales.py", "birthdays": "birthdays.md", "Start here": "start_here.py"}
"""Files by the names of their notebooks. The last is the one that `make run` opens: it explains Quire by being run."""
QUIRE = Path(sys.executable).with_name("quire")
MADE = ".made"


def make(folder: Path) -> None:
    """Copy the notebooks, take them in, bind them, and run one."""
    folder.mkdir(parents=True, exist_ok=True)
    quire(folder, "init")
    for name, file in NOTEBOOKS.items():
        shutil.copy(EXAMPLES / file, folder)
        quire(folder, "import", file, "--name", name)
        quire(folder, "bind", name, file)
    quire(folder, "run", "sales.py", "runs/{month}.ipynb", "-p", "month", "2026-11")
    (folder / MADE).touch()


def quire(folder: Path, *words: str) -> None:
    """Call a verb there, whatever the environment says about other workspaces."""
    environ = {name: value for name, value in os.environ.items() if name not in ("QUIRE_URL", "QUIRE_TOKEN")}
    subprocess.run([QUIRE, *words], cwd=folder, env=environ, check=True)  # noqa: S603 - our own verbs


if __name__ == "__main__":
    target = Path(sys.argv[1])
    if not (target / MADE).exists():
        # Half of one, left by somebody who pressed Ctrl-C, is begun again.
        shutil.rmtree(target, ignore_errors=True)
        make(target)
