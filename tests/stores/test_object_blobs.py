"""Blobs in object storage: what the network, the server and its settings do to them."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
import socket
import threading
import traceback
from collections.abc import AsyncGenerator, Awaitable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from quire.core.errors import BadInput, NotFound, Unavailable
from quire.stores.blobs.blobs import CHUNK, open_blobs
from quire.stores.blobs.object_blobs import PART, ObjectBlobs

from ..contracts.test_blobs import (
    cancel_halfway,
    data_of,
    hashes,
    in_pieces,
    read,
)
from ..object_storage import ACCESS_KEY, SECRET_KEY, S3Server, s3_options
from .test_folder_blobs import PEAK, answer, on_own_disk, start

# Lines are cut on purpose here; a socket that is collected late is the test's, not the code's.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

IMPATIENT = {"retry_config": {"max_retries": 1, "backoff": {"init_backoff": timedelta(milliseconds=1)}}}
UNKNOWN = "0" * 64


@pytest.fixture
def server(s3: S3Server) -> S3Server:
    return s3


@pytest.fixture
def bucket(server: S3Server) -> str:
    return server.bucket()


@pytest.fixture
def blobs(server: S3Server, bucket: str) -> ObjectBlobs:
    return ObjectBlobs(f"s3://{bucket}/prefix", **s3_options(server.port), **IMPATIENT)


def key(hash: str) -> str:
    return f"prefix/{hash[:2]}/{hash[2:]}"


def objects(server: S3Server, bucket: str) -> list[str]:
    """Every object there is, blob or not, as the server tells."""
    return re.findall(r"<Key>(.*?)</Key>", server.ask("GET", f"/{bucket}?list-type=2"))


class Line:
    """A line to a server that breaks, or stalls until it is resumed, after so many bytes went up or came down."""

    def __init__(self, upstream: int) -> None:
        self.port = 0
        self.up: int | None = None
        self.down: int | None = None
        self.stalls = False
        self.stalled = asyncio.Event()
        self.resumed = asyncio.Event()
        self.broken = asyncio.Event()
        self._upstream = upstream
        self._open: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[Any]] = set()

    @contextlib.asynccontextmanager
    async def laid(self) -> AsyncGenerator[Line, None]:
        async with await asyncio.start_server(self._accept, "127.0.0.1", 0) as listener:
            self.port = listener.sockets[0].getsockname()[1]
            yield self
            self._break()
            listener.close()
            for _ in range(5):  # turns of the loop: who was just accepted is served, an aborted transport lets go
                await asyncio.sleep(0)
                await asyncio.gather(*self._serving, return_exceptions=True)

    def mend(self) -> None:
        self.up = self.down = None
        self.broken.clear()

    def _break(self) -> None:
        self.broken.set()
        self.resumed.set()
        for writer in self._open:
            writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)
        if self.broken.is_set():
            return writer.transport.abort()
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._upstream)
        self._open |= {writer, there_writer}
        await asyncio.gather(self._pass_on(reader, there_writer, "up"), self._pass_on(there_reader, writer, "down"))
        self._open -= {writer, there_writer}

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: str) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                left: int | None = getattr(self, way)
                if left is not None:
                    setattr(self, way, left - len(data))
                    if left < len(data) and not self.stalls:
                        self._break()
                        break
                    if left < len(data):
                        self.stalled.set()
                        await self.resumed.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


@pytest.fixture
async def on_line(server: S3Server, bucket: str) -> AsyncGenerator[tuple[Line, ObjectBlobs], None]:
    async with Line(server.port).laid() as line:
        yield line, ObjectBlobs(f"s3://{bucket}/prefix", **s3_options(line.port), **IMPATIENT)


async def told(attempt: Awaitable[Any]) -> str:
    """What somebody sees who tries in vain: with the traceback, and without a credential."""
    with pytest.raises(Unavailable) as caught:
        async with asyncio.timeout(120):
            await attempt
    whole = "".join(traceback.format_exception(caught.value))
    assert ACCESS_KEY not in whole
    assert SECRET_KEY not in whole
    return str(caught.value)


# ---- Objects


async def test_a_blob_is_one_object_under_the_prefix(blobs: ObjectBlobs, server: S3Server, bucket: str) -> None:
    small, large = await blobs.put(b"hello"), await blobs.put(data_of(2 * PART))
    assert objects(server, bucket) == sorted([key(small.hash), key(large.hash)])
    server.ask("PUT", f"/{bucket}/prefix/notes.txt", b"not a blob")
    server.ask("PUT", f"/{bucket}/prefix/{UNKNOWN}", b"not in its place")
    server.ask("PUT", f"/{bucket}/{UNKNOWN[:2]}/{UNKNOWN[2:]}", b"not under the prefix")
    assert await hashes(blobs) == sorted([small.hash, large.hash])


@pytest.mark.parametrize("size", [10, 2 * PART])
async def test_the_same_bytes_again_do_not_touch_the_object(
    blobs: ObjectBlobs, server: S3Server, bucket: str, size: int
) -> None:
    versioning = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
    server.ask("PUT", f"/{bucket}?versioning", versioning)
    for _ in range(3):
        await blobs.put(data_of(size))
    assert server.ask("GET", f"/{bucket}?versions").count("<Version>") == 1


async def test_changed_bytes_are_found(blobs: ObjectBlobs, server: S3Server, bucket: str) -> None:
    ref = await blobs.put(b"hello")
    server.ask("PUT", f"/{bucket}/{key(ref.hash)}", b"hallo")
    assert not await blobs.verify(ref.hash)


async def test_a_blob_of_the_wrong_size_is_made_whole_by_the_next_put(
    blobs: ObjectBlobs, server: S3Server, bucket: str
) -> None:
    for data in (b"hello", data_of(PART + 1)):
        ref = await blobs.put(data)
        server.ask("PUT", f"/{bucket}/{key(ref.hash)}", b"hel")
        assert await blobs.put(data) == ref
        assert await blobs.verify(ref.hash)


async def test_a_blob_deleted_while_it_is_read_ends_the_reading(blobs: ObjectBlobs) -> None:
    ref = await blobs.put(data_of(2 * PART))
    content = blobs.open(ref.hash)
    await anext(content)
    await blobs.delete(ref.hash)
    with pytest.raises(NotFound, match=ref.hash):
        async for _ in content:
            pass


# ---- A server that goes away


@pytest.mark.parametrize(("size", "passed"), [(PART, CHUNK), (4 * PART, CHUNK), (4 * PART, 3 * PART)])
async def test_a_server_that_goes_away_halfway_keeps_nothing(
    on_line: tuple[Line, ObjectBlobs], server: S3Server, bucket: str, size: int, passed: int
) -> None:
    line, blobs = on_line
    data = data_of(size)
    line.up = passed
    message = await told(blobs.put(in_pieces(data, CHUNK)))
    assert line.broken.is_set()
    assert message.startswith(f"s3://{bucket}/prefix: it cannot be reached")
    assert "Check the network and AWS_ACCESS_KEY_ID" in message
    assert objects(server, bucket) == []
    line.mend()
    assert await blobs.size(hashlib.sha256(data).hexdigest()) is None
    ref = await blobs.put(data)
    assert await blobs.verify(ref.hash)


async def test_a_server_that_goes_away_is_told_by_every_call(on_line: tuple[Line, ObjectBlobs], bucket: str) -> None:
    line, blobs = on_line
    ref = await blobs.put(data_of(3 * PART))
    line.down = PART
    await told(read(blobs, ref.hash))
    assert line.broken.is_set()
    for attempt in (
        blobs.put(b"x"),
        blobs.size(ref.hash),
        blobs.verify(ref.hash),
        blobs.delete(ref.hash),
        hashes(blobs),
    ):
        assert (await told(attempt)).startswith(f"s3://{bucket}/prefix: it cannot be reached")
    line.mend()
    assert await blobs.verify(ref.hash)


async def test_a_put_cancelled_while_it_is_sent_keeps_nothing(
    on_line: tuple[Line, ObjectBlobs], server: S3Server, bucket: str
) -> None:
    line, blobs = on_line
    await cancel_halfway(blobs, data_of(2 * CHUNK))
    line.up, line.stalls = CHUNK, True
    put = asyncio.create_task(blobs.put(data_of(8 * PART)))
    async with asyncio.timeout(120):
        await line.stalled.wait()
        put.cancel()
        line.resumed.set()
        with pytest.raises(asyncio.CancelledError):
            await put
    assert objects(server, bucket) == []
    assert "<Upload>" not in server.ask("GET", f"/{bucket}?uploads")
    await blobs.close()


async def test_reading_that_is_cancelled_leaves_the_blobs_of_use(on_line: tuple[Line, ObjectBlobs]) -> None:
    line, blobs = on_line
    ref = await blobs.put(data_of(2 * PART))
    for attempt in (read(blobs, ref.hash), blobs.size(ref.hash), hashes(blobs), blobs.verify(ref.hash)):
        line.down, line.stalls = 10, True
        line.stalled.clear()
        line.resumed.clear()
        task = asyncio.create_task(cast("Coroutine[Any, Any, Any]", attempt))
        async with asyncio.timeout(120):
            await line.stalled.wait()
            task.cancel()
            line.resumed.set()
            with pytest.raises(asyncio.CancelledError):
                await task
    line.mend()
    assert await blobs.verify(ref.hash)
    await blobs.close()


# ---- Threads


def at_work() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("blobs")}


async def test_closing_lets_go_of_the_threads_and_another_call_starts_one(blobs: ObjectBlobs) -> None:
    before = at_work()
    refs = await asyncio.gather(*(blobs.put(data_of(size)) for size in (10, CHUNK, 2 * PART)))
    assert at_work() - before
    await blobs.close()
    assert not at_work() - before
    assert await hashes(blobs) == sorted(ref.hash for ref in refs)
    await blobs.close()
    assert not at_work() - before


BRIEF = """
import asyncio, json, sys
from quire.stores.blobs.blobs import open_blobs

async def main():
    await open_blobs(sys.argv[1], **json.loads(sys.argv[2])).size("0" * 64)

print("null")
asyncio.run(main())
"""


def test_a_process_that_ends_right_after_a_call_ends_as_it_should(server: S3Server, bucket: str) -> None:
    """The client's coroutines would abort about one of four."""
    processes = [start(BRIEF, f"s3://{bucket}", json.dumps(s3_options(server.port))) for _ in range(12)]
    assert [answer(process) for process in processes] == [None] * 12


async def test_an_endpoint_where_nobody_listens_is_named_with_the_next_step() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        blobs = ObjectBlobs("s3://bucket/prefix", **s3_options(unused.getsockname()[1]), **IMPATIENT)
        message = await told(blobs.put(b"hello"))
    assert message.startswith("s3://bucket/prefix: it cannot be reached (connection refused). Check the network")
    nowhere = {**s3_options(0), "endpoint": "http://nowhere.invalid"}
    assert "(no such host)" in await told(ObjectBlobs("s3://bucket", **nowhere, **IMPATIENT).size(UNKNOWN))


# ---- Settings


async def test_a_bucket_that_does_not_exist_is_named(server: S3Server) -> None:
    blobs = ObjectBlobs("s3://no-such-bucket", **s3_options(server.port), **IMPATIENT)
    for attempt in (blobs.put(b"hello"), blobs.put(data_of(PART + 1)), blobs.delete(UNKNOWN), hashes(blobs)):
        message = await told(attempt)
        assert message == "s3://no-such-bucket: there is no such bucket. Create it, or correct the address."


async def test_refused_credentials_are_not_repeated(server: S3Server, bucket: str) -> None:
    with server.looking_at_credentials():
        blobs = ObjectBlobs(f"s3://{bucket}", **s3_options(server.port), **IMPATIENT)
        for attempt in (blobs.put(b"hello"), blobs.size(UNKNOWN), blobs.delete(UNKNOWN), hashes(blobs)):
            message = await told(attempt)
            assert message.startswith(f"s3://{bucket}: these credentials were refused (403")
            assert "Check AWS_ACCESS_KEY_ID" in message


async def test_a_server_that_repeats_credentials_is_not_quoted() -> None:
    """As AWS answers a wrong signature; the S3 server of these tests is more discreet."""
    body = f"<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>{ACCESS_KEY}</AWSAccessKeyId></Error>"

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 403 Forbidden\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write((head + body).encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as listener:
        options = s3_options(listener.sockets[0].getsockname()[1])
        blobs = ObjectBlobs("s3://bucket", **options, **IMPATIENT)
        for attempt in (blobs.delete(UNKNOWN), hashes(blobs)):
            assert "refused (403 SignatureDoesNotMatch)" in await told(attempt)


async def test_settings_come_from_the_environment(
    server: S3Server, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    message = await told(open_blobs(f"s3://{bucket}").put(b"hello"))
    assert "set AWS_ALLOW_HTTP=true" in message
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    ref = await open_blobs(f"s3://{bucket}").put(b"hello")
    assert objects(server, bucket) == [f"{ref.hash[:2]}/{ref.hash[2:]}"]


@pytest.mark.parametrize(
    "url",
    [
        f"s3://{ACCESS_KEY}:{SECRET_KEY}@bucket/prefix",
        f"s3://{ACCESS_KEY}:{SECRET_KEY}@bucket?token={SECRET_KEY}",
        f"ftp://{ACCESS_KEY}:{SECRET_KEY}@host/prefix",
        f"https://{SECRET_KEY}@host/prefix?sig={SECRET_KEY}",
        f"s3://?sig={SECRET_KEY}",
        f"s3://bucket?sig=@{SECRET_KEY}",
        f"s3://bucket#{SECRET_KEY}",
    ],
)
def test_an_address_with_credentials_or_of_no_use_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(BadInput) as caught:
        open_blobs(url)
    whole = "".join(traceback.format_exception(caught.value, limit=0))
    assert ACCESS_KEY not in whole
    assert SECRET_KEY not in whole


def test_an_unknown_option_is_bad_input() -> None:
    with pytest.raises(BadInput, match="s3://bucket cannot be opened"):
        open_blobs("s3://bucket", no_such_option=SECRET_KEY)


@pytest.mark.parametrize("url", ["gs://bucket/prefix", "az://container/prefix"])
def test_other_clouds_can_be_opened(url: str) -> None:
    options = {"account_name": "account"} if url.startswith("az") else {}
    assert isinstance(open_blobs(url, **options), ObjectBlobs)


# ---- The way there

SPOOL = """
import asyncio, json, resource, sys, tempfile
from quire.core.errors import Unavailable
from quire.stores.blobs.blobs import CHUNK, open_blobs
from quire.stores.blobs.object_blobs import ObjectBlobs

tempfile.tempdir = sys.argv[1]
if sys.argv[2] == "limited":
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * CHUNK, 4 * CHUNK))

async def content():
    for _ in range(8):
        yield bytes(CHUNK)

async def main():
    blobs = ObjectBlobs("memory:///")
    try:
        await blobs.put(content())
    except Unavailable as error:
        ref = await blobs.put(bytes(2 * CHUNK))
        print(json.dumps([str(error), [hash async for hash in blobs.list()] == [ref.hash]]))

asyncio.run(main())
"""


def test_a_full_disk_on_the_way_is_told_and_keeps_nothing(tmp_path: Path) -> None:
    process = on_own_disk(tmp_path, SPOOL, "mounted") or start(SPOOL, tmp_path, "limited")
    message, fine = answer(process)
    assert message.startswith(f"{tmp_path}: a blob on its way to object storage does not fit")
    assert "set TMPDIR" in message
    assert fine
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_large_blob_passes_through_little_memory(server: S3Server, bucket: str) -> None:
    found = answer(start(PEAK, f"s3://{bucket}", json.dumps(s3_options(server.port)), 120_000_000))
    assert found["size"] > 119_000_000
    assert found["fine"]
    assert found["grown"] < 50_000_000
