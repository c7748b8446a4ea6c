"""How a route is written, and how it reads what it is sent: strictly, so that every fault is named.

A route says once what it takes and what it answers; from that it is read here and described in openapi.py.
Whatever does not have the shape that was described is a 400; what has it and makes no sense is a 422.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from functools import cache
from typing import Any, Literal, TypeVar, cast, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec
from litestar import Request
from litestar.handlers import HTTPRouteHandler, get, head, post, put

from ...core.errors import BadInput
from ...core.ids import check_id
from .auth import OPEN, door_of
from .error_responses import JSON, ErrorResponse, too_large

T = TypeVar("T")
Method = Literal["GET", "HEAD", "POST", "PUT"]
Asking = Request[Any, Any, Any]
BYTES = "application/octet-stream"
NOBODYS_BYTES = 10_000
"""How large the body is at most of a request that needs no token."""
_MAKERS: dict[Method, Any] = {"GET": get, "HEAD": head, "POST": post, "PUT": put}
_PARAMETER = re.compile(r"{(\w+)}")
_MOST_PARAMETERS = 100
WHOLE = {"whole": True}
"""Of a list in an address whose items may hold commas: each is given by itself, `where=…&where=…`."""


class RouteInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a route says of itself."""

    method: Method
    path: str
    id: str
    tag: str
    told: str
    """Its docstring: a line, and more if there is more to say."""
    query: Any = None
    body: Any = None
    """The type of what it takes, or the media type of bytes."""
    answer: Any = None
    """The type of what it answers, or the media types that bytes may have; None: nothing."""
    answers: dict[int, str] = {}
    """Other statuses than 200 that are no faults, in words."""
    open: bool = False
    """Whether it needs no token."""


def route(method: Method, path: str, id: str, **said: Any) -> Callable[[Any], HTTPRouteHandler]:
    """Make a function the answer to requests for a path. What else can be said is in `RouteInfo`."""

    def made(function: Any) -> HTTPRouteHandler:
        about = RouteInfo(method=method, path=path, id=id, told=function.__doc__ or "", **said)
        opt = {"about": about, **(OPEN if about.open else {})}
        more: dict[str, Any] = {}
        if isinstance(about.body, str):
            more["request_max_body_size"] = None  # it is counted as it comes, against a limit of its own
        elif about.open:
            more["request_max_body_size"] = NOBODYS_BYTES
        status = 204 if about.answer is None and method == "POST" else 200
        where = _PARAMETER.sub(r"{\1:str}", path)
        return _MAKERS[method](where, opt=opt, status_code=status, **more)(function)

    return made


# ---- What was sent


async def body_of(request: Asking, kind: type[T]) -> T:
    """The body of a request, as what it should be."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    data = await request.body()
    if data and media != JSON:
        told = f"The body has the type {media[:100] or 'of nothing'!r}; what is read here is {JSON}."
        raise ErrorResponse(415, BadInput(f"{told} Send that, and say so in Content-Type."))
    try:
        return _decoded(data or b"{}", kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise misshapen(f"The body is not what is expected: {error}") from error


def _decoded(data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        # JSON has one kind of number, and some write 5 as 5.0.
        return msgspec.convert(_with_integers(msgspec.json.decode(data)), kind)


def _with_integers(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _with_integers(each) for name, each in cast("dict[str, Any]", value).items()}
        case list():
            return [_with_integers(each) for each in cast("list[Any]", value)]
        case _:
            return value


def query_of(request: Asking, kind: type[T]) -> T:
    """What stands after the question mark, as what it should be."""
    try:
        pairs = parse_qsl(
            request.scope["query_string"].decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(request.scope["query_string"]),
            max_num_fields=_MOST_PARAMETERS,
            errors="strict",
        )
        given = _gathered(pairs, kind)
        asked = msgspec.convert(given, kind, strict=False)
        if nothing := [name for name in given if getattr(asked, name) is None]:
            raise ValueError(f"`{nothing[0]}` has no value: leave it out")
        return asked
    except (msgspec.ValidationError, ValueError) as error:
        raise misshapen(f"The address is not what is expected: {error}") from error


def _gathered(pairs: list[tuple[str, str]], kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    whole = _whole(kind)
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in whole:
            found.setdefault(name, []).append(value)
        elif get_origin(hints.get(name)) is tuple:
            found.setdefault(name, []).extend(value.split(","))
        elif name in found:
            raise ValueError(f"`{name}` is given twice")
        else:
            found[name] = value
    return found


@cache
def _whole(kind: type[Any]) -> frozenset[str]:
    """The fields whose values are not cut at commas."""
    hints = get_type_hints(kind, include_extras=True)
    said = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    return frozenset(name for name, each in said.items() if any(getattr(meta, "extra", None) == WHOLE for meta in each))


def misshapen(message: str) -> ErrorResponse:
    """What was sent does not have the shape that was described."""
    return ErrorResponse(400, BadInput(f"{message.rstrip('.')}. GET /api/openapi.json tells what is."))


def checked(text: str, what: str) -> Any:
    """A parameter of a path that is an id: refused before anybody looks for it when it is none."""
    check_id(text, what)
    return text


async def upload_of(request: Asking, limit: int | None = None) -> AsyncIterator[bytes]:
    """The body of a request, as it comes, and no more than is allowed."""
    most = limit or door_of(request).settings.upload_bytes
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said) > most:
        raise too_large(most)
    came = 0
    async for chunk in request.stream():
        came += len(chunk)
        if came > most:
            raise too_large(most)
        yield chunk
