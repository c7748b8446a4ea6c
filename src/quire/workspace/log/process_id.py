"""Which process a claim is held by, and whether that one is gone.

A lease runs out by itself; on the machine where its holder ran, one can see earlier that
nobody will renew it. A runtime that ends with its process has that process in its name.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from hashlib import sha256
from pathlib import Path

_NAME = re.compile(r"runtime:run-(?P<place>[0-9a-f]{12})-(?P<pid>[0-9]{1,10})-(?P<began>[0-9]*)")


def this_process() -> str:
    """A name for this process, as a runtime: no other has it, here or elsewhere, now or later."""
    pid = os.getpid()
    return f"run-{_place()}-{pid}-{began(pid)}"


def is_gone(actor: str) -> bool:
    """Whether it is certain that the process which acted under this name has ended."""
    named = _NAME.fullmatch(actor)
    if named is None or named["place"] != _place():
        return False
    return began(int(named["pid"])) != named["began"]


def is_process(actor: str) -> bool:
    """Whether a runtime is called after its process, here or elsewhere: it came without a token."""
    return _NAME.fullmatch(actor) is not None


def process_of(actor: str) -> int | None:
    """The process of this machine which acts under this name; None if it is gone, or elsewhere."""
    named = _NAME.fullmatch(actor)
    if named is None or named["place"] != _place() or is_gone(actor):
        return None
    return int(named["pid"])


def _place() -> str:
    """Where the numbers of processes mean the same: one start of one machine, one container of it."""
    said = [socket.gethostname()]
    if sys.platform == "linux":
        said += [Path("/proc/sys/kernel/random/boot_id").read_text().strip(), str(Path("/proc/self/ns/pid").readlink())]
    return sha256("\n".join(said).encode()).hexdigest()[:12]


def began(pid: int) -> str:
    """When a process began, as its system counts it; nothing where there is none, or where the system does not say."""
    if sys.platform == "linux":
        try:
            # The name, in parentheses, may hold anything.
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return ""
        # One that has ended, and that nobody has waited for, is still listed.
        return fields[19] if fields[0] not in "ZX" else ""
    try:
        os.kill(pid, 0)
    except OSError:
        return ""
    return "0"
