"""Large bytes, kept by their SHA-256: what every keeper of blobs does, and two of them.

A blob is written once, whole or not at all, and never changed: its name is its hash, so the
same bytes twice are one blob. Media types belong to whoever refers to a blob, not to it, and
nobody here knows which blobs are still referred to: whoever deletes finds that out before.
Object storage is in blobs_object.py, so that a folder needs no client for it; `open_blobs`
chooses. tests/contracts/test_blobs.py is the protocol in full.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import hashlib
import os
import re
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from ..core.errors import BadInput, NotFound, Unavailable
from ..core.events import BlobRef
from .store import Blobs

CHUNK = 1024 * 1024
"""What is held of a blob in memory at a time, within a small factor."""
STALE_SECONDS = 24 * 3600.0
"""A file that nobody has written to for so long, and that is no blob yet, is a dead process's."""

_INCOMING = "incoming"
_HASH = re.compile(r"[0-9a-f]{64}")
_SHARD = re.compile(r"[0-9a-f]{2}")

T = TypeVar("T")


# ---- What all of them need


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


async def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Do `work` in a thread and see it through, even when cancelled.

    A thread cannot be stopped. If its caller went ahead and closed the file, the thread could
    write to whatever was opened next under the same number.
    """
    future = asyncio.get_running_loop().run_in_executor(None, functools.partial(work, *arguments))
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        future.exception()  # looked at, or asyncio complains that nobody did
        raise cancelled
    return future.result()


# ---- In memory


class MemoryBlobs:
    """Blobs that are gone with the process: for tests, and for work that needs no record."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    async def put(
        self, chunks: AsyncIterable[bytes] | bytes, media: str | None = None, *, limit: int | None = None
    ) -> BlobRef:
        """Keep these bytes."""
        tally, data = Tally(limit), bytearray()
        async with contextlib.aclosing(pieces(chunks)) as incoming:
            async for piece in incoming:
                tally.add(piece)
                data += piece
        ref = tally.ref(media)
        self._blobs.setdefault(ref.hash, bytes(data))
        return ref

    def open(self, hash: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` up to `end`."""
        check_range(start, end)
        return self._read(checked(hash), start, end)

    async def _read(self, hash: str, start: int, end: int | None) -> AsyncIterator[bytes]:
        data = self._blobs.get(hash)
        if data is None:
            raise missing(hash, "Memory")
        wanted = data[start:end]
        for at in range(0, len(wanted), CHUNK):
            yield wanted[at : at + CHUNK]

    async def size(self, hash: str) -> int | None:
        """Return how many bytes a blob has."""
        data = self._blobs.get(checked(hash))
        return None if data is None else len(data)

    async def delete(self, hash: str) -> None:
        """Remove a blob."""
        self._blobs.pop(checked(hash), None)

    async def verify(self, hash: str) -> bool:
        """Say whether a blob's bytes still are what its name says."""
        return await intact(hash, self.open(hash))

    async def list(self) -> AsyncIterator[str]:
        """Yield the hash of every blob."""
        for hash in tuple(self._blobs):
            yield hash

    async def close(self) -> None:
        """Do nothing: who holds another handle still wants the blobs."""


# ---- In a folder


class FolderBlobs:
    """Blobs as files: `ab/cdef…` under `path`, read-only once they are there.

    Bytes come in under another name, in `incoming/`; a blob appears by a rename, after its
    bytes are on disk. A process that is killed meanwhile leaves such a file, and whoever
    opens the folder a day later removes it.
    """

    def __init__(self, path: Path | str, clock: Callable[[], float] = time.time) -> None:
        self._path = Path(path)
        try:
            if not self._path.is_dir():
                self._path.mkdir(parents=True, exist_ok=True)
                _sync_folder(self._path.parent)
        except OSError as error:
            raise _explain(error, self._path) from error
        _sweep(self._path / _INCOMING, clock() - STALE_SECONDS)

    async def put(
        self, chunks: AsyncIterable[bytes] | bytes, media: str | None = None, *, limit: int | None = None
    ) -> BlobRef:
        """Keep these bytes, durably: on disk when this returns."""
        tally, file = Tally(limit), _Incoming(self._path / _INCOMING / secrets.token_hex(16))
        try:
            async with contextlib.aclosing(pieces(chunks)) as incoming:
                async for piece in incoming:
                    await self._do(file.take, piece, tally)
            ref = tally.ref(media)
            await self._do(self._keep, file, ref)
            return ref
        finally:
            await in_thread(file.discard)

    def _keep(self, file: _Incoming, ref: BlobRef) -> None:
        place = _place(self._path, ref.hash)
        # One of another size is damaged, or a power cut's. One of the same size stays as it is.
        if _size(place) != ref.size:
            place.parent.mkdir(exist_ok=True)
            file.become(place)
        # Also when it was there before: whoever put it there may not have come to this yet.
        _sync_folder(place.parent)
        _sync_folder(self._path)

    def open(self, hash: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` up to `end`."""
        check_range(start, end)
        return self._read(checked(hash), start, end)

    async def _read(self, hash: str, start: int, end: int | None) -> AsyncIterator[bytes]:
        reader = _Reader(self._path, hash, start, end)
        try:
            while piece := await self._do(reader.read):
                yield piece
        finally:
            reader.close()

    async def size(self, hash: str) -> int | None:
        """Return how many bytes a blob has."""
        return await self._do(_size, _place(self._path, checked(hash)))

    async def delete(self, hash: str) -> None:
        """Remove a blob, durably."""
        await self._do(_delete, _place(self._path, checked(hash)))

    async def verify(self, hash: str) -> bool:
        """Say whether a blob's bytes still are what its name says."""
        return await intact(hash, self.open(hash))

    async def list(self) -> AsyncIterator[str]:
        """Yield the hash of every blob."""
        for shard in await self._do(_names, self._path):
            if _SHARD.fullmatch(shard):
                for rest in await self._do(_names, self._path / shard):
                    if is_hash(shard + rest):
                        yield shard + rest

    async def close(self) -> None:
        """Do nothing: no file stays open between calls."""

    async def _do(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do something with the disk, in a thread; its faults become ours."""
        try:
            return await in_thread(work, *arguments)
        except OSError as error:
            raise _explain(error, self._path) from error


class _Incoming:
    """A file that is not a blob yet. It is made with its first byte; its methods are for one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def take(self, piece: bytearray, tally: Tally) -> None:
        """Write the next bytes."""
        tally.add(piece)
        file, rest = self._open(), memoryview(piece)
        while rest:
            rest = rest[os.write(file, rest) :]

    def become(self, place: Path) -> None:
        """Turn into the blob at `place`, once all bytes are on disk."""
        os.fsync(self._open())
        self._close()
        self._path.rename(place)

    def discard(self) -> None:
        """Remove what is left. A file that cannot be removed is swept up another day."""
        self._close()
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _open(self) -> int:
        if self._file is None:
            self._path.parent.mkdir(exist_ok=True)
            # Read-only for everybody from the start; whoever makes a file may write to it all the same.
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
        return self._file

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


class _Reader:
    """A range of a blob, read piece by piece; its methods are for one thread at a time."""

    def __init__(self, folder: Path, hash: str, start: int, end: int | None) -> None:
        self._folder = folder
        self._hash = hash
        self._at = start
        self._end = end
        self._file: int | None = None

    def read(self) -> bytes:
        """Return the next bytes; none at the end."""
        wanted = CHUNK if self._end is None else min(CHUNK, self._end - self._at)
        piece = os.pread(self._open(), wanted, self._at)
        self._at += len(piece)
        return piece

    def _open(self) -> int:
        if self._file is None:
            try:
                self._file = os.open(_place(self._folder, self._hash), os.O_RDONLY)
            except FileNotFoundError:
                raise missing(self._hash, self._folder) from None
        return self._file

    def close(self) -> None:
        """Let go of the file."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


def _place(folder: Path, hash: str) -> Path:
    return folder / hash[:2] / hash[2:]


def _size(place: Path) -> int | None:
    try:
        return place.stat().st_size
    except FileNotFoundError:
        return None


def _delete(place: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        place.unlink()
        _sync_folder(place.parent)


def _names(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(entry.name for entry in folder.iterdir())
    except NotADirectoryError:
        return ()


def _sweep(incoming: Path, before: float) -> None:
    """Remove what dead processes left. Whatever cannot be removed harms nobody."""
    with contextlib.suppress(OSError):
        for file in incoming.iterdir():
            with contextlib.suppress(OSError):
                if file.stat().st_mtime < before:
                    file.unlink()


def _sync_folder(folder: Path) -> None:
    """See to it that the names in a folder survive a power cut."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot, and need not
            raise
    finally:
        os.close(file)


def _explain(error: OSError, path: Path) -> Unavailable:
    """Say what a fault of the disk means for whoever waits."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            told = "the disk is full. Nothing was kept; make room and try again."
        case errno.EFBIG:
            told = "a file may not be that large here. Nothing was kept; see `ulimit -f`, or use another disk."
        case errno.EROFS:
            told = (
                "the disk is read-only. Nothing was changed; mount it writable, or point --at or QUIRE_URL elsewhere."
            )
        case errno.EACCES | errno.EPERM:
            told = "this user has no permission. See `ls -ld` there, or point --at or QUIRE_URL elsewhere."
        case errno.ENOENT:
            told = "the folder is gone. See whether its disk is mounted, then try again."
        case _:
            told = f"it cannot be used: {error.strerror}. See whether it is a folder on a sound disk, then try again."
    return Unavailable(f"{path}: {told}")


# ---- Whichever it is


def open_blobs(place: Path | str, **options: Any) -> Blobs:
    """Open a folder, or an address such as `s3://bucket/prefix`. Options go to the client of object storage."""
    if isinstance(place, Path) or "://" not in place:
        return FolderBlobs(place)
    if place.startswith("memory://"):
        return MemoryBlobs()
    if place.startswith("file://"):  # our own folder is safer than the client's: it syncs, and sweeps
        return FolderBlobs(_path_of(place))
    try:
        from .blobs_object import ObjectBlobs
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "obstore":
            raise
        raise BadInput("Blobs in object storage need the package obstore. Try pip install 'quire[s3]'.") from error
    return ObjectBlobs(place, **options)


def _path_of(url: str) -> Path:
    address = urlsplit(url)
    if address.netloc not in ("", "localhost") or not address.path:
        raise BadInput(f"{url} names no folder of this machine. Write file:///path, or the path alone.")
    return Path(unquote(address.path))
