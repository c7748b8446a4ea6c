"""Blobs in memory."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable

from ...core.events import BlobRef
from ..store import BlobFound
from .blobs import CHUNK, Tally, check_range, checked, intact, missing, pieces


class MemoryBlobs:
    """Blobs that are gone with the process: for tests, and for work that needs no record."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._blobs: dict[str, bytes] = {}
        self._put_at: dict[str, float] = {}

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
        self._put_at[ref.hash] = self._clock()
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

    async def delete_old(self, hash: str, seconds: float) -> bool:
        """Remove a blob that nobody has put here for so long."""
        if hash not in self._blobs or self._clock() - self._put_at[hash] < seconds:
            return False
        del self._blobs[hash]
        return True

    async def verify(self, hash: str) -> bool:
        """Say whether a blob's bytes still are what its name says."""
        return await intact(hash, self.open(hash))

    async def list(self) -> AsyncIterator[str]:
        """Yield the hash of every blob."""
        for hash in tuple(self._blobs):
            yield hash

    async def scan(self) -> AsyncIterator[BlobFound]:
        """Yield every blob with its size and age."""
        for hash, data in tuple(self._blobs.items()):
            yield BlobFound(hash, len(data), self._clock() - self._put_at[hash])

    async def close(self) -> None:
        """Do nothing: who holds another handle still wants the blobs."""
