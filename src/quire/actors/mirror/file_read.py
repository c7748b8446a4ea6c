"""A file as it is when nobody is writing it.

Editors write in many ways: in place, in pieces, to another file that then takes the name.
A file is taken once it has been left alone for a moment, nobody has it open for writing
(where the system says so), and it was the same before and after it was read.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import stat
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from ...core.errors import BadInput, NotFound
from ...disk import decode, read_bytes
from .poll_intervals import NORMAL

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
