"""Tokens and roles: who may come in, and what they may do where."""

from __future__ import annotations

from litestar.params import FromPath

from ....core.events import Draft, RoleSet, TokenRevoked
from ....core.ids import WORKSPACE_LOG, ActorId, LogId, TokenId
from ....core.notebook.directory import Directory
from ....workspace.clock import new_id
from ....workspace.identity.tokens import ListedToken, NewToken
from ....workspace.wire import frames
from ....workspace.wire.bodies import RoleGiven, RoleWanted, TokenWanted
from ..auth import Asked
from ..route import Asking, body_of, checked, route


@route("GET", "/api/tokens", "tokens", tag="identity", answer=list[ListedToken])
async def tokens(workspace: Asked) -> list[ListedToken]:
    """List the tokens, the newest first. Their secrets are kept nowhere."""
    return await workspace.tokens()


@route("POST", "/api/tokens", "create_token", tag="identity", body=TokenWanted, answer=NewToken)
async def create_token(request: Asking, workspace: Asked) -> NewToken:
    """Make a token. Its secret is in this answer and never again. Needs `admin`, and gives no more than the bearer has."""
    wanted = await body_of(request, TokenWanted)
    return await workspace.create_token(
        wanted.actor,
        wanted.scopes,
        on_behalf_of=wanted.on_behalf_of,
        notebooks=wanted.notebooks,
        expires_at=wanted.expires_at,
        asks=wanted.asks,
    )


@route("POST", "/api/tokens/{token}/revoke", "revoke_token", tag="identity", answer=frames.SubmissionOutcome)
async def revoke_token(token: FromPath[str], workspace: Asked) -> frames.SubmissionOutcome:
    """Make a token open nothing any more, from this moment on: also on sockets that are open. Needs `admin`."""
    event = TokenRevoked(token=TokenId(checked(token, "Token")))
    entries = await workspace.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=event)])
    return frames.SubmissionOutcome(entries=[frames.from_entry(entry) for entry in entries])


@route("GET", "/api/roles", "roles", tag="identity", answer=list[RoleGiven])
async def roles(workspace: Asked) -> list[RoleGiven]:
    """List who has which role where."""
    return _roles(await workspace.directory())


def _roles(directory: Directory) -> list[RoleGiven]:
    found: list[RoleGiven] = []
    for key, role in directory.roles.items():
        notebook, _, actor = key.partition(" ")
        found.append(RoleGiven(actor=ActorId(actor), role=role, notebook=LogId(notebook) if notebook != "*" else None))
    return found


@route("POST", "/api/roles", "set_role", tag="identity", body=RoleWanted, answer=frames.SubmissionOutcome)
async def set_role(request: Asking, workspace: Asked) -> frames.SubmissionOutcome:
    """Give somebody a role in a notebook or in all of them, or take it away. Needs to be its owner, and `admin`."""
    wanted = await body_of(request, RoleWanted)
    if wanted.notebook is not None:
        checked(wanted.notebook, "Log")
    event = RoleSet(actor=wanted.actor, role=wanted.role, notebook=wanted.notebook)
    entries = await workspace.submit(WORKSPACE_LOG, [Draft(id=new_id(), event=event)])
    return frames.SubmissionOutcome(entries=[frames.from_entry(entry) for entry in entries])


ROUTES = [tokens, create_token, revoke_token, roles, set_role]
