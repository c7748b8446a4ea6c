"""Answers that take long or are large: stopped when nobody waits for them any more, and never in memory as a whole."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import IO, Any, TypeVar
from urllib.parse import quote

import msgspec
from litestar.response import Stream

from ...core.errors import QuireError, Unavailable
from ...workspace.tasks import cancel_and_wait
from .error_responses import ErrorResponse, encoded
from .route import Asking

T = TypeVar("T")
CHUNK = 1 << 18
JSON_LINES = "application/jsonl"


async def while_there(request: Asking, work: Coroutine[Any, Any, T]) -> T:
    """Do something that takes long, as long as somebody waits for it."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ErrorResponse(499, Unavailable("Nobody waits for the answer any more, so the work was stopped."))
        return working.result()
    finally:
        await cancel_and_wait(working, leaving)


async def _gone(request: Asking) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def json_lines(items: AsyncIterator[Any]) -> Stream:
    """One piece of JSON per line, as they come. A fault in between is the last line, in the shape of a fault."""
    first = [item async for item in _first(items)]  # what is refused at once is answered as such
    return Stream(_lines(first, items), media_type=JSON_LINES)


async def _first(items: AsyncIterator[Any]) -> AsyncIterator[Any]:
    with contextlib.suppress(StopAsyncIteration):
        yield await anext(items)


async def _lines(first: list[Any], items: AsyncIterator[Any]) -> AsyncIterator[bytes]:
    try:
        for item in first:
            yield msgspec.json.encode(item) + b"\n"
        async for item in items:
            yield msgspec.json.encode(item) + b"\n"
    except QuireError as error:
        yield encoded(error) + b"\n"


def attachment(content: AsyncIterator[bytes], media: str, name: str) -> Stream:
    """Something to be saved under a name."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "-_. ") else "_" for char in name)
    said = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return Stream(content, media_type=media, headers={"Content-Disposition": said})


async def from_file(file: IO[bytes]) -> AsyncIterator[bytes]:
    """What a file holds, from its beginning; it is closed afterwards."""
    with file:
        file.seek(0)
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk
