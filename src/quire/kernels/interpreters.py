"""Which Python a notebook runs in when nobody names a kernel, and how Quire starts a Python process of its own.

Only what is cheap to import is here: `kernels/process/prestart.py` looks before anything else is loaded.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..core.errors import BadInput


def interpreter(cwd: Path, environ: Mapping[str, str], own: str) -> Path:
    """The Python of the environment that is active, else of the nearest `.venv`, else our own."""
    active = environ.get("VIRTUAL_ENV")
    if active:
        python = Path(active, "bin", "python").absolute()
        if not python.exists():
            raise BadInput(
                f"VIRTUAL_ENV is {active}, where there is no Python. Unset it, or make that environment again."
            )
        return python
    conda = Path(environ.get("CONDA_PREFIX") or "/nowhere", "bin", "python")
    # Many shells have conda's base active all the time: that says less than an environment beside the notebook.
    is_base = environ.get("CONDA_DEFAULT_ENV") in ("base", "root")
    if conda.exists() and not is_base:
        return conda
    near = _nearest_venv(cwd)
    if near is None and conda.exists():
        return conda
    return near or Path(own)


def _nearest_venv(cwd: Path) -> Path | None:
    for folder in upwards(cwd):
        python = folder / ".venv" / "bin" / "python"
        if python.exists() and is_trusted(folder / ".venv"):
            return python
    return None


def upwards(folder: Path) -> Iterator[Path]:
    """A folder, and those that it is in."""
    folder = folder.absolute()
    yield folder
    yield from folder.parents


def is_trusted(path: Path) -> bool:
    """Whether nobody else can have put it there: in folders like /tmp, only what is ours counts."""
    mode = path.parent.stat().st_mode
    shared = mode & stat.S_ISVTX and mode & stat.S_IWOTH
    return not shared or path.lstat().st_uid in (0, os.getuid())


# ---- Processes of our own: never with modules out of the folder that the process works in. A workspace's folder holds what
# others wrote. A `json.py` in it must not run in a process that has rights of its own, nor break it. So every argv of ours
# is made here.


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the argv that runs a module of ours, wherever the process works."""
    return [sys.executable, "-P", "-m", module, *arguments]


def isolated_python(*words: str) -> list[str]:
    """Return the argv for a program that needs the standard library only: no packages, and no variable counts."""
    return [sys.executable, "-I", "-S", *words]
