"""When and how a kernel's process ended, and whether it was for want of memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec


class ProcessExit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a process ended; neither status nor signal where nobody was there to be told."""

    status: int | None = None
    signal: int | None = None
    out_of_memory: bool = False

    @property
    def why(self) -> str:
        """In words, to go on from "the kernel": `was killed by SIGKILL`."""
        if self.out_of_memory:
            return "was killed by the system: it ran out of memory"
        if self.signal is not None:
            return f"was killed by {_name(self.signal)}"
        return "is gone" if self.status is None else f"ended with exit status {self.status}"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Counter(NamedTuple):
    """A file of the system in which a line counts the processes killed for want of memory."""

    path: Path
    key: str = "oom_kill"

    def read(self) -> int | None:
        try:
            lines = self.path.read_text().splitlines()
        except OSError:
            return None
        for line in lines:
            key, _, number = line.partition(" ")
            if key == self.key:
                return int(number)
        return None


class MemoryWatch:
    """Compares how often the system killed for want of memory, before and after.

    It counts for all processes of a control group: good for telling why, not for proof.
    """

    def __init__(self, pid: int | str = "self") -> None:
        self._before = {counter: counter.read() for counter in _counters(pid)}

    def killed(self) -> bool:
        """Whether it did since. The first counter that this system has decides."""
        for counter, before in self._before.items():
            now = counter.read()
            if before is not None and now is not None:
                return now > before
        return False


def _counters(pid: int | str) -> list[_Counter]:
    """Those of the control group of a process, then that of the whole system, which counts others too."""
    try:
        groups = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return []
    counters: list[_Counter] = []
    for line in groups:
        number, names, path = line.split(":", 2)
        if number == "0" and not names:
            counters += _in_group(Path("/sys/fs/cgroup"), path, "memory.events")
        elif "memory" in names.split(","):
            counters += _in_group(Path("/sys/fs/cgroup/memory"), path, "memory.oom_control")
    return [*counters, _Counter(Path("/proc/vmstat"))]


def _in_group(root: Path, path: str, name: str) -> list[_Counter]:
    # Inside a container the path may be that outside of it; what is mounted is then the group itself.
    return [_Counter(root / path.lstrip("/") / name), _Counter(root / name)]


class ProcessHandle:
    """Tells once when a process is gone: at once on Linux, by looking again and again elsewhere."""

    def __init__(self, loop: asyncio.AbstractEventLoop, pid: int, gone: Callable[[], None]) -> None:
        self._loop = loop
        self._pid = pid
        self._gone = gone
        self._fd = -1
        self._timer: asyncio.TimerHandle | None = None
        if hasattr(os, "pidfd_open"):
            try:
                self._fd = os.pidfd_open(pid)
            except ProcessLookupError:
                loop.call_soon(self._tell)
            else:
                loop.add_reader(self._fd, self._tell)
        else:
            self._look()

    def _look(self) -> None:
        if _has_ended(self._pid):
            self._tell()
        else:
            self._timer = self._loop.call_later(0.05, self._look)

    def _tell(self) -> None:
        self.close()
        self._gone()

    def close(self) -> None:
        """Tell nobody any more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1


def _has_ended(pid: int) -> bool:
    """Whether a process is gone, or is one of ours that nobody has waited for."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False


def kill_group(pid: int) -> None:
    """End a process and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
