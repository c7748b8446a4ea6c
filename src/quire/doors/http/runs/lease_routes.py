"""Claims and holds: the right to be the only one who does something, for a while."""

from __future__ import annotations

from litestar.params import FromPath

from ....core.ids import LogId
from ....workspace.log.locks import Hold
from ....workspace.protocol import HeldClaim
from ....workspace.wire.bodies import HoldReleased, HoldRenewed, HoldWanted, ReleaseBody, RenewBody
from ..auth import Asked
from ..route import Asking, body_of, checked, route


@route("GET", "/api/claims", "claims", tag="leases", answer=list[HeldClaim])
async def claims(workspace: Asked) -> list[HeldClaim]:
    """List what runtimes have claimed, and what they had and is lost."""
    return await workspace.claims()


@route("POST", "/api/logs/{log}/renew", "renew", tag="leases", body=RenewBody)
async def renew(request: Asking, log: FromPath[str], workspace: Asked) -> None:
    """Hold on to what was claimed, so many seconds from now. A conflict when it is lost: stop the work."""
    id = LogId(checked(log, "Log"))
    asked = await body_of(request, RenewBody)
    await workspace.renew(id, asked.claim, asked.seconds)


@route("POST", "/api/logs/{log}/release", "release", tag="leases", body=ReleaseBody)
async def release(request: Asking, log: FromPath[str], workspace: Asked) -> None:
    """Give back what was claimed, when the work is over."""
    id = LogId(checked(log, "Log"))
    await workspace.release(id, (await body_of(request, ReleaseBody)).claim)


@route("POST", "/api/holds", "hold", tag="leases", body=HoldWanted, answer=Hold | None)
async def hold(request: Asking, workspace: Asked) -> Hold | None:
    """Be the only one, among all that come with a token, who does what has this name; null while another one does."""
    asked = await body_of(request, HoldWanted)
    return await workspace.hold(asked.name, asked.seconds)


@route("POST", "/api/holds/renew", "renew_hold", tag="leases", body=HoldRenewed, answer=Hold | None)
async def renew_hold(request: Asking, workspace: Asked) -> Hold | None:
    """Go on holding, so many seconds from now; null when it is lost."""
    asked = await body_of(request, HoldRenewed)
    return await workspace.renew_hold(asked.hold, asked.seconds)


@route("POST", "/api/holds/release", "let_go", tag="leases", body=HoldReleased)
async def let_go(request: Asking, workspace: Asked) -> None:
    """Give back what was held."""
    await workspace.let_go((await body_of(request, HoldReleased)).hold)


ROUTES = [claims, renew, release, hold, renew_hold, let_go]
