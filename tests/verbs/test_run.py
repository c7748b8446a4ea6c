"""Running from a verb: cells in the living kernel, code without a cell, waiting, asking first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from quire.core import events as e
from quire.core.errors import BadInput, NotFound, Refused
from quire.core.ids import CellId, ProposalId
from quire.core.text import source_hash
from quire.verbs.arguments import ExecuteArguments, OutputArguments, RunArguments, WaitArguments
from quire.verbs.read import output
from quire.verbs.run import chosen, execute, run, unrun, wait
from quire.workspace.identity import identities

from .live_notebook import Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def nb(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served]:
    """One notebook with one kernel, for all tests here: each adds cells of its own."""
    async with served(tmp_path_factory.mktemp("nb"), "sales") as made:
        yield made


async def test_cells_run_in_order_and_the_answer_shows_what_they_showed(nb: Served) -> None:
    await nb.add(a1="x = 20", a2="print(x + 22)")
    before: list[str] = []

    async def tell(message: str, done: float | None) -> None:
        before.append(message)

    answer = await run(nb.here, RunArguments(notebook="sales", cells=("a2", "a1"), seconds=60), tell)
    now = await nb.read()
    assert answer.facts["state"] == "done"
    assert answer.facts["cursor"] == now.seq
    assert [cell["id"] for cell in answer.facts["cells"]] == ["a1", "a2"]  # type: ignore[index,union-attr]
    assert answer.text.startswith(f"done: 2 ran · cursor {now.seq}")
    assert "42" in answer.text
    assert before == ["running a1: 1 of 2", "running a2: 2 of 2"]


async def test_after_a_failure_what_was_asked_for_with_it_does_not_run(nb: Served) -> None:
    """Also if nobody waits any more: the runtime skips it."""
    await nb.add(b1="1 / 0", b2="open('never', 'w')", b3="open('never', 'w')", b4="'alone'")
    started = await run(nb.here, RunArguments(notebook="sales", cells=("b1", "b2", "b3"), seconds=0))
    assert started.facts["state"] in ("queued", "running", "error")
    answer = await wait(nb.here, WaitArguments(notebook="sales", since=int(str(started.facts["cursor"])), seconds=60))
    assert answer.facts["state"] == "error"
    now = await nb.read()
    assert [now.cells[CellId(id)].state for id in ("b1", "b2", "b3", "b4")] == [
        "error",
        "skipped",
        "skipped",
        "never_run",
    ]
    assert not (nb.folder / "never").exists()
    again = await run(nb.here, RunArguments(notebook="sales", cells=("b1", "b2", "b3"), seconds=60))
    assert again.facts["state"] == "error"
    assert again.text.startswith("error in b1: 1 of 3 ran")
    assert "ZeroDivisionError: division by zero" in again.text
    assert "did not run: b2, b3 (a cell before it did not end well)" in again.text
    assert {"b1", "b2", "b3"} <= {cell["id"] for cell in answer.facts["cells"]}  # type: ignore[index,union-attr]


async def test_code_without_a_cell_runs_in_the_kernel_and_is_on_record(nb: Served) -> None:
    cells = len(list((await nb.read()).live_cells))
    await execute(nb.here, ExecuteArguments(notebook="sales", code="hidden = 6", seconds=60))
    answer = await execute(nb.here, ExecuteArguments(notebook="sales", code="print(hidden * 7)", seconds=60))
    assert answer.facts["state"] == "done"
    assert "42" in answer.text
    now = await nb.read()
    assert len(list(now.live_cells)) == cells
    asked = await nb.owner.entries(nb.log, types=["scratch_requested"])
    assert [entry.event.source for entry in asked] == ["hidden = 6", "print(hidden * 7)"]  # type: ignore[union-attr]


async def test_code_without_a_cell_that_fails_tells_so(nb: Served) -> None:
    answer = await execute(nb.here, ExecuteArguments(notebook="sales", code="not_there", seconds=60))
    assert answer.facts["state"] == "error"
    assert "NameError: name 'not_there' is not defined" in answer.text


async def test_what_failed_before_anybody_waited_is_told(nb: Served) -> None:
    await nb.add(g1="1 / 0")
    cursor = (await nb.read()).seq
    await run(nb.here, RunArguments(notebook="sales", cells=("g1",), seconds=60))
    answer = await wait(nb.here, WaitArguments(notebook="sales", since=cursor))
    assert answer.facts["state"] == "error"
    assert answer.text.startswith("nothing runs, and g1 failed · cursor ")


async def test_what_code_without_a_cell_showed_can_be_read_when_it_is_forgotten(nb: Served) -> None:
    first = await execute(nb.here, ExecuteArguments(notebook="sales", code="print('long ago')", seconds=60))
    (id,) = [cell["id"] for cell in first.facts["cells"]]  # type: ignore[index,union-attr]
    execution = (await nb.read()).cells[CellId(str(id))].execution
    assert execution is not None
    for number in range(12):
        await execute(nb.here, ExecuteArguments(notebook="sales", code=str(number), seconds=60))
    assert id not in (await nb.read()).cells
    of = f"{id}.0@{execution.started_seq}"
    assert "long ago" in (await output(nb.here, OutputArguments(notebook="sales", of=of))).text


async def test_an_answer_comes_in_time_and_the_work_goes_on(nb: Served) -> None:
    code = "import os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.05)\nprint('gone on')"
    answer = await execute(nb.here, ExecuteArguments(notebook="sales", code=code, seconds=0.5))
    assert answer.facts["state"] in ("running", "queued")
    assert f'wait(notebook="sales", since={answer.facts["cursor"]})' in answer.text
    (nb.folder / "go").touch()
    ended = await wait(nb.here, WaitArguments(notebook="sales", since=int(str(answer.facts["cursor"])), seconds=60))
    assert ended.facts["state"] == "done"
    assert "gone on" in ended.text


async def test_what_is_under_way_is_waited_for_and_not_asked_for_twice(nb: Served) -> None:
    await nb.add(d1="import os, time\nwhile not os.path.exists('go2'):\n    time.sleep(0.05)")
    first = asyncio.create_task(run(nb.here, RunArguments(notebook="sales", cells=("d1",), seconds=60)))
    async for _ in nb.owner.follow(nb.log):
        if (await nb.read()).cells[CellId("d1")].state == "running":
            break
    second = asyncio.create_task(run(nb.here, RunArguments(notebook="sales", cells=("d1",), seconds=60)))
    (nb.folder / "go2").touch()
    answers = await asyncio.gather(first, second)
    assert answers[0].facts["executions"] == answers[1].facts["executions"]


async def test_many_who_want_the_same_cell_at_once_all_get_what_it_showed(nb: Served) -> None:
    await nb.add(h1="len('once')")
    wanted = RunArguments(notebook="sales", cells=("h1",), seconds=60)
    agents = [nb.by(identities.agent(f"a{number}")) for number in range(5)]
    answers = await asyncio.gather(*(run(agent, wanted) for agent in agents))
    assert {answer.facts["state"] for answer in answers} == {"done"}
    assert all("> 4" in answer.text for answer in answers)


async def test_a_wait_with_nothing_under_way_answers_at_once(nb: Served) -> None:
    now = await nb.read()
    answer = await wait(nb.here, WaitArguments(notebook="sales", since=now.seq, seconds=60))
    assert answer.text == f"nothing runs, and nothing changed since {now.seq} · cursor {now.seq}"
    await nb.add(e1="1")
    answer = await wait(nb.here, WaitArguments(notebook="sales", since=now.seq, seconds=60))
    assert [cell["id"] for cell in answer.facts["cells"]] == ["e1"]  # type: ignore[index,union-attr]


# ---- Asking first


async def test_who_has_to_ask_gets_a_proposal_and_waits_for_the_answer(nb: Served) -> None:
    """Rule 3; and rule 9: what was shown is what runs."""
    agent = nb.by(identities.agent("claude", ["run"]))
    asked = await execute(agent, ExecuteArguments(notebook="sales", code="print('as ' + 'shown')"))
    id = ProposalId(str(asked.facts["proposal"]))
    assert asked.facts["state"] == "proposed"
    assert f'Proposed as {id}: somebody has to say yes. wait(notebook="sales", proposal="{id}")' in asked.text
    assert (await nb.read()).proposals[id].effects[0].source == "print('as ' + 'shown')"
    still = await wait(agent, WaitArguments(notebook="sales", proposal=id, seconds=0.1))
    assert still.facts["state"] == "proposed"
    waiting = asyncio.create_task(wait(agent, WaitArguments(notebook="sales", proposal=id, seconds=60)))
    human = identities.Identity(actor=identities.owner().actor, scopes=frozenset({"read", "approve"}))
    accept = e.ProposalAccepted(proposal=id)
    await nb.by(human).workspace.submit(nb.log, [e.Draft(id=e.EventId(f"yes-{id}"), event=accept)])
    answer = await waiting
    assert answer.facts["state"] == "done"
    assert answer.text.startswith(f"accepted by {human.actor}\n")
    assert "as shown" in answer.text


async def test_what_is_declined_does_not_run(nb: Served) -> None:
    agent = nb.by(identities.agent("claude", ["run"]))
    await nb.add(f1="open('declined', 'w')")
    asked = await run(agent, RunArguments(notebook="sales", cells=("f1",)))
    id = ProposalId(str(asked.facts["proposal"]))
    human = identities.Identity(actor=identities.owner().actor, scopes=frozenset({"read", "approve"}))
    decline = e.ProposalDeclined(proposal=id, why="not on my disk")
    await nb.by(human).workspace.submit(nb.log, [e.Draft(id=e.EventId(f"no-{id}"), event=decline)])
    answer = await wait(agent, WaitArguments(notebook="sales", proposal=id, seconds=60))
    assert answer.facts["state"] == "declined"
    assert f"declined by {human.actor}: not on my disk" in answer.text
    assert (await nb.read()).cells[CellId("f1")].state == "never_run"


async def test_a_whole_run_cannot_be_proposed(nb: Served) -> None:
    agent = nb.by(identities.agent("claude", ["run"]))
    with pytest.raises(Refused, match="cannot be proposed"):
        await run(agent, RunArguments(notebook="sales", fresh=True))
    with pytest.raises(Refused, match="No run can be started from here"):
        await run(nb.here, RunArguments(notebook="sales", parameters={"top": 5}))


# ---- What cannot be


async def test_bad_input_says_what_is_wrong(nb: Served) -> None:
    await nb.say(e.CellAdded(cell=CellId("m1"), after=None, kind="markdown", source="# Title"))
    with pytest.raises(BadInput, match="'m1' is a markdown cell and does not run"):
        await run(nb.here, RunArguments(notebook="sales", cells=("m1",)))
    with pytest.raises(NotFound, match="There is no cell 'zz'"):
        await run(nb.here, RunArguments(notebook="sales", cells=("zz",)))
    with pytest.raises(NotFound, match="There is no proposal 'p'"):
        await wait(nb.here, WaitArguments(notebook="sales", proposal="p"))
    with pytest.raises(BadInput, match="1,000,000 may be"):
        await execute(nb.here, ExecuteArguments(notebook="sales", code="#" * 1_000_001))


async def test_who_may_not_run_is_refused(nb: Served) -> None:
    reader = nb.by(identities.Identity(actor=identities.agent("claude").actor, scopes=frozenset({"read"})))
    with pytest.raises(Refused, match="may not run"):
        await execute(reader, ExecuteArguments(notebook="sales", code="1"))


async def test_nobody_who_runs_it_is_told_of(tmp_path: Path) -> None:
    async with served(tmp_path, "alone", with_kernel=False) as alone:
        await alone.add(a="1")
        answer = await run(alone.here, RunArguments(notebook="alone", cells="all", seconds=0.1))
        assert answer.facts["state"] == "queued"
        assert f"nobody serves it: `quire serve`, or `quire runtime --for {alone.log}`, runs it" in answer.text
        assert answer.facts["waiting_for"]


# ---- Which cells


async def test_stale_is_what_changed_and_all_that_stands_on_it(tmp_path: Path) -> None:
    async with served(tmp_path, "choice", with_kernel=False) as choice:
        await choice.add(a="x = 1", b="y = x", c="z = 3", d="print(y)", m="print(z)")
        for id, defines, uses in (("a", "x", ""), ("b", "y", "x"), ("c", "z", ""), ("d", "", "y"), ("m", "", "z")):
            await _ran(choice, id, defines.split(), uses.split())
        now = await choice.read()
        assert chosen(now, "stale", unrun(now)) == []
        await choice.say(e.SourceEdited(cell=CellId("a"), text="x = 2", base_hash=source_hash("x = 1")))
        now = await choice.read()
        assert [cell.id for cell in chosen(now, "changed", unrun(now))] == ["a"]
        assert [cell.id for cell in chosen(now, "stale", unrun(now))] == ["a", "b", "d"]
        await choice.say(e.CellAdded(cell=CellId("n"), after=CellId("c"), source="z = 4"))
        now = await choice.read()
        # It never defined `z` so far, but it will.
        assert [cell.id for cell in chosen(now, "stale", [CellId("n")])] == ["a", "b", "n", "d", "m"]
        await choice.owner.acting_as(identities.runtime("r")).submit(
            choice.log, [e.Draft(id=e.EventId("gone"), event=e.RuntimeDetached(runtime=e.RuntimeId("runtime:r")))]
        )
        await choice.say(e.SourceEdited(cell=CellId("a"), text="x = 1", base_hash=source_hash("x = 2")))
        await choice.say(e.CellRemoved(cell=CellId("n")), e.CellAdded(cell=CellId("o"), after=CellId("m"), source="y"))
        now = await choice.read()
        # The kernel is gone: what `o` uses has to be defined anew.
        assert [cell.id for cell in chosen(now, "stale", unrun(now))] == ["a", "b", "o"]


async def _ran(nb: Served, id: str, defines: list[str], uses: list[str]) -> None:
    runtime = nb.owner.acting_as(identities.runtime("r"))
    me, x = e.RuntimeId("runtime:r"), e.ExecutionId(f"x-{id}")
    hash = source_hash((await nb.read()).cells[CellId(id)].source)

    async def say(event: e.KnownEvent) -> e.Entry:
        (entry,) = await runtime.submit(nb.log, [e.Draft(id=e.EventId(f"{id}-{type(event).__name__}"), event=event)])
        return entry

    if me not in (await nb.read()).runtimes:
        await say(e.RuntimeAttached(runtime=me))
        await say(e.KernelStarted(runtime=me, kernel="k"))
    await nb.say(e.ExecutionRequested(execution=x, cell=CellId(id), source_hash=hash))
    claim = (await say(e.ExecutionClaimed(execution=x, runtime=me))).event
    assert isinstance(claim, e.ExecutionClaimed)
    epoch = claim.epoch or 0
    started = e.ExecutionStarted(
        execution=x, cell=CellId(id), source_hash=hash, epoch=epoch, defines=tuple(defines), uses=tuple(uses)
    )
    await say(started)
    await say(e.ExecutionFinished(execution=x, epoch=epoch, status="ok"))
