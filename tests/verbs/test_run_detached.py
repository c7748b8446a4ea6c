"""A whole notebook in a kernel of its own, as a process that outlives whoever asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from quire.core import events as e
from quire.core.errors import BadInput, NotFound
from quire.core.ids import CellId, LogId
from quire.verbs.answers.answer import Here, VerbAnswer
from quire.verbs.arguments import ControlArguments, RunArguments, WaitArguments
from quire.verbs.control import control
from quire.verbs.run import run, wait
from quire.workspace.identity import identities

from .live_notebook import Served, served

CELLS = {
    "top": "top: int = 3\nuntil: str = 'x'",
    "sum": "from quire.kernel import result\nresult('best', top * 7)",
    "say": "print('in', __import__('os').getcwd())",
}


@pytest_asyncio.fixture
async def nb(tmp_path: Path) -> AsyncGenerator[Served]:
    """A notebook that nobody serves: a run brings its own kernel."""
    async with served(tmp_path, "sales", with_kernel=False) as made:
        made.here = Here(workspace=made.owner, folder=made.folder, may_start=True)
        yield made


async def test_a_run_with_parameters_tells_its_outcome(nb: Served) -> None:
    """DESIGN's outcome in the facts; in the text what matters of it."""
    await nb.add(**CELLS)
    await nb.say(e.CellTagged(cell=CellId("top"), tags=("parameters",)))
    agent = Here(workspace=nb.owner.acting_as(identities.agent("claude")), folder=nb.folder, may_start=True)
    answer = await _over(agent, await run(agent, RunArguments(notebook="sales", parameters={"top": 6}, seconds=60)))
    assert answer.facts["status"] == "success" and answer.facts["state"] == "done"
    assert answer.facts["scraps"] == {"best": 42}
    log = LogId(str(answer.facts["run"]))
    assert answer.text.startswith(f"success: run {log} of sales")
    assert "best = 42" in answer.text
    ran = (await nb.owner.read(log)).run
    assert ran is not None
    assert (ran.by, ran.on_behalf_of) == (agent.workspace.identity.actor, identities.owner().actor)
    assert ran.source.notebook == nb.log and ran.parameters == {"top": 6}
    assert not (await nb.read()).executions


async def test_a_run_that_fails_shows_the_cell(nb: Served) -> None:
    await nb.add(a="x = 1", b="1 / 0", c="x")
    answer = await _over(nb.here, await run(nb.here, RunArguments(notebook="sales", fresh=True, seconds=60)))
    assert answer.facts["status"] == "error" and answer.facts["state"] == "error"
    assert answer.facts["failed_cell"]["id"] == "b"  # type: ignore[index,call-overload]
    assert "ZeroDivisionError: division by zero" in answer.text


async def test_a_file_that_is_no_notebook_yet_is_run_as_it_is(nb: Served) -> None:
    (nb.folder / "far").mkdir()
    (nb.folder / "far" / "plain.py").write_text(
        "# %%\nprint(__import__('os').path.basename(__import__('os').getcwd()))\n"
    )
    answer = await _over(nb.here, await run(nb.here, RunArguments(notebook="far/plain.py", fresh=True, seconds=60)))
    assert answer.facts["status"] == "success"
    now = await nb.owner.read(LogId(str(answer.facts["run"])))
    (shown,) = [output for cell in now.live_cells if cell.execution for output in cell.execution.outputs]
    assert isinstance(shown, e.Stream) and shown.head == "far\n"
    assert [info.name for info in await nb.owner.logs("notebook")] == ["sales"]


async def test_what_keeps_a_run_from_beginning_is_told(nb: Served) -> None:
    await nb.add(**CELLS)
    await nb.say(e.CellTagged(cell=CellId("top"), tags=("parameters",)))
    with pytest.raises(BadInput, match="'top' wants an int"):
        await run(nb.here, RunArguments(notebook="sales", parameters={"top": "five"}, seconds=60))
    with pytest.raises(NotFound, match="nothing"):
        await run(nb.here, RunArguments(notebook="nothing", fresh=True))
    assert await nb.owner.logs("run") == []


async def test_a_run_can_be_waited_for_and_cancelled(nb: Served) -> None:
    await nb.add(a="import time\ntime.sleep(600)")
    waiting = asyncio.create_task(run(nb.here, RunArguments(notebook="sales", fresh=True, seconds=60)))
    log = await _running(nb)
    still = await wait(nb.here, WaitArguments(notebook=log, seconds=0))
    assert still.facts["state"] == "running"
    assert f'wait(notebook="{log}"' in still.text
    await control(nb.here, ControlArguments(notebook=log, action="cancel", text="too long"))
    assert (await waiting).facts["status"] == "cancelled"
    ended = await wait(nb.here, WaitArguments(notebook=log, seconds=60))
    assert ended.facts["status"] == "cancelled", "of one that is over, too"
    last = await nb.owner.read(log)
    assert (await wait(nb.here, WaitArguments(notebook=log, since=last.seq))).text.startswith(
        "nothing runs, and nothing changed"
    )


async def _running(nb: Served) -> LogId:
    """The run of which a cell runs."""
    async with asyncio.timeout(240):
        async for _ in nb.owner.feed(0):
            for info in await nb.owner.logs("run"):
                if any(cell.state == "running" for cell in (await nb.owner.read(info.log)).live_cells):
                    return info.log
    raise AssertionError


async def _over(here: Here, answer: VerbAnswer) -> VerbAnswer:
    """A slow machine may not be done within one answer."""
    while answer.facts["state"] in ("running", "queued"):
        answer = await wait(here, WaitArguments(notebook=str(answer.facts["run"]), seconds=60))
    return answer
