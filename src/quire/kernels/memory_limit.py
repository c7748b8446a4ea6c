"""A limit for the memory of a kernel: who uses more is ended, before the machine is.

The kernel and all that it started are looked at every second, and more often near the limit. What takes
more than there is within that time is the system's to end, as ever.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from ..core.errors import BadInput
from .kernel_client import KernelClient
from .resource_usage import Meter

LOOK_SECONDS = 1.0
NEAR_SECONDS = 0.2
"""How often it is looked, once half of what is allowed is used."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
LEAST_BYTES = 50_000_000
"""Less is no kernel's: it would be ended before it could say anything."""


def read_size(text: str | int) -> int:
    """How many bytes `8GB`, `500 MB`, `1.5GiB` or a plain number are."""
    found = _SIZE.fullmatch(str(text).strip())
    if found is None:
        raise BadInput(f"{str(text)[:40]!r} is not how much memory a kernel may use: write 8GB, 500MB or 1.5GiB.")
    number, unit, binary = found.groups()
    size = int(float(number) * (1024 if binary else 1000) ** _POWERS[unit.lower()])
    if size < LEAST_BYTES:
        raise BadInput(f"{str(text)[:40]!r} is too little memory for a kernel. Allow {in_words(LEAST_BYTES)} or more.")
    return size


def in_words(size: int) -> str:
    """`8 GB`, `1.25 GB`, `500 MB`."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{round(size / factor, 2):g} {unit}"
    return f"{size:,} bytes"


async def keep_within(limit_bytes: int, client: Callable[[], KernelClient]) -> None:
    """End the kernel that there is whenever it uses more than that, and say why; for ever."""
    meter: tuple[int, Meter] | None = None
    while True:
        now = client()
        pid = now.kernel.pid
        seconds = LOOK_SECONDS
        if pid is not None and now.lives:
            if meter is None or meter[0] != pid:
                meter = pid, Meter(pid)
            if (used := _used(meter[1], limit_bytes)) > limit_bytes:
                told = f"it used {in_words(used)} of memory, and {in_words(limit_bytes)} are allowed"
                await now.kill(f"was ended: {told}")
            elif used > limit_bytes // 2:
                seconds = NEAR_SECONDS
        await asyncio.sleep(seconds)


def _used(meter: Meter, limit_bytes: int) -> int:
    usage = meter.look()
    if usage is None:
        return 0
    if usage.memory_bytes <= limit_bytes:
        return usage.memory_bytes
    # What a parent shares with a hundred forks is counted a hundred times: look again, and count it once.
    shared_once = meter.proportional_bytes()
    return shared_once or usage.memory_bytes
