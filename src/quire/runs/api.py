"""`quire.run`: a notebook run from Python, with papermill's keywords and its record kept.

It blocks, as `quire.connect` does, but on a thread of its own with an event loop: it can be called
inside a running loop and from several threads at once, and Ctrl-C ends the run. Nothing of the process
is changed for it: no working directory, no handler of signals.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import datetime as dt
import os
import sys
import threading
from collections.abc import Callable, Collection, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from ..actors.runtime.retry import OUTAGE_SECONDS
from ..actors.runtime.run_cell import StopReason
from ..actors.runtime.run_notebook import RunObserver, RunObservers, RunPlan
from ..connection import connect, find_folder, new_folder
from ..core.errors import BadInput, QuireError, RunFailed, Unavailable
from ..core.ids import LogId
from ..core.results import Outcome
from ..formats import registry
from ..formats.terminal_safe import one_line
from .locations import check_place, is_standard, shown, write_place
from .progress import LOG, Files, Lines, LoggedOutput, Writable, open_file
from .records.run_snapshot import as_left
from .request import FilledNotebook, RunRequest, plan_run, prepare_only
from .run_file import ended, run_file

if TYPE_CHECKING:
    from nbformat import NotebookNode

T = TypeVar("T")
Place = str | os.PathLike[str]

SIGNAL_SECONDS = 0.2
"""How late Ctrl-C may be noticed at most."""


class RunOutcome(Outcome, frozen=True, kw_only=True, dict=True):
    """What a run came to, with what it left: read from its log when it is asked for."""

    @cached_property
    def results(self) -> dict[str, Any]:
        """Name to value, each of the type that it had in the kernel; frames and arrays as such."""
        if self.run is None:
            return {}
        from .records.result_rows import gather, typed

        log = self.run
        found = wait_for(lambda _: gather([log], at=self._at, with_bytes=True))
        return {row.result.name: typed(row.result) for row in found.rows}

    @cached_property
    def notebook(self) -> NotebookNode:
        """The notebook as it was run, as nbformat has it."""
        text: str | None = self.__dict__.get("_text")
        if text is None:
            if self.run is None:
                raise BadInput("This outcome came without its notebook. Read the file that was written.")
            log = self.run
            text = wait_for(lambda _: _as_ipynb(log, self._at, self.output))
        return as_node(text)

    @property
    def _at(self) -> str | None:
        return self.__dict__.get("_where")

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (msgspec.structs.asdict(self), self._at, self.__dict__.get("_text"))


def _again(fields: dict[str, Any], where: str | None, text: str | None = None) -> RunOutcome:
    made = RunOutcome(**fields)
    # Beside the fields: they are what `--json` says, and no more.
    cast("Any", made).__dict__.update(_where=where, _text=text)
    return made


def run(
    input_path: Place | Mapping[str, Any] | None,
    output_path: Place | None = None,
    parameters: Mapping[str, Any] | None = None,
    engine_name: str | None = None,
    request_save_on_cell_execute: bool = True,
    prepare_only: bool = False,
    kernel_name: str | None = None,
    language: str | None = None,
    progress_bar: bool | Mapping[str, Any] = True,
    log_output: bool = False,
    stdout_file: Writable | Place | None = None,
    stderr_file: Writable | Place | None = None,
    start_timeout: float = 60,
    report_mode: bool = False,
    cwd: Place | None = None,
    *,
    autosave_cell_every: float = 30,
    execution_timeout: float | None = None,
    timeout: float | None = None,
    start: str | None = None,
    only: Collection[str] = (),
    keep: bool = False,
    resume: str | None = None,
    wait: float = OUTAGE_SECONDS,
    check: bool = True,
    at: Place | None = None,
) -> RunOutcome:
    """Run a notebook from top to bottom, keep the record, and return what it came to.

    The keywords are those of papermill's `execute_notebook`. `input_path` is a file in any
    format, a place such as s3://…, or a notebook: a NotebookNode, or a dict like one. Ours are
    `timeout`, seconds for the whole run; `start`, the cell to begin with; `only`, tags of the
    cells to run; `keep`, which leaves the kernel alive; `resume`, the run to go on with, of
    which `input_path` may be None; `wait`, seconds for which a database that is away is waited for while it runs;
    `check=False`, which returns an outcome where else RunFailed would be raised; and `at`, the workspace.
    """
    request = RunRequest(
        **_input(input_path),
        output=os.fspath(output_path) if output_path is not None else None,
        values=dict(parameters or {}),
        kernel=kernel_name,
        language=language,
        cwd=Path(cwd) if cwd is not None else None,
        start_timeout=start_timeout,
        execution_timeout=execution_timeout or None,
        timeout=timeout or None,
        report_mode=report_mode,
        request_save_on_cell_execute=request_save_on_cell_execute,
        autosave_cell_every=autosave_cell_every,
        engine=engine_name,
        keep=keep,
        start=start,
        only=frozenset((only,) if isinstance(only, str) else only),
        resume=resume,
        outage_seconds=wait,
    )
    if prepare_only:
        return wait_for(lambda _: _prepared_outcome(request))
    where = _where(at)
    with ExitStack() as closing:
        files = {
            name: open_file(each, closing) if isinstance(each, str | os.PathLike) else each
            for name, each in (("stdout", stdout_file), ("stderr", stderr_file))
            if each is not None
        }

        look = partial(_observer, lines=bool(progress_bar), log=log_output, files=files)
        return wait_for(lambda stopping: _run(request, where, stopping, look, check=check))


def _observer(plan: RunPlan, *, lines: bool, log: bool, files: Mapping[str, Writable]) -> RunObserver:
    """Whoever looks on, as papermill's keywords have it."""
    secrets = plan.secrets
    observers: list[RunObserver] = [LoggedWarnings()]
    if lines:
        observers.append(Lines(len(plan.sheet.cells), sys.stderr))
    if log:
        observers.append(LoggedOutput(secrets))
    if files:
        observers.append(Files(secrets, files, LOG.warning))
    return RunObservers(observers)


class LoggedWarnings(RunObserver):
    """What a run has to say goes to Python's log."""

    def warn(self, text: str) -> None:
        """Something is otherwise than asked for."""
        LOG.warning("%s", text)


def _input(given: Place | Mapping[str, Any] | None) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return {"source": None, "text": text_of(given)}
    return {"source": os.fspath(given) if given is not None else None}


def text_of(notebook: Mapping[str, Any]) -> str:
    """A NotebookNode, or a dict like one, as the text of an .ipynb."""
    import json

    try:
        # By Python's own writer: it keeps NaN, and half a surrogate pair.
        return json.dumps(notebook)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"The notebook holds what is no JSON: {error}.") from None


def _where(at: Place | None) -> str:
    """The workspace, by a name that means the same when the working directory is another."""
    where = os.fspath(at) if at is not None else os.environ.get("QUIRE_URL", "")
    if "://" in where:
        return where
    here = Path.cwd()
    return str(Path(where).absolute() if where else find_folder(here) or new_folder(here).parent)


async def _run(
    request: RunRequest, where: str, stopping: StopReason, progress: Callable[[RunPlan], RunObserver], *, check: bool
) -> RunOutcome:
    # A mistake in what is wished for leaves nothing behind, not even an empty workspace.
    planned = await plan_run(None, request, os.environ, now()) if request.resume is None else None
    workspace = await connect(where)
    try:
        plan = planned or await plan_run(workspace, request, os.environ, now())
        for warning in plan.warnings:
            LOG.warning("%s", warning)
        try:
            outcome = await run_file(workspace, plan, stopping, progress(plan))
            if check and outcome.output_fault is not None and outcome.status == "success":
                raise Unavailable(outcome.output_fault)
        except QuireError:
            outcome = await ended(workspace, plan) if not check else None
            if outcome is None:
                raise
        made = _again(msgspec.structs.asdict(outcome), where)
        if check and outcome.status != "success":
            notebook = await as_left(workspace, plan.log)
            failed = notebook.cells.get(outcome.failed_cell.id) if outcome.failed_cell is not None else None
            count = failed.execution.count if failed is not None and failed.execution is not None else None
            raise RunFailed(failure(made), outcome=made, exec_count=count)
        return made
    finally:
        await workspace.close()


def now() -> dt.datetime:
    """The local time, with its offset."""
    return dt.datetime.now().astimezone()


def failure(outcome: Outcome) -> str:
    """What happened, where, and where to read on."""
    failed = outcome.failed_cell
    told = f"Run {outcome.run} ended as {outcome.status}"
    if failed is not None:
        said = [text for text in (failed.ename, one_line(failed.evalue, 200)) if text]
        told += f" in cell {failed.index + 1} ({failed.id}): {': '.join(said) or 'it was next'}"
    return f"{told.rstrip('.')}. `quire show {outcome.run}` shows all of it."


# ---- Without a run


async def _prepared_outcome(request: RunRequest) -> RunOutcome:
    filled = await prepare_only(request, now())
    for warning in filled.warnings:
        LOG.warning("%s", warning)
    outcome = await write_prepared(filled)
    return _again(msgspec.structs.asdict(outcome), None, registry.write(filled.sheet, "prepared.ipynb"))


async def write_prepared(filled: FilledNotebook) -> Outcome:
    """Write a notebook that has its parameters and was not run; return an outcome that says so."""
    place = filled.output
    if place is not None:
        name = "-.ipynb" if is_standard(place) else shown(place)
        await check_place(place)
        await write_place(place, registry.write(filled.sheet, name))
    return Outcome(
        status="success",
        run=None,
        output=shown(place) if place is not None else None,
        duration_seconds=0.0,
        cells_executed=0,
        failed_cell=None,
        scraps={},
    )


# ---- What a run left


async def _as_ipynb(log: LogId, at: str | None, output: str | None) -> str:
    from ..core.sheet.conversion import blobs_of, sheet_of
    from ..formats.papermill import executed

    workspace = await connect(at)
    try:
        notebook = await as_left(workspace, log)
        blobs = {ref.hash: await workspace.read_blob(ref.hash) for ref in blobs_of(notebook)}
    finally:
        await workspace.close()
    source = notebook.run.source.path if notebook.run is not None else None
    sheet = sheet_of(notebook, blobs, log)
    return registry.write(executed(sheet, notebook, input_path=source, output_path=output, log=log), "run.ipynb")


def as_node(text: str) -> NotebookNode:
    """The text of an .ipynb as nbformat has it."""
    try:
        import nbformat
    except ImportError:
        raise BadInput(
            "nbformat is not installed here, and a NotebookNode is its own. Install quire[formats]."
        ) from None
    return cast("NotebookNode", cast("Any", nbformat).reads(text, as_version=4))


# ---- One loop, one thread


def wait_for(work: Callable[[StopReason], Coroutine[Any, Any, T]]) -> T:
    """Run `work` in a thread with a loop of its own, and return what it returns.

    Ctrl-C asks it to stop; it comes to its end, and then KeyboardInterrupt goes on.
    """
    stopping = StopReason()
    done: Future[T] = Future()

    def all_of_it() -> None:
        try:
            done.set_result(asyncio.run(work(stopping)))
        except BaseException as error:
            done.set_exception(error)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(all_of_it,), name="quire.run").start()
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            _wait_until_done(done)
            break
        except KeyboardInterrupt as pressed:
            interrupt = pressed
            stopping.signal()
    if interrupt is not None:
        raise interrupt
    return done.result()


def _wait_until_done(done: Future[Any]) -> None:
    """Wait for a thread, and notice Ctrl-C.

    Not by joining it: interrupted in that, Python 3.11 takes the thread for ended. And not without a limit: a signal that
    arrives just before the main thread begins to wait for a lock is handled only when that wait is over.
    """
    while not done.done():
        with contextlib.suppress(TimeoutError):
            done.exception(SIGNAL_SECONDS)
