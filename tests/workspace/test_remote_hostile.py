"""Whoever is at an address may be anybody: what a client believes, and where a token goes."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from quire.core.errors import BadInput, QuireError, Refused, Unavailable
from quire.core.ids import ActorId, LogId
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.memory_store import MemoryStore
from quire.workspace.identity import identities
from quire.workspace.local import LocalWorkspace
from quire.workspace.remote.remote_workspace import RemoteWorkspace
from quire.workspace.remote.server_address import read_address

from ..http_server import served

SECRET = "quire_s3cret-of-ada"
LOG = LogId("n1")
ME = b'{"actor": "human:ada", "scopes": ["read"]}'
PATIENCE = 240


class Impostor:
    """Answers each request with bytes that a test chooses, and remembers what it was sent."""

    def __init__(self, answer: Callable[[str], bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]]) -> None:
        self._answer = answer
        self.heard: list[bytes] = []
        self.url = ""

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.heard.append(head)
            answer = self._answer(head.split()[1].decode())
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(writer)
        writer.close()


@asynccontextmanager
async def impostor(answer: Callable[[str], Any]) -> AsyncGenerator[Impostor]:
    made = Impostor(answer)
    server = await asyncio.start_server(made.accept, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()


def http(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def failing(url: str) -> str:
    """What is said when that is no server."""
    with pytest.raises(Unavailable) as error:
        await RemoteWorkspace.open(url, SECRET)
    assert SECRET not in str(error.value)
    return str(error.value)


# ---- Over HTTP


@pytest.mark.parametrize(
    "answer",
    [
        b"\x00\xff\x00 not a protocol at all\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        http(b"<html>Welcome to nginx</html>"),
        http(b"<html>No such page</html>", "404 Not Found"),
        http(b"[]"),
        http(b'{"actor": 7, "scopes": "everything"}'),
        http(b"[" * 100_000),
        http(b"\xff\xfe"),
        http(ME[:-5]),
        http(b'{"error": {"kind": 1}}', "418 I am a teapot"),
        http(b"", "200 OK", "Content-Encoding: gzip"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{",
    ],
    ids=lambda answer: ascii(answer[:40]),
)
async def test_somebody_who_is_no_server_is_told_as_such(answer: bytes) -> None:
    async with impostor(lambda path: answer) as there:
        told = await failing(there.url)
    assert "does not answer as a Quire server" in told or "broke off" in told


async def test_an_error_of_a_server_is_taken_as_it_is_whatever_its_details_are_called() -> None:
    fault = {"kind": "Refused", "message": "no", "details": {"message": "x", "self": 1, "kind": [2]}}
    async with impostor(lambda path: http(msgspec.json.encode({"error": fault}), "403 Forbidden")) as there:
        with pytest.raises(Refused) as error:
            await RemoteWorkspace.open(there.url, SECRET)
    assert (str(error.value), error.value.details) == ("no", fault["details"])


async def test_a_redirection_is_told_and_the_token_does_not_go_along() -> None:
    async with impostor(lambda path: http(ME)) as other:
        location = f"Location: {other.url.replace('//', '//user:pass@')}/api/me?x=y"
        async with impostor(lambda path: http(b"", "307 Temporary Redirect", location)) as there:
            told = await failing(there.url)
        assert other.heard == []
        assert "127.0.0.1" in told
        assert "pass" not in told


async def test_a_socket_that_is_sent_elsewhere_is_not_followed() -> None:
    async with impostor(lambda path: http(b"")) as other:
        there = f"Location: {other.url}/api/socket"

        def answer(path: str) -> bytes:
            return http(ME) if path == "/api/me" else http(b"", "302 Found", there)

        async with impostor(answer) as server, opened(server.url) as remote:
            with pytest.raises(Unavailable, match="does not go along"):
                await asyncio.wait_for(anext(remote.follow(LOG)), PATIENCE)
        assert other.heard == []


async def test_an_answer_without_an_end_is_not_read_for_ever() -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + b"[" * 65536 + b"\r\n")
            await writer.drain()

    async with impostor(lambda path: http(ME) if path == "/api/me" else endless) as there:
        remote = await RemoteWorkspace.open(there.url, SECRET, answer_bytes=1 << 20)
        for ask in (remote.logs(), remote.read(LOG), anext(aiter(remote.verify()))):
            with pytest.raises(Unavailable, match=r"more than 1,048,576 bytes|without an end"):
                await asyncio.wait_for(ask, PATIENCE)
        await remote.close()


@asynccontextmanager
async def opened(url: str) -> AsyncGenerator[RemoteWorkspace]:
    remote = await RemoteWorkspace.open(url, SECRET)
    try:
        yield remote
    finally:
        await remote.close()


# ---- Over the socket


@asynccontextmanager
async def talker(*frames: str | bytes) -> AsyncGenerator[str]:
    """A server that says these frames to whoever connects, with the id of the first request in place of ID."""

    async def talk(connection: ServerConnection) -> None:
        asked = msgspec.json.decode(await connection.recv())
        for frame in frames:
            named = frame.replace("ID", asked["id"]) if isinstance(frame, str) else frame
            await connection.send(named)
        await connection.wait_closed()

    def greet(connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/api/socket":
            return None
        return Response(200, "OK", Headers({"Content-Length": str(len(ME)), "Connection": "close"}), ME)

    async with serve(talk, "127.0.0.1", 0, process_request=greet, compression=None) as server:
        yield f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


def entry(seq: int, **changed: Any) -> str:
    fields = {"log": LOG, "seq": seq, "id": f"e{seq}", "at": "2026-01-01T00:00:00.000000Z", "actor": "human:ada"}
    event = {"type": "notebook_renamed", "name": "x"}
    return msgspec.json.encode(fields | {"event": event} | changed).decode()


def events(*entries: str) -> str:
    return f'{{"type": "events", "id": "ID", "head": 9, "entries": [{", ".join(entries)}]}}'


WELCOME = f'{{"type": "welcome", "me": {ME.decode()}, "version": "9", "tick_milliseconds": 20}}'


@pytest.mark.parametrize(
    "frames",
    [
        ("hello",),
        (b"\x00\x01",),
        (events(entry(1)),),
        (WELCOME, "{}"),
        (WELCOME, "[" * 100_000),
        (WELCOME, '{"type": "events", "id": 7}'),
        (WELCOME, events(entry(2))),
        (WELCOME, events(entry(0))),
        (WELCOME, events(entry(1, log="another"))),
        (WELCOME, events(entry(1, event={"type": "notebook_renamed"}))),
        (WELCOME, events(entry(1, event={"no": "type"}))),
    ],
    ids=lambda frames: frames[-1][:60] if isinstance(frames[-1], str) else "bytes",
)
async def test_a_socket_that_speaks_nonsense_ends_what_is_followed(frames: tuple[str | bytes, ...]) -> None:
    async with talker(*frames) as url, opened(url) as remote:
        with pytest.raises(Unavailable):
            await asyncio.wait_for(anext(remote.follow(LOG)), PATIENCE)


async def test_what_comes_before_nonsense_is_not_lost_and_what_came_twice_is_not_seen_twice() -> None:
    async with talker(WELCOME, events(entry(1), entry(2)), events(entry(2), entry(3))) as url, opened(url) as remote:
        pages = remote.follow(LOG)
        assert [each.seq for each in await asyncio.wait_for(anext(pages), PATIENCE)] == [1, 2]
        with pytest.raises(Unavailable, match="Event 3"):
            await asyncio.wait_for(anext(pages), PATIENCE)


async def test_a_frame_and_an_event_of_a_newer_quire_are_no_nonsense() -> None:
    newer = events(entry(1, event={"type": "from_the_future", "x": 1}, more="fields"))
    async with talker(WELCOME, '{"type": "weather", "sun": true}', newer) as url, opened(url) as remote:
        (found,) = await asyncio.wait_for(anext(remote.follow(LOG)), PATIENCE)
    assert getattr(found.event, "type", None) == "from_the_future"


# ---- Where a token may go


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://quire.example.org", "https://quire.example.org"),
        ("https://quire.example.org:8443/team/", "https://quire.example.org:8443/team"),
        ("HTTPS://Quire.Example.Org", "https://quire.example.org"),
        ("http://localhost:8765/", "http://localhost:8765"),
        ("http://127.0.0.1:8765", "http://127.0.0.1:8765"),
        ("http://127.9.9.9", "http://127.9.9.9"),
        ("http://[::1]:8765", "http://[::1]:8765"),
    ],
)
def test_an_address_that_a_token_may_be_sent_to(text: str, url: str) -> None:
    assert read_address(text).url == url


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("http://quire.example.org", Refused),
        ("http://192.168.1.2:8765", Refused),
        ("http://localhost.example.org", Refused),
        ("http://127.0.0.1.example.org", Refused),
        ("http://0.0.0.0:8765", Refused),
        ("https://ada:pa55word@quire.example.org", BadInput),
        ("http://127.0.0.1:8765/#sign-in=pa55word", BadInput),
        ("https://quire.example.org/?token=pa55word", BadInput),
        ("https://", BadInput),
        ("https://:443", BadInput),
        ("https://host:port", BadInput),
        ("https://[::1", BadInput),
        ("ftp://host", BadInput),
        ("https://a b", BadInput),
    ],
)
def test_an_address_that_no_token_is_sent_to(text: str, error: type[QuireError]) -> None:
    with pytest.raises(error) as told:
        read_address(text)
    assert "pa55word" not in str(told.value)


def test_who_says_so_may_send_a_token_unencrypted() -> None:
    assert read_address("http://quire.example.org", allow_http=True).secure is False


@pytest.mark.parametrize("secret", ["", " \n", "quire_a b", "quire_a\nX-Evil: yes", "quire_ä"])
async def test_what_cannot_be_a_token_gets_into_no_header(secret: str) -> None:
    async with impostor(lambda path: http(ME)) as there:
        with pytest.raises(BadInput) as told:
            await RemoteWorkspace.open(there.url, secret)
        assert there.heard == []
    assert not secret.strip() or secret not in str(told.value)


# ---- Certificates


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A key and a certificate for this machine that nobody but itself signed."""
    made = tmp_path / "self-signed.pem"
    subject = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", made, "-out", f"{made}.crt", *subject],
        check=True,
        capture_output=True,
    )
    made.write_text(made.read_text() + Path(f"{made}.crt").read_text())
    return made


async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = LocalWorkspace(MemoryStore(), MemoryBlobs(), identities.owner())
    secret = (await workspace.create_token(ActorId("human:ada"), ["read"])).secret
    async with served(workspace, ssl_certfile=str(certificate)) as server:
        url = server.url.replace("http://", "https://")
        with pytest.raises(Unavailable, match="SSL_CERT_FILE") as told:
            await RemoteWorkspace.open(url, secret)
        assert "self-signed" in str(told.value) or "self signed" in str(told.value)
        assert "/api/me" not in server.lines.getvalue(), "nothing was sent"
        monkeypatch.setenv("SSL_CERT_FILE", f"{certificate}.crt")
        remote = await RemoteWorkspace.open(url, secret)
        page = await asyncio.wait_for(anext(remote.follow(LogId("workspace"))), PATIENCE)
        assert page[0].seq == 1
        await remote.close()
    await workspace.close()


async def test_a_server_that_does_not_encrypt_is_told() -> None:
    workspace = LocalWorkspace(MemoryStore(), MemoryBlobs(), identities.owner())
    async with served(workspace) as server:
        assert "does not encrypt" in await failing(server.url.replace("http://", "https://"))
