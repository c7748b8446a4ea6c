"""A runtime that is killed between its claim and the request to its kernel: the cell is run once, by the next one (rule 10)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from quire.core import events as e

from ..fork_server import Forked
from .killable_runtimes import LOG, House, printed
from .real_kernels import ENV, PATIENCE

pytestmark = pytest.mark.usefixtures("own_folders")


@contextmanager
def serving(house: House, *words: str) -> Generator[Forked]:
    """A runtime of this notebook, ended as `quire runtime` is: its kernel ends with it."""
    env = ENV | {"XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"]}
    process = Forked("tests.kernels.serve_notebook", str(house.folder), LOG, *words, env=env)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGINT)
        process.wait(PATIENCE)


async def test_a_cell_that_was_claimed_and_never_sent_is_run_by_the_next_process_once(house: House) -> None:
    first = await house.request("print(6 * 7)")
    with serving(house, "dies") as process:
        assert await asyncio.to_thread(process.wait, PATIENCE) == -signal.SIGKILL
    with serving(house):
        found = await house.over(first)
        assert (found.state, printed(found), found.count) == ("ok", "42\n", 1)
        after = await house.over(await house.request("print('on')"))
        assert (after.state, printed(after), after.count) == ("ok", "on\n", 2)
    claims = await house.workspace.entries(LOG, types=("execution_claimed",))
    assert [each.event.execution for each in claims if isinstance(each.event, e.ExecutionClaimed)] == [
        first,
        after.id,
    ], "the first is run under the claim that was taken for it"
    await house.check()
