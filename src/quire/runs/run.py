"""A prepared run, from its start to its outcome."""

from __future__ import annotations

import contextlib

import msgspec

from ..actors.runtime.execution import Ran, Stopping
from ..actors.runtime.messages import Message
from ..actors.runtime.running import Watching, run
from ..core.errors import Conflict, NotFound, QuireError, Refused
from ..core.outcome import Outcome, outcome_of
from ..core.sheet import SheetCell
from ..workspace.holders import this_process
from ..workspace.workspace import Workspace
from .left import as_left
from .output import Output
from .places import shown
from .wish import Prepared

TAKEN = (
    "This process stood still for so long that the run was taken for lost, and its log says so. What its cells did "
    "since then is not recorded."
)


class Progress(Watching):
    """Whoever wants to see a run go on."""

    def prepared(self, prepared: Prepared) -> None:
        """All is decided."""


async def run_file(
    workspace: Workspace, prepared: Prepared, stopping: Stopping, progress: Progress | None = None
) -> Outcome:
    """Run what was prepared, and return what it came to. The kernel is this process's, and ends with it."""
    order = prepared.order
    runtime = await workspace.as_runtime(this_process(), order.log)
    progress = progress or Progress()
    output = Output(workspace, prepared, progress.warn)
    await output.check()
    try:
        await run(workspace, runtime, order, stopping, _Both(progress, output))
    except BaseException as error:
        fault = await output.close()
        if isinstance(error, NotFound | Refused | Conflict) and (lost := await _taken(workspace, prepared)) is not None:
            progress.warn(TAKEN)
            return msgspec.structs.replace(lost, output_fault=fault)
        if fault is not None:
            progress.warn(fault)
        raise
    fault = await output.close()
    outcome = outcome_of(order.log, await as_left(workspace, order.log), _shown(prepared))
    return msgspec.structs.replace(outcome, output_fault=fault)


async def ended(workspace: Workspace, prepared: Prepared) -> Outcome | None:
    """What the log says of a run that ended in an error of ours; None: it never came to a log, or is still open there."""
    with contextlib.suppress(QuireError):
        outcome = outcome_of(prepared.order.log, await as_left(workspace, prepared.order.log), _shown(prepared))
        return outcome if outcome.duration_seconds is not None else None
    return None


async def _taken(workspace: Workspace, prepared: Prepared) -> Outcome | None:
    """What the log says of a run that somebody else has ended."""
    outcome = await ended(workspace, prepared)
    return outcome if outcome is not None and outcome.status == "lost" else None


def _shown(prepared: Prepared) -> str | None:
    return shown(prepared.output) if prepared.output is not None else None


class _Both(Watching):
    """Tells the one who looks, and then the file."""

    def __init__(self, progress: Progress, output: Output) -> None:
        self._progress, self._output = progress, output

    async def began(self) -> None:
        await self._progress.began()
        self._output.begin()

    def cell_began(self, index: int, cell: SheetCell) -> None:
        self._progress.cell_began(index, cell)
        self._output.cell_changed(cell.id, has_ended=False)

    def heard(self, message: Message) -> None:
        self._progress.heard(message)
        self._output.heard()

    async def cell_ended(self, index: int, cell: SheetCell, ran: Ran) -> None:
        await self._progress.cell_ended(index, cell, ran)
        self._output.cell_changed(cell.id, has_ended=True)

    def warn(self, text: str) -> None:
        self._progress.warn(text)

    @property
    def answers(self) -> bool:
        return self._progress.answers

    async def asked(self, prompt: str, *, password: bool) -> str:
        return await self._progress.asked(prompt, password=password)
