"""What is answered when something is not done: always a `Faulty`, with the status that the fault has.

`core.errors.answer` gives each of the six errors its status. What only this door knows (no token, too
large, too many) is an `ErrorResponse`. What Litestar finds by itself takes the same shape.
"""

from __future__ import annotations

import logging
import re
import traceback
from typing import Any

import msgspec
from litestar import Litestar, Request, Response
from litestar.exceptions import HTTPException

from ...core.errors import BadInput, NotFound, QuireError, Refused, Unavailable, answer
from ...workspace.wire.frames import Faulty, fault_of

JSON = "application/json"
log = logging.getLogger("quire.http")


class ErrorResponse(Exception):
    """A request is answered with a fault whose status is this door's own."""

    def __init__(self, status: int, error: QuireError, headers: dict[str, str] | None = None) -> None:
        super().__init__(str(error))
        self.status = status
        self.error = error
        self.headers = headers or {}

    @property
    def body(self) -> bytes:
        """As it is sent."""
        return encoded(self.error)


def encoded(error: QuireError) -> bytes:
    """A fault as the body of an answer."""
    return msgspec.json.encode(Faulty(error=fault_of(error)), enc_hook=str)


def signed_out(message: str) -> ErrorResponse:
    """Who asks is nobody: there is no token, or one that opens nothing."""
    return ErrorResponse(401, Refused(message), {"WWW-Authenticate": "Bearer"})


def too_many(message: str, seconds: float) -> ErrorResponse:
    """More came than is allowed; it may be tried again after so many seconds."""
    return ErrorResponse(429, Refused(message), {"Retry-After": str(max(1, round(seconds + 0.5)))})


def too_large(limit: int) -> ErrorResponse:
    """The body is larger than this server takes."""
    told = f"The body is larger than the {limit:,} bytes that this server takes here."
    next_step = "Send large bytes as blobs, and many events in several submissions."
    return ErrorResponse(413, BadInput(f"{told} {next_step}"), {"Connection": "close"})


# ---- For Litestar


def on_answered(request: Request[Any, Any, Any], error: ErrorResponse) -> Response[bytes]:
    """What this door says by itself."""
    return _response(error.status, error.error, error.headers)


def on_fault(request: Request[Any, Any, Any], error: QuireError) -> Response[bytes]:
    """One of the six."""
    return _response(answer(error).http, error)


def on_http(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """What Litestar finds wrong with a request before anybody else looks at it."""
    if error.status_code >= 500:
        return on_anything(request, error)
    headers = {"Allow": ", ".join(allowed(request.app, request.scope["path"]))} if error.status_code == 405 else {}
    return _response(error.status_code, _named(error, request), headers)


def allowed(app: Litestar, path: str) -> list[str]:
    """The methods that a path is for; none when there is nothing."""
    path = path.rstrip("/") or "/"
    found: set[str] = set()
    for each in app.routes:
        if re.fullmatch(re.sub(r"\\{[^/]*", "[^/]+", re.escape(each.path)), path):
            found |= set(getattr(each, "methods", ()))
    return sorted(found)


def on_anything(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """A fault of ours. What it was is for the log of the server, not for who asked."""
    log.error("%s", "".join(traceback.format_exception(error)))
    told = "The server failed at this request. Its log says why; try again, or tell whoever runs it."
    return _response(500, Unavailable(told))


def _named(error: HTTPException, request: Request[Any, Any, Any]) -> QuireError:
    path = request.url.path[:200]
    match error.status_code:
        case 404:
            return NotFound(f"There is nothing at {path!r}. GET /api/openapi.json tells what there is.")
        case 405:
            return BadInput(f"{request.method} is not for {path!r}. GET /api/openapi.json tells what is.")
        case 413:
            return too_large(request.route_handler.resolve_request_max_body_size() or 0).error
        case _:
            return BadInput(f"{error.detail.rstrip('.')}. GET /api/openapi.json tells what is expected.")


def _response(status: int, error: QuireError, headers: dict[str, str] | None = None) -> Response[bytes]:
    return Response(encoded(error), status_code=status, media_type=JSON, headers=headers or {})


HANDLERS: dict[int | type[Exception], Any] = {
    ErrorResponse: on_answered,
    QuireError: on_fault,
    HTTPException: on_http,
    Exception: on_anything,
}
