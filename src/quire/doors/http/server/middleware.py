"""What happens to every request, before and after anybody knows what it asks for.

The name that it was sent to is checked, bodies that are compressed are refused (nothing is ever unpacked, so
nothing explodes), a body that comes too slowly is cut off, an answer gets its headers, and a line is written.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from time import monotonic
from typing import Any
from urllib.parse import unquote

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from ....core.errors import BadInput, NotFound, Unavailable
from ....workspace.clock import new_id
from ..auth import check_host
from ..error_responses import JSON, ErrorResponse, allowed
from ..server_settings import ServerSettings
from .access_log import AccessLog, RequestLine
from .compression import compressing

HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"cross-origin-resource-policy": b"same-origin",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}
"""Of every answer that does not say otherwise."""
_SLASH = re.compile(b"%2f", re.IGNORECASE)


class HttpMiddleware:
    """An ASGI application around the one that knows the routes."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, log: AccessLog) -> None:
        self._app = app
        self._settings = settings
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        _keep_slashes(scope)
        method = str(scope["method"]) if scope["type"] == "http" else "SOCKET"
        line = RequestLine(id=new_id(), method=method, path=scope["path"], began=monotonic())
        answering = _Response(scope, send, line)
        try:
            self._check(scope)
            if method == "OPTIONS" and (methods := allowed(scope["litestar_app"], scope["path"])):
                await answering.tell(204, {"Allow": ", ".join(methods)})  # Litestar's own tells of one of them
                return
            await self._app(scope, self._timed(scope, receive), compressing(scope, answering.send))
        except ErrorResponse as refused:
            await answering.refuse(refused)
        finally:
            self._log.write(line, scope)

    def _check(self, scope: Scope) -> None:
        hosts = list(_values(scope, b"host"))
        check_host(hosts[0].decode("latin-1") if len(hosts) == 1 else "", self._settings)
        for encoding in _values(scope, b"content-encoding"):
            if encoding.strip().lower() != b"identity":
                told = "Compressed bodies are not taken: send the body as it is, without Content-Encoding."
                raise ErrorResponse(415, BadInput(told), {"Connection": "close"})

    def _timed(self, scope: Scope, receive: Receive) -> Receive:
        """The same body, as long as it keeps coming."""
        if scope["type"] != "http":
            return receive
        settings = self._settings
        waited, came, ended = 0.0, 0, False

        async def timed() -> Any:
            nonlocal waited, came, ended
            if ended:  # nothing comes after it but that the client is gone
                return await receive()
            began = monotonic()
            try:
                async with asyncio.timeout(settings.body_seconds + came / settings.body_bytes_per_second - waited):
                    message = await receive()
            except TimeoutError:
                told = "The body came too slowly. Send it again, over a faster line or in smaller parts."
                raise ErrorResponse(408, BadInput(told), {"Connection": "close"}) from None
            if message["type"] == "http.disconnect":
                raise ErrorResponse(
                    499, Unavailable("The client went away in the midst of its body. Nothing was done.")
                )
            waited += monotonic() - began
            came += len(message.get("body", b""))
            ended = not message.get("more_body", False)
            return message

        return timed


class _Response:
    """An answer on its way out."""

    def __init__(self, scope: Scope, send: Send, line: RequestLine) -> None:
        self._scope = scope
        self._send = send
        self._line = line
        self._begun = False

    async def send(self, message: Message) -> None:
        """Send what the application says, with what belongs to every answer."""
        if message["type"] == "http.response.start":
            self._line.status = message["status"]
            _complete(message, self._line.id)
        elif message["type"] == "websocket.close" and not self._begun:
            await self._deny(message["code"])
            return
        self._begun = True
        if message["type"] == "websocket.accept":
            self._line.status = 101
        await self._send(message)

    async def refuse(self, refused: ErrorResponse) -> None:
        """Answer with a fault, if nothing was answered yet."""
        if self._begun:
            raise refused
        said = {"Content-Type": JSON, "Content-Length": str(len(refused.body)), **refused.headers}
        await self.tell(refused.status, said, refused.body)

    async def tell(self, status: int, said: dict[str, str], body: bytes = b"") -> None:
        """Answer with this."""
        prefix = "websocket.http.response" if self._scope["type"] == "websocket" else "http.response"
        headers = [(name.lower().encode(), value.encode()) for name, value in said.items()]
        start: Any = {"type": f"{prefix}.start", "status": status, "headers": headers}
        self._line.status = status
        _complete(start, self._line.id)
        self._begun = True
        await self._send(start)
        end: Any = {"type": f"{prefix}.body", "body": body, "more_body": False}
        await self._send(end)

    async def _deny(self, code: int) -> None:
        """A socket that was never opened is answered as any request."""
        told: ErrorResponse | None = self._scope["state"].get("refused")
        if told is None and "route_handler" in self._scope:
            told = ErrorResponse(500, Unavailable(f"The server failed at opening a socket ({code}). Its log says why."))
        await self.refuse(told or ErrorResponse(404, NotFound("There is no socket here: it is at /api/socket.")))


def _complete(message: Any, id: str) -> None:
    headers: list[tuple[bytes, bytes]] = list(message.get("headers", []))
    there = {name.lower() for name, _ in headers}
    headers += [(name, value) for name, value in HEADERS.items() if name not in there]
    message["headers"] = [*headers, (b"x-request-id", id.encode())]


def _keep_slashes(scope: Scope) -> None:
    """A slash that was written as %2F is part of a name, and does not part one from the next."""
    raw = scope["raw_path"]
    if _SLASH.search(raw):
        scope["path"] = unquote(_SLASH.sub(b"%252F", raw).decode("latin-1"))


def _values(scope: Scope, wanted: bytes) -> Iterable[bytes]:
    return (value for name, value in scope["headers"] if name.lower() == wanted)
