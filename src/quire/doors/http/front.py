"""The page that a browser gets at `/`: who one is, and which notebooks there are.

Plain files of pages/, without anything from elsewhere; they need no token, for they tell nothing. The web app takes this
place when it is there.
"""

from __future__ import annotations

from pathlib import Path

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FOLDER = Path(__file__).with_name("pages")
_FILES = {
    "/": ("index.html", "text/html"),
    "/pages/page.css": ("page.css", "text/css"),
    "/pages/page.js": ("page.js", "text/javascript"),
}


def _route(path: str, name: str, media: str) -> HTTPRouteHandler:
    @get(path, opt={"open": True}, include_in_schema=False, name=f"page {name}", media_type=media, sync_to_thread=False)
    def page() -> Response[bytes]:
        headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
        return Response((_FOLDER / name).read_bytes(), media_type=media, headers=headers)

    return page


ROUTES = [_route(path, name, media) for path, (name, media) in _FILES.items()]
