"""What comes over the network is believed in nothing: too large, too slow, too deep, compressed, or a path to elsewhere."""

from __future__ import annotations

import asyncio
import gzip
import io
import re
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quire.doors.http.app import ROUTES
from quire.doors.http.openapi import about
from quire.doors.http.server.rate_limits import Allowance
from quire.doors.http.server_settings import ServerSettings
from quire.workspace.local import LocalWorkspace

from ...http_server import Server, served
from .http_clients import ADA, ALL, NOTEBOOK, Client, answer_to, client_of, connection, drafts, until

SMALL = ServerSettings(body_bytes=10_000, upload_bytes=50_000, notebook_bytes=20_000)


async def pieces(count: int, piece: bytes = b"x" * 1000) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield piece


# ---- Too large


async def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(
    workspace: LocalWorkspace, tmp_path: Path
) -> None:
    token = await workspace.create_token(ADA, ALL)
    async with served(workspace, SMALL) as server, client_of(server.url, token.secret) as client:
        url = "/api/logs/n1/events"
        headers = {"Content-Type": "application/json"}
        assert "larger than the 10,000 bytes" in await client.ask(
            "POST", url, 413, content=b"x" * 10_001, headers=headers
        )
        assert "larger" in await client.ask("POST", url, 413, content=pieces(11), headers=headers)
        await client.ask("POST", url, 400, content=b"x" * 10_000, headers=headers)
        assert "larger than the 50,000 bytes" in await client.ask("POST", "/api/blobs", 413, content=b"x" * 50_001)
        assert "larger" in await client.ask("POST", "/api/blobs", 413, content=pieces(51))
        assert (await client.ask("POST", "/api/blobs", content=pieces(50)))["size"] == 50_000
        assert "larger" in await client.ask("POST", "/api/imports", 413, content=pieces(51))
        url = "/api/imports?format=ipynb&name=x"
        assert "larger than the 20,000 bytes" in await client.ask("POST", url, 413, content=pieces(21))
        kept = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
        assert [path.stat().st_size for path in kept] == [50_000], "nothing is left of what was refused"
        await client.ask("GET", "/api/me")


async def test_who_has_no_token_sends_little(nobody: Client) -> None:
    sent: dict[str, Any] = {"content": b"x" * 10_001, "headers": {"Content-Type": "application/json"}}
    assert "larger than the 10,000 bytes" in await nobody.ask("POST", "/api/sign-in", 413, **sent)
    answer = await nobody.post("/api/blobs", **sent)
    assert answer.status_code == 401, "and of what needs a token nothing is read"


HEADS = ["GET /health HTTP/1.1\r\nHost: localhost\r\nX-Much: ", "GET /"]


async def test_a_head_that_is_too_large_is_refused(server: Server, subtests: pytest.Subtests) -> None:
    for head in HEADS:
        with subtests.test(head=head):
            async with connection(server.port) as (reader, writer), asyncio.timeout(240):
                writer.write(head.encode() + b"x" * 100_000)
                assert (await reader.readline()).startswith(b"HTTP/1.1 400 ")


# ---- Compressed


ENCODINGS = ["gzip", "deflate", "br", "zstd", "GZIP", "identity, gzip", "gzip, identity"]


async def test_a_compressed_body_is_refused_and_not_unpacked(ada: Client, subtests: pytest.Subtests) -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    for encoding in ENCODINGS:
        with subtests.test(encoding=encoding):
            headers = {"Content-Encoding": encoding, "Content-Type": "application/json"}
            for path in ("/api/notebooks", "/api/blobs", "/api/imports", "/api/sign-in"):
                assert "Compressed bodies" in await ada.ask("POST", path, 415, content=bomb, headers=headers)


async def test_a_body_that_says_it_is_not_compressed_is_read(ada: Client) -> None:
    await ada.ask("POST", "/api/notebooks", json={"name": "x"}, headers={"Content-Encoding": "identity"})


async def test_a_bundle_whose_parts_explode_is_refused(ada: Client) -> None:
    """A bundle is a zip by its nature: what it unpacks to is counted."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("quire.json", b"0" * 30_000_000)
        bundle.writestr("log.jsonl", b"0" * 30_000_000)
    assert "not a .quire bundle" in await ada.ask("POST", "/api/imports", 422, content=file.getvalue())


# ---- Without sense


BODIES = [
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b'{"name": "x", "name2": "y"}',
    b'{"name": 1}',
    b'{"name": "x", "cells": {}}',
    b'{"name": "\xff"}',
    b'{"name": "x"} {"name": "y"}',
    b'{"name": "x", "metadata": ' + b"[" * 100_000,
    b"\xef\xbb\xbf{}",
    b"",
]


async def test_a_body_of_another_shape_is_refused_and_told_why(ada: Client, subtests: pytest.Subtests) -> None:
    for body in BODIES:
        with subtests.test(body=body[:50]):
            headers = {"Content-Type": "application/json"}
            assert "BadInput: The body" in await ada.ask("POST", "/api/notebooks", 400, content=body, headers=headers)


MEDIA = ["text/plain", "application/x-www-form-urlencoded", "text/json", "", "json"]


async def test_a_body_that_is_not_json_is_refused(ada: Client, subtests: pytest.Subtests) -> None:
    for media in MEDIA:
        with subtests.test(media=media):
            headers = {"Content-Type": media}
            assert "application/json" in await ada.ask(
                "POST", "/api/notebooks", 415, content=b'{"name":"x"}', headers=headers
            )


async def test_json_that_some_reader_would_choke_on_is_refused(ada: Client) -> None:
    deep: list[object] = []
    for _ in range(200):
        deep = [deep]
    for values in ({"deep": deep}, {"huge": 2**60}):
        sent = drafts({"type": "metadata_set", "values": values})
        assert "BadInput" in await ada.ask("POST", "/api/logs/n1/events", 422, json=sent)


QUERIES = [
    "since=-1",
    "since=x",
    "since=1.5",
    "limit=0",
    "limit=2001",
    "since=1&since=2",
    "sinc=1",
    "since=9007199254740993",
]


async def test_an_address_of_another_shape_is_refused(ada: Client, subtests: pytest.Subtests) -> None:
    for query in QUERIES:
        with subtests.test(query=query):
            assert "BadInput: The address" in await ada.ask("GET", f"/api/logs/n1/events?{query}", 400)


# ---- Paths to elsewhere

EVIL = [
    "..%2F..%2Fetc%2Fpasswd",
    "%2e%2e%2f%2e%2e%2f",
    "..%252F..%252Fetc",
    "..%5C..%5Cetc",
    "%2e%2e",
    ".quire",
    "n1%00",
    "n1%0A",
    "n1%20",
    "-n1",
    "%ff%fe",
    "a" * 65,
    "x'%20OR%201=1--",
    "%F0%9F%A6%8A",
]


def places() -> list[tuple[str, str, str]]:
    """Every parameter of every path, with what stands for the others."""
    found: list[tuple[str, str, str]] = []
    for each in about(ROUTES):
        names = re.findall(r"{(\w+)}", each.path)
        for name in names:
            others = {other: "n1" if other == "log" else "x1" for other in names if other != name}
            found.append((each.method, each.path.format(**others, **{name: "{evil}"}), each.id))
    return found


async def test_no_parameter_of_a_path_leads_elsewhere(server: Server, ada: Client) -> None:
    """Sent as it stands: a client would tidy it up first."""
    secret = ada.headers["authorization"]
    tried = 0
    for method, path, id in places():
        for evil in EVIL:
            came = await answer_to(
                server.port,
                f"{method} {path.format(evil=evil)} HTTP/1.1",
                "Host: localhost",
                f"Authorization: {secret}",
                "Content-Type: application/json",
                "Content-Length: 2",
                body=b"{}",
            )
            status = came[9:12].decode()
            # A file may have such a name; this server leaves files alone.
            refused = ("403",) if id == "upload_file" else ()
            assert status in ("400", "404", "422", *refused), f"{id} {evil}: {came[:300]!r}"
            assert b"root:" not in came
            tried += 1
    assert tried > 300


DOTS = ["/api/logs/../me", "/api/../api/me", "//api/me/..", "/pages/../../app.py", "/..//etc/passwd"]


async def test_dots_in_a_path_are_not_followed(server: Server, ada: Client, subtests: pytest.Subtests) -> None:
    for path in DOTS:
        with subtests.test(path=path):
            secret = ada.headers["authorization"]
            came = await answer_to(server.port, f"GET {path} HTTP/1.1", "Host: localhost", f"Authorization: {secret}")
            assert came.startswith(b"HTTP/1.1 404 ")


# ---- Slow clients

SLOW = ServerSettings(body_seconds=0.3, body_bytes_per_second=1_000_000, head_seconds=0.3, stall_seconds=0.3)


async def cut_off(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, other: Client, byte: bytes = b"x"
) -> bytes:
    """Send byte after byte until the server has enough, while somebody else is answered; return what it said."""
    ended = asyncio.ensure_future(reader.read())
    while not ended.done():
        writer.write(byte)
        await other.ask("GET", "/health")
    try:
        return ended.result()
    except ConnectionResetError:
        return b""


async def test_a_body_that_comes_byte_by_byte_is_cut_off_and_holds_nobody_up(workspace: LocalWorkspace) -> None:
    token = await workspace.create_token(ADA, ALL)
    async with served(workspace, SLOW) as server, client_of(server.url, token.secret) as other:
        for path in ("/api/logs/n1/events", "/api/blobs", "/api/imports"):
            head = [
                f"POST {path} HTTP/1.1",
                "Host: localhost",
                f"Authorization: Bearer {token.secret}",
                "Content-Type: application/json",
                "Content-Length: 1000",
            ]
            async with connection(server.port) as (reader, writer), asyncio.timeout(240):
                writer.write("\r\n".join([*head, "", ""]).encode())
                await cut_off(reader, writer, other)
            assert [line["status"] for line in server.told() if line["path"] == path] == [408]
        assert (await workspace.read(NOTEBOOK)).seq == 3


async def test_a_head_that_never_ends_is_cut_off(workspace: LocalWorkspace) -> None:
    async with served(workspace, SLOW) as server, client_of(server.url) as other:
        for sent in (b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "):
            async with connection(server.port) as (reader, writer), asyncio.timeout(240):
                writer.write(sent)
                assert await cut_off(reader, writer, other, b"x" if sent else b"") == b""


async def test_a_client_that_is_quick_enough_is_waited_for(workspace: LocalWorkspace) -> None:
    """A second request on the same connection, whose head comes in two parts."""
    patient = msgspec.structs.replace(SLOW, head_seconds=60)  # on a busy machine nobody is quick
    async with served(workspace, patient) as server, connection(server.port) as (reader, writer), asyncio.timeout(240):
        for _ in range(2):
            writer.write(b"GET /health HTTP/1.1\r\n")
            await writer.drain()
            writer.write(b"Host: localhost\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 ")
            length = int(re.findall(rb"content-length: (\d+)", head)[0])
            await reader.readexactly(length)


async def test_a_client_that_takes_nothing_is_cut_off(workspace: LocalWorkspace) -> None:
    token = await workspace.create_token(ADA, ALL)
    ref = await workspace.put_blob(pieces(40_000))
    async with served(workspace, SLOW) as server, asyncio.timeout(240):
        async with connection(server.port) as (reader, writer):
            lines = [f"GET /api/blobs/{ref.hash} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token.secret}"]
            writer.write("\r\n".join([*lines, "", ""]).encode())
            await reader.readexactly(10)
            await until(lambda: not server.running.server_state.connections)
        await until(lambda: len(server.told()) == 1)


async def test_a_body_that_breaks_off_is_not_taken_for_a_whole_one(
    server: Server, ada: Client, tmp_path: Path, workspace: LocalWorkspace
) -> None:
    secret = ada.headers["authorization"]
    for path in ("/api/blobs", "/api/logs/n1/events", "/api/imports"):
        async with connection(server.port) as (_, writer):
            lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Authorization: {secret}", "Content-Length: 1000"]
            writer.write("\r\n".join([*lines, "", ""]).encode() + b"x" * 500)
            await writer.drain()
    await until(lambda: len(server.told()) == 3)
    assert {line["status"] for line in server.told()} == {499}
    assert not [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
    assert (await workspace.read(NOTEBOOK)).seq == 3


async def test_work_for_a_client_that_went_away_is_stopped(server: Server, ada: Client) -> None:
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
    secret = ada.headers["authorization"]
    body = b'{"sql": "' + endless.encode() + b'", "seconds": 250}'
    async with connection(server.port) as (_, writer):
        lines = ["POST /api/query HTTP/1.1", "Host: localhost", f"Authorization: {secret}"]
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
    await until(lambda: len(server.told()) == 1)
    assert server.told()[0]["status"] == 499
    async with asyncio.timeout(240):
        assert (await ada.ask("POST", "/api/query", json={"sql": "select 1"}))["rows"] == [[1]]


# ---- Supplies


def test_an_allowance_refills_by_itself_and_forgets_who_was_quiet() -> None:
    now = 0.0
    allowance = Allowance(2, 0.5, lambda: now)
    assert [allowance.take("ada"), allowance.take("ada")] == [0, 0]
    assert allowance.take("ada") == 2
    assert allowance.take("bob") == 0
    now = 2.0
    assert allowance.take("ada") == 0
    assert allowance.take("ada") == 2
    now = 100.0
    assert allowance.left("ada") == 2, "never more than the most"
