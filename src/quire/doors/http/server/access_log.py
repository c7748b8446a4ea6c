"""One line for each request: what was asked for, by whom, and how it went. Never a header, a body or a token.

On a terminal a short text, elsewhere JSON, one object per line, on stderr.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO

import msgspec
from litestar.types import Scope

from ....formats.terminal_safe import plain
from ....workspace.clock import now


class RequestLine(msgspec.Struct, kw_only=True):
    """What is told of one request."""

    id: str
    method: str
    path: str
    began: float
    status: int = 0
    """0: the client was gone before it was answered."""


class AccessLog:
    """Where the lines go."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    def write(self, line: RequestLine, scope: Scope) -> None:
        """Tell of a request that is over."""
        asking = scope["state"].get("asking") if "state" in scope else None
        actor = asking.identity.actor if asking is not None else None
        milliseconds = round((monotonic() - line.began) * 1000, 1)
        self.tell(_short(line, actor, milliseconds) if self.is_terminal else _json(line, actor, milliseconds))

    @property
    def is_terminal(self) -> bool:
        """Whether somebody is looking."""
        return self._stream.isatty()

    def tell(self, line: str) -> None:
        """Write a line. Who stopped reading them does not stop the server."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(line + "\n")
            self._stream.flush()


def _short(line: RequestLine, actor: str | None, milliseconds: float) -> str:
    return f"{line.status} {line.method} {plain(line.path[:200])} {milliseconds:g} ms {plain(actor or '-')}"


def _json(line: RequestLine, actor: str | None, milliseconds: float) -> str:
    told = {
        "at": now(),
        "method": line.method,
        "path": line.path[:1000],
        "status": line.status,
        "milliseconds": milliseconds,
        "actor": actor,
        "request": line.id,
    }
    return msgspec.json.encode(told).decode()


def _is_news(record: logging.LogRecord) -> bool:
    """Drop what uvicorn logs for each socket that is answered, with 401 for one, and not opened: the request has its line."""
    return record.msg != "ASGI callable returned without completing handshake."


class LineHandler(logging.Handler):
    """What libraries, and faults of ours, have to say: in the same lines."""

    def __init__(self, log: AccessLog) -> None:
        super().__init__(logging.WARNING)
        self.addFilter(_is_news)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write it down."""
        told = self.format(record)
        if self._log.is_terminal:
            self._log.tell(f"quire: {told}")
        else:
            line = {"at": now(), "level": record.levelname.lower(), "told": told}
            self._log.tell(msgspec.json.encode(line).decode())


@contextmanager
def written_as_lines(log: AccessLog) -> Generator[None]:
    """Have everything that is logged go to this log, for as long as this takes."""
    handler = LineHandler(log)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
