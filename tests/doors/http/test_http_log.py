"""What a server writes about its requests: who, what and how it went, and nothing that is secret."""

from __future__ import annotations

import io
import logging

import msgspec
import pytest
from litestar.types import Scope
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from quire.doors.http.server.access_log import AccessLog, RequestLine, written_as_lines
from quire.workspace.local import LocalWorkspace

from ...http_server import Server, served
from .http_clients import ADA, ALL, Client, client_of


async def test_there_is_one_line_of_json_for_each_request(server: Server, ada: Client, nobody: Client) -> None:
    first = await ada.get("/api/logs/n1/events?since=1")
    second = await nobody.get("/api/me")
    third = await ada.get("/api/nothing%0Aelse")
    lines = server.told()
    assert [(line["method"], line["path"], line["status"], line["actor"]) for line in lines] == [
        ("GET", "/api/logs/n1/events", 200, ADA),
        ("GET", "/api/me", 401, None),
        ("GET", "/api/nothing\nelse", 404, None),
    ]
    assert [line["request"] for line in lines] == [each.headers["x-request-id"] for each in (first, second, third)]
    assert all(line["milliseconds"] >= 0 and line["at"] for line in lines)
    assert len(server.lines.getvalue().splitlines()) == 3


async def test_no_line_holds_a_token_a_body_or_a_query(workspace: LocalWorkspace) -> None:
    made = await workspace.create_token(ADA, ALL)
    sign_in = await workspace.create_sign_in()
    async with served(workspace) as server, client_of(server.url, made.secret) as client:
        await client.get(f"/api/me?token={made.secret}")
        await client.post("/api/logs/n1/holding", json={"secret": "hunter2-hunter2"})
        await client.post("/api/sign-in", json={"token": sign_in.secret})
        await client.get("/api/me", headers={"Cookie": f"quire-{server.port}={made.secret}"})
        lines = server.lines.getvalue()
        assert len(server.told()) == 4
        for secret in (made.secret, sign_in.secret, "hunter2", "quire_"):
            assert secret not in lines


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_line_is_short_and_cannot_move_the_cursor() -> None:
    stream = Terminal()
    line = RequestLine(id="1", method="GET", path="/api/\x1b[2Jx", began=0, status=404)
    scope: Scope = {"state": {}}  # pyright: ignore[reportAssignmentType] - all that is looked at
    AccessLog(stream).write(line, scope)
    assert stream.getvalue().startswith("404 GET /api/")
    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()


def test_what_libraries_say_goes_to_the_same_log() -> None:
    stream = io.StringIO()
    with written_as_lines(AccessLog(stream)):
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
        logging.getLogger("some.library").info("chatter")
    logging.getLogger("uvicorn.error").warning("later")
    (line,) = [msgspec.json.decode(each) for each in stream.getvalue().splitlines()]
    assert (line["level"], line["told"]) == ("warning", "Invalid HTTP request received.")


async def test_a_socket_that_is_refused_is_one_line_and_no_fault(workspace: LocalWorkspace) -> None:
    stream = io.StringIO()
    async with served(workspace) as server:
        with written_as_lines(AccessLog(stream)), pytest.raises(InvalidStatus, match="401"):
            async with connect(f"{server.url.replace('http', 'ws')}/api/socket"):
                pass
    assert [(line["method"], line["status"]) for line in server.told()] == [("SOCKET", 401)]
    assert stream.getvalue() == ""


async def test_a_fault_of_ours_is_told_to_the_log_and_not_to_who_asked(
    workspace: LocalWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await workspace.create_token(ADA, ALL)
    stream = io.StringIO()
    async with served(workspace) as server, client_of(server.url, made.secret) as client:
        with written_as_lines(AccessLog(stream)):
            # A disk that is gone: nobody looks for that in advance.
            monkeypatch.setattr("tempfile.tempdir", "/nowhere")
            told = await client.ask("GET", "/api/logs/n1/export", 500)
    assert "nowhere" not in told
    assert "Traceback" not in told
    assert "/nowhere" in stream.getvalue()
