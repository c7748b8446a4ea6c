"""A process that ends a kernel some time after the one that started it is gone (rule 11).

Run by its path, with nothing but the standard library: it starts in some milliseconds, beside
every kernel. Whoever uses a kernel holds a lock on a file in the kernel's folder; the system
lets go of it however that process ends. Until then nothing happens here; where the system has
a `flock` that becomes this program once it has the lock, not even Python is loaded. Then the
kernel has a grace, in which somebody else can take the lock and go on with it; else it is
killed. A file `kept` beside the lock says that it may live, and for how long nobody has to use it.

Meanwhile what the kernel prints past Jupyter is read and dropped: a pipe that nobody reads
would kill it.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
import time

LOCK = "lock"
KEPT = "kept"
TICK_SECONDS = 0.25
_OPEN = "/proc/self/fd"


def watch(folder: str, pid: int, grace_seconds: float, printed: int, began: str) -> None:
    """Wait for the end of whoever holds the lock, and then for what becomes of the kernel."""
    try:
        lock = os.open(os.path.join(folder, LOCK), os.O_RDWR)  # noqa: PTH118 - pathlib takes longer to load than all else here
    except FileNotFoundError:
        lock = -1  # somebody took the folder away: nobody can go on with the kernel
    try:
        kernel, is_there = handle(pid), not began or _began(pid) == began
    except ProcessLookupError:
        kernel, is_there = None, False
    if lock >= 0:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fcntl.flock(lock, fcntl.LOCK_UN)
    alone_since = time.monotonic()
    # One that ended long ago may have left its number to another.
    while is_there and lives(pid, kernel):
        if not _take(lock):
            alone_since = time.monotonic()
        elif time.monotonic() - alone_since >= max(grace_seconds, _kept_seconds(folder)):
            # The lock is held on to: nobody may take over what is about to end.
            kill(pid)
            break
        elif lock >= 0:
            fcntl.flock(lock, fcntl.LOCK_UN)
        printed = _drop(printed)
    _remove(folder)


def handle(pid: int) -> int | None:
    """Where the system has it, a handle that means this process even when its number is used again."""
    return os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None


def _began(pid: int) -> str:
    """When a process began, as the system counts it: tells it from a later one with the same number."""
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 - as above
            return file.read().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _let_go(printed: int) -> None:
    """Close what `flock` has left open: the lock, which nobody is to hold without knowing."""
    if not os.path.isdir(_OPEN):  # noqa: PTH112 - as above
        return  # no flock came before us here
    for name in os.listdir(_OPEN):  # noqa: PTH208 - as above
        if int(name) > 2 and int(name) != printed:
            try:  # noqa: SIM105 - contextlib takes time to load
                os.close(int(name))
            except OSError:
                pass  # the one that it was listed by


def lives(pid: int, kernel: int | None) -> bool:
    """Whether a process is there, by its handle where there is one."""
    if kernel is not None:
        return not select.select([kernel], [], [], 0)[0]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _take(lock: int) -> bool:
    if lock < 0:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _kept_seconds(folder: str) -> float:
    """How long it may live though nobody uses it. Counted from when it was left, by a clock that nobody can set."""
    try:
        with open(os.path.join(folder, KEPT)) as file:  # noqa: PTH118, PTH123 - as above
            return float(file.read() or "inf")
    except OSError:
        return 0.0


def kill(pid: int) -> None:
    """End a kernel, and all that it started."""
    try:  # noqa: SIM105 - contextlib takes time to load
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _drop(printed: int) -> int:
    """Read for a tick what was printed. Return where to read on; -1 at the end of it."""
    if printed < 0:
        time.sleep(TICK_SECONDS)
    elif select.select([printed], [], [], TICK_SECONDS)[0] and not os.read(printed, 1 << 16):
        return -1
    return printed


def _remove(folder: str) -> None:
    """Take it away, unless whoever used the kernel does so at this moment."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                os.unlink(entry.path)  # noqa: PTH108 - as above
        os.rmdir(folder)  # noqa: PTH106 - as above
    except FileNotFoundError:
        pass


if __name__ == "__main__":
    _let_go(int(sys.argv[4]))
    watch(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
