"""What a kernel's processes use, and how much memory somebody allows them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from quire.core.errors import BadInput
from quire.kernels.memory_limit import in_words, read_size
from quire.kernels.resource_usage import Meter, parse_listed

from .real_kernels import until

HOLDS = 60_000_000
FAMILY = f"""
import os, signal, sys
kept = bytearray(b"x" * {HOLDS})
if os.fork():
    if os.fork() == 0:
        if os.fork():
            os._exit(0)  # its child is nobody's child any more
        kept = bytearray(b"y" * {HOLDS})
        sys.stdout.write("up\\n")
        sys.stdout.flush()
    else:
        os.wait()
signal.pause()
"""


@contextmanager
def family() -> Generator[int]:
    """A process that holds memory, one that shares it, and one without a parent that holds as much of its own."""
    process = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"up\n"
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


async def test_all_that_a_process_started_is_counted_also_what_lost_its_parent() -> None:
    with family() as pid:
        meter = Meter(pid)
        first = meter.look()
        assert first is not None and first.memory_bytes > 3 * HOLDS, "what is shared is counted for each"
        assert first.cpu_percent is None
        looks = [meter.look() for _ in range(3)]
        assert all(each is not None and each.memory_bytes > 3 * HOLDS for each in looks)
        assert all(each is not None and each.cpu_percent is not None and each.cpu_percent >= 0 for each in looks)
        once = meter.proportional_bytes()
        assert once is not None and 2 * HOLDS < once < 3 * HOLDS, "or once"
    await until(lambda: meter.look() is None)


def test_others_are_not_counted() -> None:
    with family() as pid, family() as other:
        assert pid != other
        found = Meter(pid).look()
        assert found is not None and found.memory_bytes < 6 * HOLDS


def test_what_ps_lists_is_read() -> None:
    lines = ["    7     7   1024   0:01.50", "    8     7  2048 1-02:03:04", "    9     9  4096   00:10"]
    found = list(parse_listed(lines, 7))
    assert [(each.pid, each.resident) for each in found] == [(7, 1 << 20), (8, 2 << 20)]
    assert [each.seconds for each in found] == [1.5, 86_400 + 2 * 3600 + 3 * 60 + 4]


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("8GB", 8_000_000_000),
        ("500 mb", 500_000_000),
        ("1.5GiB", 1_610_612_736),
        ("2g", 2_000_000_000),
        (100_000_000, 100_000_000),
    ],
)
def test_sizes_are_read_as_people_write_them(said: str | int, size: int) -> None:
    assert read_size(said) == size


@pytest.mark.parametrize("said", ["", "much", "-8GB", "8XB", "1MB", "0", "nan", "8GB or so"])
def test_what_is_no_size_for_a_kernel_is_refused(said: str) -> None:
    with pytest.raises(BadInput, match=r"kernel"):
        read_size(said)


def test_sizes_are_told_in_few_words() -> None:
    assert [in_words(each) for each in (400_000_000, 1_250_000_000, 8 * 10**12, 999)] == [
        "400 MB",
        "1.25 GB",
        "8 TB",
        "999 bytes",
    ]
