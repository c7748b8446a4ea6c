"""One file at an address: S3 and what is compatible with it, Google's, Azure's, the web.

The client is obstore. Settings and credentials come from the environment, as obstore reads
it (AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID …). Nothing that it says is passed on: its errors
quote requests and answers whole, and those can hold credentials. What opens and explains
it is here for stores/blobs/object_blobs.py as well.

Its calls are made in a thread and wait there. As coroutines they leave the client's own
threads at work when Python ends, which now and then aborts the process.
"""

from __future__ import annotations

import base64
import os
import re
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urlsplit

from obstore.exceptions import BaseError
from obstore.store import HTTPStore, from_url

from ..core.errors import BadInput, NotFound, Unavailable
from ..core.hosts import is_loopback
from .addresses import BUCKETS, HOST, WEB, check_plain, settings_of, shown

if TYPE_CHECKING:
    from obstore.store import ObjectStore

PART = 5 * 1024 * 1024
"""What is larger goes up in parts of this size, and comes down in ranges of it. S3 takes no smaller part."""
CHUNK = 1024 * 1024
AT_ONCE = 2
"""How many parts are on their way at a time: with PART, this is what an upload holds in memory."""
MOST_SECONDS = 300.0
"""After so long a file is given up, however much of it there is."""
REQUEST_SECONDS = 120
"""A file on the web comes, or goes, in one request: it may take so long."""

# To give up before whoever waits does. client_options is left alone: obstore reads no part of it from the
# environment once it is given, AWS_ALLOW_HTTP for one.
RETRIES = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}
NO_BUCKET = ("NoSuchBucket", "ContainerNotFound")
_MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".ipynb": "application/x-ipynb+json",
    ".md": "text/markdown; charset=utf-8",
}


def open_bucket(url: str, **options: Any) -> ObjectStore:
    """Open what an address names, bucket and prefix, with our patience."""
    options = {**options, "retry_config": {**RETRIES, **options.get("retry_config", {})}}
    try:
        return from_url(url, **options)
    except (BaseError, TypeError, ValueError):
        told = f"cannot be opened as it is. Check the bucket, and {settings_of(url)}."
        raise BadInput(f"{shown(url)} {told}") from None


# ---- A file


class RemoteFile:
    """A file at an address. Its methods block: call them in a thread."""

    def __init__(self, url: str, *, allow_http: bool = False) -> None:
        self.name = shown(url)
        self._url = url
        scheme = url.partition("://")[0]
        self._is_web = scheme in WEB
        if self._is_web:
            self._store, self._key = _open_web(url, self.name, allow_http=allow_http), ""
        elif scheme in BUCKETS:
            self._store, self._key = _open_object(url, self.name)
        else:
            known = ", ".join(f"{each}://" for each in ("s3", "gs", "az", "https"))
            raise BadInput(
                f"{self.name}: nothing can be read or written there. Name a file of this machine, or {known}."
            )

    def read(self, most: int) -> bytes:
        """Return what is in it, unless that is more than `most` bytes."""
        deadline = time.monotonic() + MOST_SECONDS
        with self._told():
            found = self._store.get(self._key)
            size, tag = found.meta["size"], found.meta["e_tag"]
            if size > most:
                raise BadInput(
                    f"{self.name} is larger than {most // 1_000_000} MB. Clear its outputs where it was made."
                )
            if self._is_web or size <= PART:
                return bytes(found.bytes())
            # Range by range, all of one version: one long answer would run into the client's own limit.
            return b"".join(self._ranges(size, tag, deadline))

    def _ranges(self, size: int, tag: str | None, deadline: float) -> Iterator[bytes]:
        for start in range(0, size, PART):
            _check(deadline, self.name)
            options: Any = {"range": (start, min(start + PART, size)), "if_match": tag}
            yield bytes(self._store.get(self._key, options=options).bytes())

    def write(self, file: IO[bytes]) -> None:
        """Put there what `file` has from its beginning on: all of it, or what was there stays."""
        deadline = time.monotonic() + MOST_SECONDS
        media = _MEDIA.get(f".{self.name.rpartition('.')[2].lower()}")
        attributes = {"Content-Type": media} if media is not None else None
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        with self._told():
            if self._is_web or size <= PART:
                self._store.put(self._key, file.read(), attributes=attributes, use_multipart=False)
                return
            # Read a CHUNK at a time: given the file itself, the client holds several times as much.
            content = _pieces(file, deadline, self.name)
            self._store.put(self._key, content, attributes=attributes, chunk_size=PART, max_concurrency=AT_ONCE)

    def check(self) -> None:
        """Raise if it is plain already that nothing can be written: no network, bucket or credentials.

        On the web an address may be for writing alone; whoever may only write to a bucket is
        refused when reading. Neither says anything about writing.
        """
        if self._is_web:
            return
        try:
            with self._told():
                self._store.get(self._key, options={"range": (0, 1)})
        except NotFound as error:
            if error.details.get("bucket") == "missing":
                raise
        except Unavailable as error:
            if not error.details.get("answered"):
                raise

    @contextmanager
    def _told(self) -> Generator[None]:
        """Turn what the client raises into what we say, without its words."""
        try:
            yield
        except FileNotFoundError as error:
            if any(code in str(error) for code in NO_BUCKET):
                told = "there is no such bucket. Create it, or correct the address."
                raise NotFound(f"{self.name}: {told}", bucket="missing") from None
            raise NotFound(f"{self.name} is not there. Look for a typing error in the address.") from None
        except BaseError as error:
            told = str(error)
            why = _explain_web(told) if self._is_web else explain(told, settings_of(self._url))
            answered = _answer(told) != "" and "169.254.169.254" not in told
            raise Unavailable(f"{self.name}: {why}", answered=answered) from None


def _open_object(url: str, name: str) -> tuple[ObjectStore, str]:
    check_plain(url)
    scheme, _, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    if not bucket or not key or key.endswith("/") or {"", ".", ".."} & set(key.split("/")):
        raise BadInput(f"{name} names no file. Write {scheme}://bucket/folder/name.ipynb.")
    return open_bucket(f"{scheme}://{bucket}"), key


def _open_web(url: str, name: str, *, allow_http: bool) -> HTTPStore:
    try:
        address = urlsplit(url)
        host, _ = address.hostname or "", address.port
    except ValueError:
        host, address = "", None
    if address is None or not HOST.fullmatch(address.netloc.rpartition("@")[2]):
        raise BadInput(f"{name} is no address. Write https://host/path/name.ipynb.")
    if address.scheme == "http" and not allow_http and not is_loopback(host):
        told = "http is not encrypted: anybody on the way could read and change the notebook"
        raise BadInput(f"{name}: {told}. Use https, or set QUIRE_ALLOW_HTTP=1 if the network is safe.")
    options: Any = {"timeout": timedelta(seconds=REQUEST_SECONDS), "allow_http": address.scheme == "http"}
    if address.username is not None:
        options["default_headers"] = {"Authorization": _basic(address)}
    bare = address._replace(netloc=address.netloc.rpartition("@")[2], fragment="").geturl()
    try:
        return HTTPStore.from_url(bare, client_options=options, retry_config=RETRIES)  # pyright: ignore[reportArgumentType]
    except (BaseError, TypeError, ValueError):
        raise BadInput(f"{name} is no address. Write https://host/path/name.ipynb.") from None


def _basic(address: SplitResult) -> str:
    pair = f"{unquote(address.username or '')}:{unquote(address.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _pieces(file: IO[bytes], deadline: float, name: str) -> Iterator[bytes]:
    while piece := file.read(CHUNK):
        _check(deadline, name)
        yield piece


def _check(deadline: float, name: str) -> None:
    if time.monotonic() > deadline:
        raise Unavailable(f"{name}: it took more than {MOST_SECONDS:g} seconds. Check the network, then try again.")


# ---- What went wrong


def _answer(told: str) -> str:
    """The status and the code that a server answered with; empty when it did not."""
    status = re.search(r"status code: (\d{3})", told)
    code = re.search(r"<Code>(\w{1,60})</Code>", told)
    return " ".join(found[1] for found in (status, code) if found)


def explain(told: str, settings: str) -> str:
    """Say what a fault of the client means. Of its own words, only a status and a code are repeated."""
    answer = _answer(told)
    if answer.endswith(NO_BUCKET):
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


def _explain_web(told: str) -> str:
    answer = _answer(told)
    if answer.startswith(("401", "403")):
        return f"the server refused it ({answer}). Check the address, and whether what it is signed with still holds."
    if answer.startswith(("405", "501")):
        return f"the server takes no files there ({answer}). Write elsewhere: a file, s3://, gs:// or az://."
    if "MissingContentLength" in told:
        return "the server does not say how long it is. Fetch it by other means, and give the file or a pipe."
    if "BadScheme" in told:
        return "it leads on to an address that is not encrypted. Name the address it leads to."
    return explain(told, "the address")


def _reason(told: str) -> str:
    for sign, reason in (
        ("dns error", "no such host"),
        ("ConnectionRefused", "connection refused"),
        ("kind: Timeout", "no answer in time"),
        ("TimedOut", "no answer in time"),
        ("ConnectionReset", "connection lost"),
        ("BrokenPipe", "connection lost"),
        ("IncompleteMessage", "connection lost"),
    ):
        if sign in told:
            return f" ({reason})"
    return ""
