"""What waits in a notebook, and for whom."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator

from ...core import events as e
from ...core.errors import Conflict, NotFound, Refused
from ...core.events import Draft
from ...core.ids import ExecutionId, LogId
from ...core.notebook.notebook import Execution, Notebook, Runtime
from ...core.sheet.conversion import sheet_of
from ...workspace.clock import new_id
from ...workspace.lanes.runtime_info import open_executions
from ...workspace.log.process_id import is_gone
from ...workspace.protocol import Workspace

LOCAL = "local"
"""What a request may call a runtime that was started beside the server."""
ASKS = ("execution_requested", "scratch_requested", "proposal_accepted")
"""The events by which somebody asks for executions."""
OTHERS_SECONDS = 10.0
"""How long what waits is left to a runtime that somebody brought and that is at nothing."""


def language_of(notebook: Notebook) -> str:
    """The language that a notebook is written in."""
    return sheet_of(notebook, {}).language if notebook.metadata else "python"


def queued(notebook: Notebook) -> Iterator[Execution]:
    """What waits for a runtime, in the order in which it was asked for."""
    return (execution for execution in open_executions(notebook) if execution.state == "queued")


def waits_here(notebook: Notebook) -> Iterator[Execution]:
    """What a runtime that is started here would run; what is for another one waits for that."""
    language = language_of(notebook).lower()
    for execution in queued(notebook):
        if execution.wants in (None, LOCAL) or (execution.wants or "").lower() == language:
            yield execution


async def skip_waiting(
    actor: Workspace, log: LogId, why: str, which: Callable[[Execution], bool] | None = None
) -> None:
    """Say of what waits in a notebook for a runtime that is started here, or for `which`, why it is not run.

    `actor` is a runtime, or Quire itself.
    """
    notebook = await actor.read(log)
    for execution in list(waits_here(notebook) if which is None else filter(which, queued(notebook))):
        skipped = e.ExecutionSkipped(execution=execution.id, cell=execution.cell, why=why)
        with contextlib.suppress(Conflict, NotFound, Refused):  # somebody took it, or took it back
            await actor.submit(log, [Draft(id=new_id(), event=skipped)])


class Others:
    """Runtimes that somebody brought: what they would take is left to them, for a while."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, patience_seconds: float = OTHERS_SECONDS) -> None:
        self._clock, self._patience_seconds = clock, patience_seconds
        self._since: dict[LogId, tuple[frozenset[ExecutionId], float]] = {}

    def take(self, log: LogId, notebook: Notebook) -> bool:
        """Whether all that waits is still to be left to them. One that is gone may be attached for ever."""
        waiting = list(waits_here(notebook))
        others = {id: each for id, each in notebook.runtimes.items() if each.name != LOCAL and not is_gone(id)}
        if not others or not all(_is_for(others.values(), execution, notebook) for execution in waiting):
            self._since.pop(log, None)
            return False
        if any(execution.runtime in others for execution in open_executions(notebook)):
            self._since.pop(log, None)  # it is at work, and will come to what waits
            return True
        ids, now = frozenset(execution.id for execution in waiting), self._clock()
        known, since = self._since.get(log, (frozenset[ExecutionId](), now))
        if not known & ids:  # what waited was taken meanwhile: there is somebody
            since = now
        self._since[log] = ids, since
        return now - since < self._patience_seconds


def _is_for(others: Iterable[Runtime], execution: Execution, notebook: Notebook) -> bool:
    language = language_of(notebook).lower()
    return execution.wants != LOCAL and any((each.language or "").lower() == language for each in others)
