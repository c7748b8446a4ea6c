"""Who asks: from the token in the header `Authorization`, or in the two halves that a signed-in browser keeps.

Nothing else names an actor, and no token is ever in a URL. With a cookie, whatever changes something, and the
socket, must come from a page of this server: a browser sends its cookies along with anybody's request. And a cookie
is half a secret: the page adds the other half (browser_session).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec
from litestar import Request
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency
from litestar.exceptions import WebSocketException
from litestar.handlers import BaseRouteHandler

from ...actors.runtime.start.start_requests import RuntimeRequests
from ...core.errors import Refused
from ...workspace.local import LocalWorkspace
from .browser_session import MAX_PAGE_KEY, PAGE_KEY_HEADER, join_secret
from .error_responses import ErrorResponse, signed_out, too_many
from .server.rate_limits import Allowance
from .server.store_probe import Pulse
from .server_settings import ServerSettings

Asked: TypeAlias = NamedDependency[LocalWorkspace]
"""The workspace for whoever asks: what a route takes under the name `workspace`."""
Connection: TypeAlias = ASGIConnection[Any, Any, Any, Any]
OPEN = {"open": True}
"""What a route that needs no token says of itself to Litestar."""
BEARER = {"bearer": True}
"""The same of one to which a cookie is no token: what no page of ours uses, no page should."""
SAFE = ("GET", "HEAD", "OPTIONS")
_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443"}


class Door(msgspec.Struct, frozen=True, kw_only=True):
    """What all requests to one server share."""

    workspace: LocalWorkspace
    settings: ServerSettings
    requests: Allowance
    failures: Allowance
    folder: Path | None
    """The folder of the files that notebooks are bound to; None: this server leaves files alone."""
    home: Path | None
    """The folder that runs and runtimes work in; None: none can be started from here."""
    runtimes: RuntimeRequests | None
    """Who starts and stops runtimes of this server; None: nobody does."""
    pulse: Pulse
    """Whether the store is well."""


def make_door(
    workspace: LocalWorkspace,
    settings: ServerSettings,
    folder: Path | None = None,
    home: Path | None = None,
    runtimes: RuntimeRequests | None = None,
) -> Door:
    """Nobody has asked for anything yet."""
    return Door(
        workspace=workspace,
        settings=settings,
        folder=folder,
        home=home or folder,
        runtimes=runtimes,
        pulse=Pulse(),
        requests=Allowance(settings.request_burst, settings.requests_per_second),
        failures=Allowance(settings.failures_per_minute, settings.failures_per_minute / 60),
    )


def door_of(connection: Connection) -> Door:
    """The door that a request came through."""
    return cast("Door", connection.app.state.door)


async def admit(connection: Connection, handler: BaseRouteHandler) -> None:
    """Let in whoever has a token that is good. Litestar asks this before it reads anything of the body."""
    if handler.opt.get("open"):
        return
    try:
        await _admit(connection, takes_cookie=not handler.opt.get("bearer"))
    except ErrorResponse as refused:
        if connection.scope["type"] != "websocket":
            raise
        cast("dict[str, Any]", connection.scope["state"])["refused"] = refused
        raise WebSocketException(detail="", code=4000 + refused.status) from refused


async def _admit(connection: Connection, *, takes_cookie: bool) -> None:
    check_page(connection)
    secret = _from_header(connection)
    if secret is None and not takes_cookie:
        raise signed_out("There is no token: send `Authorization: Bearer TOKEN` (`quire token new`).")
    if secret is None:
        cookie = _from_cookie(connection)
        check_origin(connection)
        page_key = connection.headers.get(PAGE_KEY_HEADER)
        if page_key is None and connection.scope["type"] == "websocket":
            connection.scope["state"]["cookie"] = cookie  # the other half comes in the first frame
            return
        secret = _joined(cookie, page_key)
    await admit_bearer(connection, secret)


async def admit_bearer(connection: Connection, secret: str) -> LocalWorkspace:
    """Let in the bearer of a token, unless it makes too many requests."""
    workspace = await bearer(connection, secret)
    connection.scope["state"]["asking"] = workspace
    token = workspace.identity.token or workspace.identity.actor
    if wait := door_of(connection).requests.take(token):
        raise too_many(f"Token {token} makes more requests than this server takes. Wait, then go on.", wait)
    return workspace


async def admit_page(connection: Connection, page_key: str) -> LocalWorkspace:
    """Let in a socket that came with a cookie, now that its first frame brought the other half."""
    return await admit_bearer(connection, _joined(connection.scope["state"]["cookie"], page_key))


def awaits_page_key(connection: Connection) -> bool:
    """Whether a socket was opened with a cookie alone, and has to send the other half first."""
    return "cookie" in connection.scope["state"]


def _joined(cookie: str, page_key: str | None) -> str:
    if not page_key or len(page_key) > MAX_PAGE_KEY:
        told = f"A cookie alone opens nothing: the page sends its half of the secret in the header {PAGE_KEY_HEADER}."
        raise signed_out(
            f"{told} Programs send `Authorization: Bearer TOKEN`; a browser signs in again (`quire open`)."
        )
    return join_secret(cookie, page_key)


def asking(request: Request[Any, Any, Any]) -> LocalWorkspace:
    """What Litestar gives to a route that wants the workspace."""
    return asked_by(request)


def asked_by(connection: Connection) -> LocalWorkspace:
    """The same for anything that `admit` let in."""
    return cast("LocalWorkspace", connection.scope["state"]["asking"])


async def bearer(connection: Connection, secret: str) -> LocalWorkspace:
    """The workspace for the bearer of a token. Who tries many wrong ones has to wait."""
    try:
        return await door_of(connection).workspace.bearer(secret)
    except Refused as refused:
        raise failed(connection, refused) from refused


def failed(connection: Connection, refused: Refused) -> ErrorResponse:
    """What is answered to a token that opens nothing: 401, and 429 once an address has tried too many.

    Looked at only after the token: many share an address, and wrong tokens of one must not keep the others out.
    """
    peer = peer_of(connection)
    if wait := door_of(connection).failures.take(peer):
        return too_many(f"{peer} tried too many tokens that open nothing. Wait, then go on.", wait)
    return signed_out(str(refused))


def peer_of(connection: Connection) -> str:
    """The address at the other end."""
    client = connection.scope["client"]
    return client[0] if client else "somebody"


# ---- Tokens


def _from_header(connection: Connection) -> str | None:
    """The token in the header; None when there is no such header."""
    told = connection.headers.get("authorization")
    if told is None:
        return None
    scheme, _, secret = told.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise signed_out("The header Authorization is not `Bearer TOKEN`. Ask whoever runs the workspace for a token.")
    return secret.strip()


def _from_cookie(connection: Connection) -> str:
    secret = connection.cookies.get(cookie_name(connection))
    if not secret:
        told = "There is no token: send `Authorization: Bearer TOKEN`, or sign in with a browser"
        raise signed_out(f"{told} (`quire open`, `quire token new`).")
    return secret


def is_secure(connection: Connection) -> bool:
    """Whether the request came by https."""
    return connection.scope["scheme"] in ("https", "wss")


def cookie_name(connection: Connection) -> str:
    """Cookies know no ports: the name keeps two servers of one machine apart."""
    _, _, port = _host_and_port(connection.headers.get("host", ""))
    name = f"quire-{port or _PORTS[connection.scope['scheme']]}"
    return f"__Host-{name}" if is_secure(connection) else name


# ---- From which page


def check_page(connection: Connection) -> None:
    """Refuse what a page of another site asks for, whatever it brings along."""
    if connection.headers.get("sec-fetch-site") != "cross-site" or is_known(connection):
        return
    raise ErrorResponse(
        403, Refused("A page of another site may not ask this server for anything. Use the server's own.")
    )


def check_origin(connection: Connection) -> None:
    """Refuse a change, or a socket, that does not come from a page of this server."""
    if connection.scope["type"] == "http" and connection.scope["method"] in SAFE:
        return
    if not is_known(connection):
        came = connection.headers.get("origin", "nowhere")[:100]
        told = f"With a cookie, changes come from a page of this server, and this came from {came!r}."
        raise ErrorResponse(403, Refused(f"{told} Programs send `Authorization: Bearer TOKEN` instead."))


def is_known(connection: Connection) -> bool:
    """Whether a request comes from a page of this server, or of one that was named as such."""
    origin = connection.headers.get("origin")
    scheme = "https" if is_secure(connection) else "http"
    own = f"{scheme}://{connection.headers.get('host', '')}".lower()
    return origin is not None and (origin.lower() == own or origin in door_of(connection).settings.origins)


def check_host(host: str, settings: ServerSettings) -> None:
    """Refuse a name that is not this server's: a page that has its own name point here must not get in."""
    name, _, port = _host_and_port(host)
    if name.lower() in settings.hosts and (not port or port.isdecimal()):
        return
    told = f"This server is not {host[:100]!r}: it answers to {', '.join(settings.hosts)}."
    raise ErrorResponse(421, Refused(f"{told} Whoever runs it can add a name: the setting `hosts`."))


def _host_and_port(host: str) -> tuple[str, str, str]:
    end = host.rfind("]")
    name, colon, port = host[end + 1 :].partition(":")
    return host[: end + 1] + name, colon, port
