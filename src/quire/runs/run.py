"""A prepared run, from its start to its outcome."""

from __future__ import annotations

import os

from ..actors.runtime.execution import Ran, Stopping
from ..actors.runtime.messages import Message
from ..actors.runtime.running import Watching, run
from ..core.outcome import Outcome, outcome_of
from ..core.sheet import SheetCell
from ..workspace import access
from ..workspace.local import LocalWorkspace
from .output import Output
from .wish import Prepared


class Progress(Watching):
    """Whoever wants to see a run go on."""

    def prepared(self, prepared: Prepared) -> None:
        """All is decided."""


async def run_file(
    workspace: LocalWorkspace, prepared: Prepared, stopping: Stopping, progress: Progress | None = None
) -> Outcome:
    """Run what was prepared, and return what it came to. The kernel is this process's, and ends with it."""
    order = prepared.order
    runtime = workspace.acting_as(access.runtime(f"run-{os.getpid()}"))
    output = Output(workspace, prepared)
    watching = _Both(progress or Progress(), output)
    try:
        await run(workspace, runtime, order, stopping, watching)
    finally:
        await output.write()
    where = str(prepared.output) if prepared.output is not None else None
    return outcome_of(order.log, await workspace.read(order.log), where)


class _Both(Watching):
    """Tells the one who looks, and then the file."""

    def __init__(self, progress: Progress, output: Output) -> None:
        self._progress, self._output = progress, output

    async def began(self) -> None:
        await self._progress.began()
        await self._output.write()

    def cell_began(self, index: int, cell: SheetCell) -> None:
        self._progress.cell_began(index, cell)

    def heard(self, message: Message) -> None:
        self._progress.heard(message)

    async def cell_ended(self, index: int, cell: SheetCell, ran: Ran) -> None:
        await self._progress.cell_ended(index, cell, ran)
        await self._output.write_if_due()
