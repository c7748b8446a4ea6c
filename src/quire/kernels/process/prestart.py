"""A kernel's process that is started before anybody knows for what: it loads IPython while we load ourselves.

Whoever starts `quire run` waits for two Pythons that import for 0.4 s each; so both do it at
once. The process waits in launch.py, before it has done anything that could be seen, until it is told
where to work, and ends when this one does. It is used if it is the one that is wanted, to the
last variable; if not, another is started as if it had never been.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, cast

from ...core.errors import BadInput
from ..kernel_environment import interpreter, kernel_environment

LAUNCH = str(Path(__file__).with_name("launch.py"))
WAIT = "--wait-for-order"
_SETTLED_LATER = frozenset(("PATH", "VIRTUAL_ENV"))
"""Variables that nothing reads before the order comes."""


class Ahead:
    """A process that waits, and the pipe that it prints into."""

    def __init__(self, python: str) -> None:
        self._python = python
        self._env = kernel_environment(os.environ)
        self.reading, writing = os.pipe()
        try:
            self.process = subprocess.Popen(  # noqa: S603 - the interpreter that would run the notebook
                [python, LAUNCH, WAIT],
                env=self._env,
                stdin=subprocess.PIPE,
                stdout=writing,
                stderr=writing,
                # Out of reach of the terminal's Ctrl-C, and a group of its own to signal.
                start_new_session=True,
            )
        except OSError:
            os.close(self.reading)
            raise
        finally:
            os.close(writing)
        self._orders = cast("IO[bytes]", self.process.stdin)

    def fits(self, argv: Sequence[str], env: Mapping[str, str]) -> bool:
        """Whether it is what this command would start."""
        changed = {name for name in self._env.keys() | env.keys() if self._env.get(name) != env.get(name)}
        return list(argv[:2]) == [self._python, LAUNCH] and changed <= _SETTLED_LATER and self.process.poll() is None

    def order(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> bool:
        """Tell it what to be; False when it is gone."""
        told = {"argv": list(argv[1:]), "env": dict(env), "cwd": str(cwd)}
        try:
            with self._orders:
                self._orders.write(json.dumps(told).encode() + b"\n")
        except OSError:
            return False
        return True

    def drop(self) -> None:
        """It is not wanted."""
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            self._orders.close()
        os.close(self.reading)


_waiting: list[Ahead] = []


def begin() -> None:
    """Start a process for the Python that a notebook in this folder would run in."""
    # Whoever needs a kernel will say what is wrong.
    with contextlib.suppress(OSError, BadInput):
        _waiting.append(Ahead(str(interpreter(Path.cwd(), os.environ, sys.executable))))


def begin_once() -> None:
    """Start one unless one waits already."""
    if not _waiting:
        begin()


def take(argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Ahead | None:
    """The process that waits, as what `argv` would start; None if there is none like it."""
    while _waiting:
        found = _waiting.pop()
        if found.fits(argv, env) and found.order(argv, env, cwd):
            return found
        found.drop()
    return None
