"""Calls of git whose failure is told in its own words, without what may be secret in them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ...core.errors import BadInput, Unavailable

NETWORK_SECONDS = 120.0
"""How long a remote may take to answer a fetch or a push."""
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]*@")
_OURS = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
# Git sets these while it runs a hook or an alias; they would point our calls at another index or repository.
_CALLERS = ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")


def without_credentials(text: str) -> str:
    """Return a text in which no address names a user or a password."""
    return _CREDENTIALS.sub("", text)


def call(
    *arguments: str | Path,
    at: Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Call git where a failure is an answer as well. It never prompts, and speaks English."""
    command = ["git", *map(str, arguments)]
    environ = {name: value for name, value in os.environ.items() if name not in _CALLERS}
    try:
        return subprocess.run(  # noqa: S603  nothing goes through a shell
            command,
            cwd=at,
            input=stdin,
            capture_output=True,
            check=False,
            env={**environ, **_OURS, **(env or {})},
            timeout=seconds,
        )
    except FileNotFoundError:
        raise Unavailable("git is not on the path. Install it, or add its folder to PATH.") from None
    except subprocess.TimeoutExpired:
        told = f"git {arguments[0]} took longer than {seconds:g} s"
        raise Unavailable(f"{told}: the remote does not answer. Try again; nothing was changed there.") from None


def checked(
    *arguments: str | Path,
    at: Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> str:
    """Call git and return what it printed, without the last line end."""
    done = call(*arguments, at=at, stdin=stdin, env=env, seconds=seconds)
    if done.returncode:
        raise BadInput(f"git {arguments[0]} failed: {said(done)}")
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def said(done: subprocess.CompletedProcess[bytes]) -> str:
    """What git gave as the reason, without credentials."""
    text = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
    return without_credentials(text)
