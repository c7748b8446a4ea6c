"""Stopping, restarting, commenting, answering: what is done beside editing and running."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from quire.core.errors import BadInput, NotFound, QuireError, Refused
from quire.core.ids import CellId, CommentId, ProposalId
from quire.core.notebook.notebook import Notebook
from quire.verbs.arguments import ControlArguments, ExecuteArguments, RunArguments, WaitArguments
from quire.verbs.control import control
from quire.verbs.run import execute, run, wait
from quire.workspace.identity import identities

from .live_notebook import Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")
SLEEP = "print('begun', flush=True)\nimport time\ntime.sleep(600)"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def nb(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served]:
    """One notebook with one kernel, for all tests here: each adds cells of its own."""
    async with served(tmp_path_factory.mktemp("nb"), "sales") as made:
        yield made


async def until(nb: Served, running: str, *, prints: bool = True) -> Notebook:
    """Wait until exactly this cell runs, and has printed: what is interrupted before may not be there yet."""
    async with asyncio.timeout(240):
        async for _ in nb.owner.follow(nb.log):
            now = await nb.read()
            found = {id: cell.execution for id, cell in now.cells.items() if cell.state == "running"}
            execution = found.get(CellId(running))
            if len(found) == 1 and execution is not None and (execution.outputs or not prints):
                return now
    raise AssertionError


async def test_what_runs_is_interrupted_and_what_waits_is_cancelled(nb: Served) -> None:
    await nb.add(a1=SLEEP, a2="1", a3="2")
    await run(nb.here, RunArguments(notebook="sales", cells=("a1", "a2", "a3"), seconds=0))
    await until(nb, "a1")
    answer = await control(nb.here, ControlArguments(notebook="sales", action="cancel", cell="a3"))
    assert answer.text.startswith("took back a3 · cursor ")
    answer = await control(nb.here, ControlArguments(notebook="sales", action="interrupt"))
    assert answer.text.startswith("interrupted a1 · cursor ")
    await wait(nb.here, WaitArguments(notebook="sales", seconds=60))
    now = await nb.read()
    assert [now.cells[CellId(id)].state for id in ("a1", "a2", "a3")] == ["cancelled", "skipped", "cancelled"]
    for action in ("interrupt", "cancel"):
        with pytest.raises(NotFound, match="Nothing"):
            await control(nb.here, ControlArguments(notebook="sales", action=action))


async def test_code_without_a_cell_can_be_interrupted(nb: Served) -> None:
    answer = await execute(nb.here, ExecuteArguments(notebook="sales", code=SLEEP, seconds=0))
    (id,) = [cell["id"] for cell in answer.facts["cells"]]  # type: ignore[index,union-attr]
    await until(nb, str(id))
    await control(nb.here, ControlArguments(notebook="sales", action="interrupt", cell=str(id)))
    ended = await wait(nb.here, WaitArguments(notebook="sales", seconds=60))
    assert ended.facts["state"] in ("done", "error")
    assert (await nb.read()).cells[CellId(str(id))].state == "cancelled"


async def test_what_a_cell_asks_is_answered(nb: Served) -> None:
    await nb.add(c1="print('hello ' + input('name? '))")
    await run(nb.here, RunArguments(notebook="sales", cells=("c1",), seconds=0))
    await until(nb, "c1", prints=False)
    answer = await control(nb.here, ControlArguments(notebook="sales", action="answer", text="ada"))
    assert answer.text.startswith("answered c1")
    ended = await wait(nb.here, WaitArguments(notebook="sales", since=int(str(answer.facts["cursor"])), seconds=60))
    assert "hello ada" in ended.text


async def test_a_restart_gives_an_empty_kernel(nb: Served) -> None:
    await execute(nb.here, ExecuteArguments(notebook="sales", code="there = 1", seconds=60))
    await control(nb.here, ControlArguments(notebook="sales", action="restart"))
    answer = await execute(nb.here, ExecuteArguments(notebook="sales", code="there", seconds=60))
    assert "NameError" in answer.text


async def test_comments_are_made_answered_and_resolved(nb: Served) -> None:
    await nb.add(d1="1")
    made = await control(nb.here, ControlArguments(notebook="sales", action="comment", cell="d1", text="Why 1?"))
    id = CommentId(str(made.facts["comment"]))
    assert made.text.startswith(f"commented on d1 as {id}: Why 1?")
    agent = nb.by(identities.agent("claude"))
    reply = await control(agent, ControlArguments(notebook="sales", action="comment", id=id, text="It is the first."))
    now = await nb.read()
    assert now.comments[CommentId(str(reply.facts["comment"]))].reply_to == id
    await control(agent, ControlArguments(notebook="sales", action="resolve", id=id))
    assert (await nb.read()).comments[id].resolved_by == "agent:claude"


async def test_a_proposal_is_withdrawn_by_who_made_it(nb: Served) -> None:
    agent = nb.by(identities.agent("claude", ["run"]))
    asked = await execute(agent, ExecuteArguments(notebook="sales", code="1"))
    id = ProposalId(str(asked.facts["proposal"]))
    with pytest.raises(Refused, match="not human:"):
        await control(nb.here, ControlArguments(notebook="sales", action="withdraw", id=id))
    await control(agent, ControlArguments(notebook="sales", action="withdraw", id=id[:-3]))
    assert (await nb.read()).proposals[id].state == "withdrawn"


async def test_a_notebook_is_put_away_and_taken_out_again(nb: Served) -> None:
    answer = await control(nb.here, ControlArguments(notebook="sales", action="archive"))
    assert answer.text.startswith("sales is put away")
    with pytest.raises(Refused, match="archived"):
        await execute(nb.here, ExecuteArguments(notebook="sales", code="1"))
    await control(nb.here, ControlArguments(notebook="sales", action="unarchive"))
    assert not (await nb.read()).archived


@pytest.mark.parametrize(
    ("wanted", "kind", "told"),
    [
        (ControlArguments(notebook="sales", action="comment"), BadInput, "comment needs `text`"),
        (ControlArguments(notebook="sales", action="restart", cell="1"), BadInput, "restart takes no `cell`"),
        (ControlArguments(notebook="sales", action="resolve", id="zz"), NotFound, "There is no comment 'zz'"),
        (ControlArguments(notebook="sales", action="withdraw", id="zz"), NotFound, "There is no proposal 'zz'"),
        (ControlArguments(notebook="sales", action="comment", cell="zz", text="?"), NotFound, "There is no cell 'zz'"),
        (ControlArguments(notebook="sales", action="answer", text="?"), NotFound, "Nothing runs that could ask"),
        (ControlArguments(notebook="nowhere", action="restart"), NotFound, "'nowhere'"),
    ],
)
async def test_bad_input_says_what_is_wrong(
    nb: Served, wanted: ControlArguments, kind: type[QuireError], told: str
) -> None:
    seq = (await nb.read()).seq
    with pytest.raises(kind, match=told):
        await control(nb.here, wanted)
    assert (await nb.read()).seq == seq


async def test_what_runs_without_a_cell_takes_no_comment(nb: Served) -> None:
    await execute(nb.here, ExecuteArguments(notebook="sales", code="1", seconds=60))
    scratch = next(id for id, cell in (await nb.read()).cells.items() if cell.scratch)
    with pytest.raises(Refused, match="code that was executed without a cell; insert a cell with it instead"):
        await control(nb.here, ControlArguments(notebook="sales", action="comment", cell=scratch, text="?"))
