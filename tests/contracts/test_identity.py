"""Who somebody is, on every store: scopes, tokens, and that nobody signs for somebody else (rule 3)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quire.core import codec
from quire.core import events as e
from quire.core.errors import BadInput, NotFound, QuireError, Refused
from quire.core.events import KnownEvent
from quire.core.ids import (
    ACTOR_KINDS,
    WORKSPACE_LOG,
    ActorId,
    LogId,
    ProposalId,
    RuntimeId,
)
from quire.workspace.identity import identities
from quire.workspace.identity.identities import Identity
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from .doors import acting, at_both_doors, bearer, bearer_of, in_one_place, on_every_store
from .identities import (
    ADA,
    AGENT,
    ALL,
    BOB,
    EVE,
    LOG,
    OTHER,
    RENAMED,
    REQUESTED,
    A,
    Clock,
    OpenOne,
    X,
    drained,
    everything,
    give,
    refused,
    say,
)

# ---- Every method looks


@at_both_doors
async def test_each_method_needs_its_scope(owner: LocalWorkspace, ada: Workspace) -> None:
    for left_out in ALL:
        rest: list[e.Scope] = [scope for scope in ALL if scope != left_out]
        poor = await bearer(owner, EVE, *rest)
        for scope, ask in everything(poor, LOG):
            if scope == left_out:
                assert left_out in await refused(ask())
    assert (await ada.read(LOG)).seq == 3


@at_both_doors
async def test_without_the_scope_to_read_nothing_is_listed_found_or_asked(
    owner: LocalWorkspace, ada: Workspace
) -> None:
    poor = await bearer(owner, EVE, "edit", "run", "approve", "admin")
    for asking in (
        poor.logs(),
        poor.find("n1"),
        poor.query("select 1"),
        poor.directory(),
        poor.tokens(),
        poor.claims(),
    ):
        await refused(asking)
    await refused(drained(poor.feed(0)))
    await refused(drained(poor.verify()))
    assert (await ada.find("n1")).log == LOG


@pytest.mark.parametrize("how", ["another token", "closed", "taken away", "revoked", "expired"])
@at_both_doors
async def test_who_is_outside_gets_at_nothing(owner: LocalWorkspace, ada: Workspace, clock: Clock, how: str) -> None:
    """Another notebook's token, no role where others have one, or a token that no longer opens anything."""
    made = await owner.create_token(
        EVE, ALL, notebooks=[OTHER] if how == "another token" else None, expires_at="3h" if how == "expired" else None
    )
    eve = await bearer_of(owner, made.secret)
    if how != "another token":
        assert (await eve.read(LOG)).seq == 3
    if how in ("closed", "taken away"):
        await give(ada, BOB, "viewer")
    if how == "taken away":
        await give(ada, EVE, "editor")
        await say(eve, RENAMED)
        await give(ada, EVE, None)
    if how == "revoked":
        await say(owner, e.TokenRevoked(token=made.token), log=WORKSPACE_LOG)
    clock.hour += 3
    before = await owner.entries(LOG)
    for _, ask in everything(eve, LOG):
        await refused(ask())
    assert await owner.entries(LOG) == before
    if how in ("revoked", "expired"):
        assert how in await refused(eve.logs())
        assert how in await refused(eve.put_blob(b"x"))
        await refused(bearer_of(owner, made.secret))
        return
    assert LOG not in {info.log for info in await eve.logs()}
    assert LOG not in {found.log async for found in eve.verify()}
    with pytest.raises(NotFound):
        await eve.find("n1")
    await refused(eve.query("select 1"))
    assert (await eve.read(OTHER)).seq == 3, "the rest is as before"


# ---- Tokens


async def test_a_token_revoked_in_another_process_opens_nothing_from_then_on(
    owner: LocalWorkspace, ada: Workspace, open_one: OpenOne
) -> None:
    made = await owner.create_token(EVE, ["read", "edit"])
    eve = await bearer_of(await open_one(), made.secret)
    await say(eve, RENAMED)
    await say(owner, e.TokenRevoked(token=made.token), log=WORKSPACE_LOG)
    assert "revoked by" in await refused(say(eve, RENAMED))
    assert "revoked by" in await refused(eve.read(LOG))
    with pytest.raises(Refused):
        await say(owner, e.TokenRevoked(token=made.token), log=WORKSPACE_LOG)
    (listed,) = [each for each in await owner.tokens() if each.token == made.token]
    assert (listed.state, listed.allows.revoked_by) == ("revoked", owner.identity.actor)


@in_one_place
async def test_time_is_that_of_the_workspace(owner: LocalWorkspace, clock: Clock) -> None:
    short = await owner.create_token(EVE, ["read"], expires_at="90m")
    until = await owner.create_token(EVE, ["read"], expires_at="2026-03-02T04:00+02:00")
    assert (short.expires_at, until.expires_at) == ("2026-03-02T01:30:00.000000Z", "2026-03-02T02:00:00.000000Z")
    eve = await bearer_of(owner, short.secret)
    assert await eve.logs()
    clock.hour = 2
    assert "expired" in await refused(eve.logs())
    assert [each.state for each in await owner.tokens()] == ["expired", "expired"]


@in_one_place
async def test_an_end_that_is_no_time_is_named(owner: LocalWorkspace) -> None:
    for text in ("", "soon", "0x", "-3d", "8", "3 d", "1e3h", "31.12.2026", "9999-12-31T23:59-23:00", "999999w"):
        with pytest.raises(BadInput) as error:
            await owner.create_token(EVE, ["read"], expires_at=text)
        assert "30d" in str(error.value), text
    assert await owner.tokens() == []


@in_one_place
async def test_actors_of_every_kind_but_the_system_have_tokens(owner: LocalWorkspace) -> None:
    attached = e.RuntimeAttached(runtime=RuntimeId("runtime:x"))
    for kind in (kind for kind in ACTOR_KINDS if kind != "system"):
        is_runtime = kind == "runtime"
        who = await bearer(owner, ActorId(f"{kind}:x"), "read", "serve" if is_runtime else "edit")
        log = LogId(f"of-{kind}")
        await say(owner, e.NotebookCreated(name="x"), log=log)
        (entry,) = await say(who, attached if is_runtime else RENAMED, log=log)
        assert entry.actor == f"{kind}:x"
        assert entry.on_behalf_of == (owner.identity.actor if kind == "agent" else None)


CHAINS: list[tuple[str, str | None]] = [
    ("system:quire", None),
    ("agent:b", "agent:a"),
    ("agent:b", "runtime:a"),
    ("agent:b", "system:quire"),
    ("human:bob", "human:ada"),
    ("human:bob", "agent:a"),
]


@in_one_place
async def test_nobody_acts_for_the_system_or_for_somebody_who_acts_for_others(owner: LocalWorkspace) -> None:
    """Chains have one link, so that the log names who answers for it."""
    for actor, behalf in CHAINS:
        on_behalf_of = ActorId(behalf) if behalf is not None else None
        await refused(owner.create_token(ActorId(actor), ["read"], on_behalf_of=on_behalf_of))
    assert await owner.tokens() == []


@at_both_doors
async def test_a_token_that_makes_tokens_gives_no_more_than_it_has(owner: LocalWorkspace, clock: Clock) -> None:
    agent = await bearer(owner, AGENT, "read", "edit", "admin", on_behalf_of=ADA, expires_at="8h", asks=["edit"])
    end = "1h"
    wrong: list[tuple[ActorId, tuple[e.Scope, ...], dict[str, Any]]] = [
        (ActorId("agent:b"), ("read", "approve"), {"expires_at": end}),
        (ActorId("agent:b"), ("read", "edit"), {"expires_at": end}),
        (ActorId("agent:b"), ("read",), {}),
        (ActorId("agent:b"), ("read",), {"expires_at": "9h"}),
        (ActorId("agent:b"), ("read",), {"expires_at": end, "on_behalf_of": BOB}),
        (ADA, ("read",), {"expires_at": end}),
    ]
    for actor, scopes, more in wrong:
        await refused(agent.create_token(actor, scopes, **more))
    helper = await bearer(agent, ActorId("agent:b"), "read", "edit", expires_at=end, asks=["edit"])
    assert (helper.identity.on_behalf_of, helper.identity.asks) == (ADA, {"edit"})
    forged = e.TokenCreated(token=e.TokenId("t"), actor=ADA, scopes=ALL)
    await refused(say(agent, forged, log=WORKSPACE_LOG))
    limited = await bearer(owner, ADA, *ALL, notebooks=[LOG])
    await refused(limited.create_token(ADA, ["read"]))


@on_every_store
async def test_a_secret_is_nowhere_but_with_its_bearer(owner: LocalWorkspace) -> None:
    made = await owner.create_token(EVE, ["read"])
    told = [str(await owner.entries(WORKSPACE_LOG)), str(await owner.directory()), str(await owner.tokens())]
    told += [str((await owner.query(f"select * from {view}")).rows) for view in ("events", "actors")]
    told.append(await refused(bearer_of(owner, made.secret + "x")))
    assert not any(made.secret in text for text in told)


# ---- Nobody signs for somebody else


def test_what_the_workspace_stamps_cannot_even_be_sent() -> None:
    """A draft has no such field, and one that is not there is refused, not dropped."""
    for name in ("actor", "on_behalf_of", "at", "seq", "hash", "imported", "log"):
        given = {"id": "e1", "event": {"type": "notebook_renamed", "name": "x"}, name: "human:ada"}
        with pytest.raises(BadInput) as error:
            codec.draft_from(given)
        assert repr(name) in str(error.value)
        inside = {"id": "e1", "event": {"type": "notebook_renamed", "name": "x", name: "human:ada"}}
        with pytest.raises(BadInput):
            codec.draft_from(inside)


FILLED: list[KnownEvent] = [
    e.ProposalAccepted(proposal=ProposalId("p"), applied=(e.CellRemoved(cell=A),)),
    e.ProposalAccepted(proposal=ProposalId("p"), effects=()),
    e.ExecutionClaimed(execution=X, runtime=RuntimeId("runtime:x"), epoch=9),
    e.PayloadRedacted(seq=1, why="x", replacement="0"),
    e.SourceEdited(cell=A, base=3, applied=()),
]


@in_one_place
async def test_fields_of_the_workspace_are_refused_whoever_fills_them(ada: Workspace) -> None:
    asking = await acting(ada, msgspec.structs.replace(ada.identity, asks=frozenset(("edit", "run"))))
    for event in FILLED:
        for who in (ada, asking):
            assert "filled by the workspace" in await refused(say(who, event)), event


@in_one_place
async def test_a_runtime_is_claimed_for_oneself_only(owner: LocalWorkspace, ada: Workspace) -> None:
    thief = await bearer(owner, ActorId("runtime:evil"), "read", "serve")
    await say(ada, REQUESTED)
    await refused(say(thief, e.ExecutionClaimed(execution=X, runtime=RuntimeId("runtime:good"))))
    with pytest.raises(QuireError):
        await say(thief, e.ExecutionFinished(execution=X, epoch=1, status="ok"))


# ---- Nothing to look up


def test_only_the_owner_the_system_and_own_runtimes_are_not_looked_up() -> None:
    for free in (identities.owner(), identities.system(), identities.runtime("local")):
        assert not free.is_bound
    for bound in (
        Identity(actor=EVE, scopes=frozenset(ALL)),
        Identity(actor=identities.SYSTEM, scopes=frozenset(ALL), notebooks=frozenset([LOG])),
        Identity(actor=ActorId("runtime:x"), scopes=frozenset(ALL), token=e.TokenId("t")),
    ):
        assert bound.is_bound
