"""Blobs in a folder: written under another name, synced, renamed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

from ...core.errors import Unavailable
from ...core.events import BlobRef
from ...disk import in_thread
from ..store import BlobFound
from .blobs import CHUNK, Tally, check_range, checked, intact, is_hash, missing, pieces

STALE_SECONDS = 24 * 3600.0
"""A file that nobody has written to for so long, and that is no blob yet, is a dead process's."""

_INCOMING = "incoming"
_SHARD = re.compile(r"[0-9a-f]{2}")

T = TypeVar("T")


class FolderBlobs:
    """Blobs as files: `ab/cdef…` under `path`, read-only once they are there.

    Bytes come in under another name, in `incoming/`; a blob appears by a rename, after its
    bytes are on disk. A process that is killed meanwhile leaves such a file, and whoever
    opens the folder a day later removes it.
    """

    def __init__(self, path: Path | str, clock: Callable[[], float] = time.time) -> None:
        self._path = Path(path)
        self._clock = clock
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
        tally, file = Tally(limit), _IncomingBlob(self._path / _INCOMING / secrets.token_hex(16))
        try:
            async with contextlib.aclosing(pieces(chunks)) as incoming:
                async for piece in incoming:
                    await self._do(file.take, piece, tally)
            ref = tally.ref(media)
            await self._do(self._keep, file, ref)
            return ref
        finally:
            await in_thread(file.discard)

    def _keep(self, file: _IncomingBlob, ref: BlobRef) -> None:
        place = _place(self._path, ref.hash)
        with _locked(self._path, fcntl.LOCK_SH):
            # One of another size is damaged, or a power cut's. One of the same size stays as it is, as young as a new one.
            if _size(place) != ref.size or not _touch(place):
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
        reader = _RangeReader(self._path, hash, start, end)
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

    async def delete_old(self, hash: str, seconds: float) -> bool:
        """Remove a blob that nobody has put here for so long."""
        return await self._do(self._delete_old, _place(self._path, checked(hash)), seconds)

    def _delete_old(self, place: Path, seconds: float) -> bool:
        # Alone: whoever puts the same bytes either made them young before, or finds that they are gone.
        with _locked(self._path, fcntl.LOCK_EX):
            try:
                if self._clock() - place.stat().st_mtime < seconds:
                    return False
            except FileNotFoundError:
                return False
            _delete(place)
            return True

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

    async def scan(self) -> AsyncIterator[BlobFound]:
        """Yield every blob with its size and age."""
        for shard in await self._do(_names, self._path):
            if _SHARD.fullmatch(shard):
                for found in await self._do(self._found, shard):
                    yield found

    def _found(self, shard: str) -> list[BlobFound]:
        found: list[BlobFound] = []
        for rest in _names(self._path / shard):
            with contextlib.suppress(FileNotFoundError):
                status = (self._path / shard / rest).stat()
                found.append(BlobFound(shard + rest, status.st_size, self._clock() - status.st_mtime))
        return [each for each in found if is_hash(each.hash)]

    async def close(self) -> None:
        """Do nothing: no file stays open between calls."""

    async def _do(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do something with the disk, in a thread; its faults become ours."""
        try:
            return await in_thread(work, *arguments)
        except OSError as error:
            raise _explain(error, self._path) from error


class _IncomingBlob:
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


class _RangeReader:
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


@contextlib.contextmanager
def _locked(folder: Path, how: int) -> Generator[None]:
    """Keep those who put blobs and those who remove them apart, for a moment."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, how)
        yield
    finally:
        os.close(file)


def _touch(place: Path) -> bool:
    """Make a blob as young as one that is put there now; False when that cannot be."""
    try:
        os.utime(place)
    except (FileNotFoundError, PermissionError):
        return False
    return True


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
