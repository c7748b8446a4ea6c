"""Blobs: large bytes by their hash, whole or in ranges (RFC 9110), never to be run by a browser.

What has a hash never changes, so it is kept by whoever got it once. A blob may hold anything that a cell showed: it is
sent as bytes, or as one of a few harmless media types, and always in a sandbox.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec
from litestar import Response
from litestar.params import FromPath
from litestar.response import Stream
from msgspec import Meta

from ....core.errors import BadInput
from ....core.events import BlobRef
from ....workspace.wire.bodies import Body
from ..auth import Asked
from ..error_responses import ErrorResponse
from ..route import BYTES, Asking, query_of, route, upload_of

HARMLESS = (
    "application/json",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/csv",
    "text/plain",
)
"""What a browser may take a blob for."""
_HASH = re.compile(r"[0-9a-f]{64}")
_RANGE = re.compile(r"bytes=\s*(?:(\d{1,18})-(\d{1,18})?|-(\d{1,18}))\s*", re.ASCII)
_MEDIA = "^[A-Za-z0-9!#$&^_.+-]{1,100}/[A-Za-z0-9!#$&^_.+-]{1,100}(; ?[A-Za-z0-9_-]{1,30}=[A-Za-z0-9_.+-]{1,60})?$"
_KEPT = "private, max-age=31536000, immutable"
_SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'"
_ANSWERS = {206: "A range of it.", 304: "The bearer has it already.", 416: "There is no such range."}


class BlobSent(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the bytes are."""

    media: Annotated[str, Meta(pattern=_MEDIA)] | None = None


class BlobAsked(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to call them: one of a few harmless media types, else they are just bytes."""

    media: Annotated[str, Meta(max_length=200)] | None = None


class Range(msgspec.Struct, frozen=True):
    """From `start` up to, not including, `end`."""

    start: int
    end: int


@route("POST", "/api/blobs", "put_blob", tag="blobs", query=BlobSent, body=BYTES, answer=BlobRef)
async def put_blob(request: Asking, workspace: Asked) -> BlobRef:
    """Keep bytes, and get what an event refers to them by. Needs `edit` or `run`."""
    media = query_of(request, BlobSent).media
    return await workspace.put_blob(upload_of(request), media)


@route(
    "GET", "/api/blobs/{hash}", "open_blob", tag="blobs", query=BlobAsked, answer=(BYTES, *HARMLESS), answers=_ANSWERS
)
async def open_blob(request: Asking, hash: FromPath[str], workspace: Asked) -> Response[Any]:
    """The bytes of a blob that a notebook refers to which the bearer may read; with `Range`, some of them."""
    size = await workspace.blob_size(_checked(hash))
    headers = _headers(hash)
    if _has_it(request, hash):
        return Response(None, status_code=304, headers=headers)
    wanted = _wanted(request, hash, size)
    part = wanted or Range(0, size)
    headers["Content-Length"] = str(part.end - part.start)
    if wanted is not None:
        headers["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{size}"
    content = workspace.open_blob(hash, part.start, part.end)
    return Stream(content, status_code=200 if wanted is None else 206, headers=headers, media_type=_media(request))


@route("HEAD", "/api/blobs/{hash}", "blob_size", tag="blobs", query=BlobAsked, answers={304: _ANSWERS[304]})
async def blob_size(request: Asking, hash: FromPath[str], workspace: Asked) -> Response[None]:
    """How many bytes a blob has."""
    size = await workspace.blob_size(_checked(hash))
    status = 304 if _has_it(request, hash) else 200
    headers = _headers(hash) | ({"Content-Length": str(size)} if status == 200 else {})
    nothing: Any = b""  # Litestar writes None only as JSON
    return Response(nothing, status_code=status, headers=headers, media_type=_media(request))


def _checked(hash: str) -> str:
    if not _HASH.fullmatch(hash):
        raise BadInput(f"{hash[:80]!r} is not the hash of a blob: that is 64 hexadecimal digits in lower case.")
    return hash


def _headers(hash: str) -> dict[str, str]:
    return {
        "ETag": f'"{hash}"',
        "Accept-Ranges": "bytes",
        "Cache-Control": _KEPT,
        "Content-Security-Policy": _SANDBOX,
    }


def _media(request: Asking) -> str:
    media = (query_of(request, BlobAsked).media or "").partition(";")[0].strip().lower()
    return media if media in HARMLESS else BYTES


# ---- What the client has, and what it wants


def _has_it(request: Asking, hash: str) -> bool:
    said = request.headers.get("if-none-match")
    if said is None:
        return False
    known = [each.strip().removeprefix("W/") for each in said.split(",")]
    return "*" in known or f'"{hash}"' in known


def _wanted(request: Asking, hash: str, size: int) -> Range | None:
    """The range that is asked for; None for all of it. What cannot be read is no range, as the RFC says."""
    said = _RANGE.fullmatch(request.headers.get("range", ""))
    if said is None or request.headers.get("if-range", f'"{hash}"') != f'"{hash}"':
        return None
    first, last, suffix = said.groups()
    if suffix is not None:
        start, end = max(0, size - int(suffix)), size
    else:
        start, end = int(first), min(size, int(last) + 1 if last is not None else size)
        if last is not None and int(last) < start:
            return None
    if start >= end:
        told = f"Blob {hash} has {size:,} bytes, and none in the range that was asked for."
        raise ErrorResponse(416, BadInput(told), {"Content-Range": f"bytes */{size}"})
    return Range(start, end)


ROUTES = [put_blob, open_blob, blob_size]
