"""How a process learns at once that another one wrote to the same SQLite file, and wakes its followers.

`PRAGMA data_version` tells whether anybody wrote. When to ask: beside the file is a folder of empty files. Whoever has
recorded events opens those of the logs that grew, and closes them; whoever follows a log watches its file with inotify,
and whoever follows all of them the folder. A log has one of `FILES`, by its hash: two may share one, and a follower is
then woken once too often. Nothing is written, nothing has to be tidied up, and leases, which change all the time, wake
nobody. Where the system has no inotify, or has none left for this user, `FileListener.works` is False and the file is
asked again and again, more often for a while after somebody wrote.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import sqlite3
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from zlib import crc32

from ...core.ids import LogId
from .database_file import connect

POLL_SECONDS = 0.01
LIVELY_POLL_SECONDS = 0.002
LIVELY_SECONDS = 1.0
"""How often it is looked where nobody tells, and for how long it is looked more often after something was written."""
UNTOLD_SECONDS = 2.0
"""How often it is looked although nobody told anything: who wrote may have been killed before it could, or be of an older Quire."""


class SqliteNews:
    """Looks for news as long as anybody follows. `wake` is called in the thread, with the logs that grew; None: any may have."""

    def __init__(
        self, path: Path, told: Callable[[], Mapping[LogId, int]], wake: Callable[[list[LogId] | None], None]
    ) -> None:
        self._path, self._told, self._wake = path, told, wake
        self._stopping = threading.Event()
        self._listener: FileListener | None = None
        self._thread: threading.Thread | None = None

    def follow(self, log: LogId | None) -> None:
        """See to it that growth of a log, or of any, is noticed from now on."""
        if self._listener is None:
            self._listener = FileListener(folder_of(self._path))
        self._listener.watch(log)
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._look_on, args=(self._listener,), name="quire-news", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()
        if self._listener is not None:
            self._listener.interrupt()

    def join(self) -> None:
        """Wait until it looks no more."""
        if self._thread is not None:
            self._thread.join()
        if self._listener is not None:
            self._listener.close()

    def _look_on(self, listener: FileListener) -> None:
        connection = connect(self._path, read_only=True)
        seen: int | None = None
        position, lively_until = 0, 0.0
        while not self._stopping.is_set():
            with contextlib.suppress(sqlite3.Error):
                (version,) = connection.execute("PRAGMA data_version").fetchone()
                if version != seen:
                    position, logs = self._news(connection, position if seen is not None else None)
                    seen = version
                    lively_until = time.monotonic() + LIVELY_SECONDS
                    if logs is None or logs:
                        self._wake(logs)
            is_lively = time.monotonic() < lively_until
            if listener.works:
                # What comes in quick succession is looked at together.
                self._stopping.wait(LIVELY_POLL_SECONDS if is_lively else 0)
                listener.wait(UNTOLD_SECONDS)
            else:
                self._stopping.wait(LIVELY_POLL_SECONDS if is_lively else POLL_SECONDS)
        connection.close()

    def _news(self, connection: sqlite3.Connection, since: int | None) -> tuple[int, list[LogId] | None]:
        """How far events go, and which logs others made grow since; None: whatever came before anybody looked."""
        if since is None:
            return connection.execute("SELECT coalesce(max(position), 0) FROM events").fetchone()[0], None
        sql = "SELECT max(position), log, max(seq) FROM events WHERE position > ? GROUP BY log"
        rows = connection.execute(sql, (since,)).fetchall()
        # Leases change, too, and what was written here has woken everybody already.
        told = self._told()
        logs = [log for _, log, seq in rows if seq > told.get(log, 0)]
        return max([since, *(position for position, _, _ in rows)]), logs


FILES = 64
_IN_OPEN, _IN_IGNORED = 0x20, 0x8000
_HEADER = struct.Struct("iIII")
_AT_ONCE = 1 << 16
_FLAGS = os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC


def folder_of(database: Path) -> Path:
    """The folder of the files that are opened and watched."""
    return database.with_name(f"{database.name}-wake")


def notify(folder: Path, logs: Iterable[LogId]) -> None:
    """Wake whoever follows these logs in another process. Where nobody ever did, there is no folder."""
    for name in {file_of(log) for log in logs}:
        try:
            _touch(folder, name)
        except FileNotFoundError:
            return
        except OSError:
            pass  # a full disk, or somebody else's file: followers look by themselves after a while


def file_of(log: LogId) -> str:
    """The name of the file that is opened when a log has grown."""
    return f"{crc32(log.encode()) % FILES:02x}"


def _touch(folder: Path, name: str) -> None:
    os.close(os.open(folder / name, _FLAGS, 0o600))


class FileListener:
    """Hears when logs grow. `watch` from any thread, `wait` from one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._inotify = -1
        self._watched: set[str] = set()
        self._waking, self._woken = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK) if sys.platform == "linux" else (-1, -1)
        with contextlib.suppress(OSError, AttributeError):  # none here, none left, or no folder can be made
            self._open()

    def _open(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._add = libc.inotify_add_watch
        self._add.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._inotify = _checked(libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
        try:
            self._try_out()
        except OSError:
            self._fail()
            raise

    def _try_out(self) -> None:
        """See whether an opened file is told of: some file systems take a watch, and never say anything."""
        _touch(self._folder, "try")
        watch = _checked(self._add(self._inotify, os.fsencode(self._folder / "try"), _IN_OPEN))
        _touch(self._folder, "try")
        if not _ready([self._inotify], 0):
            raise OSError(errno.ENOSYS, f"watch {watch} tells nothing")

    @property
    def works(self) -> bool:
        """Whether `wait` returns as soon as something was written."""
        return self._inotify >= 0

    def watch(self, log: LogId | None) -> None:
        """Hear of a log, of all where it is None, from when this returns."""
        name = file_of(log) if log is not None else "."
        if not self.works or name in self._watched:
            return
        try:
            if log is not None:
                _touch(self._folder, name)
            _checked(self._add(self._inotify, os.fsencode(self._folder / name), _IN_OPEN))
            self._watched.add(name)
        except OSError:
            self._fail()

    def wait(self, seconds: float) -> bool:
        """Wait until something may have been written, or for so long; whether it was told of."""
        ready = _ready([self._inotify, self._waking], seconds)
        if self._waking in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._waking, _AT_ONCE)
        if self._inotify in ready:
            with contextlib.suppress(BlockingIOError):
                self._read(os.read(self._inotify, _AT_ONCE))
                return True
        return False

    def _read(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            _, mask, _, length = _HEADER.unpack_from(data, at)
            at += _HEADER.size + length
            if mask & _IN_IGNORED:
                self._fail()  # somebody took the folder away
                return

    def _fail(self) -> None:
        """Hear no more, and say so. The descriptor stays until the end: a thread may be waiting on it."""
        self._closing, self._inotify = self._inotify, -1
        self.interrupt()

    _closing = -1

    def interrupt(self) -> None:
        """Let `wait` return."""
        if self._woken >= 0:
            with contextlib.suppress(BlockingIOError):
                os.write(self._woken, b"\0")

    def close(self) -> None:
        """Let go of everything; nobody waits any more."""
        for descriptor in (self._inotify, self._closing, self._waking, self._woken):
            if descriptor >= 0:
                os.close(descriptor)
        self._inotify = self._closing = self._waking = self._woken = -1


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    return result


def _ready(descriptors: Iterable[int], seconds: float) -> set[int]:
    """Which of them can be read. Not by `select`, which takes no numbers past 1,023: a server has many sockets."""
    waiting = select.poll()
    for descriptor in descriptors:
        if descriptor >= 0:
            waiting.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in waiting.poll(seconds * 1000)}
