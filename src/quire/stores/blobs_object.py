"""Blobs in object storage: S3 and what is compatible with it, Google's, Azure's.

The client is obstore; only `open_blobs` imports this module, and only for such an address.
Settings and credentials come from the environment, as obstore reads it (AWS_ENDPOINT_URL,
AWS_ACCESS_KEY_ID …), or as options. Nothing that obstore says is passed on: its errors quote
requests and answers whole, and those can hold credentials.

The hash is the name, and is known only at the end. So bytes go to a temporary file first,
one without a name, and are sent from there: small ones in a single request that creates and
never replaces, large ones in parts, which become visible all at once. An upload that is
broken off leaves parts nobody sees; a lifecycle rule of the bucket should remove those.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Generator, Sequence
from datetime import timedelta
from typing import IO, TYPE_CHECKING, Any, cast

from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import from_url

from ..core.errors import BadInput, Unavailable
from ..core.events import BlobRef
from .blobs import CHUNK, Tally, check_range, checked, in_thread, intact, is_hash, missing, pieces

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore

PART = 5 * 1024 * 1024
"""Larger blobs go up in parts of this size, and come down in ranges of it. S3 takes no smaller part."""
MOST_PARTS = 10_000
AT_ONCE = 2
"""How many parts are on their way at a time: with PART, this is what an upload holds in memory."""
PAGE = 1000

# To give up before whoever waits does. client_options is left alone: obstore reads no part of it from the
# environment once it is given, AWS_ALLOW_HTTP for one.
_RETRIES = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}

_SETTINGS = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL",
    "gs": "GOOGLE_SERVICE_ACCOUNT",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
_SCHEMES = {"s3": "s3", "s3a": "s3", "gs": "gs", "az": "az", "azure": "az", "adl": "az", "abfs": "az", "abfss": "az"}
_LOCAL = ("memory", "file")
_QUERY = re.compile(r"[?#]")
_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound")


class ObjectBlobs:
    """Blobs as objects: `prefix/ab/cdef…`, as in a folder, so that either can be copied to the other."""

    def __init__(self, url: str, **options: Any) -> None:
        self._name = _shown(url)
        self._settings = _SETTINGS.get(_SCHEMES.get(url.partition("://")[0], ""), "the address")
        self._store = self._connect(url, options)

    def _connect(self, url: str, options: dict[str, Any]) -> ObjectStore:
        scheme, _, rest = url.partition("://")
        if scheme not in _SCHEMES and scheme not in _LOCAL:
            raise BadInput(f"{self._name}: blobs cannot be kept there. Use a folder, s3://, gs:// or az://.")
        if ":" in rest.rpartition("@")[0] or _QUERY.search(rest):
            raise BadInput(
                f"{self._name}: only bucket and prefix belong into the address. For the rest, set {self._settings}."
            )
        if scheme == "file":
            options = {"mkdir": True, **options}
        elif scheme != "memory":
            options = {**options, "retry_config": {**_RETRIES, **options.get("retry_config", {})}}
        try:
            return from_url(url, **options)
        except (BaseError, TypeError, ValueError):
            raise BadInput(f"{self._name} cannot be opened as it is. Check the bucket, and {self._settings}.") from None

    async def put(
        self, chunks: AsyncIterable[bytes] | bytes, media: str | None = None, *, limit: int | None = None
    ) -> BlobRef:
        """Keep these bytes."""
        tally = Tally(limit)
        spool = tempfile.SpooledTemporaryFile(max_size=CHUNK)  # noqa: SIM115 - closed in a thread
        try:
            async with contextlib.aclosing(pieces(chunks)) as incoming:
                async for piece in incoming:
                    await in_thread(_spool, spool, piece, tally)
            ref = tally.ref(media)
            await self._upload(spool, ref)
            return ref
        finally:
            await in_thread(_drop, spool)

    async def _upload(self, spool: IO[bytes], ref: BlobRef) -> None:
        if ref.size <= PART and await self._create(await in_thread(_whole, spool), ref):
            return
        # Seen for itself: "already there" is also what S3 says while somebody else is still sending it.
        if await self.size(ref.hash) == ref.size:
            return
        await in_thread(spool.seek, 0)
        part = max(PART, -(-ref.size // MOST_PARTS))
        # Read by the client, a CHUNK at a time: given the file itself, it holds several times as much.
        content = iter(lambda: spool.read(CHUNK), b"")
        with self._told():
            await self._store.put_async(_key(ref.hash), content, chunk_size=part, max_concurrency=AT_ONCE)

    async def _create(self, data: bytes, ref: BlobRef) -> bool:
        """Put it there unless there is something already."""
        with self._told():
            try:
                await self._store.put_async(_key(ref.hash), data, mode="create")
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
            data = memoryview(await self._range(hash, at, min(at + PART, end)))
            for cut in range(0, len(data), CHUNK):
                yield data[cut : cut + CHUNK].tobytes()

    async def _range(self, hash: str, start: int, end: int) -> Any:
        with self._told():
            try:
                return await self._store.get_range_async(_key(hash), start=start, end=end)
            except FileNotFoundError:
                raise missing(hash, self._name) from None

    async def size(self, hash: str) -> int | None:
        """Return how many bytes a blob has."""
        with self._told():
            try:
                return (await self._store.head_async(_key(checked(hash))))["size"]
            except FileNotFoundError:
                return None

    async def delete(self, hash: str) -> None:
        """Remove a blob."""
        with self._told():
            try:
                await self._store.delete_async(_key(checked(hash)))
            except FileNotFoundError as error:
                if any(code in str(error) for code in _NO_BUCKET):
                    raise

    async def verify(self, hash: str) -> bool:
        """Say whether a blob's bytes still are what its name says."""
        return await intact(hash, self.open(hash))

    async def list(self) -> AsyncIterator[str]:
        """Yield the hash of every blob."""
        with self._told():
            # Typed by hand: obstore's own types name a package that need not be installed.
            pages = cast("AsyncIterator[Sequence[ObjectMeta]]", cast("Any", self._store).list(chunk_size=PAGE))
            async for page in pages:
                for entry in page:
                    hash = entry["path"].replace("/", "")
                    if is_hash(hash) and entry["path"] == _key(hash):
                        yield hash

    async def close(self) -> None:
        """Do nothing: the client lets go of its connections by itself."""

    @contextlib.contextmanager
    def _told(self) -> Generator[None, None, None]:
        """Turn what the client raises into what we say, without its words."""
        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            raise Unavailable(f"{self._name}: {_explain(str(error), self._settings)}") from None


def _key(hash: str) -> str:
    return f"{hash[:2]}/{hash[2:]}"


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


def _whole(spool: IO[bytes]) -> bytes:
    spool.seek(0)
    return spool.read()


def _shown(url: str) -> str:
    """The address without what may be secret in it. By hand: a key with a slash misleads urlsplit."""
    scheme, _, rest = url.partition("://")
    if "@" in rest and _QUERY.search(rest):  # which of them is part of a secret?
        return f"{scheme}://…"
    return f"{scheme}://{_QUERY.split(rest.rpartition('@')[2])[0]}"


def _explain(told: str, settings: str) -> str:
    """Say what a fault of the client means. Of its own words, only a status and a code are repeated."""
    status = re.search(r"status code: (\d{3})", told)
    code = re.search(r"<Code>(\w{1,60})</Code>", told)
    answer = " ".join(found[1] for found in (status, code) if found)
    if code and code[1] in _NO_BUCKET:
        return "there is no such bucket. Create it, or correct the address."
    if "169.254.169.254" in told:
        return f"no credentials were found. Set {settings}."
    if answer.startswith(("401", "403")):
        return f"these credentials were refused ({answer}). Check {settings}, and what they may do in this bucket."
    if "BadScheme" in told:
        return "the endpoint is not encrypted. Use https, or set AWS_ALLOW_HTTP=true if the network is safe."
    if answer:
        return f"the server answered {answer}. Try again; if it stays so, see the server's own log."
    return f"it cannot be reached{_reason(told)}. Check the network and {settings}, then try again."


def _reason(told: str) -> str:
    for sign, reason in (
        ("dns error", "no such host"),
        ("ConnectionRefused", "connection refused"),
        ("kind: Timeout", "no answer in time"),
        ("TimedOut", "no answer in time"),
        ("ConnectionReset", "connection lost"),
        ("IncompleteMessage", "connection lost"),
    ):
        if sign in told:
            return f" ({reason})"
    return ""
