"""The `quire` command: called in this process, where that shows the same, or started as one of its own.

`run` costs milliseconds, for everything is loaded already. `run_process` is for what only a process has: how it starts and
exits, its signals, its streams, its own interpreter.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import json
import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import IO, Any

from quire.doors.cli.main import main

QUIRE = str(Path(sys.executable).with_name("quire"))
ME = f"human:{pwd.getpwuid(os.getuid()).pw_name}"
DEADLINE_SECONDS = 240


def clean_environ(more: dict[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without its settings for Quire, and with `more`."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("QUIRE_", "PYTEST_CURRENT_TEST"))}
    return ours | (more or {})


def run(
    *args: str | Path, at: Path, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Call the command in a folder, with nothing of this process's settings, and return what a process would have left.

    An exception that the command does not turn into a message is raised here: a process would print its traceback.
    """
    words = ["quire", *map(str, args)]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        given.write(stdin.encode())
        given.seek(0)
        with _streams(given, stdout, stderr), _process(words, at, clean_environ(env)):
            status = _status()
        return subprocess.CompletedProcess(words, status, _text(stdout), _text(stderr))


def as_json(*args: str | Path, at: Path, env: dict[str, str] | None = None) -> Any:
    """Call a verb that succeeds, and return the JSON that it prints."""
    done = run(*args, "--json", at=at, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def run_process(
    *args: str | Path, at: Path, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command as a process, in a folder, with nothing of this process's settings."""
    return subprocess.run(
        [QUIRE, *map(str, args)],
        cwd=at,
        input=stdin,
        capture_output=True,
        text=True,
        env=clean_environ(env),
        timeout=DEADLINE_SECONDS,
    )


def _status() -> int:
    """Call the command's main function, and return its exit status."""
    thresholds = gc.get_threshold()
    try:
        main()
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    finally:
        # What main sets for a process that does not live long.
        gc.set_threshold(*thresholds)
        atexit.unregister(gc.freeze)


@contextlib.contextmanager
def _streams(stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]) -> Generator[None]:
    """Replace the standard streams by files: they have file descriptors, and are no terminals."""
    before = sys.stdin, sys.stdout, sys.stderr
    ours = (
        io.TextIOWrapper(stdin, encoding="utf-8", errors="surrogateescape"),
        io.TextIOWrapper(stdout, encoding="utf-8", errors="surrogateescape"),
        io.TextIOWrapper(stderr, encoding="utf-8", errors="backslashreplace"),
    )
    sys.stdin, sys.stdout, sys.stderr = ours
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for stream in ours:
            stream.detach()  # flushes it, and leaves the file open


@contextlib.contextmanager
def _process(words: list[str], folder: Path, environ: dict[str, str]) -> Generator[None]:
    """Give this process the arguments, the folder and the environment of another."""
    before, arguments = dict(os.environ), sys.argv
    sys.argv = words
    os.environ.clear()
    os.environ.update(environ)
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        sys.argv = arguments
        os.environ.clear()
        os.environ.update(before)


def _text(file: IO[bytes]) -> str:
    """Read what was written, with line ends as `subprocess` gives them."""
    file.seek(0)
    with io.TextIOWrapper(file, encoding="utf-8") as reader:
        return reader.read()
