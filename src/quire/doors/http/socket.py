"""The socket at `/api/socket`: everybody on the same live notebook. docs/reference/socket.md is the protocol.

Who comes is named as for any request (asking), before the socket is opened; frames are those of workspace/wire.py.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

from litestar import WebSocket, websocket
from litestar.exceptions import WebSocketException

from ...core.errors import QuireError, answer
from .asking import asked_by, door_of
from .faults import Answered, too_many
from .socket_connection import Connection


@websocket("/api/socket")
async def socket(socket: WebSocket[Any, Any, Any]) -> None:
    """Let a client follow, listen, say and submit until it goes."""
    workspace, settings = asked_by(socket), door_of(socket).settings
    name = workspace.identity.token or workspace.identity.actor
    there = _there(socket)
    if there[name] >= settings.sockets_per_token:
        raise _denied(
            socket, too_many(f"Token {name} has {there[name]} sockets open, and no more are allowed. Close one.", 1)
        )
    there[name] += 1
    try:
        await _serve(socket, Connection(workspace, socket, settings))
    finally:
        there[name] -= 1
        there += Counter()  # forgets those without any


async def _serve(socket: WebSocket[Any, Any, Any], connection: Connection) -> None:
    try:
        await connection.open()
    except QuireError as error:
        raise _denied(socket, Answered(answer(error).http, error)) from error
    try:
        await socket.accept()
        await connection.run()
    finally:
        connection.close()


def _there(socket: WebSocket[Any, Any, Any]) -> Counter[str]:
    """How many sockets each token has open at this server."""
    return cast("Counter[str]", socket.app.state.setdefault("sockets", Counter[str]()))


def _denied(socket: WebSocket[Any, Any, Any], refused: Answered) -> WebSocketException:
    """A socket that is not opened: it is answered as any request (see gate)."""
    socket.scope["state"]["refused"] = refused
    return WebSocketException(detail="", code=4000 + refused.status)
