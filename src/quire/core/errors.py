"""Everything that can go wrong, as six errors.

    QuireError
    ├── Refused       a rule said no
    ├── Conflict      somebody was first; read on and try again
    ├── NotFound      no such notebook, cell, run, blob …
    ├── BadInput      what was sent makes no sense
    ├── RunFailed     a cell raised
    └── Unavailable   the store or the kernel is gone, full or out of reach

A message names the thing, the fault and the next step. `answer` is the one table that
turns an error into what a door says: an HTTP status, a WebSocket close code, an MCP
(JSON-RPC) code and the exit status of the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .results import Outcome


class QuireError(Exception):
    """A fault that Quire understands. Raise one of the six below, never this."""

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details
        """Facts for programs: the current text, the nearest ids … Empty for most."""


class Refused(QuireError):
    """A rule said no."""


class Conflict(QuireError):
    """Somebody was first."""


class NotFound(QuireError):
    """The thing that was named is not there."""


class BadInput(QuireError):
    """What was sent makes no sense."""


class RunFailed(QuireError):
    """A cell raised."""

    # Of the cell, under papermill's names. A run may also have ended while no cell was running.
    def __init__(self, message: str, *, outcome: Outcome | None = None, exec_count: int | None = None) -> None:
        super().__init__(message)
        failed = outcome.failed_cell if outcome is not None else None
        self.outcome = outcome
        self.exec_count = exec_count
        self.cell_index = failed.index if failed is not None else None
        self.source = failed.source if failed is not None else None
        self.ename = failed.ename if failed is not None else ""
        self.evalue = failed.evalue if failed is not None else ""
        self.traceback = list(failed.traceback) if failed is not None else []


class Unavailable(QuireError):
    """The store or the kernel is gone, full or out of reach."""


class ErrorCodes(NamedTuple):
    """What each door says for an error."""

    http: int
    websocket: int
    mcp: int
    exit_status: int


_ANSWERS: dict[type[QuireError], ErrorCodes] = {
    Refused: ErrorCodes(403, 4403, -32003, 3),
    Conflict: ErrorCodes(409, 4409, -32009, 3),
    NotFound: ErrorCodes(404, 4404, -32004, 2),
    BadInput: ErrorCodes(422, 4422, -32602, 2),
    RunFailed: ErrorCodes(424, 4424, -32024, 1),
    Unavailable: ErrorCodes(503, 4503, -32053, 4),
}


def answer(error: QuireError) -> ErrorCodes:
    """Look up what the doors say for `error`."""
    return next(row for kind, row in _ANSWERS.items() if isinstance(error, kind))
