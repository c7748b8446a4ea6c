"""The remote of a repository: its address, and fetches from it and pushes to it."""

from __future__ import annotations

import base64
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from ...core.errors import BadInput, Conflict, QuireError, Refused, Unavailable
from .branches import commit_of, is_shallow, merge_base
from .git_call import NETWORK_SECONDS, call, said, without_credentials

_DENIED = ("Authentication failed", "could not read Username", "Permission denied", "401", "403", "access denied")
_MOVED = ("non-fast-forward", "fetch first", "stale info", "cannot lock ref", "failed to update ref")
_DEEPER = (50, 500)
"""How many commits more are fetched into a shallow clone before all of them are."""


class Remote(NamedTuple):
    """A remote, as the settings of the repository name it."""

    name: str
    url: str
    """As it is in the settings, before `url.….insteadOf`; it may hold credentials: show `shown`."""

    @property
    def shown(self) -> str:
        """The address without a user or a password."""
        return without_credentials(self.url)


class Credentials(NamedTuple):
    """A user and a token, for a push over HTTP that git has no credentials for."""

    user: str
    token: str


def find_remote(top: Path, name: str | None = None) -> Remote:
    """Return the remote of that name; without one the remote of the branch, `origin` or the only one there is."""
    names = call("remote", at=top).stdout.decode().split()
    if not names:
        raise BadInput(f"{top.name} has no remote to push to. Add one: git remote add origin ADDRESS.")
    chosen = name or _usual(top, names)
    if chosen not in names:
        raise BadInput(f"There is no remote {chosen!r}. Known: {', '.join(names)}.")
    url = call("config", "--get", f"remote.{chosen}.url", at=top).stdout.decode("utf-8", "surrogateescape").strip()
    return Remote(chosen, url)


def _usual(top: Path, names: list[str]) -> str:
    pushes = call("config", "--get", "remote.pushDefault", at=top).stdout.decode().strip()
    if pushes in names:
        return pushes
    if "origin" in names or len(names) > 1:
        return "origin"
    return names[0]


def default_branch(remote: Remote, top: Path) -> str:
    """Return the branch that the remote's HEAD is, by asking it; else as the clone remembers it."""
    done = call("ls-remote", "--symref", remote.name, "HEAD", at=top, seconds=NETWORK_SECONDS)
    if done.returncode:
        raise _unreachable(remote, done)
    found = re.search(r"^ref: refs/heads/(\S+)\tHEAD$", done.stdout.decode("utf-8", "replace"), re.MULTILINE)
    if found is not None:
        return found[1]
    known = call("symbolic-ref", "--quiet", "--short", f"refs/remotes/{remote.name}/HEAD", at=top).stdout.decode()
    return known.strip().removeprefix(f"{remote.name}/") or "main"


def fetch(remote: Remote, branch: str, top: Path, *more: str) -> str | None:
    """Fetch a branch and return its commit; None: the remote has no such branch."""
    spec = f"+refs/heads/{branch}:refs/remotes/{remote.name}/{branch}"
    done = call("fetch", "--quiet", "--no-tags", *more, remote.name, spec, at=top, seconds=NETWORK_SECONDS)
    if done.returncode == 0:
        return commit_of(f"refs/remotes/{remote.name}/{branch}", top)
    if "couldn't find remote ref" in said(done):
        return None
    raise _unreachable(remote, done)


def common_commit(remote: Remote, base: str, branch: str, head: str, top: Path) -> str:
    """Return the last commit that a branch of the remote shares with `head`; a shallow clone is deepened for it.

    Without any, where the histories have nothing in common, it is the end of the branch.
    """
    found = merge_base(base, head, top)
    for depth in _DEEPER:
        if found is not None or not is_shallow(top):
            break
        fetch(remote, branch, top, f"--deepen={depth}")
        found = merge_base(base, head, top)
    if found is None and is_shallow(top):
        fetch(remote, branch, top, "--unshallow")
        found = merge_base(base, head, top)
    return found or base


def push(remote: Remote, commit: str, branch: str, top: Path, credentials: Credentials | None = None) -> None:
    """Push a commit to a branch, which may only move forward."""
    done = _push(remote, commit, branch, top, {})
    if done.returncode and credentials is not None and remote.url.startswith("http") and _has(done, _DENIED):
        done = _push(remote, commit, branch, top, _header(remote, credentials))
    if done.returncode:
        raise _refused(remote, branch, done)


def _push(
    remote: Remote, commit: str, branch: str, top: Path, env: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    spec = f"{commit}:refs/heads/{branch}"
    return call("push", "--porcelain", remote.name, spec, at=top, env=env, seconds=NETWORK_SECONDS)


def _header(remote: Remote, credentials: Credentials) -> dict[str, str]:
    """Settings for one call of git, in its environment: arguments and addresses are for everyone to see."""
    scope = re.match(r"https?://[^/]*", remote.shown)
    basic = base64.b64encode(f"{credentials.user}:{credentials.token}".encode()).decode()
    key = f"http.{scope[0]}/.extraHeader" if scope is not None else "http.extraHeader"
    return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": key, "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}"}


def _refused(remote: Remote, branch: str, done: subprocess.CompletedProcess[bytes]) -> QuireError:
    told = said(done)
    line = _rejection(done.stdout.decode("utf-8", "replace")) or told.splitlines()[-1]
    if "[remote rejected]" in line and not _has(done, _MOVED):
        return Refused(
            f"{remote.shown} rejected the push to {branch}: {line}. Is the branch protected, or does a hook refuse it? "
            "The commit is on the branch here; push again once it is allowed."
        )
    if "[rejected]" in line or _has(done, _MOVED):
        return Conflict(
            f"Branch {branch} moved on {remote.name} since it was fetched: {line}. Call again: what is there is taken in "
            "first, and nothing is overwritten."
        )
    if _has(done, _DENIED):
        return Refused(
            f"{remote.shown} does not let this user push {branch}. Give git credentials, or a token that may write: "
            "see docs/how-to/pull-requests.md."
        )
    return _unreachable(remote, done)


def _rejection(porcelain: str) -> str | None:
    """The line in which git says why: `!<TAB>from:to<TAB>[rejected] (fetch first)`."""
    lines = (line.rpartition("\t")[2] for line in porcelain.splitlines() if line.startswith("!"))
    return next(lines, None)


def _has(done: subprocess.CompletedProcess[bytes], words: tuple[str, ...]) -> bool:
    text = (done.stderr + done.stdout).decode("utf-8", "replace")
    return any(word in text for word in words)


def _unreachable(remote: Remote, done: subprocess.CompletedProcess[bytes]) -> QuireError:
    return Unavailable(f"{remote.shown} cannot be reached by git: {said(done)}. Check the network, then call again.")
