"""A recorded run as a run to be: the same cells, parameters and kernel, in the same environment where that is there."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ...actors.runtime.run_notebook import LEFT_OUT, RUNS, RunPlan
from ...core.errors import BadInput, Conflict, NotFound
from ...core.events import RunSource
from ...core.ids import CellId, LogId
from ...core.notebook.notebook import Notebook, Run
from ...core.sheet.conversion import sheet_of
from ...core.sheet.sheet import Sheet
from ...core.values import untag
from ...outputs.secrets import has_mark
from ...workspace.protocol import Workspace
from ..locations import is_remote, is_standard
from ..provision import Prompter
from ..records.run_records import run_of
from ..records.run_snapshot import as_left
from ..request import RunRequest, prepare

NATIVE = "python3"
"""The kernel that is started in an interpreter rather than by its name."""
_PYTHON = re.compile(r"(python|pypy)[\d.]*")


class ReproduceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The run that somebody wants to see again, and what is to be otherwise."""

    run: str
    with_current_source: bool = False
    values: dict[str, Any] = {}
    """Parameters in the place of those that were recorded."""
    kernel: str | None = None
    cwd: Path | None = None
    start_timeout: float = 60
    execution_timeout: float | None = None
    timeout: float | None = None


class ReproductionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run, and what it is to be compared with."""

    log: LogId
    notebook: Notebook
    """As the recorded run left it."""
    plan: RunPlan
    source_state: str | None
    """What has become of the file that was run: `same`, `changed` or `gone`; None where it is no file of this machine."""


async def plan_reproduction(
    workspace: Workspace,
    request: ReproduceRequest,
    environ: Mapping[str, str],
    now: dt.datetime,
    ask: Prompter | None = None,
) -> ReproductionPlan:
    """Find the run and decide everything that it takes to repeat it, or say what is missing."""
    info = await workspace.find(request.run)
    notebook = await as_left(workspace, info.log)
    recorded = _RecordedRun(info.log, notebook, run_of(notebook))
    recorded.check(request.values)
    if request.with_current_source:
        plan = await prepare(await recorded.current(workspace, request), environ, now, ask)
    else:
        plan = recorded.as_it_was(await prepare(recorded.request(request), environ, now, ask), request)
    return ReproductionPlan(
        log=info.log, notebook=notebook, plan=recorded.linked(plan, request), source_state=recorded.source_state()
    )


class _RecordedRun:
    """The run to repeat."""

    def __init__(self, log: LogId, notebook: Notebook, run: Run) -> None:
        self.log, self.notebook, self.run = log, notebook, run
        self._sheet = _without_outputs(sheet_of(notebook, {}))
        # Places of another machine say nothing here.
        self._is_local = not run.by.startswith("imported:")
        self._cwd = self._folder()

    def check(self, given: Mapping[str, Any]) -> None:
        """Refuse what cannot be repeated."""
        if self.run.is_open:
            raise Conflict(
                f"Run {self.log} is still {self.run.status}. Wait for its end: `quire log {self.log} --follow`."
            )
        if self.run.started_at is None:
            raise BadInput(f"Run {self.log} ended before its kernel was there: no cell of it ran. Run its source.")
        for name, value in self.run.parameters.items():
            if has_mark(value) and name not in given:
                told = f"Parameter {name!r} of run {self.log} held a secret, which was not kept."
                raise BadInput(f"{told} Give it again: -p {name} VALUE.", parameter=name)

    def request(self, wished: ReproduceRequest) -> RunRequest:
        """Return what is to be run as it was recorded."""
        place = self._source_path()
        values: dict[str, Any] = {name: untag(value) for name, value in self.run.parameters.items()}
        environment = self.run.environment
        kernel = wished.kernel or _text(environment.get("kernel"))
        return RunRequest(
            source=str(place) if place is not None and place.exists() else None,
            sheet=self._sheet,
            values=values | wished.values,
            kernel=None if kernel == NATIVE else kernel,
            interpreter=self._interpreter() if wished.kernel is None and kernel == NATIVE else None,
            language=_text(environment.get("language")) if kernel is None else None,
            cwd=wished.cwd or self._cwd,
            start_timeout=wished.start_timeout,
            execution_timeout=wished.execution_timeout,
            timeout=wished.timeout,
        )

    async def current(self, workspace: Workspace, wished: ReproduceRequest) -> RunRequest:
        """Return the same with the source as it is now."""
        request = self.request(wished)
        source = self.run.source
        if source.path is None and source.notebook is not None:
            now = await workspace.read(source.notebook)
            return replace(request, sheet=_without_outputs(sheet_of(now, {})))
        if source.path is not None and is_remote(source.path):
            return replace(request, source=source.path, sheet=None)
        if request.source is None:
            raise NotFound(
                f"Run {self.log} was of {source.path or 'a notebook without a file'}, which is not there now. "
                "Go into the folder that it was run in, or leave out --with-current-source."
            )
        return replace(request, sheet=None)

    def as_it_was(self, plan: RunPlan, wished: ReproduceRequest) -> RunPlan:
        """Return the plan with the very cells that ran; other values for parameters make other cells."""
        if wished.values:
            return plan
        for number, cell in enumerate(self._sheet.cells, 1):
            if cell.kind in RUNS and has_mark(cell.source):
                told = f"Cell {number} ({cell.id}) of run {self.log} held a secret, which was not kept."
                raise BadInput(f"{told} Run its source as it is: --with-current-source.", cell=cell.id)
        return replace(plan, sheet=self._sheet, parameters=self.run.parameters)

    def linked(self, plan: RunPlan, wished: ReproduceRequest) -> RunPlan:
        """Return the plan of a run that says which one it repeats, and leaves out the cells that that one left out."""
        source = self.run.source
        link = RunSource(
            path=source.path,
            digest=plan.source.digest if wished.with_current_source else source.digest,
            # With a path, the notebook is a run that this one was resumed from: this one is not.
            notebook=source.notebook if source.path is None else None,
            seq=source.seq if source.path is None else None,
            reproduces=self.log,
        )
        left_out = self._left_out()
        only = frozenset(cell.id for cell in plan.sheet.cells if cell.id not in left_out) if left_out else None
        return replace(plan, name=self.notebook.name, source=link, input_path=source.path, only=only)

    def source_state(self) -> str | None:
        """Look what has become of the file that was run."""
        place, digest = self._source_path(), self.run.source.digest
        if place is None or digest is None:
            return None
        try:
            return "same" if sha256(place.read_bytes()).hexdigest() == digest else "changed"
        except OSError:
            return "gone"

    def _left_out(self) -> frozenset[CellId]:
        cells = self.notebook.live_cells
        return frozenset(cell.id for cell in cells if cell.missed is not None and cell.missed.why == LEFT_OUT)

    def _folder(self) -> Path:
        """The folder that its cells ran in, if it is on this machine; else the one that we are in."""
        said = self.run.environment.get("cwd")
        there = Path(said) if self._is_local and isinstance(said, str) else None
        return there if there is not None and there.is_dir() else Path.cwd()

    def _source_path(self) -> Path | None:
        path = self.run.source.path
        return None if path is None or is_standard(path) or is_remote(path) else self._cwd / path

    def _interpreter(self) -> str | None:
        """The Python that it ran in, if that is on this machine."""
        said = self.run.environment.get("interpreter")
        if not self._is_local or not isinstance(said, str) or not _PYTHON.fullmatch(Path(said).name):
            return None
        return said if Path(said).is_absolute() and os.access(said, os.X_OK) else None


def _without_outputs(sheet: Sheet) -> Sheet:
    return replace(sheet, cells=tuple(replace(cell, outputs=[], count=None) for cell in sheet.cells))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
