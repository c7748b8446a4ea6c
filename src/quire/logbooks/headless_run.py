"""A logbook run by itself: code in order, prose kept. The same run as of any notebook, with its mark and its file."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ..actors.runtime.run_cell import CellRunOutcome, StopReason
from ..actors.runtime.run_notebook import RunObserver, RunObservers, RunPlan
from ..core.errors import NotFound, QuireError
from ..core.events import Draft, MetadataSet, RunSource
from ..core.ids import LogId
from ..core.notebook.logbook_record import LogbookMark, as_metadata
from ..core.results import Outcome
from ..core.sheet.sheet import SheetCell
from ..disk import in_thread
from ..runs.provision import Prompter
from ..runs.request import RunRequest, prepare
from ..runs.run_file import run_file
from ..workspace.clock import new_id
from ..workspace.protocol import Workspace
from .export_file import write_export
from .product_files import changed_files, product_patterns, take_snapshot
from .run_request import LogbookRequest
from .run_mark import bound_values, check_request, files_folder, mark_of, with_files_folder, with_prompted
from .template_steps import marked


class LogbookPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A headless run of a logbook, decided in full."""

    run: RunPlan
    mark: LogbookMark
    root: Path
    folder: Path
    """Where scratch files go, if there are any."""
    products: tuple[str, ...] = ()


async def plan_logbook(
    request: LogbookRequest, environ: Mapping[str, str], now: dt.datetime, ask: Prompter | None = None
) -> LogbookPlan:
    """Decide everything that a headless run needs, or name what is missing, before anything runs (rule 14)."""
    template, root = request.template, request.root
    values = with_prompted(template, request.values, ask)
    # Its folder is named by the run's id, which is only known with the plan: any other would do to see whether all is there.
    draft = with_files_folder(template, root, LogId(new_id()), now, values)
    check_request(request.request)
    bound_values(template, draft)
    plan = await prepare(_run_request(request, draft), environ, now, ask)
    values = with_files_folder(template, root, plan.log, now, values)
    if values != draft:
        plan = replace(await prepare(_run_request(request, values), environ, now, ask), log=plan.log)
    mark = mark_of(template, root, plan.log, now, values, request.request, "headless")
    sheet = marked(plan.sheet, by_steps=False)
    mark = replace(mark, laid=1 + len(sheet.cells), sources=request.sources)
    plan = replace(
        plan,
        name=template.name,
        sheet=replace(sheet, metadata=sheet.metadata | as_metadata(mark)),
        source=RunSource(path=template.path, digest=template.digest),
        input_path=template.path,
    )
    products = product_patterns(template.sheet)
    return LogbookPlan(run=plan, mark=mark, root=root, folder=files_folder(root, plan.log, now), products=products)


def _run_request(request: LogbookRequest, values: dict[str, Any]) -> RunRequest:
    return RunRequest(
        source=str(request.template.file),
        sheet=request.template.sheet,
        values=values,
        kernel=request.kernel,
        cwd=request.root,
        timeout=request.timeout,
        execution_timeout=request.execution_timeout,
    )


async def run_logbook(
    workspace: Workspace, plan: LogbookPlan, stopping: StopReason, observer: RunObserver | None = None
) -> tuple[Outcome, Path | None]:
    """Run a logbook, and return what it came to and the file that it left."""
    observer = observer or RunObserver()
    before = await in_thread(take_snapshot, plan.root, plan.products)
    await in_thread(_make, plan.folder)
    file = RunFileObserver(workspace, plan, observer.warn)
    try:
        outcome = await run_file(workspace, plan.run, stopping, RunObservers([observer, file]))
        changed = changed_files(before, await in_thread(take_snapshot, plan.root, plan.products))
        if changed:
            mark = replace(plan.mark, files=changed)
            event = MetadataSet(values=as_metadata(mark))
            await workspace.submit(plan.run.log, [Draft(id=new_id(), event=event)])
    finally:
        written = await file.close()
        await in_thread(_remove_if_empty, plan.folder)
    return outcome, written


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # something lies in it, or it is gone


class RunFileObserver(RunObserver):
    """Rewrites the file of a run after each of its steps. One that cannot be written does not stop the run."""

    def __init__(self, workspace: Workspace, plan: LogbookPlan, warn: Callable[[str], None]) -> None:
        self._workspace, self._plan, self._warn = workspace, plan, warn
        self._writing: asyncio.Task[Path | None] | None = None
        self._warned = False

    async def cell_ended(self, index: int, cell: SheetCell, ran: CellRunOutcome) -> None:
        """A step has ended: the file is written beside the next one."""
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._write())

    async def close(self) -> Path | None:
        """Write the run as it ended, and return the file."""
        if self._writing is not None:
            await self._writing
        return await self._write()

    async def _write(self) -> Path | None:
        try:
            return await write_export(self._workspace, self._plan.run.log, self._plan.root)
        except NotFound:
            return None  # it never came to a log
        except (QuireError, OSError) as error:
            if not self._warned:
                self._warned = True
                self._warn(
                    f"The run's file cannot be written: {error} `quire logbook show {self._plan.run.log}` prints it."
                )
            return None
