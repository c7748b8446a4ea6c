"""What a kernel and all that it started use: memory and processor time, as the system tells.

A kernel has a session of its own, so whatever has that session is its doing, also what lost its parent.

Not psutil: its `children()` misses what lost its parent, and reads the state of every process for the rest; with the session
looked up by `os.getsid`, as here, it measures the same in the same time. Memory limits hold where Quire is installed alone, so it
would be a fourth package that is always there, with 1.2 MB more in each idle runtime and 20 ms to import.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic

import msgspec

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What was used at a moment."""

    memory_bytes: int
    cpu_percent: float | None = None
    """Of one processor, since the look before; None for the first."""


class _Process(msgspec.Struct, frozen=True):
    pid: int
    resident: int
    """Bytes."""
    seconds: float
    """Of processor time."""


class Meter:
    """Looks, again and again, at what the process group of a kernel uses."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._last: tuple[float, float] | None = None

    def look(self) -> Usage | None:
        """What is used now; None when nothing is there any more."""
        found = self._processes()
        if not found:
            return None
        now, seconds = monotonic(), sum(each.seconds for each in found)
        before, self._last = self._last, (now, seconds)
        percent = None
        if before is not None and now > before[0]:
            percent = round(100 * max(0.0, seconds - before[1]) / (now - before[0]), 1)
        return Usage(memory_bytes=sum(each.resident for each in found), cpu_percent=percent)

    def proportional_bytes(self) -> int | None:
        """Memory with what processes share counted once. It costs more to find out; None where nobody says."""
        if sys.platform != "linux":
            return None
        return sum(filter(None, (_proportional(each.pid) for each in self._processes())))

    def _processes(self) -> list[_Process]:
        if sys.platform != "linux":
            return list(_listed(self._pid))
        return [process for pid in _session(self._pid) if (process := _read(pid, self._pid)) is not None]


# ---- Linux


def _session(pid: int) -> Iterator[int]:
    """All processes of the session that a process began."""
    for name in os.listdir(_PROC):  # noqa: PTH208 - a path for each of a thousand processes takes long
        # One call into the system for each: reading the state of all of them would take many times as long.
        with contextlib.suppress(OSError):  # it may end while it is looked at
            if name.isdecimal() and os.getsid(int(name)) == pid:
                yield int(name)


def _read(pid: int, session: int) -> _Process | None:
    """A process, if it is of that session."""
    try:
        # The name, in parentheses, may hold anything.
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    if int(fields[3]) != session or fields[0] in "ZX":
        return None
    return _Process(pid, int(fields[21]) * _PAGE, (int(fields[11]) + int(fields[12])) / _TICKS)


def _proportional(pid: int) -> int | None:
    with contextlib.suppress(OSError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return None


# ---- Elsewhere


def _listed(pid: int) -> Iterator[_Process]:
    """The process group of a kernel, as `ps` lists it."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(
            ["ps", "-axo", "pid=,pgid=,rss=,time="],  # noqa: S607 - the system's own
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
        yield from parse_listed(told.stdout.splitlines(), pid)


def parse_listed(lines: Iterable[str], group: int) -> Iterator[_Process]:
    """What lines of pid, group, kilobytes and time ([[days-]hours:]minutes:seconds) say of a group."""
    for line in lines:
        pid, of, kilobytes, time = line.split()
        if int(of) == group:
            yield _Process(int(pid), int(kilobytes) * 1024, _seconds(time))


def _seconds(time: str) -> float:
    days, _, clock = time.rpartition("-")
    total = 0.0
    for part in clock.split(":"):
        total = 60 * total + float(part)
    return total + 86_400 * int(days or 0)
