"""Blobs and bundles on their way over the network: in pieces, never as a whole in memory."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterable, AsyncIterator
from typing import IO

import httpx

from ...core.errors import BadInput, Unavailable
from ...core.events import BlobRef
from ...core.ids import LogId
from ..bundle import BundleContents, carried_in
from .http_client import Away, Calls, Content, path

PIECE = 1 << 20
SMALL = 4 << 20
"""What is on its way stays in memory up to so many bytes, and is in a file beyond that."""
BYTES = "application/octet-stream"
IMPORT_SECONDS = 600.0
"""How long a server may take to verify what it was sent."""


async def put_blob(calls: Calls, data: bytes | AsyncIterable[bytes], media: str | None) -> BlobRef:
    """Send bytes. Those that come one after the other are gathered first: they are not there a second time."""
    if isinstance(data, bytes):
        return await _send_blob(calls, data, media)
    with tempfile.SpooledTemporaryFile(max_size=SMALL) as file:
        async for chunk in data:
            await asyncio.to_thread(file.write, chunk)
        return await _send_blob(calls, lambda: _pieces(file), media)


async def _send_blob(calls: Calls, content: Content, media: str | None) -> BlobRef:
    return await calls.ask(
        "POST", path("blobs"), BlobRef, params={"media": media}, content=content, headers={"Content-Type": BYTES}
    )


async def _pieces(file: IO[bytes], begin: int = 0) -> AsyncIterator[bytes]:
    """What a file holds, from there on."""
    file.seek(begin)
    while piece := await asyncio.to_thread(file.read, PIECE):
        yield piece


async def open_blob(calls: Calls, hash: str, start: int, end: int | None) -> AsyncIterator[bytes]:
    """Yield the bytes of a blob; what was cut off goes on where it was cut."""
    pauses = list(calls.pauses)
    while True:
        try:
            async for chunk in _blob_once(calls, hash, start, end):
                start += len(chunk)
                pauses = list(calls.pauses)
                yield chunk
            return
        except Away as away:
            if not pauses:
                raise away.told or Unavailable(str(away)) from away.__cause__
            pause = pauses.pop(0)
            await asyncio.sleep(away.seconds or pause)


async def _blob_once(calls: Calls, hash: str, start: int, end: int | None) -> AsyncIterator[bytes]:
    if start < 0 or (end is not None and end <= start):
        # An empty range cannot be asked for; whether one might is asked all the same.
        async with calls.opened("HEAD", path("blobs", hash)):
            return
    wanted = "" if not start and end is None else f"bytes={start}-{'' if end is None else end - 1}"
    headers = {"Range": wanted} if wanted else {}
    async with calls.opened("GET", path("blobs", hash), headers=headers, fine=(200, 206, 416)) as response:
        if response.status_code == 416:
            return
        if wanted and not _is_range(response, start):
            raise Unavailable(f"{calls.address.url} does not send parts of blobs. Read the whole.")
        async for chunk in response.aiter_raw(PIECE):
            yield chunk


def _is_range(response: httpx.Response, start: int) -> bool:
    return response.status_code == 206 and response.headers.get("content-range", "").startswith(f"bytes {start}-")


async def export_bundle(calls: Calls, log: LogId, file: IO[bytes]) -> BundleContents:
    """Get a bundle. `file` gets it when all of it has come, so never a part."""

    async def once() -> BundleContents:
        with tempfile.SpooledTemporaryFile(max_size=SMALL) as came:
            async with calls.opened("GET", path("logs", log, "export"), params={"format": "quire"}) as response:
                async for chunk in response.aiter_raw(PIECE):
                    await asyncio.to_thread(came.write, chunk)
            came.seek(0)
            carried = await asyncio.to_thread(carried_in, came)
            came.seek(0)
            await asyncio.to_thread(shutil.copyfileobj, came, file, PIECE)
            return carried

    try:
        return await calls.trying(once)
    except BadInput as error:
        raise Unavailable(f"{calls.address.url} sent something else than a bundle. {error}") from error


async def import_bundle(calls: Calls, file: IO[bytes]) -> BundleContents:
    """Send a bundle."""
    begin = file.tell()
    return await calls.ask(
        "POST",
        path("imports"),
        BundleContents,
        params={"format": "quire"},
        content=lambda: _pieces(file, begin),
        headers={"Content-Type": BYTES},
        once=True,
        seconds=IMPORT_SECONDS,
    )
