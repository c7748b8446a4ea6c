"""Running a notebook file: read it, bind its parameters, choose a kernel, run it, keep the output current.

The same for the command line and for Python. Everything is decided before the first cell
runs (rule 14); the source is never changed; every run has a log of its own.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import msgspec

from .actors.runtime.environments import find
from .actors.runtime.execution import Ran, Stopping
from .actors.runtime.messages import Message
from .actors.runtime.needs import Missing, missing, needs_of
from .actors.runtime.running import Order, Watching, run
from .actors.runtime.variables import variables
from .core.errors import BadInput, NotFound
from .core.events import RunSource
from .core.exchange import blobs_of, sheet_of
from .core.ids import LogId
from .core.outcome import Outcome, outcome_of
from .core.params import bind, declared
from .core.sheet import Sheet, SheetCell
from .core.values import Json, tag
from .disk import read_text, write_text
from .files import formats
from .files.inject import parameterized
from .files.papermill import executed, without_markers
from .files.templates import fill_path
from .workspace import access
from .workspace.clock import new_id
from .workspace.local import LocalWorkspace
from .workspace.workspace import Workspace

WRITE_SECONDS = 1.0
"""The output is written at most so often while a run goes on."""
WRITE_SHARE = 10
"""And so that writing takes at most one part in so many of the time: cost does not grow with the square of the cells."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to be run, and how."""

    source: Path
    output: str | None = None
    """A path, which may be a template."""
    values: dict[str, Any] = {}
    """For the parameters; a `params.Text` is what somebody typed."""
    kernel: str | None = None
    language: str | None = None
    cwd: Path | None = None
    start_timeout: float = 60
    execution_timeout: float | None = None
    timeout: float | None = None
    report_mode: bool = False


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it will be: nothing is left to decide."""

    order: Order
    output: Path | None
    input_path: str
    warnings: tuple[str, ...] = ()


class Progress(Watching):
    """Whoever wants to see a run go on."""

    def prepared(self, prepared: Prepared) -> None:
        """All is decided."""


def prepare(wish: Wish, environ: Mapping[str, str], now: dt.datetime) -> Prepared:
    """Decide everything that a run needs, or say what is missing."""
    text = read_text(wish.source)
    path = str(wish.source)
    sheet = without_markers(formats.read(text, path))
    log = LogId(new_id())
    try:
        bound = bind(declared(sheet), wish.values)
        filled = parameterized(sheet, bound, wish.language, report_mode=wish.report_mode)
        output = fill_path(wish.output, bound.values, run=log, now=now) if wish.output is not None else None
    except BadInput as error:
        raise BadInput(f"{path}: {error}", **error.details) from None
    if output is not None:
        formats.format_of(output)
    return Prepared(
        order=_order(wish, log, text, filled, {name: tag(value) for name, value in bound.given.items()}, environ),
        output=Path(output) if output is not None else None,
        input_path=path,
        warnings=bound.warnings,
    )


def _order(
    wish: Wish, log: LogId, text: str, sheet: Sheet, parameters: dict[str, Json], environ: Mapping[str, str]
) -> Order:
    beside = wish.source.absolute().parent
    kernelspec: Any = sheet.metadata.get("kernelspec")
    preferred = cast("dict[str, Any]", kernelspec).get("name") if isinstance(kernelspec, dict) else None
    spec = find(wish.language or sheet.language, wish.kernel, cwd=beside, environ=environ, preferred=preferred)
    found = variables(beside, environ)
    needs = needs_of(sheet)
    _check_complete(str(wish.source), missing(needs, spec, found.env), spec.interpreter)
    return Order(
        log=log,
        name=wish.source.stem,
        source=RunSource(path=str(wish.source), digest=sha256(text.encode("utf-8", "surrogatepass")).hexdigest()),
        sheet=sheet,
        spec=spec,
        variables=found.env,
        cwd=wish.cwd or Path.cwd(),
        parameters=parameters,
        metadata=sheet.metadata,
        secrets={name: found.env[name] for name in needs.secrets},
        start_timeout=wish.start_timeout,
        execution_timeout=wish.execution_timeout,
        timeout=wish.timeout,
    )


def _check_complete(path: str, lacks: Missing, interpreter: str | None) -> None:
    """Refuse by name, before the first cell, what a notebook declares and nobody provides."""
    if lacks.variables:
        names = ", ".join(lacks.variables)
        raise BadInput(f"{path} needs {names}, which is not set. Set it, or put it into a .env beside the notebook.")
    if lacks.python:
        raise BadInput(
            f"{path} needs {lacks.python}; {interpreter} is another. Activate one that fits, or name one: -k."
        )
    if lacks.packages:
        names = " ".join(f"'{name}'" for name in lacks.packages)
        raise BadInput(f"{path} needs {names} in {interpreter}. Run `uv pip install --python {interpreter} {names}`.")


async def run_file(
    workspace: LocalWorkspace, prepared: Prepared, stopping: Stopping, progress: Progress | None = None
) -> Outcome:
    """Run what was prepared, and return what it came to. The kernel is this process's, and ends with it."""
    order = prepared.order
    runtime = workspace.acting_as(access.runtime(f"run-{os.getpid()}"))
    output = _Output(workspace, prepared)
    watching = _Both(progress or Progress(), output)
    try:
        await run(workspace, runtime, order, stopping, watching)
    finally:
        await output.write()
    where = str(prepared.output) if prepared.output is not None else None
    return outcome_of(order.log, await workspace.read(order.log), where)


class _Both(Watching):
    """Tells the one who looks, and then the file."""

    def __init__(self, progress: Progress, output: _Output) -> None:
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


class _Output:
    """The file that a run leaves: whole at every moment, and current within a second or so."""

    def __init__(self, workspace: Workspace, prepared: Prepared) -> None:
        self._workspace, self._prepared = workspace, prepared
        self._blobs: dict[str, bytes] = {}
        self._due = 0.0

    async def write_if_due(self) -> None:
        """Write it, unless that was done a moment ago."""
        if time.monotonic() >= self._due:
            await self.write()

    async def write(self) -> None:
        """Write the run as its log has it now."""
        path = self._prepared.output
        if path is None:
            return
        began = time.monotonic()
        try:
            notebook = await self._workspace.read(self._prepared.order.log)
        except NotFound:
            return  # it never came to a log
        for ref in blobs_of(notebook):
            if ref.hash not in self._blobs:
                pieces = [chunk async for chunk in self._workspace.open_blob(ref.hash)]
                self._blobs[ref.hash] = b"".join(pieces)
        sheet = sheet_of(notebook, self._blobs)
        sheet = msgspec.structs.replace(sheet, metadata=self._prepared.order.metadata | sheet.metadata)
        told = executed(sheet, notebook, input_path=self._prepared.input_path, output_path=str(path))
        write_text(path, formats.write(told, str(path)))
        spent = time.monotonic() - began
        self._due = time.monotonic() + max(WRITE_SECONDS, WRITE_SHARE * spent)
