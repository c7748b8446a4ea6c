"""How a kernel's process ended, and whether it was for want of memory."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import NamedTuple

import msgspec


class Ended(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
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
