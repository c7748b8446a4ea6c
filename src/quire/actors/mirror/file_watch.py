"""The disk: that something happened in a folder, and a file as it is when nobody is writing it.

Folders are watched one by one and not with all below them: those on the way to bound files, so that a folder that goes and
comes back is noticed. Where the system gives no word, they are looked at now and then.

Editors write in many ways: in place, in pieces, to another file that then takes the name.
A file is taken once it has been left alone for a moment, nobody has it open for writing
(where the system says so), and it was the same before and after it was read.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import stat
import sys
import time
from collections.abc import AsyncIterator, Callable, Collection
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ...core.errors import BadInput, NotFound
from ...disk import decode, read_bytes


class Pace(NamedTuple):
    """The waits of a mirror. The defaults suit people and their editors; a test waits less."""

    together_seconds: float = 0.05
    """Changes within this time are handled together: a kernel that prints, an editor that saves."""
    quiet_seconds: float = 0.15
    """How long a file has to stay unchanged before it is read. Longer than a tick of the disk's clock."""
    gone_seconds: float = 0.5
    """How long a missing file may be on its way: an editor may remove it before it writes the new one."""
    lease_poll_seconds: float = 0.1
    """How often to ask for the lease of a notebook that another mirror holds."""
    retry_seconds: float = 2.0
    """How long to wait after a disk or a store was unavailable."""
    watch_step_milliseconds: int = 50
    """How long a folder has to be quiet before the system's notice of a change is passed on."""


NORMAL = Pace()


_DEBOUNCE_MILLISECONDS = 400
_POLL_MILLISECONDS = 500


# ---- That it changed


class Watch:
    """Watches some folders, from `begin` until `close`."""

    def __init__(self, woken: Callable[[], None], step_milliseconds: int = NORMAL.watch_step_milliseconds) -> None:
        self._woken, self._step_milliseconds = woken, step_milliseconds
        self._stop = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    async def begin(self, folders: Collection[Path]) -> None:
        """Watch these folders: `woken` is called for whatever happens there once this has returned."""
        try:
            await self._begin(folders, polls=_always_polls())
        except OSError:
            if _always_polls():
                raise
            # As many folders are watched as the system allows: then this one looks by itself.
            await self._begin(folders, polls=True)

    async def _begin(self, folders: Collection[Path], *, polls: bool) -> None:
        self._watching = asyncio.ensure_future(
            self._follow(_changes(folders, polls, self._step_milliseconds, self._stop))
        )
        # watchfiles asks the system before it first waits, so after one step of the task it watches, or has failed.
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self._watching.cancel()
            raise
        if self._watching.done():
            self._watching.result()

    async def _follow(self, changes: AsyncIterator[Any]) -> None:
        async for _ in changes:
            self._woken()

    async def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        if self._watching is not None:
            with contextlib.suppress(OSError, RuntimeError):  # it could not go on: then nothing was heard any more
                await self._watching


def _always_polls() -> bool:
    return os.environ.get("WATCHFILES_FORCE_POLLING", "").lower() not in ("", "0", "false", "disable", "disabled")


def _changes(folders: Collection[Path], polls: bool, step_milliseconds: int, stop: asyncio.Event) -> AsyncIterator[Any]:
    try:
        # Its types name trio's event, and trio is not here.
        from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]
    except ModuleNotFoundError as missing:
        raise BadInput(
            f"{missing.name} is not installed, so no file is watched: pip install 'quire[serve]'."
        ) from missing
    return awatch(
        *folders,
        watch_filter=None,
        debounce=_DEBOUNCE_MILLISECONDS,
        step=step_milliseconds,
        stop_event=stop,
        rust_timeout=0,
        force_polling=polls,
        poll_delay_ms=_POLL_MILLISECONDS,
        recursive=False,
        ignore_permission_denied=True,
    )


# ---- When it is whole


OPEN_SECONDS = 10.0
"""Somebody who has it open for writing and does not write for so long is not waited for."""


class Stamp(NamedTuple):
    """What the disk says of a file: another one means another content, maybe."""

    inode: tuple[int, int]
    size: int
    changed: int


class FileState(NamedTuple):
    """A file at one moment."""

    text: str
    digest: str
    stamp: Stamp


def digest_of(data: bytes) -> str:
    """The SHA-256 by which an event names a version of a file."""
    return sha256(data).hexdigest()


async def settled(
    path: Path, known: FileState | None = None, *, quiet_seconds: float = NORMAL.quiet_seconds
) -> FileState | None:
    """Return the file once it is whole; None when it is not there. BadInput when it is no text.

    `known` is the file as it was seen before: if the disk says that it is the same, it is not read again.
    `quiet_seconds` is how long it has to stay unchanged before it is read.
    """
    while True:
        before = stamp_of(path)
        if before is None:
            return None
        if known is not None and known.stamp == before:
            return known
        if (wait := _too_young(before, path, quiet_seconds)) > 0:
            await asyncio.sleep(wait)
            continue
        try:
            data = await asyncio.to_thread(read_bytes, path)
        except NotFound:
            continue
        if stamp_of(path) == before:
            return FileState(decode(data, str(path)), digest_of(data), before)


def stamp_of(path: Path) -> Stamp | None:
    """What the disk says of a file now; None when it is not there."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{path} is not a file. Bind the notebook to another one.")
    return Stamp((found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns)


def inode_of(path: Path) -> tuple[int, int] | None:
    """Which file it is, under whatever name; None when there is none."""
    try:
        stamp = stamp_of(path)
    except BadInput:
        return None
    return stamp.inode if stamp is not None else None


def _too_young(stamp: Stamp, path: Path, quiet_seconds: float) -> float:
    """How many seconds to wait before another look; 0 when the file can be taken."""
    age = time.time() - stamp.changed / 1e9
    if 0 <= age < quiet_seconds:
        return quiet_seconds - age + 0.01
    # A time ahead of our clock says nothing.
    return quiet_seconds if age < OPEN_SECONDS and is_being_written(path) else 0


def is_being_written(path: Path) -> bool:
    """Whether somebody has the file open for writing, as far as the system tells."""
    if sys.platform != "linux":
        return False
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        # A lease for readers is given only while nobody has the file open for writing. If somebody opens it in that
        # instant we are told by a signal: one that is ignored, for the usual one ends the process.
        fcntl.fcntl(file, 10, signal.SIGURG)  # F_SETSIG
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:  # not our file, or a disk that gives no leases
        return False
    finally:
        os.close(file)
    return False
