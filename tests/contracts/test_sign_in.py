"""Signing in with a browser, on every store: a token that is good once, and what it is exchanged for (rule 3)."""

from __future__ import annotations

import asyncio

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, Refused
from quire.core.ids import WORKSPACE_LOG, TokenId
from quire.workspace.local import LocalWorkspace

from .doors import in_one_place, on_every_store
from .identities import ADA, AGENT, ALL, LOG, Clock, OpenOne, bearer, refused, say


@in_one_place
async def test_a_sign_in_gives_a_browser_the_rights_of_who_made_it(owner: LocalWorkspace, ada: LocalWorkspace) -> None:
    poor = await bearer(owner, AGENT, "read", "edit", on_behalf_of=ADA, notebooks=[LOG], asks=["edit"])
    signed = await owner.sign_in((await poor.create_sign_in()).secret)
    browser = await owner.bearer(signed.secret)
    was, now = poor.identity, browser.identity
    assert (now.actor, now.on_behalf_of, now.scopes) == (was.actor, was.on_behalf_of, was.scopes)
    assert (now.notebooks, now.asks) == (was.notebooks, was.asks)
    assert now.token not in (was.token, None)
    assert (await browser.read(LOG)).seq == 3


@in_one_place
async def test_who_owns_the_files_may_say_yes_in_a_browser(owner: LocalWorkspace) -> None:
    browser = await owner.bearer((await owner.sign_in((await owner.create_sign_in()).secret)).secret)
    assert browser.identity.actor == owner.identity.actor
    assert browser.identity.scopes == set(ALL)
    assert not browser.identity.owns


@in_one_place
async def test_a_token_for_signing_in_opens_nothing_else(owner: LocalWorkspace) -> None:
    made = await owner.create_sign_in()
    assert "for nothing else" in await refused(owner.bearer(made.secret))


@in_one_place
async def test_other_tokens_do_not_sign_in(owner: LocalWorkspace) -> None:
    made = await owner.create_token(ADA, ALL)
    assert "is not for signing in" in await refused(owner.sign_in(made.secret))
    assert "not known" in await refused(owner.sign_in("quire_nothing"))
    assert (await owner.bearer(made.secret)).identity.actor == ADA


@on_every_store
async def test_a_sign_in_is_used_once(owner: LocalWorkspace) -> None:
    made = await owner.create_sign_in()
    await owner.sign_in(made.secret)
    assert "was revoked" in await refused(owner.sign_in(made.secret))


@on_every_store
async def test_of_two_servers_that_are_given_the_same_sign_in_one_refuses(open_one: OpenOne) -> None:
    """Each has its own handle on the store, as another process would."""
    servers = [await open_one() for _ in range(4)]
    for _ in range(5):
        made = await servers[0].create_sign_in()
        came = await asyncio.gather(*(each.sign_in(made.secret) for each in servers), return_exceptions=True)
        assert [type(each).__name__ for each in came].count("NewToken") == 1
        assert [type(each) for each in came].count(Refused) == 3
    tokens = (await servers[0].directory()).tokens.values()
    assert len(tokens) == 10
    assert [token.once for token in tokens if token.revoked_by is None] == [False] * 5


@in_one_place
async def test_a_sign_in_is_good_for_minutes(owner: LocalWorkspace, clock: Clock) -> None:
    made = await owner.create_sign_in()
    assert made.expires_at == "2026-03-02T00:05:00.000000Z"
    clock.hour = 1
    assert "expired" in await refused(owner.sign_in(made.secret))


@in_one_place
async def test_a_browser_stays_signed_in_for_a_month_or_as_long_as_asked(owner: LocalWorkspace) -> None:
    month = await owner.sign_in((await owner.create_sign_in()).secret)
    hours = await owner.sign_in((await owner.create_sign_in()).secret, expires_at="8h")
    longer = await owner.sign_in((await owner.create_sign_in()).secret, expires_at="60d")
    assert month.expires_at == longer.expires_at == "2026-04-01T00:00:00.000000Z"
    assert hours.expires_at == "2026-03-02T08:00:00.000000Z"


@in_one_place
async def test_a_browser_is_not_signed_in_for_longer_than_who_made_that(owner: LocalWorkspace) -> None:
    short = await bearer(owner, ADA, "read", expires_at="2h")
    signed = await owner.sign_in((await short.create_sign_in()).secret)
    assert signed.expires_at == short.identity.expires_at == "2026-03-02T02:00:00.000000Z"


@in_one_place
async def test_who_is_shut_out_makes_no_sign_in(owner: LocalWorkspace) -> None:
    out = await bearer(owner, ADA, "read")
    assert out.identity.token is not None
    await say(owner, e.TokenRevoked(token=out.identity.token), log=WORKSPACE_LOG)
    assert "was revoked" in await refused(out.create_sign_in())


@on_every_store
async def test_signing_out_ends_the_browsers_token(owner: LocalWorkspace) -> None:
    browser = await owner.bearer((signed := await owner.sign_in((await owner.create_sign_in()).secret)).secret)
    await browser.sign_out()
    assert "was revoked" in await refused(browser.directory())
    assert "was revoked" in await refused(owner.bearer(signed.secret))
    assert "without a token" in await refused(owner.sign_out())


SENSELESS = [
    e.TokenCreated(token=TokenId("t"), actor=ADA, scopes=("read",), once=True),
    e.TokenCreated(token=TokenId("t"), actor=ADA, scopes=("read",), then_until="2026-04-01T00:00:00.000000Z"),
    e.TokenCreated(
        token=TokenId("t"),
        actor=ADA,
        scopes=("read",),
        once=True,
        expires_at="2026-04-01T00:00:00.000000Z",
        then_until="soon",
    ),
]


@in_one_place
async def test_a_token_that_makes_no_sense_is_refused(owner: LocalWorkspace) -> None:
    for event in SENSELESS:
        with pytest.raises(BadInput):
            await say(owner, event, log=WORKSPACE_LOG)


@in_one_place
async def test_a_bearer_that_makes_tokens_promises_no_browser_a_longer_time(owner: LocalWorkspace) -> None:
    short = await bearer(owner, ADA, *ALL, expires_at="2h")
    event = e.TokenCreated(
        token=TokenId("t"),
        actor=ADA,
        scopes=("read",),
        once=True,
        expires_at="2026-03-02T00:05:00.000000Z",
        then_until="2026-04-01T00:00:00.000000Z",
    )
    assert "cannot last longer" in await refused(say(short, event, log=WORKSPACE_LOG))
