"""Large bytes, kept by their SHA-256: what every keeper of blobs does, and which one is opened.

A blob is written once, whole or not at all, and never changed: its name is its hash, so the
same bytes twice are one blob. Media types belong to whoever refers to a blob, not to it, and
nobody here knows which blobs are still referred to: whoever deletes finds that out before.
The keepers are in memory_blobs.py, folder_blobs.py and object_blobs.py, so that a folder needs
no client for object storage; `open_blobs` chooses. tests/contracts/test_blobs.py is the
protocol in full.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ...core.errors import BadInput, NotFound
from ...core.events import BlobRef
from ...disk import in_thread
from ..store import Blobs

CHUNK = 1024 * 1024
"""What is held of a blob in memory at a time, within a small factor."""

_HASH = re.compile(r"[0-9a-f]{64}")


class Tally:
    """Counts and hashes bytes on their way in."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._digest = hashlib.sha256()
        self._size = 0

    def add(self, piece: bytes | bytearray) -> None:
        """Take the next bytes into account. BadInput once there are too many."""
        self._size += len(piece)
        if self._limit is not None and self._size > self._limit:
            raise BadInput(f"This blob has more than {self._limit:,} bytes, the limit here. Send less of it.")
        self._digest.update(piece)

    def ref(self, media: str | None) -> BlobRef:
        """Return the reference to what was counted."""
        return BlobRef(hash=self._digest.hexdigest(), size=self._size, media=media)


def checked(hash: str) -> str:
    """Return `hash` if it is one: it becomes part of a path, so nothing else may get through."""
    if not _HASH.fullmatch(hash):
        raise BadInput(f"{hash[:80]!r} is not the hash of a blob: a SHA-256 has 64 characters out of 0-9 and a-f.")
    return hash


def is_hash(name: str) -> bool:
    """Say whether `name` could be a blob's."""
    return _HASH.fullmatch(name) is not None


def check_range(start: int, end: int | None) -> None:
    """Refuse a range that no blob has. One that goes past the end is cut there."""
    if start < 0 or (end is not None and end < start):
        raise BadInput(f"Bytes {start} to {end} are no range. Count from 0, and let the end not come before the start.")


def missing(hash: str, place: object) -> NotFound:
    """The error for a blob that is not there."""
    return NotFound(f"{place} has no blob {hash}. It was removed, or is kept in another place: see --at and QUIRE_URL.")


async def pieces(chunks: AsyncIterable[bytes] | bytes) -> AsyncGenerator[bytearray, None]:
    """Yield the same bytes in pieces of CHUNK to twice that: neither crumbs nor boulders."""
    waiting = bytearray()
    async for chunk in _alone(chunks) if isinstance(chunks, bytes) else chunks:
        for at in range(0, len(chunk), CHUNK):
            waiting += memoryview(chunk)[at : at + CHUNK]
            if len(waiting) >= CHUNK:
                yield waiting
                waiting = bytearray()
    if waiting:
        yield waiting


async def _alone(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def intact(hash: str, content: AsyncIterator[bytes]) -> bool:
    """Say whether `content` has this hash."""
    digest = hashlib.sha256()
    async for piece in content:
        await in_thread(digest.update, piece)
    return digest.hexdigest() == hash


def open_blobs(place: Path | str, **options: Any) -> Blobs:
    """Open a folder, or an address such as `s3://bucket/prefix`. Options go to the client of object storage."""
    if isinstance(place, Path) or "://" not in place:
        return _open_folder(Path(place))
    if place.startswith("memory://"):
        from .memory_blobs import MemoryBlobs

        return MemoryBlobs()
    if place.startswith("file://"):  # our own folder is safer than the client's: it syncs, and sweeps
        return _open_folder(_path_of(place))
    try:
        from .object_blobs import ObjectBlobs
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "obstore":
            raise
        raise BadInput("Blobs in object storage need the package obstore. Try pip install 'quire[s3]'.") from error
    return ObjectBlobs(place, **options)


def _open_folder(path: Path) -> Blobs:
    from .folder_blobs import FolderBlobs

    return FolderBlobs(path)


def _path_of(url: str) -> Path:
    address = urlsplit(url)
    if address.netloc not in ("", "localhost") or not address.path:
        raise BadInput(f"{url} names no folder of this machine. Write file:///path, or the path alone.")
    return Path(unquote(address.path))
