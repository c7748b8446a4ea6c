"""Kernels and processes of ours: in which Python they run, by which command, and with which variables (none of Quire's own).

A cell can print its environment into the log or the file, and read that of the processes above it. Quire's variables say
where the store is and who may use it, often with a password in them. So none whose name begins with QUIRE_ is handed
on: no list that a new variable would have to join, and no exception, for nothing in a kernel reads one. A process of ours
that needs some gets them on its standard input.

Only what is cheap to import is here: `kernels/process/prestart.py` looks before anything else is loaded.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..core.errors import BadInput

OURS = "QUIRE_"
"""How the names of Quire's own variables begin."""
# A kernel that knows its parent dies at once with it, and ours has a grace.
_OF_JUPYTER = ("JPY_PARENT_PID",)
_FOR_STORES = ("QUIRE_BLOBS", "QUIRE_ALLOW_HTTP")
"""What a process of ours needs beside the address to open a store and files elsewhere."""


def kernel_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a kernel, or a process that starts one, may have."""
    return {name: value for name, value in environ.items() if not name.startswith(OURS) and name not in _OF_JUPYTER}


def store_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what is told, on its standard input, to a process of ours that opens the store."""
    return {name: environ[name] for name in _FOR_STORES if name in environ}


def hide_variables() -> None:
    """Overwrite the values of our variables where the system keeps them, in /proc/PID/environ; `os.environ` has them still.

    For processes that are all ours: what they start without naming its variables finds ours empty.
    """
    if sys.platform != "linux" or not any(name.startswith(OURS) for name in os.environ):
        return
    import ctypes

    variables = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
    at = 0
    while variables[at]:
        address = variables[at] or 0
        name, _, value = ctypes.string_at(address).partition(b"=")
        if name.startswith(OURS.encode()):
            ctypes.memset(address + len(name) + 1, 0, len(value))
        at += 1


# ---- Which Python


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
