"""Requests to a server: asked, asked again where that is safe, and answered with what came or with one of the six errors.

What comes from the network is believed in nothing: an answer has a size that is allowed and the shape that is
expected, a redirection is told and not followed, and nothing is unpacked. The token is in a header and nowhere else.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from ...core.errors import BadInput, QuireError, Unavailable
from ..wire import frames
from .network_errors import closed, distrusted, redirected, tls_error, unexpected
from .server_address import Address

T = TypeVar("T")
PAUSES = (0.1, 0.3, 0.9)
"""How long to wait before a second, third and fourth try, in seconds."""
WAIT_SECONDS = 1.0
"""How often one that is waited for at the start is asked."""
PATIENT = (*PAUSES, 2.0, 4.0, 6.0, 6.0, 6.0)
"""The same for who works and loses the work otherwise: about as long as a claim holds."""
Content = bytes | Callable[[], AsyncIterable[bytes]]
"""What is sent: as it is, or made anew for each try."""
MOST_WAITING = 60.0
"""How long to wait, all in all, for a server that says it is asked too often."""
ANSWER_BYTES = 256 << 20
"""An answer that is larger is not read. What is larger for good reasons (blobs, bundles) is read in pieces."""
LINE_BYTES = 1 << 20
READ_SECONDS = 60.0
"""How long a server may be silent in the midst of an answer."""
_KEPT_SECONDS = 2.0  # an idle connection is given up before the server does: it could close just as we ask
_RESTARTING = (502, 503, 504)  # what a proxy answers while the server behind it is away


class Away(Unavailable):
    """The server did not answer, or not yet. Inside only: who asked gets an `Unavailable`."""

    sent = True
    """Whether the server may have got the request."""
    seconds: float | None = None
    """When it wants to be asked again."""
    told: QuireError | None = None
    """What it said, where it said something."""


class _VerifyLine(msgspec.Struct):
    error: frames.ErrorBody | None = None


class Calls:
    """Requests to one server, by the bearer of one token."""

    def __init__(
        self, address: Address, secret: str, answer_bytes: int = ANSWER_BYTES, pauses: Sequence[float] = PAUSES
    ) -> None:
        self.address = address
        self.pauses = tuple(pauses)
        self.tls = ssl.create_default_context() if address.secure else None
        self._answer_bytes = answer_bytes
        self._client = _client(address, secret, self.tls)

    async def ask(
        self, method: str, path: str, kind: type[T], *, once: bool = False, seconds: float = READ_SECONDS, **more: Any
    ) -> T:
        """Ask for something and read the answer. `once`: what a server may have got is not sent again."""

        async def asked() -> T:
            async with self.opened(method, path, seconds=seconds, **more) as response:
                return self.read(await self._whole(response), kind)

        return await self.trying(asked, once=once)

    async def tell(self, path: str, **more: Any) -> None:
        """Have something done that nothing is answered to."""
        await self.ask("POST", path, msgspec.Raw, **more)

    async def trying(self, ask: Callable[[], Awaitable[T]], *, once: bool = False) -> T:
        """Ask until there is an answer, a few times."""
        pauses, waited = list(self.pauses), 0.0
        while True:
            try:
                return await ask()
            except Away as away:
                if away.seconds is not None and waited + away.seconds <= MOST_WAITING:
                    pause = away.seconds
                elif away.told is not None or not pauses or (once and away.sent):
                    raise away.told or Unavailable(str(away)) from away.__cause__
                else:
                    pause = pauses.pop(0)
            waited += pause
            await asyncio.sleep(pause)

    @asynccontextmanager
    async def opened(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        content: Content | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = READ_SECONDS,
        fine: tuple[int, ...] = (200, 201, 202, 204, 206),
    ) -> AsyncGenerator[httpx.Response]:
        """Ask once. The answer is one of the `fine` ones, and its body is still to come."""
        if self._client.is_closed:
            raise closed(self.address)
        sent = dict(headers or {})
        if body is not None:
            content, sent["Content-Type"] = msgspec.json.encode(body), "application/json"
        request = self._client.build_request(
            method,
            self.address.url + path,
            params={name: value for name, value in (params or {}).items() if value is not None},
            content=content() if callable(content) else content,
            headers=sent,
            timeout=httpx.Timeout(seconds, connect=5.0, pool=None),
        )
        with _named(self.address):
            response = await self._client.send(request, stream=True)
            try:
                if response.headers.get("content-encoding", "identity") != "identity":
                    raise self._unexpected("is compressed, which nobody asked for")
                if response.status_code not in fine:
                    raise await self._fault(response)
                yield response
            finally:
                await response.aclose()

    async def _fault(self, response: httpx.Response) -> QuireError:
        """What an answer means that says no."""
        status = response.status_code
        if 300 <= status < 400:
            return redirected(self.address, response.headers.get("location", ""))
        try:
            told = frames.error_of(msgspec.json.decode(await self._whole(response), type=frames.Faulty).error)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            if status in _RESTARTING:
                return Away(f"{self.address.url} answers with {status}: the server behind it is away. Try again later.")
            return self._unexpected(f"has the status {status}")
        if status == 429:
            away = Away(str(told))
            away.told, away.seconds = told, _seconds(response.headers.get("retry-after", ""))
            return away
        if status == 503:  # the server is there, and its store is not
            away = Away(str(told))
            away.told = told
            return away
        return told

    async def _whole(self, response: httpx.Response) -> bytes:
        data = bytearray()
        async for chunk in response.aiter_raw():
            data += chunk
            if len(data) > self._answer_bytes:
                raise Unavailable(
                    f"{self.address.url} answers with more than {self._answer_bytes:,} bytes, which is more than is read "
                    "in one go. Ask for less."
                )
        return bytes(data)

    async def lines(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """The lines of an answer, as they come."""
        rest = b""
        async for chunk in response.aiter_raw():
            *whole, rest = (rest + chunk).split(b"\n")
            for line in filter(None, whole):
                yield line
            if len(rest) > LINE_BYTES:
                raise self._unexpected("has a line without an end")
        if rest:
            yield rest

    def read(self, data: bytes, kind: type[T]) -> T:
        """Read what a server sent as what it should be."""
        try:
            return msgspec.json.decode(data or b"null", type=kind)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise self._unexpected(f"cannot be read ({error})") from error

    def read_line(self, data: bytes, kind: type[T]) -> T:
        """Read one of many lines; the last may be a fault."""
        if (fault := self.read(data, _VerifyLine).error) is not None:
            raise frames.error_of(fault)
        return self.read(data, kind)

    def _unexpected(self, why: str) -> Unavailable:
        return unexpected(self.address, f"The answer {why}")

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()


def path(*parts: str) -> str:
    """A path of the API, in which a name is a name whatever it holds."""
    return "/api/" + "/".join(quote(part, safe="") for part in parts)


async def waited_for(ask: Callable[[], Awaitable[T]], seconds: float, tell: Callable[[str], None]) -> T:
    """Ask a server that may be away, and is waited for: so many seconds at most, and told once."""
    loop, is_told = asyncio.get_running_loop(), False
    ends = loop.time() + seconds
    while True:
        try:
            return await ask()
        except Unavailable as error:
            # Not one that is there and is no Quire server, or not to be trusted: that does not change by waiting.
            if loop.time() >= ends or not isinstance(error.__context__, Away):
                raise
            if not is_told:
                tell(f"{error} It is waited for, {seconds:g} s at most (--wait)")
            is_told = True
        await asyncio.sleep(min(WAIT_SECONDS, max(0.0, ends - loop.time())))


def _client(address: Address, secret: str, tls: ssl.SSLContext | None) -> httpx.AsyncClient:
    try:
        return httpx.AsyncClient(
            headers={"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"},
            verify=tls if tls is not None else False,
            trust_env=address.by_proxy,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=20, keepalive_expiry=_KEPT_SECONDS),
        )
    except (ImportError, ValueError) as error:  # not repeated: the address of a proxy may hold a password
        told = f"The proxy that the environment names for {address.url} cannot be used ({type(error).__name__})"
        raise BadInput(f"{told}. See HTTPS_PROXY, ALL_PROXY and NO_PROXY.") from None


@contextmanager
def _named(address: Address) -> Generator[None]:
    """Say what the library raises in words of ours."""
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise _meaning(address, error) from error


def _meaning(address: Address, error: Exception) -> Unavailable:
    url = address.url
    if (tls := tls_error(error)) is not None:
        return distrusted(address, tls)
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
        away = Away(f"{url} is out of reach ({_reason(error)}). Is the server running there (`quire serve`)?")
        away.sent = False
        return away
    if isinstance(error, httpx.TimeoutException):
        return Away(f"{url} does not answer in time. Try again later.")
    if isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol | httpx.InvalidURL):
        return Unavailable(f"{url} cannot be asked: {error}.")
    return Away(f"{url} broke off ({_reason(error)}). Try again.")


def _reason(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__


def _seconds(text: str) -> float:
    return float(text) if text.isdecimal() and len(text) < 6 else 1.0
