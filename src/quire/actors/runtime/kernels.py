"""How and where a kernel is started: the one seam that other ways of starting replace.

`start` makes a process on this machine (process.py); kernels that are forked from a warm one,
or that run elsewhere, come as other `Kernel`s. Talking to one is client.py's business; which
interpreter it is, environments.py's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from .ends import Ended

GRACE_SECONDS = 10.0
"""A kernel is gone this long after the process that used it, if that ended without a word (rule 11)."""


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """What it takes to start a kernel."""

    argv: tuple[str, ...]
    """The command; `{connection_file}` in it is replaced."""
    language: str
    name: str
    display_name: str = ""
    env: dict[str, str] = {}
    """Variables over and above, and before, those of the caller."""
    interrupt_mode: Literal["signal", "message"] = "signal"
    interpreter: str | None = None
    """Of a Python kernel, the Python that runs it."""
    is_ours: bool = False
    """Started by launch.py: its outputs wait for a slow client, and it can do with sockets in a folder."""


class Kernel(Protocol):
    """A kernel that was started, wherever it is."""

    @property
    def id(self) -> str:
        """By which `adopt` finds it."""
        ...

    @property
    def spec(self) -> Spec:
        """What it was started from."""
        ...

    @property
    def connection(self) -> dict[str, Any]:
        """Where and how to talk to it, as in Jupyter's connection files."""
        ...

    @property
    def pid(self) -> int | None:
        """The number of its process, if that is on this machine."""
        ...

    @property
    def printed(self) -> str:
        """The end of what it printed past Jupyter: why it could not start."""
        ...

    def used_by(self, run: str) -> None:
        """Keep in mind which run has changed its state last."""
        ...

    async def interrupt(self) -> None:
        """Stop what it does, by a signal; one with interrupt_mode `message` is sent a message instead."""
        ...

    async def kill(self) -> None:
        """End it at once, and all that it started. Returns when it is gone."""
        ...

    async def ended(self) -> Ended:
        """Wait until it is gone, and say how."""
        ...

    async def leave(self) -> None:
        """Let go of it, and let it live on: nobody ends it any more."""
        ...

    async def close(self) -> None:
        """End it if it still lives, and let go of everything: processes, sockets, files."""
        ...


async def start(spec: Spec, *, cwd: Path, env: Mapping[str, str], grace_seconds: float = GRACE_SECONDS) -> Kernel:
    """Start a kernel on this machine. Returns at once: `KernelClient.ready` waits for it."""
    from . import process

    return process.start(spec, cwd, env, grace_seconds)


async def adopt(id: str, run: str | None = None) -> Kernel:
    """Go on with a kernel that is alive and that nobody uses any more; with `run`, if no other has used it since."""
    from . import process

    return await process.adopt(id, run)
