"""Quire as an engine of papermill's: `papermill --engine quire`, or `engine_name="quire"`.

papermill reads, puts the parameters in, writes and raises as ever. The cells run here, in
Quire's way, with a log of their own. papermill is told what it wants to know through its
`NotebookExecutionManager`: when a cell starts, what it showed, how it ended. So its file,
its statuses and its autosave are what they always are, but for cells that never ran: those
stay `pending`, also when the kernel died.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.engines import Engine, NotebookExecutionManager  # pyright: ignore[reportMissingTypeStubs]

from ..actors.runtime.run_cell import CellRunOutcome, StopReason
from ..actors.runtime.run_notebook import MAY_RAISE, RUNS, RunObserver, RunObservers, RunPlan
from ..connection import connect
from ..core.errors import RunFailed
from ..core.events import ExecutionFinished
from ..core.ids import CellId
from ..core.notebook.notebook import Notebook
from ..core.results import Outcome
from ..core.sheet.conversion import blobs_of_cell, outputs_of
from ..core.sheet.sheet import SheetCell
from ..core.values import tag
from ..outputs.display_events import KernelMessage
from ..outputs.secrets import Remover
from ..outputs.widgets import WidgetStates
from ..workspace.protocol import Workspace
from .api import failure, now, text_of, wait_for
from .progress import LOG, Files, LoggedOutput, Writable
from .request import RunRequest, prepare
from .run_file import run_file

REFRESH_SECONDS = 1.0
"""How often papermill hears what a running cell has shown so far, if it saves at all meanwhile."""


class QuireEngine(Engine):
    """The entry point. papermill calls class methods of it."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: NotebookExecutionManager,
        kernel_name: str,
        log_output: bool = False,
        stdout_file: Writable | None = None,
        stderr_file: Writable | None = None,
        start_timeout: float = 60,
        execution_timeout: float | None = None,
        input_path: Any = None,
        **others: Any,
    ) -> None:
        """Run the cells of `nb_man.nb`. Of what else an engine may be given, only `timeout` is of use here."""
        request = RunRequest(
            source=input_path if isinstance(input_path, str) else None,
            text=text_of(cast("Any", nb_man).nb),
            kernel=kernel_name,
            cwd=Path.cwd(),
            start_timeout=start_timeout,
            execution_timeout=execution_timeout or None,
            timeout=others.get("timeout"),
        )
        files = {"stdout": stdout_file, "stderr": stderr_file}

        def observers(plan: RunPlan, told: RunObserver) -> RunObserver:
            secrets = plan.secrets
            logged: list[RunObserver] = [LoggedOutput(secrets)] if log_output else []
            return RunObservers([told, *logged, Files(secrets, files, LOG.warning)])

        outcome = wait_for(lambda stopping: _run(nb_man, request, stopping, observers))
        _raise_for(outcome)

    @classmethod
    def nb_kernel_name(cls, nb: Any, name: str | None = None) -> str:
        """A notebook that names no kernel is one in Python."""
        return name or nb.metadata.get("kernelspec", {}).get("name") or "python3"

    @classmethod
    def nb_language(cls, nb: Any, language: str | None = None) -> str:
        """A notebook that says no language is one in Python."""
        said = nb.metadata.get("language_info", {}).get("name") or nb.metadata.get("kernelspec", {}).get("language")
        return language or said or "python"


async def _run(
    nb_man: NotebookExecutionManager,
    request: RunRequest,
    stopping: StopReason,
    observers: Callable[[RunPlan, RunObserver], RunObserver],
) -> Outcome:
    plan = _with_parameters(await prepare(request, os.environ, now()), nb_man)
    workspace = await connect()
    told = _PapermillProgress(nb_man, workspace, plan)
    try:
        outcome = await run_file(workspace, plan, stopping, observers(plan, told))
        await told.ended()
        return outcome
    finally:
        told.close()
        await workspace.close()


def _with_parameters(plan: RunPlan, nb_man: Any) -> RunPlan:
    """papermill has put them in already: they are recorded as it wrote them down."""
    given: dict[str, Any] = dict(nb_man.nb.metadata.papermill.get("parameters") or {})
    parameters = {name: tag(value) for name, value in given.items()}
    return msgspec.structs.replace(plan, parameters=parameters)


def _raise_for(outcome: Outcome) -> None:
    """What papermill's own engine raises. An error of a cell is found by papermill itself."""
    if outcome.status == "dead_kernel":
        raise DeadKernelError(failure(outcome))
    if outcome.status == "timeout":
        raise CellTimeoutError(failure(outcome))
    if outcome.status != "success" and (outcome.status != "error" or outcome.failed_cell is None):
        raise RunFailed(failure(outcome), outcome=outcome)


class _PapermillProgress(RunObserver):
    """Tells papermill, cell by cell. Its cells are those of the run, at the same places."""

    def __init__(self, manager: NotebookExecutionManager, workspace: Workspace, plan: RunPlan) -> None:
        self._manager: Any = manager
        self._workspace, self._plan = workspace, plan
        self._widgets = WidgetStates(Remover(plan.secrets))
        self._running: int | None = None
        self._next = 0
        self._refreshing: asyncio.Task[None] | None = None

    async def began(self) -> None:
        """The run has a log: from now on there may be something to save."""
        if self._manager.autosave_cell_every:
            self._refreshing = asyncio.ensure_future(self._refresh())

    async def _refresh(self) -> None:
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            if self._running is not None:
                await self._show(await self._read(), self._running)
                self._manager.autosave_cell()

    def cell_began(self, index: int, cell: SheetCell) -> None:
        """papermill goes through all cells, also through those that do not run."""
        self._pass(index)
        self._manager.cell_start(self._manager.nb.cells[index], index)
        self._running = index

    def _pass(self, until: int) -> None:
        for place in range(self._next, until):
            self._manager.cell_start(self._manager.nb.cells[place], place)
            self._manager.cell_complete(self._manager.nb.cells[place], cell_index=place)
        self._next = until + 1

    def heard(self, message: KernelMessage) -> None:
        """Widgets say what they are in messages of their own."""
        self._widgets.take(message)

    async def cell_ended(self, index: int, cell: SheetCell, ran: CellRunOutcome) -> None:
        """What it showed is in the notebook before papermill writes that."""
        notebook = await self._recorded(cell.id)
        self._running = None
        await self._show(notebook, index)
        if ran.status != "ok" and not (ran.status == "error" and MAY_RAISE in cell.tags):
            self._manager.cell_exception(self._manager.nb.cells[index], cell_index=index)
        self._manager.cell_complete(self._manager.nb.cells[index], cell_index=index)

    async def _recorded(self, cell: CellId) -> Notebook:
        """The log comes behind the kernel: wait until it has the end of the cell."""
        notebook = await self._read()
        execution = notebook.cells[cell].execution
        if execution is None or execution.finished_at is None:
            async for page in self._workspace.follow(self._plan.log, notebook.seq):
                if any(isinstance(entry.event, ExecutionFinished) for entry in page):
                    break
            notebook = await self._read()
        return notebook

    async def _read(self) -> Notebook:
        return await self._workspace.read(self._plan.log)

    async def _show(self, notebook: Notebook, index: int) -> None:
        """Put what a cell has shown so far into papermill's notebook."""
        import nbformat

        cell = notebook.cells[self._plan.sheet.cells[index].id]
        blobs = {ref.hash: await self._workspace.read_blob(ref.hash) for ref in blobs_of_cell(cell)}
        node = self._manager.nb.cells[index]
        node.outputs = cast("Any", nbformat).from_dict(list(outputs_of(cell, blobs.get, self._plan.log)))
        node.execution_count = cell.execution.count if cell.execution is not None else None

    async def ended(self) -> None:
        """Show each cell as it is in the end: a later one may have changed what an earlier one shows."""
        notebook = await self._read()
        for index, cell in enumerate(self._plan.sheet.cells):
            if cell.kind in RUNS:
                await self._show(notebook, index)
        if notebook.run is not None and notebook.run.status == "success":
            self._pass(self._end_of_prose())
        info: Any = notebook.run.environment.get("language_info") if notebook.run is not None else None
        if info is not None:
            self._manager.nb.metadata["language_info"] = info
        if states := self._widgets.as_metadata():
            self._manager.nb.metadata["widgets"] = states

    def _end_of_prose(self) -> int:
        """Where the next cell is that would have run: none, unless a cell has left by `sys.exit(0)`."""
        cells = self._plan.sheet.cells
        return next((place for place in range(self._next, len(cells)) if cells[place].kind in RUNS), len(cells))

    def close(self) -> None:
        """Look no further."""
        if self._refreshing is not None:
            self._refreshing.cancel()
