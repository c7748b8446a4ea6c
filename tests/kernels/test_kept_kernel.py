"""Kernels that a run left alive: for how long."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quire.core.errors import NotFound
from quire.kernels import kernel_protocol
from quire.kernels.process import watchdog
from quire.kernels.process.connection_dir import all_folders

from .real_kernels import ENV, script, until
from .test_local_kernel import SLEEP, lives

pytestmark = pytest.mark.usefixtures("own_folders")


async def test_a_kernel_that_is_left_for_a_time_is_gone_after_it_if_nobody_uses_it() -> None:
    kernel = await kernel_protocol.start(script(SLEEP), cwd=Path("/"), env=ENV, grace_seconds=0)
    await kernel.leave(0.5)
    await until(lambda: not lives(kernel.pid))
    with pytest.raises(NotFound):
        await kernel_protocol.adopt(kernel.id)


async def test_whoever_goes_on_with_it_has_it_for_as_long_as_they_like() -> None:
    first = await kernel_protocol.start(script(SLEEP), cwd=Path("/"), env=ENV, grace_seconds=0)
    await first.leave(60)
    kernel = await kernel_protocol.adopt(first.id)
    other = await kernel_protocol.start(script(SLEEP), cwd=Path("/"), env=ENV, grace_seconds=0)
    await other.leave(0.5)
    # The one that nobody uses goes; by then the other would have gone as well.
    await until(lambda: not lives(other.pid))
    assert lives(kernel.pid)
    await kernel.close()


async def test_a_clock_that_jumps_ends_no_kernel_that_was_left() -> None:
    """Rule 10: two hours later by the clock of the machine, but not by one that nobody can set."""
    first = await kernel_protocol.start(script(SLEEP), cwd=Path("/"), env=ENV, grace_seconds=0)
    await first.leave(3600)
    (kept,) = (folder / watchdog.KEPT for folder in all_folders().iterdir())
    os.utime(kept, (0, 0))
    other = await kernel_protocol.start(script(SLEEP), cwd=Path("/"), env=ENV, grace_seconds=0)
    await other.leave(0.5)
    await until(lambda: not lives(other.pid))
    kernel = await kernel_protocol.adopt(first.id)
    await kernel.close()
