"""Signing a browser in and out, and tokens for runtimes: how somebody gets at a token without having `admin`."""

from __future__ import annotations

import msgspec
from litestar import Response
from litestar.datastructures import Cookie

from ....core.errors import BadInput, Refused
from ....core.ids import actor_kind, check_id
from ....workspace.identity.tokens import NewToken
from ....workspace.wire import frames
from ....workspace.wire.bodies import RuntimeWanted, SignIn
from ..auth import Asked, check_origin, check_page, cookie_name, door_of, failed, is_secure
from ..browser_session import split_secret
from ..route import Asking, body_of, route


@route("POST", "/api/sign-in", "sign_in", tag="identity", body=SignIn, answer=frames.SignedIn, open=True)
async def sign_in(request: Asking) -> Response[frames.SignedIn]:
    """Exchange a token that is good for one sign-in for the cookie of a browser and the key of its pages.

    The token comes from the fragment of the address that `quire serve` and `quire open` print. It is good once. The
    cookie and `page_key` are two halves of one secret: a page sends the key with each request, in `X-Quire-Page-Key`.
    """
    check_page(request)
    if "origin" in request.headers:
        check_origin(request)
    secret = (await body_of(request, SignIn)).token
    door = door_of(request)
    try:
        made = await door.workspace.sign_in(secret, expires_at=f"{door.settings.browser_days}d")
    except Refused as refused:
        raise failed(request, refused) from refused
    signed = await door.workspace.bearer(made.secret)
    cookie, page_key = split_secret(made.secret)
    answer = frames.SignedIn(**msgspec.structs.asdict(frames.me(signed.identity)), page_key=page_key)
    return Response(answer, cookies=[_cookie(request, cookie, door.settings.browser_days)])


@route("POST", "/api/sign-out", "sign_out", tag="identity")
async def sign_out(request: Asking, workspace: Asked) -> Response[None]:
    """End the browser's token, and take its cookie away."""
    if "authorization" in request.headers:
        told = "Only a browser signs out. A token that came in a header is ended by POST /api/tokens/TOKEN/revoke."
        raise BadInput(told)
    await workspace.sign_out()
    return Response(None, cookies=[_cookie(request, "", 0)], status_code=204)


@route("POST", "/api/sign-ins", "create_sign_in", tag="identity", answer=NewToken)
async def create_sign_in(workspace: Asked) -> NewToken:
    """Make a token that signs a browser in as the bearer of this one: once, within five minutes."""
    return await workspace.create_sign_in()


@route("POST", "/api/runtimes", "create_runtime", tag="identity", body=RuntimeWanted, answer=NewToken)
async def create_runtime(request: Asking, workspace: Asked) -> NewToken:
    """Make a token for a runtime that serves one log on behalf of the bearer, and ends with the bearer's token.

    It is for reading that log and doing what is asked for in it. The bearer needs `run` there; the log may be about to begin.
    """
    wanted = await body_of(request, RuntimeWanted)
    check_id(wanted.log, "Log")
    return await workspace.create_runtime_token(wanted.name, wanted.log)


@route("POST", "/api/runtimes/end", "end_runtime", tag="identity")
async def end_runtime(workspace: Asked) -> None:
    """Give up the token that a runtime came with, when its work is over."""
    if actor_kind(workspace.identity.actor) != "runtime":
        raise Refused(f"{workspace.identity.actor} is no runtime: its token is ended by POST /api/tokens/TOKEN/revoke.")
    await workspace.sign_out()


def _cookie(request: Asking, half: str, days: int) -> Cookie:
    return Cookie(
        key=cookie_name(request),
        value=half,
        path="/",
        max_age=days * 86_400,
        httponly=True,
        samesite="strict",
        secure=is_secure(request),
    )


ROUTES = [sign_in, sign_out, create_sign_in, create_runtime, end_runtime]
