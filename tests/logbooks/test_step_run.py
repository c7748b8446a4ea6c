"""Logbooks that are done step by step by an agent, with its tools."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, Refused
from quire.core.events import Draft
from quire.core.ids import ActorId
from quire.core.notebook.logbook_record import steps_of
from quire.logbooks.approved_run import propose_steps
from quire.logbooks.export_follower import follow_exports
from quire.logbooks.run_request import LogbookRequest
from quire.logbooks.run_tally import run_tallies
from quire.logbooks.step_run import answer_event, begin_steps
from quire.logbooks.template_files import read_template
from quire.workspace.clock import new_id
from quire.workspace.identity import identities

from ..command import as_json
from .step_agent import DEADLINE_SECONDS, StepAgent, step_agent
from .template_texts import write_template

FRIENDLY = {"op": "patch", "old": '"Hello, World!"', "new": '"Dear World, how lovely to see you!"'}
PATH = "logbooks/templates/greet.md"


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncIterator[StepAgent]:
    write_template(tmp_path)
    async with step_agent(tmp_path) as made:
        yield made


async def test_an_agent_changes_a_step_and_both_versions_are_in_the_file_with_the_reason(agent: StepAgent) -> None:
    words = "Greet the world, and be extra friendly."
    began = await agent.begin("greet", parameters={"name": "World"}, request=words, sources={"name": "the request says so"})
    code, prose = await agent.steps()
    assert (code.kind, prose.kind, began["logbook"]["next"]) == ("code", "prose", code.cell)
    assert "> **Not done**" in agent.text

    why = {"op": "step", "cell": code.cell, "why": "the greeting was to be extra friendly"}
    ran = await agent.edit(FRIENDLY | {"cell": code.cell}, why, run=[code.cell])
    assert ran["state"] == "done", ran
    assert ran["logbook"]["next"] == prose.cell
    done = await agent.edit(
        {"op": "step", "cell": prose.cell, "answer": "done", "did": "Asked the world.", "evidence": "It smiled."}
    )
    assert done["logbook"] == {"steps": 2, "open": 0, "deviated": 1, "skipped": 0, "failed": 0, "next": None}

    text = agent.text
    assert "> **Source** of `name`: the request says so" in text
    quoted = '> **Deviates from the template**: the greeting was to be extra friendly. The template has:\n>\n> ```python\n> print("Hello, World!")\n> ```'
    assert f'{quoted}\n\n```python\nprint("Dear World, how lovely to see you!")\n```\n\nResults:\n\n```text\nDear World' in text
    assert "> **Done** by agent:codex: Asked the world.\n>\n> Evidence: It smiled." in text
    assert "**success**: 2 steps, 1 deviated." in text
    (tally,) = (await run_tallies(agent.owner)).values()
    assert (tally.runs, tally.succeeded, tally.deviated, tally.failed, tally.open) == (1, 0, 1, 0, 0)


async def test_what_failed_before_it_succeeded_was_added_or_skipped_is_in_the_file(agent: StepAgent) -> None:
    await agent.begin("greet", parameters={"name": "World"}, request="Greet.")
    code, prose = await agent.steps()
    broken = await agent.edit({"op": "patch", "cell": code.cell, "old": "print", "new": "prnt"}, run=[code.cell])
    assert broken["state"] == "error"
    assert "Say why of" in broken["text"]
    assert "> **Failed**: NameError" in agent.text
    await agent.edit({"op": "patch", "cell": code.cell, "old": "prnt", "new": "print"}, run=[code.cell])
    await agent.edit({"op": "insert", "after": code.cell, "source": "1 + 1", "name": "sum"}, run="changed")
    await agent.edit({"op": "step", "cell": "sum", "why": "to be sure"})
    end = await agent.edit({"op": "step", "cell": prose.cell, "answer": "skipped", "why": "nobody was there"})
    assert end["logbook"] == {"steps": 3, "open": 0, "deviated": 1, "skipped": 1, "failed": 0, "next": None}
    assert "> **Failed before**: NameError: name 'prnt' is not defined" in agent.text
    assert "> **Added**: to be sure\n\n```python\n1 + 1\n```\n\nResults:\n\n```text\n2\n```" in agent.text
    assert "> **Skipped** by agent:codex: nobody was there" in agent.text
    assert "Deviates" not in agent.text


async def test_an_answer_that_says_nothing_or_is_not_the_steps_to_give_is_refused(agent: StepAgent) -> None:
    await agent.begin("greet", with_kernel=False, parameters={"name": "World"}, request="Greet.")
    code, prose = await agent.steps()
    for cell, more, told in (
        (code.cell, {"answer": "done"}, "it is done when it has run"),
        (prose.cell, {"answer": "done"}, "say with `did` what was done"),
        (code.cell, {"answer": "skipped"}, "say `why`"),
        (code.cell, {}, "Nothing is said"),
    ):
        with pytest.raises(BadInput, match=told):
            await agent.edit({"op": "step", "cell": cell, **more})
    await agent.tool("edit", notebook="plain", edits=[{"op": "insert", "after": "top", "source": "1", "name": "one"}])
    with pytest.raises(BadInput, match="is no logbook"):
        await agent.tool("edit", notebook="plain", edits=[{"op": "step", "cell": "one", "why": "x"}])


async def test_a_value_that_is_missing_is_refused_by_name_and_nothing_is_laid_out(agent: StepAgent) -> None:
    with pytest.raises(BadInput, match=f"{PATH}: parameter 'name' has no value"):
        await agent.begin("greet", request="Greet.")
    with pytest.raises(BadInput, match="which is no parameter"):
        await agent.begin("greet", request="Greet.", parameters={"name": "x"}, sources={"nam": "y"})
    assert await agent.owner.logs() == []


async def test_where_a_person_approves_each_step_an_agent_asks_for_each_and_cannot_change_that(agent: StepAgent) -> None:
    await agent.begin("greet", with_kernel=False, parameters={"name": "World"}, request="Greet.", approve=True)
    code, prose = await agent.steps()
    asked = await agent.edit(FRIENDLY | {"cell": code.cell}, run=[code.cell])
    assert asked["state"] == "proposed"
    assert not (await agent.steps())[0].deviated
    assert (await agent.edit({"op": "step", "cell": prose.cell, "answer": "done", "did": "x"}))["state"] == "proposed"
    with pytest.raises(Refused, match="cannot be proposed"):
        event = e.MetadataSet(values={"quire.logbook": {"template": "x"}})
        await agent.here.workspace.submit(agent.log, [Draft(id=new_id(), event=event)])
    person = agent.owner.acting_as(identities.Identity(actor=ActorId("human:bob"), scopes=identities.system().scopes))
    accepted = e.ProposalAccepted(proposal=asked["proposal"])
    await person.submit(agent.log, [Draft(id=new_id(), event=accepted)])
    assert (await agent.steps())[0].deviated


async def test_each_step_is_a_proposal_and_is_done_once_a_person_says_yes_and_skipped_on_a_no(agent: StepAgent) -> None:
    request = LogbookRequest(
        template=read_template(agent.folder, agent.folder / PATH),
        root=agent.folder,
        values={"name": "World"},
        request="Greet, and let me see each step.",
        approve=True,
    )
    made = await begin_steps(agent.owner, request, datetime.now().astimezone())
    await agent.serve(made.log)
    person = agent.owner.acting_as(identities.Identity(actor=ActorId("human:bob"), scopes=identities.system().scopes))
    answers = iter((True, False))
    told: list[str] = []

    async def decide() -> None:
        async for page in agent.owner.follow(made.log):
            for entry in page:
                if isinstance(entry.event, e.ProposalMade):
                    proposal = entry.event.proposal
                    yes = e.ProposalAccepted(proposal=proposal)
                    event = yes if next(answers) else e.ProposalDeclined(proposal=proposal, why="not today")
                    await person.submit(made.log, [Draft(id=new_id(), event=event)])

    deciding = asyncio.ensure_future(decide())
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            now = await propose_steps(agent.owner, made.log, agent.folder, told.append)
    finally:
        deciding.cancel()
    assert [(each.state, each.why) for each in steps_of(now)] == [("done", ""), ("skipped", "not today")]
    assert len(told) == 2
    by = {entry.event.why: entry.by for entry in await agent.owner.entries(made.log) if isinstance(entry.event, e.ProposalMade)}
    assert set(by.values()) == {"agent:logbook"}
    text = made.file.read_text()
    assert "```text\nHello, World!\n```" in text
    assert "not today" in text


def test_a_logbook_that_is_laid_out_for_others_says_how_it_is_called_and_where_its_file_is(tmp_path: Path) -> None:
    write_template(tmp_path)
    told = as_json("logbook", "run", "greet", "-p", "name=World", "--step-by-step", at=tmp_path)
    assert (told["status"], told["tally"]["steps"], told["tally"]["open"]) == ("running", 2, 2)
    assert (tmp_path / told["file"]).read_text().count("> **Not done**") == 2
    (listed,) = as_json("runs", "list", at=tmp_path)
    assert (listed["status"], listed["template"]) == ("running", PATH)
    assert as_json("runs", "show", told["run"], at=tmp_path)["outcome"]["status"] == "running"


async def test_the_file_follows_whoever_does_the_steps_and_other_notebooks_have_none(agent: StepAgent) -> None:
    await agent.begin("greet", with_kernel=False, parameters={"name": "World"}, request="Greet.")
    code, _ = await agent.steps()
    following = asyncio.ensure_future(follow_exports(agent.owner, agent.folder))
    try:
        await agent.tool("edit", notebook="plain", edits=[{"op": "insert", "after": "top", "source": "1"}])
        async with asyncio.timeout(DEADLINE_SECONDS):
            for number in itertools.count():
                # Until it listens: a feed begins with what comes next.
                event = answer_event(await agent.owner.read(agent.log), code.cell, "skipped", f"by hand, {number}")
                await agent.owner.submit(agent.log, [Draft(id=new_id(), event=event)])
                await asyncio.sleep(0)
                if "> **Skipped**: by hand" in agent.text:
                    break
    finally:
        following.cancel()
    assert len(list((agent.folder / "logbooks" / "runs").rglob("*.md"))) == 1
