"""Blobs over the network: whole, in ranges as RFC 9110 has them, kept by clients, and never run by a browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import sha256

import pytest

from quire.workspace.local import LocalWorkspace

from .conftest import As
from .http_clients import ADA, BOB, Client

DATA = bytes(range(256)) * 40
URL = f"/api/blobs/{sha256(DATA).hexdigest()}"


@pytest.fixture
async def ada(acting_as: As) -> Client:
    """Who put the blob there."""
    client = await acting_as(ADA, "read", "edit")
    ref = await client.ask("POST", "/api/blobs?media=image/png", content=DATA)
    assert ref == {"hash": sha256(DATA).hexdigest(), "size": len(DATA), "media": "image/png"}
    return client


async def test_a_blob_comes_back_as_it_went_in_and_is_kept(ada: Client) -> None:
    answer = await ada.get(URL)
    assert answer.content == DATA
    assert answer.headers["etag"] == f'"{sha256(DATA).hexdigest()}"'
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["content-length"] == str(len(DATA))


async def test_head_tells_the_same_without_the_bytes(ada: Client) -> None:
    got, asked = await ada.get(URL), await ada.head(URL)
    assert asked.status_code == 200
    assert asked.content == b""
    for name in ("etag", "content-length", "content-type", "accept-ranges", "cache-control"):
        assert asked.headers[name] == got.headers[name]
    assert (await ada.head(URL, headers={"If-None-Match": asked.headers["etag"]})).status_code == 304


RANGES = [
    ("bytes=0-0", 0, 1),
    ("bytes=10-19", 10, 20),
    ("bytes=100-", 100, len(DATA)),
    ("bytes=-1", len(DATA) - 1, len(DATA)),
    ("bytes=-300", len(DATA) - 300, len(DATA)),
    ("bytes=-99999999", 0, len(DATA)),
    ("bytes=10000-99999999", 10000, len(DATA)),
    (f"bytes={len(DATA) - 1}-", len(DATA) - 1, len(DATA)),
]


async def test_a_range_is_sent(ada: Client, subtests: pytest.Subtests) -> None:
    for wanted, start, end in RANGES:
        with subtests.test(wanted=wanted):
            answer = await ada.get(URL, headers={"Range": wanted})
            assert answer.status_code == 206
            assert answer.content == DATA[start:end]
            assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(DATA)}"
            assert answer.headers["content-length"] == str(end - start)


BEYOND = [f"bytes={len(DATA)}-", "bytes=99999999-", "bytes=-0", f"bytes={len(DATA)}-99999999"]


async def test_a_range_that_is_not_there_is_told(ada: Client, subtests: pytest.Subtests) -> None:
    for wanted in BEYOND:
        with subtests.test(wanted=wanted):
            answer = await ada.get(URL, headers={"Range": wanted})
            assert answer.status_code == 416
            assert answer.headers["content-range"] == f"bytes */{len(DATA)}"
            assert answer.json()["error"]["kind"] == "BadInput"


NO_RANGES = ["bytes=5-2", "bytes=a-b", "bytes", "lines=1-2", "bytes=0-1,5-6", "bytes=--1", "bytes=٣-٤"]


async def test_what_is_no_range_is_answered_with_the_whole(ada: Client, subtests: pytest.Subtests) -> None:
    for wanted in NO_RANGES:
        with subtests.test(wanted=wanted):
            answer = await ada.get(URL, headers={b"Range": wanted.encode()})
            assert answer.status_code == 200
            assert answer.content == DATA


async def test_a_range_of_another_version_is_answered_with_the_whole(ada: Client) -> None:
    etag = f'"{sha256(DATA).hexdigest()}"'
    for condition, status in (
        (etag, 206),
        ('"other"', 200),
        (f"W/{etag}", 200),
        ("Mon, 02 Mar 2026 09:00:00 GMT", 200),
    ):
        answer = await ada.get(URL, headers={"Range": "bytes=0-9", "If-Range": condition})
        assert answer.status_code == status


CONDITIONS = ['"{}"', 'W/"{}"', '"x", "{}"', "*", '"x",W/"{}"']


async def test_what_the_client_has_is_not_sent_again(ada: Client, subtests: pytest.Subtests) -> None:
    for form in CONDITIONS:
        with subtests.test(form=form):
            answer = await ada.get(URL, headers={"If-None-Match": form.format(sha256(DATA).hexdigest())})
            assert answer.status_code == 304
            assert answer.content == b""
            assert answer.headers["etag"] == f'"{sha256(DATA).hexdigest()}"'
            assert (await ada.get(URL, headers={"If-None-Match": '"other"'})).content == DATA


MEDIA = [
    ("", "application/octet-stream"),
    ("?media=image/png", "image/png"),
    ("?media=text/plain", "text/plain; charset=utf-8"),
    ("?media=TEXT/PLAIN;%20charset=utf-7", "text/plain; charset=utf-8"),
    ("?media=text/html", "application/octet-stream"),
    ("?media=image/svg%2Bxml", "application/octet-stream"),
    ("?media=text/javascript", "application/octet-stream"),
    ("?media=text/plain%0D%0AX-Evil:%201", "application/octet-stream"),
]


async def test_a_browser_takes_a_blob_for_nothing_that_runs(ada: Client, subtests: pytest.Subtests) -> None:
    for media, sent in MEDIA:
        with subtests.test(media=media, sent=sent):
            answer = await ada.get(URL + media)
            assert answer.headers["content-type"] == sent
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-security-policy"].startswith("sandbox;")
            assert "x-evil" not in answer.headers


async def test_what_is_no_hash_is_told_apart_from_a_blob_that_is_not_there(
    ada: Client, workspace: LocalWorkspace, acting_as: As
) -> None:
    assert "64 hexadecimal digits" in await ada.ask("GET", "/api/blobs/abc", 422)
    assert "64 hexadecimal digits" in await ada.ask("GET", f"/api/blobs/{'A' * 64}", 422)
    assert (await ada.head("/api/blobs/abc")).status_code == 422
    reader = await acting_as(BOB, "read")
    assert "'edit', 'run' and 'serve'" in await reader.ask("POST", "/api/blobs", 403, content=b"x")
    assert "media" in await ada.ask("POST", "/api/blobs?media=nonsense", 400, content=b"x")


async def test_an_empty_blob_is_one_too(ada: Client) -> None:
    ref = await ada.ask("POST", "/api/blobs", content=b"")
    assert ref["size"] == 0
    answer = await ada.get(f"/api/blobs/{ref['hash']}")
    assert (answer.status_code, answer.content, answer.headers["content-length"]) == (200, b"", "0")
    assert (await ada.get(f"/api/blobs/{ref['hash']}", headers={"Range": "bytes=0-"})).status_code == 416


async def test_a_blob_that_does_not_fit_into_memory_goes_through(ada: Client) -> None:
    """Piece by piece, both ways."""
    hash, count = sha256(), 64

    async def pieces() -> AsyncIterator[bytes]:
        for number in range(count):
            piece = bytes([number]) * (1 << 20)
            hash.update(piece)
            yield piece

    ref = await ada.ask("POST", "/api/blobs", content=pieces())
    assert (ref["hash"], ref["size"]) == (hash.hexdigest(), count << 20)
    back = sha256()
    async with ada.stream("GET", f"/api/blobs/{ref['hash']}") as answer:
        async for chunk in answer.aiter_raw():
            back.update(chunk)
    assert back.hexdigest() == ref["hash"]
