"""The web app's pages and files, as `make web` built them into app_files/.

They need no token, because they hold nothing of a workspace. Each page has a policy with a nonce of its own. Files under
`/assets/` carry a hash in their name and never change. `/frame/` is the document in which outputs run: its policy gives
it an opaque origin without network, cookies or storage. What it loads is public code, open to that origin.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from pathlib import Path
from typing import Annotated

from litestar import Response, get
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import Meta

from ...core.errors import NotFound, Unavailable
from ...workspace.wire.bodies import Body
from .auth import OPEN, Connection, is_secure
from .error_responses import ErrorResponse, on_http
from .route import Asking, misshapen, query_of

FOLDER = Path(__file__).with_name("app_files")
PAGES = [
    "/",
    "/notebooks/{log:str}",
    "/notebooks/{log:str}/compare",
    "/runs",
    "/runs/{log:str}",
    "/runs/{log:str}/compare",
    "/read/{log:str}",
    "/reviews/{log:str}",
    "/schedules",
    "/settings",
]
"""Addresses that the app answers by itself once it runs. web/src/sync/page_paths.ts has the same list."""
PROGRAMS = re.compile(r"/(?:api|mcp|frame|assets|health|\.well-known)(?:/|$)|/service_worker\.js$")
"""Addresses that programs ask for: what is missing there is never answered with a page."""
MEDIA = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".woff2": "font/woff2",
    ".woff": "font/woff",
    ".ttf": "font/ttf",
    ".wasm": "application/wasm",
}
ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""Content encodings, the preferred one first, and how the names of such files end."""
NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Quire</title>
<h1>The web app is not built</h1>
<p>Where the source of this server is, run <code>make web</code>, then load this page again.</p>
<p>The rest works: <code>quire show</code>, <code>quire log</code>, <code>quire --help</code>.</p>
</html>
"""
_IMMUTABLE = "public, max-age=31536000, immutable"
_REFUSED = re.compile(r"\bq=0(?:\.0*)?\s*(?:;|$)")
_ASSET = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}")
_HOST = re.compile(r"(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")


class FrameAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which hosts a frame may load from."""

    hosts: Annotated[tuple[str, ...], Meta(max_length=20)] = ()


# ---- Pages


@get(PAGES, opt=OPEN, include_in_schema=False, name="page", sync_to_thread=False)
def page(request: Asking) -> Response[str]:
    """Send the app's page with a nonce of its own."""
    return _page(request, 200)


def _page(request: Asking, status: int) -> Response[str]:
    nonce = secrets.token_urlsafe(18)
    headers = {"Content-Security-Policy": page_policy(request, nonce), "Cache-Control": "no-cache"}
    try:
        text = (FOLDER / "index.html").read_text(encoding="utf-8")
    except FileNotFoundError:
        return Response(NOT_BUILT, media_type="text/html", headers=headers, status_code=503)
    return Response(text.replace("%NONCE%", nonce), media_type="text/html", headers=headers, status_code=status)


def not_found(request: Asking, error: HTTPException) -> Response[str] | Response[bytes]:
    """Answer a request for an unknown address: the app's page for a browser that navigates there, JSON for all others."""
    wants_page = request.method == "GET" and accepts_html(request.headers.get("accept", ""))
    if not wants_page or PROGRAMS.match(request.scope["path"]):
        return on_http(request, error)
    return _page(request, 404)


def accepts_html(header: str) -> bool:
    """Return whether a client names HTML among what it accepts, as browsers do when they navigate and no other client does."""
    ranges = (each.partition(";") for each in header.lower().split(","))
    return any(media.strip() == "text/html" and not _REFUSED.search(parameters) for media, _, parameters in ranges)


def page_policy(connection: Connection, nonce: str) -> str:
    """Return the policy of a page: scripts, styles and data from this server alone."""
    host = connection.headers.get("host", "")
    socket = f"{'wss' if is_secure(connection) else 'ws'}://{host}"  # not every browser counts sockets as 'self'
    return (
        f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; "
        f"img-src 'self' data: blob:; font-src 'self'; connect-src 'self' {socket}; frame-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


# ---- The frame of outputs


@get("/frame", opt=OPEN, include_in_schema=False, name="frame", sync_to_thread=False)
def frame(request: Asking) -> Response[str]:
    """Send the document in which an output runs; `?hosts=` names the hosts that the person allowed."""
    hosts = query_of(request, FrameAsked).hosts
    if wrong := [host for host in hosts if not _HOST.fullmatch(host)]:
        raise misshapen(f"{wrong[0][:100]!r} is not the name of a host: give names such as cdn.example.org")
    headers = {
        "Content-Security-Policy": frame_policy(request, hosts),
        "Connection-Allowlist": frame_connections(request, hosts),
        "X-DNS-Prefetch-Control": "off",
        "Cache-Control": "no-cache",
    }
    try:
        text = (FOLDER / "frame" / "frame.html").read_text(encoding="utf-8")
    except FileNotFoundError:
        told = "The frame of outputs is not built. Where the source of this server is, run `make web`."
        raise ErrorResponse(503, Unavailable(told)) from None
    return Response(text, media_type="text/html", headers=headers)


def frame_connections(connection: Connection, hosts: tuple[str, ...]) -> str:
    """Return what a frame may connect to. Chromium holds to it where a policy has holes: name lookups, preconnects, WebRTC."""
    patterns = [f"{_own_files(connection)}*", *(f"https://{host}/*" for host in sorted(set(hosts)))]
    return "({})".format(" ".join(f'"{pattern}"' for pattern in patterns))


def _own_files(connection: Connection) -> str:
    return f"{'https' if is_secure(connection) else 'http'}://{connection.headers.get('host', '')}/frame/"


def frame_policy(connection: Connection, hosts: tuple[str, ...]) -> str:
    """Return the policy of a frame: an opaque origin, its own scripts, and these hosts by https."""
    own = _own_files(connection)
    more = "".join(f" https://{host}" for host in sorted(set(hosts)))
    reached = more or " 'none'"
    return (
        f"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' {own}{more}; "
        f"style-src 'unsafe-inline' {own}{more}; img-src data: blob:{more}; media-src data: blob:{more}; "
        f"font-src data: {own}{more}; connect-src{reached}; frame-src 'none'; child-src 'none'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
    )


# ---- Files


@get("/service_worker.js", opt=OPEN, include_in_schema=False, name="service worker", sync_to_thread=False)
def service_worker() -> Response[bytes]:
    """Send the script by which a browser keeps the app for when the server is away. It may reach this server alone."""
    try:
        script = (FOLDER / "service_worker.js").read_bytes()
    except FileNotFoundError:
        raise ErrorResponse(404, NotFound("The web app is not built: run `make web`.")) from None
    headers = {"Content-Security-Policy": "default-src 'none'; connect-src 'self'", "Cache-Control": "no-cache"}
    return Response(script, media_type="text/javascript", headers=headers)


@get("/assets/{name:str}", opt=OPEN, include_in_schema=False, name="asset")
async def asset(request: Asking, name: FromPath[str]) -> Response[bytes]:
    """Send a file of the page."""
    return await _file(request, FOLDER / "assets", name, {})


@get("/frame/assets/{name:str}", opt=OPEN, include_in_schema=False, name="frame asset")
async def frame_asset(request: Asking, name: FromPath[str]) -> Response[bytes]:
    """Send a file of the frame, also to its opaque origin."""
    open_to_all = {"Cross-Origin-Resource-Policy": "cross-origin", "Access-Control-Allow-Origin": "*"}
    return await _file(request, FOLDER / "frame" / "assets", name, open_to_all)


async def _file(request: Asking, folder: Path, name: str, headers: dict[str, str]) -> Response[bytes]:
    path = folder / name
    media = MEDIA.get(path.suffix)
    if not _ASSET.fullmatch(name) or media is None:
        raise _absent(request)
    accepted = accepted_encodings(request.headers.get("accept-encoding", ""))
    for encoding, ending in [*((name, ENCODINGS[name]) for name in accepted), ("", "")]:
        try:
            data = await asyncio.to_thread(path.with_name(name + ending).read_bytes)
        except FileNotFoundError:
            continue
        said = {"Content-Encoding": encoding} if encoding else {}
        return Response(
            data, media_type=media, headers={"Cache-Control": _IMMUTABLE, "Vary": "Accept-Encoding", **said, **headers}
        )
    raise _absent(request)


def _absent(request: Asking) -> NotFound:
    return NotFound(f"There is no file {request.url.path[:200]!r}: the app was built anew. Load the page again.")


def accepted_encodings(header: str) -> list[str]:
    """Return the encodings of ours that a client takes, the preferred one first."""
    weights: dict[str, float] = {}
    for part in header.lower().split(","):
        name, _, parameter = part.partition(";")
        weight = re.fullmatch(r"\s*q=([01](?:\.\d{0,3})?)\s*", parameter)
        weights[name.strip()] = float(weight[1]) if weight else 1.0
    rest = weights.get("*", 0.0)
    return [name for name in ENCODINGS if weights.get(name, rest) > 0]


ROUTES: list[HTTPRouteHandler] = [page, frame, service_worker, asset, frame_asset]
