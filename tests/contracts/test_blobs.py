"""What every keeper of blobs does. A new kind is done when it passes all of this."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from pathlib import Path
from typing import TypeAlias, cast

import pytest

from quire.core.errors import BadInput, NotFound
from quire.core.events import BlobRef
from quire.stores.blobs.blobs import CHUNK, Blobs, open_blobs
from quire.stores.blobs.memory_blobs import MemoryBlobs
from quire.stores.blobs.object_blobs import PART, ObjectBlobs

from ..object_storage import S3Server, s3_options

OpenBlobs: TypeAlias = Callable[[], Blobs]
"""Opens the blobs of a test; again for a second handle on the same place, as another process would."""
KINDS = ("memory", "folder", "s3", "object memory", "object file")
UNKNOWN = "0" * 64

NO_HASHES = (
    "",
    "abc",
    "g" * 64,
    "A" * 64,
    "a" * 63,
    "a" * 65,
    "a" * 64 + "\n",
    "..",
    "../" * 20 + "etc",
    "/etc/passwd",
    "a/" * 32,
    "../../" + "a" * 58,
    "a" * 62 + "/.",
    "a" * 63 + "\0",
    "٣" * 64,
)


@pytest.fixture
def server(s3: S3Server) -> S3Server:
    return s3


# ---- Every kind, empty


@pytest.fixture(params=KINDS)
async def open_one(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OpenBlobs]:
    opened: list[Blobs] = []
    opener = _opener(request, tmp_path)

    def open_one() -> Blobs:
        opened.append(opener())
        return opened[-1]

    yield open_one
    for blobs in opened:
        await blobs.close()


def _opener(request: pytest.FixtureRequest, path: Path) -> OpenBlobs:
    match request.param:
        case "memory":
            memory = MemoryBlobs()
            return lambda: memory
        case "object memory":
            objects = ObjectBlobs("memory:///")
            return lambda: objects
        case "object file":
            return lambda: ObjectBlobs((path / "objects").as_uri())
        case "s3":
            server: S3Server = request.getfixturevalue("server")
            url, options = f"s3://{server.bucket()}/some/prefix", s3_options(server.port)
            return lambda: open_blobs(url, **options)
        case _:
            return lambda: open_blobs(path / "blobs")


@pytest.fixture
def blobs(open_one: OpenBlobs) -> Blobs:
    return open_one()


def data_of(size: int) -> bytes:
    """Bytes of which no two stretches are alike."""
    return hashlib.shake_128(size.to_bytes(8, "big")).digest(size)


async def in_pieces(data: bytes, size: int) -> AsyncIterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


async def read(blobs: Blobs, hash: str, start: int = 0, end: int | None = None) -> bytes:
    return b"".join([piece async for piece in blobs.open(hash, start, end)])


async def hashes(blobs: Blobs) -> list[str]:
    return sorted([hash async for hash in blobs.list()])


# ---- Putting and reading


async def test_what_was_put_is_read_under_its_hash(blobs: Blobs) -> None:
    ref = await blobs.put(b"hello", "text/plain")
    assert ref == BlobRef(hash=hashlib.sha256(b"hello").hexdigest(), size=5, media="text/plain")
    assert await read(blobs, ref.hash) == b"hello"
    assert await blobs.size(ref.hash) == 5
    assert await blobs.verify(ref.hash)
    assert await hashes(blobs) == [ref.hash]


SIZES = (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, PART, PART + 1, 2 * PART + 7)


async def test_a_stream_comes_back_as_it_went_in(blobs: Blobs) -> None:
    for size in SIZES:
        data = data_of(size)
        ref = await blobs.put(in_pieces(data, 70_001))
        assert ref == BlobRef(hash=hashlib.sha256(data).hexdigest(), size=size)
        pieces = [piece async for piece in blobs.open(ref.hash)]
        assert b"".join(pieces) == data
        assert all(0 < len(piece) <= CHUNK for piece in pieces)
        assert await blobs.size(ref.hash) == size
        assert await blobs.verify(ref.hash)


async def test_how_the_bytes_are_cut_makes_no_difference(blobs: Blobs) -> None:
    for size, cuts in ((20_000, (1, 4096)), (2 * CHUNK + 11, (4096, CHUNK - 1, CHUNK, 3 * CHUNK))):
        data = data_of(size)
        hash = hashlib.sha256(data).hexdigest()
        for content in (data, *(in_pieces(data, cut) for cut in cuts)):
            assert await blobs.put(content) == BlobRef(hash=hash, size=size)
            assert await hashes(blobs) == [hash]
            await blobs.delete(hash)


async def test_a_stream_may_have_empty_pieces_and_be_empty(blobs: Blobs) -> None:
    async def stream(*pieces: bytes) -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    ref = await blobs.put(stream(b"", b"a", b"", b"b", b""))
    assert await read(blobs, ref.hash) == b"ab"
    empty = await blobs.put(stream())
    assert empty == await blobs.put(b"")
    assert await read(blobs, empty.hash) == b""
    assert await blobs.verify(empty.hash)


async def test_the_same_bytes_twice_are_one_blob_whatever_they_are_called(blobs: Blobs) -> None:
    one = await blobs.put(b"same", "text/plain")
    two = await blobs.put(b"same", "image/png")
    assert one.hash == two.hash
    assert (one.media, two.media) == ("text/plain", "image/png")
    assert await hashes(blobs) == [one.hash]


async def test_the_same_bytes_from_many_at_once_are_one_blob(blobs: Blobs) -> None:
    data = data_of(CHUNK + 5)
    refs = await asyncio.gather(*(blobs.put(in_pieces(data, 100_000)) for _ in range(8)))
    assert len(set(refs)) == 1
    assert await hashes(blobs) == [refs[0].hash]
    assert await blobs.verify(refs[0].hash)


async def test_another_handle_sees_what_was_put(open_one: OpenBlobs) -> None:
    one, two = open_one(), open_one()
    ref = await one.put(b"seen")
    assert await two.size(ref.hash) == 4
    assert await read(two, ref.hash) == b"seen"
    assert await hashes(two) == [ref.hash]


async def test_a_range_is_cut_as_python_cuts(blobs: Blobs) -> None:
    for size in (10, CHUNK + 10, PART + 10):
        data = data_of(size)
        ref = await blobs.put(data)
        ends = (None, 0, 1, 9, size - 1, size, size + 1, 10 * size, CHUNK, PART)
        for start, end in itertools.product((0, 1, size - 1, size, size + 1, 10 * size), ends):
            if end is None or start <= end:
                assert await read(blobs, ref.hash, start, end) == data[start:end], (size, start, end)


async def test_what_is_no_range_is_bad_input(blobs: Blobs) -> None:
    ref = await blobs.put(b"hello")
    for start, end in ((-1, None), (-5, -1), (0, -1), (3, 2)):
        with pytest.raises(BadInput, match="no range"):
            await read(blobs, ref.hash, start, end)


async def test_a_reader_may_stop_early(blobs: Blobs) -> None:
    ref = await blobs.put(data_of(3 * CHUNK))
    content = blobs.open(ref.hash)
    assert len(await anext(content)) > 0
    await cast("AsyncGenerator[bytes, None]", content).aclose()
    assert await blobs.verify(ref.hash)


# ---- What is not there, and what is no blob


async def test_an_unknown_blob_is_not_found(blobs: Blobs) -> None:
    await blobs.put(b"another")
    assert await blobs.size(UNKNOWN) is None
    for start, end in ((0, None), (0, 0), (5, 9)):
        with pytest.raises(NotFound, match=UNKNOWN):
            await read(blobs, UNKNOWN, start, end)
    with pytest.raises(NotFound, match=UNKNOWN):
        await blobs.verify(UNKNOWN)


async def test_what_is_no_hash_is_bad_input_everywhere(blobs: Blobs) -> None:
    for name in NO_HASHES:
        for attempt in (read(blobs, name), blobs.size(name), blobs.delete(name), blobs.verify(name)):
            with pytest.raises(BadInput, match="SHA-256"):
                await attempt


async def test_a_deleted_blob_is_gone_until_it_is_put_again(blobs: Blobs) -> None:
    one, two = await blobs.put(b"one"), await blobs.put(b"two")
    await blobs.delete(one.hash)
    await blobs.delete(one.hash)
    await blobs.delete(UNKNOWN)
    assert await blobs.size(one.hash) is None
    assert await hashes(blobs) == [two.hash]
    with pytest.raises(NotFound):
        await read(blobs, one.hash)
    assert await blobs.put(b"one") == one
    assert await read(blobs, one.hash) == b"one"


async def test_all_blobs_are_listed(blobs: Blobs) -> None:
    assert await hashes(blobs) == []
    refs = [await blobs.put(str(number).encode()) for number in range(40)]
    assert await hashes(blobs) == sorted(ref.hash for ref in refs)


async def test_a_blob_goes_by_its_age_and_is_young_again_when_it_is_put_again(blobs: Blobs) -> None:
    """So who collects what nobody refers to leaves alone what somebody is about to refer to."""
    one, two = await blobs.put(b"one"), await blobs.put(b"twos")
    assert not await blobs.delete_old(one.hash, 3600)
    assert not await blobs.delete_old(UNKNOWN, 0)
    found = {each.hash: each async for each in blobs.scan()}
    assert {hash: each.size for hash, each in found.items()} == {one.hash: 3, two.hash: 4}
    assert all(each.seconds_old < 3600 for each in found.values())
    assert await blobs.delete_old(two.hash, -3600)  # a clock that differs from ours is no reason to keep it
    assert await hashes(blobs) == [one.hash]
    assert await read(blobs, one.hash) == b"one"


async def test_closing_twice_is_fine(blobs: Blobs) -> None:
    await blobs.put(b"kept")
    await blobs.close()
    await blobs.close()


# ---- Whole or not at all


async def test_a_limit_is_kept_to_the_byte(blobs: Blobs) -> None:
    for size in (10, CHUNK, PART + 10):
        data = data_of(size)
        for content in (data, in_pieces(data, 4096)):
            with pytest.raises(BadInput, match=f"more than {size - 1:,} bytes"):
                await blobs.put(content, limit=size - 1)
        assert await hashes(blobs) == []
        ref = await blobs.put(data, limit=size)
        assert ref.size == size
        await blobs.delete(ref.hash)


async def test_a_limit_ends_a_stream_that_does_not_end(blobs: Blobs) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield bytes(CHUNK)

    with pytest.raises(BadInput, match="the limit"):
        await blobs.put(endless(), limit=2 * CHUNK)
    assert await hashes(blobs) == []


async def test_a_stream_that_fails_keeps_nothing_and_says_what_it_said(blobs: Blobs) -> None:
    async def failing() -> AsyncIterator[bytes]:
        yield bytes(2 * CHUNK)
        raise OSError("the source's own fault")

    with pytest.raises(OSError, match="the source's own fault"):
        await blobs.put(failing())
    assert await hashes(blobs) == []


async def halfway(data: bytes, reached: asyncio.Event) -> AsyncIterator[bytes]:
    yield data
    reached.set()
    await asyncio.Event().wait()


async def cancel_halfway(blobs: Blobs, data: bytes) -> None:
    """Cancel a put that has taken `data` and waits for more."""
    reached = asyncio.Event()
    content: AsyncIterable[bytes] = halfway(data, reached)
    put = asyncio.create_task(blobs.put(content))
    async with asyncio.timeout(120):
        await reached.wait()
    put.cancel()
    with pytest.raises(asyncio.CancelledError):
        await put


async def test_a_cancelled_put_keeps_nothing(blobs: Blobs) -> None:
    for size in (0, 10, 2 * CHUNK):
        data = data_of(size)
        await cancel_halfway(blobs, data)
        assert await hashes(blobs) == []
        assert await blobs.size(hashlib.sha256(data).hexdigest()) is None


async def test_nothing_is_seen_of_a_blob_before_it_is_whole(blobs: Blobs) -> None:
    seen: list[list[str]] = []

    async def looking() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield bytes(CHUNK)
            seen.append(await hashes(blobs))

    ref = await blobs.put(looking())
    assert seen == [[], [], []]
    assert await hashes(blobs) == [ref.hash]
