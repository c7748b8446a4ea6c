"""A mirror that ends at the worst moment, and the next one that goes on: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from quire.core import events as e

from ...fork_server import Talking
from .mirror_desk import ONE_FORMAT, PATIENCE, Desk, until
from .run_mirror import MOMENTS

ROOT = Path(__file__).parents[3]


async def start(desk: Desk, moment: str = "") -> Talking:
    """A mirror that is a process of its own."""
    return await asyncio.to_thread(Talking, "tests.actors.mirror.run_mirror", str(desk.folder), moment, cwd=ROOT)


async def killed(process: Talking) -> None:
    """Wait until it has ended itself."""
    assert await asyncio.to_thread(process.wait, PATIENCE) == -signal.SIGKILL
    process.close()


async def made(folder: Path, path: str) -> Desk:
    desk = Desk(folder, path)
    await desk.write("a = 1", "b = 2", "c = 3")
    await desk.start()
    await desk.agree("a = 1", "b = 2", "c = 3")
    await desk.stop()
    return desk


def left_beside(desk: Desk) -> list[Path]:
    return [each for each in desk.folder.iterdir() if "quire~" in each.name]


async def imported(desk: Desk) -> list[e.FileMerged]:
    entries = await desk.workspace.entries(desk.log, types=("file_merged",))
    return [entry.event for entry in entries if isinstance(entry.event, e.FileMerged) and entry.event.changes]


@pytest.mark.parametrize("path", ONE_FORMAT)
@pytest.mark.parametrize("moment", MOMENTS)
async def test_whenever_a_mirror_is_killed_the_next_one_goes_on(tmp_path: Path, path: str, moment: str) -> None:
    """Both sides change before, and both again while nobody watches."""
    desk = await made(tmp_path, path)
    await desk.edit(0, "a = 10")
    desk.rewrite("a = 1", "b = 2", "c = 30")
    await killed(await start(desk, moment))
    # The log goes on in the cell that may or may not be in the file already; the file in another.
    await desk.edit(0, "a = 100")
    said = desk.said()
    desk.rewrite(said[0], "b = 20", said[2])
    await desk.start(every=True)
    await desk.agree("a = 100", "b = 20", "c = 30")
    assert (await desk.notebook()).conflicts == {}
    assert len(await imported(desk)) == 2
    assert left_beside(desk) == []
    await desk.close()


@pytest.mark.parametrize("moment", ["merged", "written", "recorded"])
async def test_a_conflict_is_raised_once_whenever_the_mirror_is_killed(tmp_path: Path, moment: str) -> None:
    desk = await made(tmp_path, "sales.py")
    await desk.edit(1, "b = 'log'")
    desk.rewrite("a = 1", "b = 'file'", "c = 3")
    await killed(await start(desk, moment))
    await desk.start()
    await desk.agree("a = 1", "b = 'log'", "c = 3")
    (conflict,) = (await desk.notebook()).conflicts.values()
    assert (conflict.ours, conflict.theirs) == ("b = 'log'", "b = 'file'")
    assert (await desk.types()).count("ConflictRaised") == 1
    await desk.close()


async def test_what_somebody_saved_in_the_instant_of_a_write_is_not_replaced(tmp_path: Path) -> None:
    """The old file that stands beside after a kill is the editor's, and not thrown away."""
    desk = await made(tmp_path, "sales.py")
    beside = desk.folder / ".sales.py.6.1.quire~"
    beside.write_text(desk.text_with("a = 1", "b = 'saved'", "c = 3"))
    await desk.start()
    await desk.hear(beside.name)
    assert "b = 'saved'" in beside.read_text()
    await desk.close()


async def test_a_second_mirror_takes_over_when_the_first_is_killed(tmp_path: Path) -> None:
    desk = await made(tmp_path, "sales.py")
    first = await start(desk)
    assert await asyncio.wait_for(asyncio.to_thread(first.line), PATIENCE) == "ready\n"
    await desk.start()
    os.kill(first.pid, signal.SIGSTOP)  # it may hold the lease now, or not
    await asyncio.to_thread(first.kill)
    await desk.edit(0, "a = 10")
    await desk.agree("a = 10", "b = 2", "c = 3")
    await desk.close()


async def test_a_hold_of_a_process_that_is_gone_is_free_at_once(tmp_path: Path) -> None:
    desk = await made(tmp_path, "sales.py")
    script = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from tests.actors.mirror.mirror_desk import open_workspace\n"
        "async def main():\n"
        "    hold = await open_workspace(Path(sys.argv[1])).hold(sys.argv[2], 3000)\n"
        "    print(hold is not None, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    name = f"mirror:{desk.log}"
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, str(tmp_path), name, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await asyncio.wait_for(other.communicate(), PATIENCE)
    assert out == b"True\n"

    async def held() -> object:
        hold = await desk.workspace.hold(name, 30)
        assert hold is not None
        assert await desk.workspace.hold(name, 30) is None
        await desk.workspace.let_go(hold)
        return True

    await until(held, True)
    await desk.close()
