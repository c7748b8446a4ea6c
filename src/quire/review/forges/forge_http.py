"""Requests to a forge: asked again where that is safe, held back where the forge says so, answered with one of the six errors.

The token is in a header and nowhere else, and goes to no other host: a redirection is told and not followed, and the next
page of a list is asked for by its number.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import email.utils
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from ...core.errors import BadInput, Conflict, NotFound, QuireError, Refused, Unavailable
from ...formats.terminal_safe import one_line
from ...git.plumbing.git_call import without_credentials

T = TypeVar("T")
PAUSES = (0.3, 1.0, 3.0)
"""How long to wait before a second, third and fourth try, in seconds."""
MOST_WAITING = 120.0
"""How long to wait, all in all, for a forge that says it is asked too often."""
PAGE = 50
_MOST_PAGES = 40
_ANSWER_BYTES = 32 << 20
_SECONDS = 30.0
_SAID = 300
_AWAY = (500, 502, 503, 504)


class ForgeAddress(msgspec.Struct, frozen=True, kw_only=True):
    """Where the API of a forge is, and the repository on it."""

    api: str
    """The address that all paths of the API follow."""
    host: str
    owner: str
    repo: str

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.host}/{self.owner}/{self.repo}"


class ForgeHttp:
    """Requests to one forge, by the bearer of one token."""

    def __init__(self, address: ForgeAddress, headers: Mapping[str, str], pauses: tuple[float, ...] = PAUSES) -> None:
        try:
            import httpx
        except ImportError:
            raise BadInput("httpx is not installed here, and forges are asked by it. Install quire[forge].") from None
        self._httpx = httpx
        self._address, self._pauses = address, pauses
        self._client = httpx.AsyncClient(
            headers={"Accept": "application/json", "User-Agent": "quire", **headers},
            timeout=httpx.Timeout(_SECONDS, connect=10.0),
            follow_redirects=False,
        )

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def __aenter__(self) -> ForgeHttp:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def ask(self, method: str, path: str, kind: type[T], **more: Any) -> T:
        """Ask for something and read the answer as what it should be."""
        answer = await self._answered(method, path, **more)
        try:
            return msgspec.json.decode(answer or b"null", type=kind)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            told = f"{self._address.name} answers {method} {path} with what cannot be read ({error})"
            raise Unavailable(f"{told}. Is that the API of the forge that was named?") from None

    async def tell(self, method: str, path: str, **more: Any) -> None:
        """Have something done whose answer does not matter."""
        await self._answered(method, path, **more)

    async def pages(self, path: str, kind: type[T], size_name: str, **params: Any) -> AsyncIterator[T]:
        """Yield the items of a list, page after page."""
        for page in range(1, _MOST_PAGES + 1):
            asked = {**params, "page": page, size_name: PAGE}
            items = await self.ask("GET", path, list[kind], params=asked)
            for item in items:
                yield item
            # A forge may allow fewer to a page than were asked for: only an empty page is surely the last.
            if not items:
                return

    async def _answered(
        self, method: str, path: str, *, body: Any = None, params: Mapping[str, Any] | None = None
    ) -> bytes:
        pauses, waited = list(self._pauses), 0.0
        while True:
            try:
                return await self._asked_once(method, path, body, params)
            except _Away as away:
                pause = away.seconds if away.seconds is not None else pauses[0] if pauses else None
                is_safe = method in ("GET", "PATCH", "PUT") or not away.sent
                if not pauses or pause is None or not is_safe or waited + pause > MOST_WAITING:
                    raise away.told from None
                pauses.pop(0)
            waited += pause
            await asyncio.sleep(pause)

    async def _asked_once(self, method: str, path: str, body: Any, params: Mapping[str, Any] | None) -> bytes:
        content = msgspec.json.encode(body) if body is not None else None
        headers = {"Content-Type": "application/json"} if content is not None else {}
        url = self._address.api + path
        try:
            async with self._client.stream(method, url, params=params, content=content, headers=headers) as response:
                data = bytearray()
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > _ANSWER_BYTES:
                        raise Unavailable(
                            f"{self._address.name} answers {method} {path} with more than is read. Try again."
                        )
                if 200 <= response.status_code < 300:
                    return bytes(data)
                raise self._fault(method, path, response.status_code, response.headers, bytes(data))
        except self._httpx.HTTPError as error:
            not_sent = isinstance(error, self._httpx.ConnectError | self._httpx.ConnectTimeout | self._httpx.ProxyError)
            told = f"{self._address.host} cannot be reached ({_reason(error)})"
            raise _Away(
                Unavailable(f"{told}. Nothing is lost: call again once it is there, and it goes on where it stopped."),
                sent=not not_sent,
            ) from None
        except self._httpx.InvalidURL:
            raise BadInput(f"{self._address.name} makes no address. Check the remote: git remote -v.") from None

    def _fault(
        self, method: str, path: str, status: int, headers: Mapping[str, str], data: bytes
    ) -> QuireError | _Away:
        """What an answer means that says no."""
        told = f"{self._address.name}: {method} {path.partition('?')[0]} was answered with {status}"
        said = _said(data)
        if said:
            told += f" ({said})"
        if status == 429 or (status == 403 and _is_limited(headers)):
            error = Unavailable(f"{told}: it is asked too often. Wait a few minutes, then call again.")
            return _Away(error, seconds=_retry_after(headers), sent=False)
        if status in _AWAY:
            error = Unavailable(f"{told}: the forge has a fault. Call again later, and it goes on where it stopped.")
            return _Away(error, seconds=_retry_after(headers) if "retry-after" in headers else None)
        match status:
            case 401:
                return Refused(f"{told}: the token is missing, wrong or expired. Make a new one and set it again.")
            case 403:
                return Refused(f"{told}: this token may not do that. Give it the right to write to the repository.")
            case 404:
                return NotFound(
                    f"{told}: there is no such thing, or this token may not see it. Check `git remote -v` and the token."
                )
            case 405 | 409:
                return Conflict(f"{told}. Look at it on the forge, then call again.", status=status)
            case 422:
                return BadInput(f"{told}: the forge does not take that.", status=status)
            case 301 | 302 | 307 | 308:
                return Unavailable(f"{told}: the repository moved. Set its new address: git remote set-url.")
            case _:
                return Unavailable(f"{told}. Look at the forge, then call again.")


class _Away(Exception):
    """The forge did not answer, or not now: no error yet, for it may be asked again."""

    def __init__(self, told: QuireError, *, seconds: float | None = None, sent: bool = True) -> None:
        super().__init__(str(told))
        self.told, self.seconds, self.sent = told, seconds, sent


class _Message(msgspec.Struct, frozen=True, kw_only=True):
    """What forges say of a fault, in one field or another."""

    message: Any = None
    error: Any = None
    errors: Any = None


def _said(data: bytes) -> str:
    try:
        message = msgspec.json.decode(data, type=_Message)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ""
    parts = [part for part in (message.message, message.error, message.errors) if part]
    text = "; ".join(part if isinstance(part, str) else msgspec.json.encode(part).decode() for part in parts)
    return without_credentials(one_line(text, _SAID))


def _is_limited(headers: Mapping[str, str]) -> bool:
    """GitHub says 403 as well when it is asked too often."""
    return "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"


def _retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds to wait: as the header says, or until the limit is lifted."""
    told = headers.get("retry-after", "")
    now = dt.datetime.now(dt.UTC)
    if told.isdecimal():
        return float(told[:9])
    if told:
        try:
            return max(0.0, (email.utils.parsedate_to_datetime(told) - now).total_seconds())
        except (TypeError, ValueError):
            return PAUSES[-1]
    reset = headers.get("x-ratelimit-reset", "")
    return max(0.0, float(reset[:12]) - now.timestamp()) if reset.isdecimal() else PAUSES[-1]


def _reason(error: Exception) -> str:
    return without_credentials(one_line(str(error), _SAID)).rstrip(".") or type(error).__name__


def path_of(*parts: str | int) -> str:
    """Return a path of an API, in which a name is a name whatever it holds."""
    return "".join(f"/{quote(str(part), safe='')}" for part in parts)
