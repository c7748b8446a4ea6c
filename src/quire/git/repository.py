"""Git as we call it: without a shell, and with its own words when it says no."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Literal, NamedTuple, TypeAlias

from ..core.errors import BadInput, Unavailable
from ..core.events import GitRevision

MOST_SECONDS = 5.0
"""For each of two questions about a revision: the end of a run waits for the answers."""
# What git would write on the way, a fresher index, would get in the way of a git that runs beside.
_READ_ONLY = {"GIT_OPTIONAL_LOCKS": "0"}
Scope: TypeAlias = Literal["local", "global", "system"]
"""Whose settings: of this repository, of this user, of this machine."""


def git(*arguments: str | Path, at: Path | None = None, stdin: bytes = b"") -> str:
    """Call git and return what it printed, without the last line end."""
    done = attempt(*arguments, at=at, stdin=stdin)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or f"exit status {done.returncode}"
        raise BadInput(f"git {arguments[0]} did not work: {said}")
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def attempt(
    *arguments: str | Path,
    at: Path | None = None,
    stdin: bytes = b"",
    env: dict[str, str] | None = None,
    seconds: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Call git where a no is an answer as well. After so many seconds TimeoutExpired is raised."""
    command = ["git", *map(str, arguments)]
    try:
        return subprocess.run(  # noqa: S603  nothing goes through a shell
            command,
            cwd=at,
            input=stdin,
            capture_output=True,
            check=False,
            env=env and {**os.environ, **env},
            timeout=seconds,
        )
    except FileNotFoundError:
        raise Unavailable("git is not on the path. Install it, or add its folder to PATH.") from None


class Repository(NamedTuple):
    """Where git keeps what."""

    top: Path
    """The work tree."""
    common: Path
    """What all work trees of the repository share: settings, hooks, attributes."""
    attributes: Path
    hooks: Path


def find_repository(at: Path | None = None) -> Repository | None:
    """The repository around a folder, if there is one with a work tree."""
    asked = ("--show-toplevel", "--git-common-dir", "--git-path", "info/attributes", "--git-path", "hooks")
    done = attempt("rev-parse", "--path-format=absolute", *asked, at=at)
    if done.returncode:
        return None
    found = done.stdout.decode("utf-8", "surrogateescape").splitlines()
    return Repository(*map(Path, found)) if len(found) == 4 else None


def the_repository(at: Path | None = None) -> Repository:
    """The repository around a folder, or a word on what to do."""
    found = find_repository(at)
    if found is None:
        said = attempt("rev-parse", "--show-toplevel", at=at).stderr.decode("utf-8", "replace").strip()
        where = at or Path.cwd()
        raise BadInput(
            f"{where} is in no git repository with a work tree. Go into one, run `git init`, or pass --global. ({said})"
        )
    return found


def setting(key: str, scope: Scope | None = None, *, kind: str | None = None) -> list[str]:
    """Every value of one of git's settings."""
    arguments = [f"--{scope}"] * (scope is not None) + [f"--type={kind}"] * (kind is not None)
    done = attempt("config", *arguments, "-z", "--get-all", key)
    return done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]


def settings_file(scope: Scope) -> Path:
    """The file that git writes the settings of a scope into, be it there or not."""
    match scope:
        case "local":
            return the_repository().common / "config"
        case "global":
            usual, other = Path.home() / ".gitconfig", _config_home() / "git" / "config"
            named = os.environ.get("GIT_CONFIG_GLOBAL")
            return Path(named) if named else other if other.exists() and not usual.exists() else usual
        case "system":
            # Git does not tell where this is, but it tells the editor.
            done = attempt("config", "--system", "--edit", env={"GIT_EDITOR": "echo"})
            return Path(done.stdout.decode("utf-8", "surrogateescape").strip())


def attributes_file(scope: Scope) -> Path:
    """The file whose attributes hold in a scope, be it there or not."""
    if scope == "local":
        return the_repository().attributes
    if named := setting("core.attributesFile", scope, kind="path"):
        return Path(named[-1])
    if scope == "system":
        return settings_file(scope).with_name("gitattributes")
    return _config_home() / "git" / "attributes"


def _config_home() -> Path:
    named = os.environ.get("XDG_CONFIG_HOME")
    return Path(named) if named else Path.home() / ".config"


def find_revision(folder: Path) -> GitRevision | None:
    """Return the commit that is checked out around `folder`, and whether tracked files differ from it.

    Where git does not say in time that none differs, some are taken to.
    """
    commit = _asked(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if not commit:
        return None
    changes = _asked(folder, "status", "--porcelain", "--untracked-files=no")
    return GitRevision(commit=commit, dirty=changes != "")


def _asked(folder: Path, *arguments: str) -> str | None:
    """What git says; None when it says no, takes too long, or is not there, and for a folder that is gone."""
    try:
        done = attempt(*arguments, at=folder, env=_READ_ONLY, seconds=MOST_SECONDS)
    except (Unavailable, OSError, TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
