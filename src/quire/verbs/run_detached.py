"""Running a whole notebook in a kernel of its own: as a process that outlives whoever asked for it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from ..core import errors
from ..core import events as e
from ..core.errors import BadInput, QuireError, Refused, Unavailable
from ..core.ids import ActorId, LogId
from ..core.notebook.notebook import Notebook
from ..core.params.parameters import declared
from ..core.results import outcome_of
from ..core.sheet.conversion import sheet_of
from ..core.sheet.sheet import Sheet
from ..core.values import Json
from ..formats import registry
from ..formats.terminal_safe import one_line, plain
from ..kernels.kernel_environment import kernel_environment, python_command, store_variables
from ..runs.detached import Apart, Began
from ..runs.records.run_snapshot import as_left
from ..workspace.clock import new_id
from ..workspace.identity import identities
from ..workspace.local import LocalWorkspace
from .answers.answer import Here, VerbAnswer
from .answers.execution_answer import call, shown
from .arguments import RunArguments, WaitArguments
from .execution_wait import Tell
from .find import notebook_named

COMMAND = tuple(python_command("quire.runs.detached"))
BEGIN_SECONDS = 15.0
"""A run that nobody could find yet is no answer: so long it has to begin, however short somebody wants to wait."""
MOST_SAID = 1_000_000
"""Bytes in which a run says that it has begun, or why not."""
MOST_RESULT = 300
"""Characters of one result in a text. The facts have all of it."""


async def run_apart(here: Here, wanted: RunArguments, tell: Tell | None = None) -> VerbAnswer:
    """Run the whole notebook with parameters, in a new kernel, and wait for the end."""
    loop = asyncio.get_running_loop()
    until = loop.time() + wanted.seconds
    run, began = await start_run(here, wanted, max(wanted.seconds, BEGIN_SECONDS))
    if began is None:
        return _starting(run)
    left = WaitArguments(notebook=run, seconds=max(until - loop.time(), 0.0), budget=wanted.budget)
    return await run_awaited(here, run, left, tell, began.warnings)


async def start_run(here: Here, wanted: RunArguments, seconds: float = BEGIN_SECONDS) -> tuple[LogId, Began | None]:
    """Start a run of the whole notebook, and return its log. The second is None if it takes longer than that to begin."""
    workspace, folder = _allowed(here)
    told = await _told(here, workspace, folder, wanted)
    cwd = await _cwd(here, folder, wanted.notebook)
    return told.run, await begun(told, cwd, seconds)


def _allowed(here: Here) -> tuple[LocalWorkspace, Path]:
    """Refuse what nobody could start, before anything is."""
    identity = here.workspace.identity
    if "run" in identity.asks:
        raise Refused(
            f"{identity.actor} has to ask before it may run, and a run of a whole notebook cannot be proposed. "
            "Run its cells instead (without `parameters` and `fresh`), or ask a person for `quire run`."
        )
    if not identities.may_use_policies(identity):
        identities.check_scope(identity, "run")
    workspace = here.workspace
    if not here.may_start or here.folder is None or not workspace.store_address:
        raise Refused(
            "No run can be started from here. Run its cells instead (without `parameters` and `fresh`), or ask whoever "
            "has the files for `quire run`."
        )
    return workspace.beside_store(), here.folder


async def _told(here: Here, workspace: LocalWorkspace, folder: Path, wanted: RunArguments) -> Apart:
    found = await notebook_named(here, wanted.notebook)
    told = Apart(
        where=workspace.store_address,
        run=LogId(new_id()),
        identity=workspace.identity,
        parameters=wanted.parameters or {},
        variables=store_variables(os.environ),
    )
    if found.log is None:
        identities.check_scope(workspace.identity, "run")
        identity = await workspace.run_identity(None, told.run)
        return msgspec.structs.replace(told, identity=identity, path=str(folder / (found.path or "")))
    now = await workspace.read(found.log)
    identity = await workspace.run_identity(found.log, told.run)
    sheet = sheet_of(now, {})
    if identity.grant is not None and identity.grant.is_by_policy:
        _check_declared(sheet, told.parameters, workspace.identity.actor)
    text = registry.write(sheet, "notebook.ipynb")
    return msgspec.structs.replace(told, identity=identity, notebook=found.log, seq=now.seq, text=text, name=now.name)


def _check_declared(sheet: Sheet, parameters: dict[str, Json], actor: ActorId) -> None:
    """Who may only read gives values to what the notebook declares: any other name could be one that its code uses."""
    names = [parameter.name for parameter in declared(sheet)]
    for name in parameters:
        if name not in names:
            known = f"There is: {', '.join(names)}." if names else "It declares none."
            raise BadInput(
                f"The notebook has no parameter {name[:80]!r}, and {actor} may only read it. {known}", parameter=name
            )


async def _cwd(here: Here, folder: Path, name: str) -> Path:
    """Where its cells work: beside its file."""
    from ..runs.host.host_settings import folder_of

    found = await notebook_named(here, name)
    if found.log is None:
        return (folder / (found.path or "")).parent
    return folder_of(await here.workspace.read(found.log), folder)


async def begun(told: Apart, cwd: Path, seconds: float) -> Began | None:
    """Start it, and wait until it has begun; None when that takes longer. What keeps it from beginning is raised."""
    reading, writing = os.pipe()
    said = os.fdopen(reading, "rb")
    try:
        process = _start(told, cwd, writing)
    except BaseException:
        said.close()
        raise
    finally:
        os.close(writing)
    # It lives on; a server that lives longer would keep a zombie of each.
    threading.Thread(target=process.wait, name="end of a run", daemon=True).start()
    line = await _first_line(said, seconds)
    return None if line is None else _read(line)


async def _first_line(said: BinaryIO, seconds: float) -> bytes | None:
    lines = asyncio.StreamReader(limit=MOST_SAID)
    loop = asyncio.get_running_loop()
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), said)
    try:
        async with asyncio.timeout(seconds):
            return await lines.readline()
    except TimeoutError:
        return None
    finally:
        pipe.close()


def _start(told: Apart, cwd: Path, writing: int) -> subprocess.Popen[bytes]:
    with tempfile.TemporaryFile() as assignment:
        assignment.write(msgspec.json.encode(told))
        assignment.seek(0)
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            COMMAND,
            stdin=assignment,
            stdout=writing,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            # It acts for who asked, and where the store is it is told.
            env=kernel_environment(os.environ),
            start_new_session=True,
        )


def _read(line: bytes) -> Began:
    if not line:
        raise Unavailable("The process of the run ended before the run began. Try `quire run` to see why.")
    began = msgspec.json.decode(line, type=Began)
    if began.error is not None:
        kind = getattr(errors, began.error, Unavailable)
        raise _error(kind, began)
    return began


def _error(kind: type[QuireError], began: Began) -> QuireError:
    return Unavailable(began.message) if kind is errors.RunFailed else kind(began.message, **began.details)


def _starting(run: LogId) -> VerbAnswer:
    go_on = call("wait", notebook=run)
    return VerbAnswer(text=f"starting run {run} · {go_on}", facts={"run": run, "state": "queued"})


# ---- Following it


async def run_awaited(
    here: Here, log: LogId, wanted: WaitArguments, tell: Tell | None = None, warnings: tuple[str, ...] = ()
) -> VerbAnswer:
    """Wait for the end of a run, and say what it came to, as far as it is."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(wanted.seconds):
            await _until_over(here, log, tell)
    # What a run came to is what it left, whatever was done in it since.
    now = await as_left(here.workspace, log)
    outcome = outcome_of(log, now)
    first = _headline(log, now)
    lines = [*(f"warning: {one_line(each, 300)}" for each in warnings), *_results(outcome.scraps)]
    failed = [outcome.failed_cell.id] if outcome.failed_cell is not None else []
    if outcome.fault is not None:
        lines.insert(0, f"{plain(outcome.fault.ename)}: {one_line(outcome.fault.evalue, 1000)}")
    text = shown(now, first, failed, lines, wanted.budget)
    facts: dict[str, Json] = msgspec.to_builtins(outcome)
    state = "running" if now.run is not None and now.run.is_open else "done" if outcome.status == "success" else "error"
    return VerbAnswer(text=text, facts=facts | {"notebook": log, "cursor": now.seq, "state": state})


async def _until_over(here: Here, log: LogId, tell: Tell | None) -> None:
    now = await here.workspace.read(log)
    cells = max(sum(cell.runs for cell in now.live_cells), 1)
    done = 0
    async for page in here.workspace.follow(log):
        for entry in page:
            done += isinstance(entry.event, e.ExecutionFinished)
            if isinstance(entry.event, e.RunFinished):
                return
            if tell is not None and isinstance(entry.event, e.ExecutionStarted):
                await tell(f"running {entry.event.cell}: {done + 1} of {cells}", min(done / cells, 1.0))


def _headline(log: LogId, now: Notebook) -> str:
    run = now.run
    assert run is not None  # noqa: S101 - the outcome was read out of it
    outcome = outcome_of(log, now)
    name, cells = plain(now.name), sum(cell.runs for cell in now.live_cells)
    if run.is_open:
        go_on = call("wait", notebook=log, since=now.seq)
        return f"running: run {log} of {name}, {outcome.cells_executed} of {cells} cells · cursor {now.seq} · {go_on}"
    took = f"{outcome.duration_seconds:.3g} s · " if outcome.duration_seconds is not None else ""
    return f"{run.status}: run {log} of {name} · {took}{outcome.cells_executed} of {cells} cells · cursor {now.seq}"


def _results(results: dict[str, Json]) -> Iterator[str]:
    for name, value in results.items():
        told = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        yield f"{one_line(name, 100)} = {one_line(told, MOST_RESULT)}"
