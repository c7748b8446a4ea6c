"""Sharing: who may do what in a notebook, invitations, a person's browsers, and what coding agents need to come in."""

from __future__ import annotations

from typing import Annotated

from litestar.params import FromPath
from msgspec import Meta

from ....core.ids import LogId, TokenId
from ....workspace.identity.invitations import Invitation, InvitationWanted
from ....workspace.identity.notebook_access import NotebookAccess
from ....workspace.identity.sign_in import BrowserSession
from ....workspace.wire.bodies import Body
from ...agents.http_settings import AgentSettings, http_settings
from ..auth import Asked
from ..response_stream import while_there
from ..route import Asking, body_of, checked, query_of, route


class AgentSettingsAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Under which address agents reach this server."""

    origin: Annotated[str, Meta(min_length=1, max_length=300)]


@route("GET", "/api/notebooks/{log}/access", "notebook_access", tag="identity", answer=NotebookAccess)
async def notebook_access(request: Asking, log: FromPath[str], workspace: Asked) -> NotebookAccess:
    """Who may do what in a notebook, people and agents, and whether the bearer may change that. Needs to read it."""
    return await while_there(request, workspace.notebook_access(LogId(checked(log, "Log"))))


@route("POST", "/api/invitations", "invite", tag="identity", body=InvitationWanted, answer=Invitation)
async def invite(request: Asking, workspace: Asked) -> Invitation:
    """Give a person a role in a notebook, and make a token that signs one browser in as them, once.

    Needs `admin` and to own the notebook, and gives no more than the bearer has. The address for the person is
    `/#sign-in=SECRET&notebook=LOG`: what stands behind `#` is never sent to a server. A name that is known here already is a
    conflict, unless `existing` says that it is the same person.
    """
    wanted = await body_of(request, InvitationWanted)
    checked(wanted.notebook, "Log")
    return await workspace.invite(wanted)


@route("GET", "/api/browsers", "browsers", tag="identity", answer=list[BrowserSession])
async def browsers(workspace: Asked) -> list[BrowserSession]:
    """List the browsers that are signed in as the bearer, the newest first."""
    return await workspace.browsers()


@route("POST", "/api/browsers/{token}/sign-out", "sign_out_browser", tag="identity")
async def sign_out_browser(token: FromPath[str], workspace: Asked) -> None:
    """Sign another browser of the bearer out, with all that was made in it. Only a signed-in browser may."""
    await workspace.sign_out_browser(TokenId(checked(token, "Token")))


@route("GET", "/api/agents", "agent_settings", tag="identity", query=AgentSettingsAsked, answer=list[AgentSettings])
async def agent_settings(request: Asking) -> list[AgentSettings]:
    """List what to paste into the settings of each coding agent so that it finds the tools of this server."""
    return http_settings(query_of(request, AgentSettingsAsked).origin)


ROUTES = [notebook_access, invite, browsers, sign_out_browser, agent_settings]
