"""Tokens have parents, on every store: what was made with a token ends with it (rule 3)."""

from __future__ import annotations

import asyncio

import pytest

from quire.core import events as e
from quire.core.events import Entry
from quire.core.ids import WORKSPACE_LOG, ActorId, EventId, TokenId
from quire.core.notebook.directory import Directory, Token, ended_by, fold_directory
from quire.workspace.identity.tokens import NewToken, tokens_of
from quire.workspace.local import LocalWorkspace
from quire.workspace.protocol import Workspace

from .doors import bearer_of
from .identities import ADA, AGENT, ALL, BOB, EVE, LOG, RENAMED, Clock, OpenOne, refused, say
from .test_roles import ended, following

MADE = ["browser", "sign-in", "runtime", "token", "token of a token"]


async def make(workspace: LocalWorkspace, kind: str, parent: str) -> NewToken:
    """Something that opens the workspace, made with a token."""
    maker = await workspace.bearer(parent)
    if kind in ("browser", "sign-in"):
        once = await maker.create_sign_in()
        return once if kind == "sign-in" else await workspace.sign_in(once.secret)
    if kind == "runtime":
        return await maker.create_runtime_token("gpu", LOG)
    made = await maker.create_token(EVE, ["read", "admin"], expires_at="1h")
    return made if kind == "token" else await make(workspace, "token", made.secret)


async def opens(workspace: LocalWorkspace, kind: str, made: NewToken) -> None:
    """Use it, as it is meant to be used."""
    if kind == "sign-in":
        await workspace.sign_in(made.secret)
    else:
        await (await workspace.bearer(made.secret)).read(LOG)


@pytest.mark.parametrize("how", ["revoked", "expired"])
@pytest.mark.parametrize("kind", MADE)
async def test_what_was_made_with_a_token_ends_with_it(
    owner: LocalWorkspace, ada: Workspace, clock: Clock, kind: str, how: str
) -> None:
    parent = await owner.create_token(BOB, ALL, expires_at="2h")
    made = await make(owner, kind, parent.secret)
    if kind != "sign-in":  # that one is used up by looking
        await opens(owner, kind, made)
    if how == "revoked":
        await say(owner, e.TokenRevoked(token=parent.token), log=WORKSPACE_LOG)
    else:
        clock.hour = 3
    assert how in await refused(opens(owner, kind, made))
    (listed,) = [each for each in await owner.tokens() if each.token == made.token]
    if how == "revoked":
        assert (listed.state, listed.ended_with) == ("ended", parent.token)
        assert parent.token in await refused(opens(owner, kind, made))


async def test_a_sign_in_made_before_its_maker_was_revoked_signs_nobody_in(owner: LocalWorkspace) -> None:
    parent = await owner.create_token(BOB, ALL)
    once = await make(owner, "sign-in", parent.secret)
    before = len((await owner.directory()).tokens)
    await say(owner, e.TokenRevoked(token=parent.token), log=WORKSPACE_LOG)
    assert "was revoked" in await refused(owner.sign_in(once.secret))
    assert len((await owner.directory()).tokens) == before


async def test_the_log_says_with_which_token_another_was_made(owner: LocalWorkspace, ada: Workspace) -> None:
    parent = await owner.create_token(BOB, ALL)
    names: dict[str, TokenId] = {"owner's": parent.token}
    for kind in ("browser", "sign-in", "runtime", "token"):
        names[kind] = (await make(owner, kind, parent.secret)).token
    tokens = (await owner.directory()).tokens
    assert tokens[names.pop("owner's")].parent is None
    assert {kind: tokens[token].parent for kind, token in names.items()} == dict.fromkeys(names, parent.token)
    recorded = [entry.event for entry in await owner.entries(WORKSPACE_LOG, types=("token_created",))]
    told = {event.token: event.parent for event in recorded if isinstance(event, e.TokenCreated)}
    assert {token: told[token] for token in names.values()} == dict.fromkeys(names.values(), parent.token)


async def test_nobody_chooses_the_parent_of_a_token(owner: LocalWorkspace, ada: Workspace) -> None:
    other = await owner.create_token(EVE, ["read"])
    forged = e.TokenCreated(token=TokenId("t"), actor=BOB, scopes=("read",), parent=other.token)
    for who in (owner, ada):
        assert "filled by the workspace" in await refused(say(who, forged, log=WORKSPACE_LOG))
    assert TokenId("t") not in (await owner.directory()).tokens


@pytest.mark.parametrize("then", ["silence", "more"])
async def test_a_follower_is_shut_out_with_the_token_above_its_own(
    owner: LocalWorkspace, ada: Workspace, open_one: OpenOne, then: str
) -> None:
    """At once, in another process, and on an open socket."""
    parent = await owner.create_token(BOB, ALL)
    made = await make(owner, "browser", parent.secret)
    browser = await bearer_of(await open_one(), made.secret)
    async with following(browser.follow(LOG)) as (heard, task), following(browser.feed(0)) as (_, feeding):
        assert [(await asyncio.wait_for(heard.get(), 20)).seq for _ in range(3)] == [1, 2, 3]
        await say(owner, e.TokenRevoked(token=parent.token), log=WORKSPACE_LOG)
        if then == "more":
            await say(ada, RENAMED)
        assert parent.token in await ended(task)
        assert parent.token in await ended(feeding)
        await say(ada, e.NotebookRenamed(name="later"))
        assert heard.empty()


async def test_an_identity_ends_when_the_first_token_above_it_does(owner: LocalWorkspace, clock: Clock) -> None:
    """Followers are woken at that time, and what it makes lasts no longer."""
    parent = await owner.create_token(BOB, ALL, expires_at="2h")
    browser = await owner.bearer((await make(owner, "browser", parent.secret)).secret)
    assert browser.identity.expires_at == parent.expires_at
    assert "cannot last longer" in await refused(browser.create_token(EVE, ["read"], expires_at="3h"))


async def test_revoking_an_actor_means_all_who_act_on_its_behalf(owner: LocalWorkspace, ada: Workspace) -> None:
    own = await owner.create_token(BOB, ["read", "run"])
    made = [
        own,
        await owner.create_token(AGENT, ["read"], on_behalf_of=BOB),
        await make(owner, "runtime", own.secret),
    ]
    await owner.create_token(ActorId("agent:other"), ["read"], on_behalf_of=ADA)
    assert set(tokens_of(BOB, await owner.tokens())) == {each.token for each in made}


async def test_a_token_made_by_the_owner_of_the_files_ends_by_itself_alone(owner: LocalWorkspace) -> None:
    one, other = await owner.create_token(BOB, ALL), await owner.create_token(EVE, ["read"])
    await say(owner, e.TokenRevoked(token=one.token), log=WORKSPACE_LOG)
    assert (await bearer_of(owner, other.secret)).identity.actor == EVE


# ---- The walk itself


def token(parent: str | None = None, **more: str | None) -> Token:
    above = TokenId(parent) if parent is not None else None
    ends, revoked = more.get("expires_at"), more.get("revoked_by")
    return Token(
        actor=ADA,
        scopes=("read",),
        created_by=ADA,
        created_at="2026-01-01T00:00:00.000000Z",
        parent=above,
        expires_at=ends,
        revoked_by=ActorId(revoked) if revoked is not None else None,
    )


def test_a_token_whose_parent_is_not_known_or_in_a_circle_hangs_nobody() -> None:
    tokens = {"a": token("b"), "b": token("c"), "c": token("a"), "d": token("nowhere"), "e": token()}
    now = Directory(tokens={TokenId(name): each for name, each in tokens.items()})
    found = {name: ended_by(now, TokenId(name), "2026-01-02T00:00:00.000000Z") for name in [*tokens, "f"]}
    assert found == {"a": None, "b": None, "c": None, "d": "nowhere", "e": None, "f": "f"}


def test_the_nearest_end_above_a_token_is_named() -> None:
    tokens = {"a": token("b"), "b": token("c", expires_at="2026-01-03T00:00:00.000000Z"), "c": token("d")}
    tokens["d"] = token(revoked_by="human:bob")
    now = Directory(tokens={TokenId(name): each for name, each in tokens.items()})
    at = ["2026-01-02T00:00:00.000000Z", "2026-01-03T00:00:00.000000Z"]
    assert [ended_by(now, TokenId("a"), each) for each in at] == ["d", "b"]


def test_old_tokens_without_a_parent_are_as_they_were() -> None:
    event = e.TokenCreated(token=TokenId("t"), actor=ADA, scopes=("read",))
    at = "2026-01-01T00:00:00.000000Z"
    entry = Entry(log=WORKSPACE_LOG, seq=1, id=EventId("e"), at=at, actor=BOB, event=event)
    now = fold_directory([entry])
    assert now.tokens[TokenId("t")].parent is None and ended_by(now, TokenId("t"), at) is None
