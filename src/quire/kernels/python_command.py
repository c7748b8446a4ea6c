"""How Quire starts a Python process of its own: never with modules out of the folder that the process works in.

A workspace's folder holds what others wrote. A `json.py` in it must not run in a process that has rights of its own, nor
break it. So every argv of ours is made here.
"""

from __future__ import annotations

import sys


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the argv that runs a module of ours, wherever the process works."""
    return [sys.executable, "-P", "-m", module, *arguments]


def isolated_python(*words: str) -> list[str]:
    """Return the argv for a program that needs the standard library only: no packages, and no variable counts."""
    return [sys.executable, "-I", "-S", *words]
