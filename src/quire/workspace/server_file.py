"""Where the server of a folder is: a small file beside the logs, for `quire open`, `doctor` and the next `serve`.

Runtimes that were started beside it read it too: by it they find the server that came after. There is no secret in it,
and it is believed only as far as the process that wrote it still runs: a server that was killed leaves its file behind,
and that is no obstacle.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from ..core.errors import Unavailable
from ..disk import reason
from .log.process_id import is_gone, this_process

FILE = "serve.json"
MOST_BYTES = 10_000


class Whereabouts(msgspec.Struct, frozen=True, kw_only=True):
    """A server, as it told where it is."""

    url: str
    """What people open."""
    address: str
    """Where it listens, as programs on its machine reach it."""
    port: int
    pid: int
    process: str
    """By which it is told from a later process with the same number, or from one elsewhere."""
    version: str
    started_at: str

    @property
    def is_gone(self) -> bool:
        """Whether it is certain that the server has ended. Of one on another machine nobody can say here."""
        return is_gone(f"runtime:{self.process}")

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine, where its number means something."""
        return self.process.split("-")[:2] == this_process().split("-")[:2]


def read(folder: Path) -> Whereabouts | None:
    """What the file in a `.quire/` says, if it says anything."""
    with contextlib.suppress(OSError, msgspec.MsgspecError, UnicodeError), (folder / FILE).open("rb") as file:
        return msgspec.json.decode(file.read(MOST_BYTES), type=Whereabouts)
    return None


def write(folder: Path, told: Whereabouts) -> None:
    """Say where this server is: whole or not at all, and to nobody but its owner."""
    beside = folder / f".{FILE}.{told.pid}"
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(told) + b"\n")
        beside.replace(folder / FILE)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise Unavailable(f"{folder / FILE} cannot be written: {reason(error)}") from error


def remove(folder: Path, told: Whereabouts) -> None:
    """Take the file away, unless it is of another server by now."""
    if read(folder) == told:
        (folder / FILE).unlink(missing_ok=True)
