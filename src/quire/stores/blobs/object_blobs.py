"""Blobs in object storage: S3 and what is compatible with it, Google's, Azure's.

The client is obstore; only `open_blobs` imports this module, and only for such an address.
Settings and credentials come from the environment, as obstore reads it (AWS_ENDPOINT_URL,
AWS_ACCESS_KEY_ID …), or as options. Nothing that obstore says is passed on: its errors quote
requests and answers whole, and those can hold credentials.

The hash is the name, and is known only at the end. So bytes go to a temporary file first,
one without a name, and are sent from there: small ones in a single request that creates and
never replaces, large ones in parts, which become visible all at once. An upload that is
broken off leaves parts nobody sees; a lifecycle rule of the bucket should remove those.

The client is called in threads and waits there. Its coroutines touch Python from threads of
its own, which aborts a process that ends just then. For the same reason it reads bytes from
a file: bytes of Python it would let go of in such a thread.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import from_url

from ...core.errors import BadInput, Unavailable
from ...core.events import BlobRef
from ...disk import in_thread
from ..addresses import BUCKETS, check_plain, settings_of, shown
from ..remote_file import AT_ONCE, NO_BUCKET, PART, explain, open_bucket
from ..store import BlobFound
from .blobs import CHUNK, Tally, check_range, checked, intact, is_hash, missing, pieces

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore

MOST_PARTS = 10_000
FRESH_SECONDS = 3600.0
"""A blob that is put there again is sent again when it is older: so it is as young as one that was not there."""
PAGE = 1000
MOST_THREADS = 16
"""How many requests may be on their way at a time. Their own threads: a slow bucket keeps nobody else waiting."""
_LOCAL = ("memory", "file")

T = TypeVar("T")


class ObjectBlobs:
    """Blobs as objects: `prefix/ab/cdef…`, as in a folder, so that either can be copied to the other."""

    def __init__(self, url: str, **options: Any) -> None:
        self._name = shown(url)
        self._settings = settings_of(url)
        self._store = self._connect(url, options)
        self._pool: ThreadPoolExecutor | None = None

    def _connect(self, url: str, options: dict[str, Any]) -> ObjectStore:
        scheme = url.partition("://")[0]
        if scheme not in BUCKETS and scheme not in _LOCAL:
            raise BadInput(f"{self._name}: blobs cannot be kept there. Use a folder, s3://, gs:// or az://.")
        check_plain(url)
        if scheme not in _LOCAL:
            return open_bucket(url, **options)
        try:
            options = {"mkdir": True, **options} if scheme == "file" else options
            return from_url(url, **options)
        except (BaseError, TypeError, ValueError):
            raise BadInput(f"{self._name} cannot be opened as it is. Check the address.") from None

    async def put(
        self, chunks: AsyncIterable[bytes] | bytes, media: str | None = None, *, limit: int | None = None
    ) -> BlobRef:
        """Keep these bytes. When cancelled, a request that is on its way is seen through, and no other is made."""
        tally, stop = Tally(limit), threading.Event()
        spool = tempfile.SpooledTemporaryFile(max_size=CHUNK)  # noqa: SIM115 - closed in a thread
        try:
            async with contextlib.aclosing(pieces(chunks)) as incoming:
                async for piece in incoming:
                    await in_thread(_spool, spool, piece, tally)
            ref = tally.ref(media)
            await self._do(self._upload, _UploadReader(spool, stop), ref, stop=stop)
            return ref
        finally:
            await in_thread(_drop, spool)

    def _upload(self, content: _UploadReader, ref: BlobRef) -> None:
        if ref.size <= PART and self._create(content, ref):
            return
        # Seen for itself: "already there" is also what S3 says while somebody else is still sending it.
        found = self._head(ref.hash)
        if found is not None and found.size == ref.size and found.seconds_old < FRESH_SECONDS:
            return
        part = max(PART, -(-ref.size // MOST_PARTS))
        self._store.put(_key(ref.hash), content.whole(), chunk_size=part, max_concurrency=AT_ONCE)

    def _create(self, content: _UploadReader, ref: BlobRef) -> bool:
        """Put it there unless there is something already."""
        try:
            self._store.put(_key(ref.hash), content.whole(), mode="create")
        except AlreadyExistsError:
            return False
        return True

    def open(self, hash: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes from `start` up to `end`."""
        check_range(start, end)
        return self._read(checked(hash), start, end)

    async def _read(self, hash: str, start: int, end: int | None) -> AsyncIterator[bytes]:
        size = await self.size(hash)
        if size is None:
            raise missing(hash, self._name)
        end = size if end is None else min(end, size)
        # Range by range: one long answer would run into the timeout, with a reader that takes its time.
        for at in range(start, end, PART):
            data = memoryview(await self._do(self._range, hash, at, min(at + PART, end)))
            for cut in range(0, len(data), CHUNK):
                yield data[cut : cut + CHUNK].tobytes()

    def _range(self, hash: str, start: int, end: int) -> Any:
        try:
            return self._store.get_range(_key(hash), start=start, end=end)
        except FileNotFoundError:
            raise missing(hash, self._name) from None

    async def size(self, hash: str) -> int | None:
        """Return how many bytes a blob has."""
        return await self._do(self._size, checked(hash))

    def _size(self, hash: str) -> int | None:
        found = self._head(hash)
        return found.size if found is not None else None

    def _head(self, hash: str) -> BlobFound | None:
        try:
            return _found(hash, self._store.head(_key(hash)))
        except FileNotFoundError:
            return None

    async def delete(self, hash: str) -> None:
        """Remove a blob."""
        await self._do(self._delete, checked(hash))

    def _delete(self, hash: str) -> None:
        try:
            self._store.delete(_key(hash))
        except FileNotFoundError as error:
            if any(code in str(error) for code in NO_BUCKET):
                raise

    async def delete_old(self, hash: str, seconds: float) -> bool:
        """Remove a blob that nobody has put there for so long.

        A look and a removal are two requests here, so who puts the same bytes between them, within milliseconds, loses
        them: `seconds` is to be so long that nobody does.
        """
        return await self._do(self._delete_old, checked(hash), seconds)

    def _delete_old(self, hash: str, seconds: float) -> bool:
        found = self._head(hash)
        if found is None or found.seconds_old < seconds:
            return False
        self._delete(hash)
        return True

    async def verify(self, hash: str) -> bool:
        """Say whether a blob's bytes still are what its name says."""
        return await intact(hash, self.open(hash))

    async def list(self) -> AsyncIterator[str]:
        """Yield the hash of every blob."""
        async for found in self.scan():
            yield found.hash

    async def scan(self) -> AsyncIterator[BlobFound]:
        """Yield every blob with its size and age."""
        # Typed by hand: obstore's own types name a package that need not be installed.
        pages = cast("Iterator[Sequence[ObjectMeta]]", cast("Any", self._store).list(chunk_size=PAGE))
        while page := await self._do(_page, pages):
            for entry in page:
                hash = entry["path"].replace("/", "")
                if is_hash(hash) and entry["path"] == _key(hash):
                    yield _found(hash, entry)

    async def close(self) -> None:
        """Let go of the threads, once they are done. The client lets go of its connections by itself."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await in_thread(pool.shutdown)

    async def _do(self, work: Callable[..., T], *arguments: Any, stop: threading.Event | None = None) -> T:
        """Ask something of the client, in a thread; its faults become ours."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(MOST_THREADS, "blobs")
        with self._told():
            return await in_thread(work, *arguments, pool=self._pool, stop=stop)

    @contextlib.contextmanager
    def _told(self) -> Generator[None, None, None]:
        """Turn what the client raises into what we say, without its words."""
        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            raise Unavailable(f"{self._name}: {explain(str(error), self._settings)}") from None


class _UploadReader:
    """A spool as the client reads it: a CHUNK at a time, and not on once nobody waits for it.

    Given the file itself, the client holds several times as much.
    """

    def __init__(self, spool: IO[bytes], stop: threading.Event) -> None:
        self._spool = spool
        self._stop = stop

    def whole(self) -> Any:
        """From the beginning on. The client takes whatever can read and seek for a file."""
        self._spool.seek(0)
        return self

    def read(self, most: int) -> bytes:
        if self._stop.is_set():
            raise BrokenPipeError("cancelled")  # an end would make a blob of what there is
        return self._spool.read(min(most, CHUNK))

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._spool.seek(offset, whence)


def _found(hash: str, meta: ObjectMeta) -> BlobFound:
    return BlobFound(hash, meta["size"], (datetime.now(UTC) - meta["last_modified"]).total_seconds())


def _key(hash: str) -> str:
    return f"{hash[:2]}/{hash[2:]}"


def _page(pages: Iterator[Sequence[ObjectMeta]]) -> Sequence[ObjectMeta]:
    return next(pages, ())


def _spool(spool: IO[bytes], piece: bytearray, tally: Tally) -> None:
    tally.add(piece)
    try:
        spool.write(piece)
        spool.flush()  # or a full disk is noticed only when it is read
    except OSError as error:
        raise Unavailable(
            f"{tempfile.tempdir or 'TMPDIR'}: a blob on its way to object storage does not fit ({error.strerror}). "
            "Nothing was kept; make room, or set TMPDIR."
        ) from error


def _drop(spool: IO[bytes]) -> None:
    with contextlib.suppress(OSError):  # it is not wanted any more, whatever the disk says
        spool.close()
