"""What runs teach a template: proposed, with `{name}` where the run had its value."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.core.errors import BadInput, Conflict, Refused
from quire.core.events import Draft, ProposalAccepted
from quire.core.ids import ActorId, CellId
from quire.core.notebook.notebook import Notebook
from quire.logbooks.template_proposal import propose_to_template, with_braces
from quire.workspace.clock import new_id
from quire.workspace.identity import identities

from .step_agent import StepAgent, step_agent
from .template_texts import GREET, write_template

VALUES = {"name": "World", "top": 5}


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncIterator[StepAgent]:
    write_template(tmp_path)
    async with step_agent(tmp_path) as made:
        await made.begin("greet", with_kernel=False, parameters={"name": "World"}, request="Greet.")
        yield made


@pytest.mark.parametrize(
    ("written", "filled", "new", "made"),
    [
        ('print("Hello, {name}!")', 'print("Hello, World!")', 'print("Dear World!")', 'print("Dear {name}!")'),
        ("x = {top}\ny = 1", "x = 5\ny = 1", "x = 5\ny = 2", "x = {top}\ny = 2"),
        ('print("{name}")', 'print("World")', 'print("Mars")', None),
        ('f"{name}"', 'f"{name}"', 'f"{name}!"', 'f"{name}!"'),
        ("{name} {name}", "World World", "World and World", "{name} and {name}"),
    ],
)
def test_values_become_names_again_where_they_were_kept(written: str, filled: str, new: str, made: str | None) -> None:
    assert with_braces(written, filled, new, VALUES) == made


async def notebook_of_template(agent: StepAgent) -> Notebook:
    log = await agent.owner.bound_to("logbooks/templates/greet.md")
    assert log is not None
    return await agent.owner.read(log)


async def test_what_was_changed_added_and_left_out_becomes_one_proposal_to_the_template(agent: StepAgent) -> None:
    code, prose = await agent.steps()
    await agent.edit(
        {"op": "patch", "cell": code.cell, "old": "Hello, World!", "new": "Dear World, welcome!"},
        {"op": "insert", "after": code.cell, "source": "print(2)", "name": "second"},
        {"op": "step", "cell": code.cell, "why": "friendlier"},
    )
    made = await propose_to_template(agent.owner, agent.folder, agent.log)
    proposal = (await notebook_of_template(agent)).proposals[made.proposal]
    assert proposal.why == f"learned from run {agent.log}: friendlier"
    assert made.literal == ()
    assert len(proposal.changes) == 2
    with pytest.raises(Conflict, match="asks .* for the same already"):
        await propose_to_template(agent.owner, agent.folder, agent.log)
    person = agent.owner.acting_as(identities.Identity(actor=ActorId("human:bob"), scopes=identities.system().scopes))
    await person.submit(made.log, [Draft(id=new_id(), event=ProposalAccepted(proposal=made.proposal))])
    sources = [cell.source for cell in (await notebook_of_template(agent)).live_cells]
    assert sources[1:3] == ['print("Dear {name}, welcome!")', "print(2)"]
    assert prose.cell != CellId("")


async def test_a_run_that_did_what_the_template_says_teaches_nothing_and_a_template_that_moved_on_is_left_alone(
    agent: StepAgent,
) -> None:
    with pytest.raises(BadInput, match="nothing to learn"):
        await propose_to_template(agent.owner, agent.folder, agent.log)
    code, _ = await agent.steps()
    await agent.edit({"op": "patch", "cell": code.cell, "old": "Hello", "new": "Hi"})
    write_template(agent.folder, GREET.replace("Hello", "Good day"))
    with pytest.raises(Refused, match="was changed since run"):
        await propose_to_template(agent.owner, agent.folder, agent.log)
