"""A pause, in every workspace: an agent is refused everything until it is resumed (rule 3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, NotFound, Refused
from quire.core.ids import WORKSPACE_LOG, ActorId, ExecutionId
from quire.core.text import source_hash
from quire.workspace.identity import identities, pauses
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from .doors import acting, at_both_doors, bearer, bearer_of, in_one_place
from .identities import ADA, AGENT, BOB, EVE, LOG, RENAMED, A, OpenOne, refused, say
from .test_roles import ended, following

WHY = "agent:claude is paused by human:ada since 2026-03-02 00:00 UTC: tests first. Ask human:ada, or wait until"


def everything(who: Workspace) -> list[Awaitable[Any]]:
    """What an agent does all day."""
    return [
        who.read(LOG),
        who.entries(LOG),
        who.logs(),
        who.find(LOG),
        who.directory(),
        say(who, RENAMED),
        say(who, e.ExecutionRequested(execution=ExecutionId("x9"), cell=A, source_hash=source_hash("x = 1"))),
        who.put_blob(b"bytes"),
        who.query("SELECT 1"),
        who.create_sign_in(),
        who.plan_undo(LOG, ADA),
        who.hold("mirror:x"),
    ]


async def test_a_paused_agent_is_refused_everything_with_the_reason_and_goes_on_once_resumed(
    ada: Workspace, agent: Workspace
) -> None:
    await pauses.pause(ada, AGENT, "tests first.")
    for asked in everything(agent):
        with pytest.raises(Refused) as error:
            await asked
        assert str(error.value).startswith(WHY)
        paused = {"name": AGENT, "by": ADA, "at": "2026-03-02T00:00:00.000000Z", "why": "tests first."}
        assert error.value.details == {"paused": paused}
    await pauses.resume(ada, AGENT)
    assert (await agent.read(LOG)).seq == 3


async def test_whoever_follows_is_shut_out_at_once(ada: Workspace, agent: Workspace) -> None:
    async with following(agent.follow(LOG)) as (heard, task), following(agent.feed(0)) as (_, feeding):
        assert [(await asyncio.wait_for(heard.get(), 120)).seq for _ in range(3)] == [1, 2, 3]
        await pauses.pause(ada, AGENT, "tests first")
        await say(ada, RENAMED)
        assert (await ended(task)).startswith(WHY)
        assert (await ended(feeding)).startswith(WHY)
        assert heard.empty()


async def test_a_pause_survives_a_restart(ada: Workspace, agent: Workspace, open_one: OpenOne) -> None:
    await pauses.pause(ada, AGENT)
    again = await acting(await open_one(), agent.identity)
    assert "is paused" in await refused(again.read(LOG))


@at_both_doors
async def test_one_token_is_paused_and_the_others_of_its_actor_are_not(owner: LocalWorkspace, ada: Workspace) -> None:
    first, second = await bearer(owner, AGENT, "read"), await bearer(owner, AGENT, "read")
    assert first.identity.token is not None
    await pauses.pause(ada, first.identity.token)
    assert f"Token {first.identity.token} of agent:claude is paused" in await refused(first.read(LOG))
    await second.read(LOG)
    listed = {each.token: each.paused for each in await ada.tokens()}
    assert listed[first.identity.token] is not None
    assert [each for each in listed.values() if each is not None] == [listed[first.identity.token]]


@at_both_doors
async def test_what_was_made_with_a_paused_token_is_held_with_it(owner: LocalWorkspace, ada: Workspace) -> None:
    parent = await bearer(owner, AGENT, "read", "run", "admin", on_behalf_of=ADA)
    made = await parent.create_token(ActorId("agent:helper"), ["read"], on_behalf_of=ADA, expires_at="1h")
    child = await bearer_of(owner, made.secret)
    await pauses.pause(ada, AGENT)
    assert "agent:claude, with whose token that of agent:helper was made, is paused" in await refused(child.read(LOG))
    await pauses.resume(ada, AGENT)
    assert parent.identity.token is not None
    await pauses.pause(ada, parent.identity.token)
    assert "is paused" in await refused(child.read(LOG))


@at_both_doors
async def test_an_agent_without_a_token_is_held_by_its_name(owner: LocalWorkspace, ada: Workspace) -> None:
    stdio = owner.acting_as(identities.agent("codex"))
    await stdio.read(LOG)
    await pauses.pause(ada, stdio.identity.actor, "not now")
    assert "agent:codex is paused by human:ada" in await refused(stdio.read(LOG))


@at_both_doors
async def test_a_runtime_goes_on_while_the_agent_that_started_it_is_paused(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    """What runs is not lost: it is interrupted, or ends by itself."""
    agent = await bearer(owner, AGENT, "read", "run", on_behalf_of=ADA)
    runtime = await agent.as_runtime("gpu", LOG)
    await pauses.pause(ada, AGENT)
    await runtime.read(LOG)


@at_both_doors
async def test_whoever_acts_for_a_paused_person_is_held_with_them(
    owner: LocalWorkspace, ada: Workspace, agent: Workspace
) -> None:
    await pauses.pause(owner, ADA, "away")
    assert "human:ada is paused" in await refused(ada.read(LOG))
    assert "human:ada, for whom agent:claude acts, is paused" in await refused(agent.read(LOG))


@in_one_place
async def test_an_agent_pauses_nobody_and_resumes_nobody(owner: LocalWorkspace, ada: Workspace) -> None:
    mighty = await bearer(owner, AGENT, "read", "edit", "admin", on_behalf_of=ADA)
    other = ActorId("agent:other")
    assert "Only a human" in await refused(pauses.pause(mighty, other))
    await pauses.pause(ada, other)
    assert "Only a human" in await refused(pauses.resume(mighty, other))
    await pauses.pause(ada, AGENT)
    assert "is paused" in await refused(pauses.resume(mighty, AGENT))


@in_one_place
async def test_the_person_for_whom_an_agent_acts_pauses_it_without_admin(owner: LocalWorkspace, ada: Workspace) -> None:
    bob, eve = await bearer(owner, BOB, "read"), await bearer(owner, EVE, "read")
    its = await bearer(owner, AGENT, "read", on_behalf_of=BOB)
    assert "may not pause" in await refused(pauses.pause(eve, AGENT))
    await pauses.pause(bob, AGENT)
    assert "may not pause" in await refused(pauses.resume(eve, AGENT))
    await pauses.resume(bob, AGENT)
    # What somebody with admin paused is theirs to end.
    await pauses.pause(ada, AGENT)
    assert "was paused by human:ada" in await refused(pauses.resume(bob, AGENT))
    await pauses.resume(ada, AGENT)
    # Once it acts for others, too, one of them pauses its own token alone.
    await bearer(owner, AGENT, "read", on_behalf_of=EVE)
    assert "alone it acts" in await refused(pauses.pause(bob, AGENT))
    assert its.identity.token is not None
    await pauses.pause(bob, its.identity.token)
    assert "may not pause" in await refused(pauses.pause(bob, EVE))


@in_one_place
async def test_nobody_pauses_themselves_a_runtime_or_the_owner_of_the_files(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    assert "themselves" in await refused(pauses.pause(ada, ADA))
    assert "neither an agent nor a human" in await refused(pauses.pause(ada, ActorId("runtime:gpu")))
    assert "owns the files" in await refused(pauses.pause(ada, owner.identity.actor))
    await pauses.pause(ada, BOB)
    assert "paused already, by human:ada" in await refused(pauses.pause(owner, BOB))
    await pauses.resume(owner, BOB)
    with pytest.raises(NotFound):
        await pauses.resume(owner, BOB)


@at_both_doors
async def test_what_a_paused_agent_asked_to_run_is_stopped_on_demand(owner: LocalWorkspace, ada: Workspace) -> None:
    agent = await bearer(owner, AGENT, "read", "run", on_behalf_of=ADA)
    mine, its = ExecutionId("mine"), ExecutionId("its")
    await say(ada, e.ExecutionRequested(execution=mine, cell=A, source_hash=source_hash("x = 1")))
    second = (await ada.read(LOG)).order[1]
    await say(agent, e.ExecutionRequested(execution=its, cell=second, source_hash=source_hash("select 1")))
    await pauses.pause(ada, AGENT)
    stopped = await pauses.stop_work(ada, AGENT)
    assert [type(entry.event).__name__ for entry in stopped] == ["ExecutionCancelled"]
    assert list((await ada.read(LOG)).executions) == [mine]


@in_one_place
async def test_a_pause_names_an_actor_or_a_token_and_belongs_into_the_workspace_log(ada: Workspace) -> None:
    for event in (e.ActorPaused(), e.ActorPaused(actor=BOB, token=e.TokenId("t"))):
        with pytest.raises(BadInput, match="of an actor or of a token"):
            await say(ada, event, log=WORKSPACE_LOG)
    with pytest.raises(BadInput, match="belongs into the workspace log"):
        await say(ada, e.ActorPaused(actor=BOB), log=LOG)
