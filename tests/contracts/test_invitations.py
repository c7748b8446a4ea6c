"""Inviting a person into a notebook, on every store: who may, with how much, once, and for how long (rule 3)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quire.core import events as e
from quire.core.errors import BadInput, Conflict, NotFound, Refused
from quire.core.ids import WORKSPACE_LOG, ActorId, LogId
from quire.workspace.identity import identities
from quire.workspace.identity.invitations import Invitation, InvitationWanted
from quire.workspace.identity.notebook_access import AccessLine
from quire.workspace.local import LocalWorkspace

from .doors import in_one_place, on_every_store
from .identities import (
    ADA,
    AGENT,
    AGENTS,
    ALL,
    BOB,
    EVE,
    LOG,
    OTHER,
    RENAMED,
    Clock,
    OpenOne,
    bearer,
    give,
    refused,
    say,
)

GRACE = ActorId("human:grace")


async def invite(workspace: LocalWorkspace, name: str = "grace", role: e.Role = "viewer", **more: Any) -> Invitation:
    return await workspace.invite(InvitationWanted(name=name, notebook=more.pop("notebook", LOG), role=role, **more))


async def browser(owner: LocalWorkspace, invitation: Invitation) -> LocalWorkspace:
    """Whoever opened the link."""
    return await owner.bearer((await owner.sign_in(invitation.secret)).secret)


async def lines(workspace: LocalWorkspace, log: LogId = LOG) -> dict[str, AccessLine]:
    return {line.actor: line for line in (await workspace.notebook_access(log)).lines}


# ---- What an invited person may do


@on_every_store
async def test_an_invited_viewer_reads_one_notebook_and_sees_nothing_else(
    owner: LocalWorkspace, ada: LocalWorkspace
) -> None:
    grace = await browser(owner, await invite(ada))
    assert grace.identity.actor == GRACE
    assert (await grace.read(LOG)).seq == 3
    assert [info.log for info in await grace.logs()] == [LOG]
    for asking in (
        grace.read(OTHER),
        grace.notebook_access(OTHER),
        grace.directory(),
        grace.tokens(),
        grace.query("select * from events"),
        grace.entries(WORKSPACE_LOG),
        say(grace, RENAMED),
        say(grace, RENAMED, log=OTHER),
        invite(grace, "eve"),
        give(grace, EVE, "viewer"),
        grace.create_token(EVE, ["read"]),
    ):
        await refused(asking)


@in_one_place
@pytest.mark.parametrize("role", ["viewer", "editor", "owner"])
async def test_a_role_gives_the_invited_person_its_scopes_and_no_more(
    owner: LocalWorkspace, ada: LocalWorkspace, role: e.Role
) -> None:
    grace = await browser(owner, await invite(ada, role=role, everywhere=True))
    allowed = {"viewer": {"read"}, "editor": {"read", "edit", "run", "approve"}, "owner": set(ALL)}
    assert grace.identity.scopes == allowed[role]
    await grace.read(OTHER)  # which is open to everybody


@in_one_place
async def test_what_is_recorded_is_a_role_and_a_token_in_the_name_of_who_invites(
    owner: LocalWorkspace, ada: LocalWorkspace
) -> None:
    before = (await owner.directory()).seq
    invitation = await invite(ada, role="editor")
    role, token = await owner.entries(WORKSPACE_LOG, before)
    assert role.event == e.RoleSet(actor=GRACE, role="editor", notebook=LOG)
    assert isinstance(token.event, e.TokenCreated)
    assert (role.by, token.by) == (ADA, ADA)
    assert (token.event.token, token.event.once, token.event.parent) == (invitation.token, True, ada.identity.token)
    assert (invitation.actor, invitation.was_known) == (GRACE, False)


# ---- Who may invite


@in_one_place
async def test_only_an_owner_of_the_notebook_with_admin_invites(owner: LocalWorkspace, ada: LocalWorkspace) -> None:
    editor = await bearer(owner, BOB, *ALL)
    await give(ada, BOB, "editor")
    assert "the role is editor" in await refused(invite(editor))
    plain = await bearer(owner, ADA, "read", "edit", "run", "approve")
    assert "scope 'admin'" in await refused(invite(plain))
    limited = await bearer(owner, ADA, *ALL, notebooks=[LOG])
    assert "token is for other notebooks" in await refused(invite(limited))
    assert GRACE not in {token.actor for token in (await owner.directory()).tokens.values()}


@in_one_place
async def test_an_agent_invites_nobody(owner: LocalWorkspace, ada: LocalWorkspace) -> None:
    mine = await bearer(owner, AGENT, *AGENTS, on_behalf_of=ADA)
    assert "only a person invites" in await refused(invite(mine))
    assert "only a person invites" in ((await mine.notebook_access(LOG)).invite_refusal or "")
    with pytest.raises(BadInput, match="is not a person"):
        await invite(ada, "agent:codex")


@in_one_place
async def test_nobody_invites_with_more_than_they_have(owner: LocalWorkspace, ada: LocalWorkspace) -> None:
    poor = await bearer(owner, ADA, "read", "admin")
    assert "cannot make a token with approve, edit, run" in await refused(invite(poor, role="editor"))
    assert (await browser(owner, await invite(poor))).identity.scopes == {"read"}
    careful = await bearer(owner, ADA, *ALL, asks=["edit"])
    assert (await browser(owner, await invite(careful, "bob", "editor"))).identity.asks == {"edit"}


# ---- The link


@on_every_store
async def test_a_link_works_once_also_for_two_who_open_it_together(open_one: OpenOne) -> None:
    owner = await open_one()
    ada = await bearer(owner, ADA, *ALL)
    await say(ada, e.NotebookCreated(name="sales"))
    made = await invite(ada)
    servers = [await open_one() for _ in range(3)]
    came = await asyncio.gather(*(each.sign_in(made.secret) for each in servers), return_exceptions=True)
    assert [type(each) for each in came].count(Refused) == 2
    assert "was revoked" in await refused(owner.sign_in(made.secret))
    assert "was revoked" in await refused(owner.bearer(made.secret))


@in_one_place
async def test_a_link_opens_nothing_but_a_browser_and_expires(
    owner: LocalWorkspace, ada: LocalWorkspace, clock: Clock
) -> None:
    made = await invite(ada, expires_at="2h")
    assert made.expires_at == "2026-03-02T02:00:00.000000Z"
    assert made.signed_in_until == "2026-04-01T00:00:00.000000Z"
    assert "for nothing else" in await refused(owner.bearer(made.secret))
    clock.hour = 3
    assert "expired" in await refused(owner.sign_in(made.secret))
    for wrong in ("31d", "2026-03-01T00:00Z", "soon"):
        with pytest.raises(BadInput):
            await invite(ada, "eve", expires_at=wrong)


@in_one_place
async def test_an_invited_browser_ends_with_the_token_of_who_invited(
    owner: LocalWorkspace, ada: LocalWorkspace
) -> None:
    short = await bearer(owner, ADA, *ALL, expires_at="2h")
    made = await invite(short, expires_at="7d")
    assert made.expires_at == made.signed_in_until == short.identity.expires_at
    grace = await browser(owner, made)
    assert short.identity.token is not None
    await say(owner, e.TokenRevoked(token=short.identity.token), log=WORKSPACE_LOG)
    assert "ended with" in await refused(grace.read(LOG))


# ---- Names


@in_one_place
async def test_a_known_name_is_given_a_role_and_a_link_only_where_that_is_said(
    owner: LocalWorkspace, ada: LocalWorkspace
) -> None:
    await bearer(owner, BOB, "read")
    with pytest.raises(Conflict, match="somebody called bob"):
        await invite(ada, "bob")
    assert "bob" not in str((await owner.directory()).roles)
    again = await invite(ada, "human:bob", "editor", existing=True)
    assert (again.actor, again.was_known) == (BOB, True)
    assert "edit" in (await browser(owner, again)).identity.scopes


@in_one_place
async def test_nobody_signs_in_as_the_owner_of_the_files_or_invites_themselves(
    owner: LocalWorkspace, ada: LocalWorkspace
) -> None:
    name = identities.owner().actor.partition(":")[2]
    assert "owns the files" in await refused(invite(ada, name, existing=True))
    for own in ("ada", "two words", "human:", "runtime:x", "x\u202ey"):
        with pytest.raises(BadInput):
            await invite(ada, own, existing=True)
    with pytest.raises(NotFound):
        await invite(ada, notebook=LogId("nothing"))


@in_one_place
async def test_who_closes_a_notebook_by_inviting_is_not_shut_out_of_it(
    owner: LocalWorkspace, ada: LocalWorkspace
) -> None:
    bob = await bearer(owner, BOB, *ALL)
    await invite(bob)  # ada made the notebook, which was open
    await say(bob, RENAMED)
    assert (await lines(bob))[BOB].role == "owner"
    await say(ada, RENAMED)


# ---- Who may do what, as it is shown


@in_one_place
async def test_the_list_tells_what_everybody_may_do_and_how_they_come_in(
    owner: LocalWorkspace, ada: LocalWorkspace, agent: LocalWorkspace
) -> None:
    access_now = await ada.notebook_access(LOG)
    assert (access_now.is_open, access_now.manage_refusal, access_now.invite_refusal) == (True, None, None)
    found = await lines(ada)
    assert (found[ADA].role, found[ADA].source, found[ADA].state) == ("owner", "made", "in")
    assert (found[AGENT].on_behalf_of, found[AGENT].asks) == (ADA, ("edit", "run"))
    assert found[AGENT].scopes == ("bind", "edit", "read", "run")

    invitation = await invite(ada, role="editor")
    await give(ada, EVE, "viewer")
    await bearer(owner, BOB, *ALL)  # who has no role, so nothing to do here
    found = await lines(ada)
    assert not (await ada.notebook_access(LOG)).is_open
    assert (found[GRACE].state, found[GRACE].until, found[GRACE].is_limited) == ("invited", invitation.expires_at, True)
    assert (found[EVE].state, found[EVE].role, found[EVE].scopes) == ("out", "viewer", ())
    assert BOB not in found
    await browser(owner, invitation)
    found = await lines(ada)
    assert (found[GRACE].state, found[GRACE].until) == ("in", invitation.signed_in_until)
    assert found[GRACE].scopes == ("approve", "edit", "read", "run")


@in_one_place
async def test_who_may_not_manage_reads_the_list_and_the_reason(owner: LocalWorkspace, ada: LocalWorkspace) -> None:
    grace = await browser(owner, await invite(ada))
    shown = await grace.notebook_access(LOG)
    assert {line.actor for line in shown.lines} >= {ADA, GRACE}
    assert "scope 'admin'" in (shown.manage_refusal or "")
    assert shown.invite_refusal == shown.manage_refusal
    assert "no role" in await refused((await bearer(owner, BOB, "read")).notebook_access(LOG))


# ---- My browsers


@in_one_place
async def test_a_browser_lists_and_signs_out_the_others_of_the_same_person(
    owner: LocalWorkspace, ada: LocalWorkspace
) -> None:
    first, second = [
        await owner.bearer((await owner.sign_in((await ada.create_sign_in()).secret)).secret) for _ in "12"
    ]
    await bearer(second, AGENT, "read", on_behalf_of=ADA, expires_at="8h")
    grace = await browser(owner, await invite(second))
    listed = await first.browsers()
    assert [each.token for each in listed] == [second.identity.token, first.identity.token]
    assert [each.is_this for each in listed] == [False, True]
    assert [each.ends_with_it for each in listed] == [2, 0]
    assert second.identity.token is not None and grace.identity.token is not None
    with pytest.raises(NotFound):
        await first.sign_out_browser(grace.identity.token)
    assert "Only a signed-in browser" in await refused(ada.sign_out_browser(second.identity.token))
    await first.sign_out_browser(second.identity.token)
    assert "was revoked" in await refused(second.browsers())
    assert "ended with" in await refused(grace.read(LOG))
    assert [each.is_this for each in await first.browsers()] == [True]
