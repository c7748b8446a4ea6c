"""Pauses: agents and people who are refused everything for now."""

from __future__ import annotations

from ....core.errors import BadInput
from ....core.ids import ActorId, TokenId, check_actor
from ....core.notebook.directory import Directory
from ....workspace.identity import pauses
from ....workspace.identity.pauses import PausesFound
from ....workspace.wire.bodies import PauseEnded, PauseMade, PauseWanted
from ..auth import Asked
from ..route import Asking, body_of, checked, route


@route("GET", "/api/pauses", "pauses", tag="identity", answer=PausesFound)
async def list_pauses(workspace: Asked) -> PausesFound:
    """List who is paused, by whom, since when and why."""
    return pauses.paused_in(await workspace.directory())


@route("POST", "/api/pauses", "pause", tag="identity", body=PauseWanted, answer=PauseMade)
async def pause(request: Asking, workspace: Asked) -> PauseMade:
    """Refuse everything to an actor or a token until it is resumed. Needs `admin`, or to be the person it acts for."""
    wanted = await body_of(request, PauseWanted)
    target = _target(wanted.actor, wanted.token)
    await pauses.pause(workspace, target, wanted.why)
    stopped = 0
    if wanted.interrupt:
        stopped = len(await pauses.stop_work(workspace, _actor(await workspace.directory(), target)))
    return PauseMade(stopped=stopped)


@route("POST", "/api/pauses/end", "resume", tag="identity", body=PauseEnded, answer=None)
async def resume(request: Asking, workspace: Asked) -> None:
    """Let an actor or a token go on. Needs `admin`, or to be the one who paused it."""
    wanted = await body_of(request, PauseEnded)
    await pauses.resume(workspace, _target(wanted.actor, wanted.token))


def _target(actor: ActorId | None, token: TokenId | None) -> ActorId | TokenId:
    if actor is not None and token is None:
        return check_actor(actor)
    if token is not None and actor is None:
        return TokenId(checked(token, "Token"))
    raise BadInput("A pause is of an actor or of a token: name one of the two.")


def _actor(directory: Directory, target: ActorId | TokenId) -> ActorId:
    token = directory.tokens.get(TokenId(target))
    return token.actor if token is not None else ActorId(target)


ROUTES = [list_pauses, pause, resume]
