"""Only a human says yes, on every store: never an agent, a runtime or a schedule, whatever its token says (rule 3)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quire.core import events as e
from quire.core.ids import ActorId, ExecutionId, ProposalId
from quire.core.text import Splice, source_hash
from quire.workspace.identity.identities import Identity
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from .doors import bearer
from .identities import ADA, AGENT, BOB, LOG, A, refused, say

P = ProposalId("p")
YES = e.ProposalAccepted(proposal=P)
PROPOSED = e.ProposalMade(proposal=P, why="better", changes=(e.CellRemoved(cell=A),))
OTHERS: dict[str, tuple[ActorId, ActorId | None]] = {
    "another agent of the same person": (ActorId("agent:other"), ADA),
    "an agent of somebody else": (ActorId("agent:other"), BOB),
    "a schedule": (ActorId("schedule:nightly"), ADA),
    "a runtime": (ActorId("runtime:gpu"), ADA),
}


@pytest.mark.parametrize("who", OTHERS)
async def test_only_a_human_accepts_what_an_agent_proposed(
    owner: LocalWorkspace, ada: Workspace, agent: Workspace, who: str
) -> None:
    """Also with the rights of a token that an older Quire made."""
    actor, behalf = OTHERS[who]
    await say(agent, PROPOSED)
    other = owner.acting_as(Identity(actor=actor, scopes=frozenset(("read", "edit", "approve")), on_behalf_of=behalf))
    assert "Only a human" in await refused(say(other, YES))
    assert not (await ada.read(LOG)).cells[A].removed
    await say(ada, YES)
    assert (await ada.read(LOG)).cells[A].removed, "the person for whom it asked may"


async def test_another_human_with_the_right_may_accept(owner: LocalWorkspace, ada: Workspace, agent: Workspace) -> None:
    await say(agent, PROPOSED)
    assert "approve" in await refused(say(await bearer(owner, BOB, "read", "edit"), YES))
    await say(await bearer(owner, BOB, "read", "approve"), YES)
    assert (await ada.read(LOG)).cells[A].removed


async def test_nobody_accepts_what_they_proposed_themselves(owner: LocalWorkspace, ada: Workspace) -> None:
    await say(ada, PROPOSED)
    for hers in (ada, await bearer(owner, ADA, "read", "approve")):
        assert "own" in await refused(say(hers, YES))
    agents = msgspec.structs.replace(ada.identity, actor=AGENT, on_behalf_of=ADA, token=None)
    assert "Only a human" in await refused(say(owner.acting_as(agents), YES))


@pytest.mark.parametrize(
    ("actor", "more"),
    [
        ("agent:claude", {"on_behalf_of": ADA}),
        ("agent:claude", {}),
        ("schedule:nightly", {}),
        ("runtime:gpu", {}),
    ],
)
async def test_a_token_to_approve_is_made_for_humans_only(
    owner: LocalWorkspace, ada: Workspace, actor: str, more: dict[str, Any]
) -> None:
    before = await owner.tokens()
    for maker in (owner, ada):
        told = await refused(maker.create_token(ActorId(actor), ["read", "approve"], **more))
        assert "approve" in told and ("human" in told or "runtime" in told)
    assert await owner.tokens() == before


# ---- What others typed before the yes


def whole(text: str, before: str = "x = 1") -> e.SourceEdited:
    """What an agent proposes: a whole text, made against another."""
    return e.SourceEdited(cell=A, text=text, base_hash=source_hash(before))


async def test_a_whole_text_is_carried_over_what_others_typed_before_the_yes(ada: Workspace, agent: Workspace) -> None:
    """Rule 8: nothing that anybody typed is lost by a yes, and a replay of it merges nothing."""
    await say(
        agent, e.ProposalMade(proposal=P, why="better", changes=(whole("x = 1\ny = 2"), whole("y = 2", "x = 1\ny = 2")))
    )
    now = await ada.read(LOG)
    await say(ada, e.SourceEdited(cell=A, base=now.seq, edit=(Splice(0, 0, "# ada\n"),)))
    (entry,) = await say(ada, YES)
    assert (await ada.read(LOG)).cells[A].source == "# ada\ny = 2"
    assert isinstance(entry.event, e.ProposalAccepted)
    assert [(each.base, each.text) for each in entry.event.applied or () if isinstance(each, e.SourceEdited)] == [
        (now.seq, None),
        (now.seq, None),
    ]


async def test_what_is_run_after_a_carried_over_text_is_void(ada: Workspace, agent: Workspace) -> None:
    effect = e.RunCell(execution=ExecutionId("x9"), cell=A, source_hash=source_hash("y = 2"))
    await say(agent, e.ProposalMade(proposal=P, why="better", changes=(whole("y = 2"),), effects=(effect,)))
    now = await ada.read(LOG)
    await say(ada, e.SourceEdited(cell=A, base=now.seq, edit=(Splice(0, 0, "# ada\n"),)))
    assert "its run is void" in await refused(say(ada, YES))
    await say(ada, e.ProposalAccepted(proposal=P, selection=(0,)))
    assert (await ada.read(LOG)).cells[A].source == "# ada\ny = 2"


async def test_a_sender_cannot_fill_in_what_a_whole_text_changes(agent: Workspace) -> None:
    forged = msgspec.structs.replace(whole("y = 2"), applied=(Splice(0, 0, "other"),))
    assert "filled by the workspace" in await refused(say(agent, e.ProposalMade(proposal=P, why="", changes=(forged,))))
