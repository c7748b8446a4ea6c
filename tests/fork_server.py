"""Python programs in processes of their own that need not load Quire first: they are forked from one that has.

To start Python and to load Quire takes most of the time of a program that tests start and kill, or of a verb
that they call. Such a process is a real one: it has its own memory, streams, variables and folder, and is killed
like any other. It has no threads and no event loop of the tests.
"""

from __future__ import annotations

import importlib
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

PRELOADED = [
    "__main__",
    "asyncio",
    "quire.actors.keeper",
    "quire.actors.mirror.mirror",
    "quire.kernels.process.local_kernel",
    "quire.kernels.relay.relay_client",
    "quire.actors.runtime.run_notebook",
    "quire.actors.runtime.live_runtime",
    "quire.connection",
    "quire.doors.cli.main",
    "quire.formats.registry",
    "quire.stores.blobs.folder_blobs",
    "quire.stores.sqlite.sqlite_store",
    "quire.workspace.local",
    "tests.actors.mirror.mirror_desk",
    "watchfiles._rust_notify",
]
_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload(PRELOADED)


class Forked:
    """A process that runs a module as a program, or calls `module:function`."""

    def __init__(
        self,
        target: str,
        *arguments: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> None:
        """`stdin`, `stdout` and `stderr` are open files; its own where there are none."""
        given = dict(os.environ if env is None else env)
        ends = [None if file is None else Connection(os.dup(file)) for file in (stdin, stdout, stderr)]
        self._process = _FORKS.Process(target=_run, args=(target, arguments, str(cwd or Path.cwd()), given, ends))
        self._process.start()
        for end in ends:
            if end is not None:
                end.close()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def wait(self, timeout_seconds: float) -> int:
        """Wait for its end; its exit status, or the negative number of the signal that ended it."""
        self._process.join(timeout_seconds)
        status = self._process.exitcode
        assert status is not None, f"it still runs after {timeout_seconds:g} seconds"
        return status

    def kill(self) -> None:
        """SIGKILL, if it still runs; gone when this returns."""
        self._process.kill()
        self._process.join()


class Talking(Forked):
    """One that is heard and told line by line."""

    def __init__(
        self, target: str, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        its_in, our_in = os.pipe()
        our_out, its_out = os.pipe()
        self._stdin: IO[str] = os.fdopen(our_in, "w")
        self._stdout: IO[str] = os.fdopen(our_out)
        try:
            super().__init__(target, *arguments, cwd=cwd, env=env, stdin=its_in, stdout=its_out)
        finally:
            os.close(its_in)
            os.close(its_out)

    def line(self) -> str:
        """Wait for the next line that it says; empty once it has ended."""
        return self._stdout.readline()

    def tell(self, line: str) -> None:
        """Say a line on its standard input."""
        self._stdin.write(f"{line}\n")
        self._stdin.flush()

    def kill(self) -> None:
        """SIGKILL, and let go of its streams."""
        super().kill()
        self.close()

    def close(self) -> None:
        """Let go of its streams."""
        self._stdout.close()
        self._stdin.close()


def verb(
    *words: str, cwd: Path, env: Mapping[str, str] | None = None, timeout_seconds: float
) -> subprocess.CompletedProcess[str]:
    """Call `quire` and wait for its end."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = Forked(
            "quire.doors.cli.main:main", *words, cwd=cwd, env=env, stdout=out.fileno(), stderr=err.fileno()
        )
        status = process.wait(timeout_seconds)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(words, status, out.read(), err.read())


def _run(target: str, arguments: tuple[str, ...], cwd: str, env: dict[str, str], ends: list[Any]) -> None:
    """Become that process."""
    for number, end in enumerate(ends):
        if end is not None:
            os.dup2(end.fileno(), number)
            end.close()
    sys.stdin = os.fdopen(0, closefd=False)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    module, _, function = target.partition(":")
    sys.argv = [module.partition(".")[0], *arguments]
    if function:
        getattr(importlib.import_module(module), function)()
    else:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
