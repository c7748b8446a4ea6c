"""The socket at `/api/socket`: everybody on the same live notebook. docs/reference/socket.md is the protocol.

Who comes is named as for any request (asking), before the socket is opened; only a page, which can send no header,
is named by its first frame. Frames are those of workspace/wire/frames.py.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, cast

from litestar import WebSocket, websocket
from litestar.exceptions import WebSocketException

from ....core.errors import QuireError, answer
from ..auth import admit_page, asked_by, awaits_page_key, door_of
from ..error_responses import ErrorResponse, signed_out, too_many
from .connection_loop import SocketConnection, close_socket, read_hello


@websocket("/api/socket")
async def socket(socket: WebSocket[Any, Any, Any]) -> None:
    """Let a client follow, listen, say and submit until it goes."""
    if not awaits_page_key(socket):
        await _serve_bearer(socket)
        return
    await socket.accept()
    try:
        await admit_page(socket, await _page_key(socket))
        await _serve_bearer(socket)
    except _ClientGone:
        return
    except ErrorResponse as refused:
        await close_socket(socket, 4000 + refused.status, str(refused.error))
    except QuireError as error:  # the database is away, say: a page tells its reader so
        await close_socket(socket, 4000 + answer(error).http, str(error))


async def _serve_bearer(socket: WebSocket[Any, Any, Any]) -> None:
    workspace, settings = asked_by(socket), door_of(socket).settings
    name = workspace.identity.token or workspace.identity.actor
    there = _there(socket)
    if there[name] >= settings.sockets_per_token:
        raise _denied(
            socket, too_many(f"Token {name} has {there[name]} sockets open, and no more are allowed. Close one.", 1)
        )
    there[name] += 1
    try:
        await _serve(socket, SocketConnection(workspace, socket, settings))
    finally:
        there[name] -= 1
        there += Counter()  # forgets those without any


class _ClientGone(Exception):
    """The client went away before it said who it is."""


async def _page_key(socket: WebSocket[Any, Any, Any]) -> str:
    """Read the first frame of a page: until it is there, nothing is sent and nothing is done."""
    try:
        async with asyncio.timeout(door_of(socket).settings.head_seconds):
            message: Any = await socket.receive()
    except TimeoutError:
        raise signed_out("The first frame of a page is `hello` with its page_key, and none came.") from None
    if message["type"] == "websocket.disconnect":
        raise _ClientGone
    return read_hello(message.get("text"))


async def _serve(socket: WebSocket[Any, Any, Any], connection: SocketConnection) -> None:
    try:
        await connection.open()
    except QuireError as error:
        raise _denied(socket, ErrorResponse(answer(error).http, error)) from error
    try:
        if not awaits_page_key(socket):
            await socket.accept()
        await connection.run()
    finally:
        connection.close()


def _there(socket: WebSocket[Any, Any, Any]) -> Counter[str]:
    """How many sockets each token has open at this server."""
    return cast("Counter[str]", socket.app.state.setdefault("sockets", Counter[str]()))


def _denied(socket: WebSocket[Any, Any, Any], refused: ErrorResponse) -> Exception:
    """A socket that is not opened: it is answered as any request (see gate). One that is open already is closed."""
    if awaits_page_key(socket):
        return refused
    socket.scope["state"]["refused"] = refused
    return WebSocketException(detail="", code=4000 + refused.status)
