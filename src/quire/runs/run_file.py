"""A run that was planned, from its start to its outcome, and the file that it leaves.

The file is whole at every moment, current while the run goes on, true at its end. It is written from the log, beside the run
and not in its way: in a thread, piece by piece, so that large outputs are in memory one at a time. A write that fails does
not stop the run: it is told, tried again, and what counts is the last one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec
from msgspec.structs import replace

from ..actors.runtime.retry import OutageTooLong, OutageWait
from ..actors.runtime.run_cell import CellRunOutcome, StopReason
from ..actors.runtime.run_notebook import RunObserver, RunObservers, RunPlan, run
from ..core.errors import Conflict, NotFound, QuireError, Refused
from ..core.ids import CellId
from ..core.notebook.notebook import Notebook
from ..core.results import Outcome, outcome_of
from ..core.sheet.conversion import blobs_of_cell, outputs_of, sheet_of
from ..core.sheet.sheet import SheetCell
from ..core.values import Json
from ..disk import in_thread
from ..formats import registry
from ..formats.papermill import executed
from ..outputs.display_events import KernelMessage
from ..workspace.log.process_id import this_process
from ..workspace.protocol import Workspace
from ..workspace.tasks import cancel_and_wait
from .locations import check_place, is_remote, is_standard, shown, writing_place
from .records.run_snapshot import as_left

TAKEN = (
    "This process stood still for so long that the run was taken for lost, and its log says so. What its cells did "
    "since then is not recorded."
)


async def run_file(
    workspace: Workspace, plan: RunPlan, stopping: StopReason, observer: RunObserver | None = None
) -> Outcome:
    """Run what was planned, and return what it came to. The kernel is this process's, and ends with it."""
    runtime = await workspace.as_runtime(this_process(), plan.log)
    observer = observer or RunObserver()
    # Whoever presses Ctrl-C does not want to wait for a database.
    wait = OutageWait(plan.outage_seconds, observer.warn, lambda: stopping.why == "cancelled")
    output = Output(workspace, plan, observer.warn, wait)
    await output.check()
    try:
        await run(workspace, runtime, plan, stopping, RunObservers([observer, output]), wait)
    except OutageTooLong:
        await output.leave()
        raise
    except BaseException as error:
        fault = await output.close()
        if isinstance(error, NotFound | Refused | Conflict) and (lost := await _taken(workspace, plan)) is not None:
            observer.warn(TAKEN)
            return msgspec.structs.replace(lost, output_fault=fault)
        if fault is not None:
            observer.warn(fault)
        raise
    fault = await output.close()
    left = await wait.patiently(lambda: as_left(workspace, plan.log))
    return msgspec.structs.replace(outcome_of(plan.log, left, _shown(plan)), output_fault=fault)


async def ended(workspace: Workspace, plan: RunPlan) -> Outcome | None:
    """What the log says of a run that ended in an error of ours; None: it never came to a log, or is still open there."""
    with contextlib.suppress(QuireError):
        outcome = outcome_of(plan.log, await as_left(workspace, plan.log), _shown(plan))
        return outcome if outcome.duration_seconds is not None else None
    return None


async def _taken(workspace: Workspace, plan: RunPlan) -> Outcome | None:
    """What the log says of a run that somebody else has ended."""
    outcome = await ended(workspace, plan)
    return outcome if outcome is not None and outcome.status == "lost" else None


def _shown(plan: RunPlan) -> str | None:
    return shown(plan.output) if plan.output is not None else None


WRITE_SECONDS = 1.0
"""The output is written at most so often while a run goes on."""
REMOTE_SECONDS = 10.0
"""And so often where that is a request to somebody else's machine."""
RECORD_SECONDS = 1.0
"""What a cell showed is recorded a moment after it was heard: what is written sooner may lack it, and is written again."""
LEAVE_SECONDS = 5.0
"""How long a workspace that is away may take to answer, once nobody waits for it any more."""
WRITE_SHARE = 20
"""And so that writing takes at most one part in so many of the time: cost does not grow with the square of the cells."""


class Output(RunObserver):
    """Writes the log of one run into its file. `warn` is called once, when that does not work while it runs."""

    def __init__(
        self, workspace: Workspace, plan: RunPlan, warn: Callable[[str], None], wait: OutageWait | None = None
    ) -> None:
        self._workspace, self._plan, self._warn = workspace, plan, warn
        self._wait = wait or OutageWait(0)
        self._place = plan.output
        self._target = _settled(plan.output)
        self._pause = REMOTE_SECONDS if self._place is not None and is_remote(self._place) else WRITE_SECONDS
        self._clock = asyncio.get_running_loop().time
        self._due = self._written = self._clock()
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._wanted_meanwhile = False
        self._warned = False
        self._heard = self._clock() - RECORD_SECONDS
        """When a cell last showed something that is written while it runs."""
        self._latest: tuple[CellId, bool] | None = None
        """The cell that began or ended last, and whether it ended."""

    # ---- What happens

    async def check(self) -> None:
        """Before anything runs: refuse a place where nothing can be written. Missing folders are made."""
        if self._place is not None:
            await check_place(self._place)

    async def began(self) -> None:
        """The run has a log."""
        self._want(0)

    def cell_began(self, index: int, cell: SheetCell) -> None:
        """A cell begins."""
        self._latest = cell.id, False
        self._want(0)

    async def cell_ended(self, index: int, cell: SheetCell, ran: CellRunOutcome) -> None:
        """A cell has ended."""
        self._latest = cell.id, True
        self._want(0)

    def heard(self, message: KernelMessage) -> None:
        """The running cell shows something."""
        if (seconds := self._plan.autosave_cell_every) > 0:
            self._heard = self._clock()
            self._want(self._written + seconds)

    async def close(self) -> str | None:
        """Write the run as it ended. Return what is wrong if that cannot be."""
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await self._writing
        try:
            await self._write()
        except (QuireError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise  # whoever reads standard output has seen enough
            log = self._plan.log
            return f"{_told(error)} The run itself is whole: `quire export {log} FILE` writes it elsewhere."
        return None

    async def leave(self) -> None:
        """Write what can still be read of a run that cannot be recorded any more; else the file stays as it is."""
        if self._timer is not None:
            self._timer.cancel()
        if self._writing is not None:
            await cancel_and_wait(self._writing)
        if self._place is None or is_standard(self._place):
            return
        self._wait = OutageWait(0)
        with contextlib.suppress(QuireError, OSError, TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._write()

    # ---- When to write

    def _want(self, at: float) -> None:
        """Write it then, or as soon after that as it may be."""
        # Papermill's --no-request-save-on-cell-execute: nothing is written before the end.
        if self._place is None or is_standard(self._place) or not self._plan.request_save_on_cell_execute:
            return
        at = max(at, self._due)
        if self._timer is not None:
            if self._timer.when() <= at:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(at, self._start)

    def _start(self) -> None:
        self._timer = None
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._try())
        else:
            self._wanted_meanwhile = True

    async def _try(self) -> None:
        began = self._clock()
        notebook = None
        try:
            notebook = await self._write()
        except (QuireError, OSError) as error:
            if not self._warned:
                self._warned = True
                self._warn(f"{_told(error)} The run goes on, and this is tried again.")
        self._written = self._clock()
        self._due = self._written + max(self._pause, WRITE_SHARE * (self._written - began))
        # A run goes on before its events are recorded: what was written may lack what this write was asked for.
        if self._wanted_meanwhile or (notebook is not None and self._is_behind(notebook)):
            self._wanted_meanwhile = False
            self._want(0)
        elif began < self._heard + RECORD_SECONDS:
            self._want(self._written + self._plan.autosave_cell_every)

    def _is_behind(self, notebook: Notebook) -> bool:
        """Whether the log does not have the latest change of a cell yet."""
        if self._latest is None:
            return False
        id, has_ended = self._latest
        cell = notebook.cells.get(id)
        execution = cell.execution if cell is not None else None
        return execution is None or (has_ended and execution.is_open)

    # ---- Writing

    async def _write(self) -> Notebook | None:
        """Write the run as its log has it now, and return that."""
        if self._place is None:
            return None
        try:
            notebook = await self._wait.patiently(lambda: self._workspace.read(self._plan.log))
        except NotFound:
            return None  # it never came to a log
        loop = asyncio.get_running_loop()

        def fetch(hash: str) -> bytes | None:
            return asyncio.run_coroutine_threadsafe(self._blob(hash), loop).result()

        async with writing_place(self._target or self._place) as file:
            await in_thread(self._fill, file, notebook, fetch)
        return notebook

    async def _blob(self, hash: str) -> bytes | None:
        try:
            return await self._wait.patiently(lambda: self._workspace.read_blob(hash))
        except NotFound:
            return None  # it was removed: what stands inline has to do

    def _fill(self, file: IO[bytes], notebook: Notebook, fetch: Callable[[str], bytes | None]) -> None:
        """Write the notebook into the file. In a thread."""
        log, where = self._plan.log, shown(self._place or "")
        path = "-.ipynb" if is_standard(where) else where
        widgets = notebook.run.widgets if notebook.run is not None else None
        found = fetch(widgets.hash) if widgets is not None else None
        sheet = sheet_of(notebook, {widgets.hash: found} if widgets is not None and found is not None else {}, log)
        told = executed(sheet, notebook, input_path=self._plan.input_path, output_path=where, log=log)

        def outputs(cell: SheetCell) -> Iterator[Json] | None:
            """What a cell shows where blobs are needed for it; None: the sheet has it."""
            of_log = notebook.cells.get(cell.id)
            has_blobs = of_log is not None and any(True for _ in blobs_of_cell(of_log))
            return outputs_of(of_log, fetch, log) if of_log is not None and has_blobs else None

        if registry.format_of(path) == "ipynb":
            from ..formats.ipynb.stream_parts import parts

            for part in parts(told, ((cell, outputs(cell)) for cell in told.cells), path):
                file.write(part.encode("utf-8", "surrogatepass"))
            return
        # Other formats need all of it at once, and are let go of after it.
        cells = [replace(cell, outputs=list(shows)) if (shows := outputs(cell)) else cell for cell in told.cells]
        file.write(registry.write(replace(told, cells=tuple(cells)), path).encode("utf-8", "surrogatepass"))


def _settled(place: str | None) -> str | None:
    """A path as it is meant now: the folder that it is told from may be gone, or another, before the run is over."""
    if place is None or is_standard(place) or is_remote(place):
        return place
    return str(Path(place).absolute())


def _told(error: QuireError | OSError) -> str:
    return str(error) if isinstance(error, QuireError) else f"The output cannot be written: {error.strerror or error}."
