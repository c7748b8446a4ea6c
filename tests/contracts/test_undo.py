"""Undo of what one actor did, in every workspace."""

from __future__ import annotations

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, Conflict
from quire.core.text import Splice
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace
from quire.workspace.undo import editors

from .doors import bearer
from .identities import ADA, AGENT, BOB, EVE, LOG, A, refused, say


async def text(workspace: Workspace) -> str:
    return (await workspace.read(LOG)).cells[A].source


async def typed(workspace: Workspace, at: int, remove: int, insert: str) -> None:
    base = (await workspace.read(LOG)).seq
    await say(workspace, e.SourceEdited(cell=A, base=base, edit=(Splice(at, remove, insert),)))


@pytest.fixture
async def bob(owner: LocalWorkspace, ada: Workspace) -> Workspace:
    """Who edited in a notebook of Ada's, before and after she did."""
    made = await bearer(owner, BOB, "read", "edit")
    await typed(made, 4, 1, "22")
    await typed(ada, 6, 0, "  # mine")
    await typed(made, 0, 0, "y = 0\n")
    return made


async def test_an_undo_takes_back_what_one_did_and_keeps_what_others_did(ada: Workspace, bob: Workspace) -> None:
    plan = await ada.plan_undo(LOG, BOB)
    assert [undone.part for undone in plan.undone] == ["text"]
    done = await ada.undo(LOG, BOB, seq=plan.seq)
    assert [entry.actor for entry in done.entries] == [ADA]
    assert await text(ada) == "x = 1  # mine"
    assert (await ada.undo(LOG, BOB)).entries == []


async def test_an_undo_since_a_number_leaves_what_was_before_it(ada: Workspace, bob: Workspace) -> None:
    seq = (await ada.read(LOG)).seq
    await ada.undo(LOG, BOB, seq - 1)
    assert await text(ada) == "x = 22  # mine"
    with pytest.raises(BadInput):
        await ada.plan_undo(LOG, BOB, seq + 100)


async def test_an_undo_of_a_plan_that_cells_moved_away_from_is_a_conflict(ada: Workspace, bob: Workspace) -> None:
    plan = await ada.plan_undo(LOG, BOB)
    await say(ada, e.NotebookRenamed(name="other"))  # no change of a cell: the plan holds
    await typed(bob, 0, 0, "z\n")
    with pytest.raises(Conflict):
        await ada.undo(LOG, BOB, seq=plan.seq)
    assert await text(ada) == "z\ny = 0\nx = 22  # mine"
    await ada.undo(LOG, BOB)
    assert await text(ada) == "x = 1  # mine"


async def test_everyone_who_ever_edited_is_known_also_where_nothing_of_it_is_left(
    owner: LocalWorkspace, ada: Workspace, bob: Workspace
) -> None:
    eve = await bearer(owner, EVE, "read", "edit")
    agent = await bearer(owner, AGENT, "read", "edit", on_behalf_of=ADA, asks=["edit"])
    await typed(eve, 0, 0, "gone")
    await typed(ada, 0, 4, "")
    await typed(agent, 0, 0, "asked")
    found = {each.actor: each for each in await editors(ada, LOG)}
    assert set(found) >= {ADA, BOB, EVE, AGENT}
    assert [found[who].has_edited for who in (ADA, BOB, EVE, AGENT)] == [True, True, True, False]
    assert found[AGENT].on_behalf_of == ADA
    (proposal,) = (await ada.read(LOG)).proposals
    await say(await bearer(owner, ADA, "read", "edit", "approve"), e.ProposalAccepted(proposal=proposal))
    assert {each.actor: each.has_edited for each in await editors(ada, LOG)}[AGENT]


async def test_an_undo_needs_the_right_to_edit(owner: LocalWorkspace, ada: Workspace, bob: Workspace) -> None:
    viewer = await bearer(owner, BOB, "read")
    assert (await viewer.plan_undo(LOG, BOB)).changes
    assert "may not edit" in await refused(viewer.undo(LOG, BOB))


async def test_an_undo_of_somebody_who_has_to_ask_is_one_proposal(
    ada: Workspace, bob: Workspace, agent: Workspace
) -> None:
    done = await agent.undo(LOG, BOB)
    assert done.proposal is not None
    assert done.proposal.why == f"Undo of all edits of {BOB}"
    await say(ada, e.ProposalAccepted(proposal=done.proposal.proposal))
    assert await text(ada) == "x = 1  # mine"
