"""Going on with a run that did not come to its end, in its kernel if that still lives.

It is a run of its own, linked to the earlier one: a run is claimed once, and one that is
over stays as it was (rule 10). The cells that succeeded, and that are as they were, are not
run again: what they showed and recorded is carried over, and what they defined is in the
kernel. From the first other cell on, all run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ..actors.runtime.run_notebook import MAY_RAISE, RUNS, ResumedRun, RunPlan
from ..core import events as e
from ..core.errors import BadInput, Conflict, NotFound
from ..core.events import Display, NamedResult, Output
from ..core.ids import ExecutionId, LogId
from ..core.notebook.notebook import Cell, Notebook, Run
from ..core.sheet.conversion import sheet_of
from ..core.sheet.sheet import SheetCell
from ..core.text import source_hash
from ..core.values import untag
from ..formats import registry
from ..kernels.kernel_protocol import adopt
from ..outputs.secrets import has_mark
from ..workspace.clock import new_id
from ..workspace.protocol import Workspace
from .locations import is_remote, is_standard
from .request import RunRequest


class Earlier:
    """The run to go on with."""

    def __init__(self, log: LogId, notebook: Notebook, run: Run) -> None:
        self.log, self.notebook, self.run = log, notebook, run

    def request(self, request: RunRequest) -> RunRequest:
        """Return what somebody wants now; what they do not say is as it was."""
        values: dict[str, Any] = {name: untag(value) for name, value in self.run.parameters.items()}
        for name in values.keys() - request.values.keys():
            if has_mark(self.run.parameters[name]):
                told = f"Parameter {name!r} of run {self.log} held a secret, which was not kept."
                raise BadInput(f"{told} Give it again: -p {name} VALUE.")
        request = replace(request, values=values | request.values)
        if request.source is not None:
            return request
        path = self._path()
        # What came from standard input, or from no file at all, is only in the log.
        text = None if path is not None and path != "-" else registry.write(sheet_of(self.notebook, {}), "run.ipynb")
        return replace(request, source=path if text is None else None, text=text)

    def _path(self) -> str | None:
        """The place of what it was of: a path is meant as it was where the run was asked for."""
        path, folder = self.run.source.path, self.run.environment.get("cwd")
        if path is None or is_standard(path) or is_remote(path):
            return path
        there = Path(folder if isinstance(folder, str) else "") / path
        if there.exists() and not (Path(path).exists() and there.samefile(path)):
            return str(there)
        if not Path(path).exists():
            raise NotFound(f"Run {self.log} was of {path}, which is not there. Name it: quire run SOURCE --resume RUN.")
        return path

    def applied(self, plan: RunPlan) -> RunPlan:
        """Return the run as it will be: what it takes over, and what is left for it."""
        kernel = self.run.environment.get("kernel_id")
        carried = tuple(self._carried(plan))
        if len(carried) == sum(cell.kind in RUNS for cell in plan.sheet.cells):
            raise BadInput(f"Every cell of run {self.log} has succeeded: nothing is left to run. Name a cell: --from.")
        resumes = ResumedRun(
            log=self.log,
            seq=self.notebook.seq,
            kernel=kernel if isinstance(kernel, str) else None,
            is_busy=any(cell.execution and cell.execution.state == "lost" for cell in self.notebook.live_cells),
            carried=carried,
        )
        return replace(plan, resumes=resumes, warnings=(*plan.warnings, *self._doubts(plan)))

    def _doubts(self, plan: RunPlan) -> Iterator[str]:
        """An OUTPUT that is named without SOURCE is taken for SOURCE, and may well be there from the last time."""
        was, is_now = self.run.source.path, plan.input_path
        if was and is_now and Path(was).name != Path(is_now).name:
            yield f"Run {self.log} was of {was}, and this is of {is_now}. With OUTPUT, name SOURCE as well."

    def _carried(self, plan: RunPlan) -> Iterator[e.OutputsImported]:
        only = plan.only
        for cell in plan.sheet.cells:
            before = self.notebook.cells.get(cell.id)
            if cell.kind not in RUNS:
                continue
            if not _has_succeeded(cell, before):
                if only is None:
                    return
                continue
            # Whoever names a cell to begin with wants it, and those below it, to run.
            if before is not None and (only is None or cell.id not in only):
                yield self._imported(cell, before)

    def _imported(self, cell: SheetCell, before: Cell) -> e.OutputsImported:
        execution = before.execution
        found = self.notebook.results.values()
        return e.OutputsImported(
            execution=ExecutionId(new_id()),
            cell=cell.id,
            source_hash=source_hash(cell.source),
            outputs=tuple(map(_settled, execution.outputs)) if execution is not None else (),
            count=execution.count if execution is not None else None,
            results=tuple(
                NamedResult(name=each.name, kind=each.kind, value=each.value, blob=each.blob)
                for each in found
                if each.cell == cell.id
            ),
        )


def _has_succeeded(cell: SheetCell, before: Cell | None) -> bool:
    if before is None or before.execution is None or (before.source, before.kind) != (cell.source, cell.kind):
        return False
    return before.execution.state == "ok" or (before.execution.state == "error" and MAY_RAISE in before.tags)


def _settled(output: Output) -> Output:
    """What nobody updates any more."""
    return replace(output, display_id=None) if isinstance(output, Display) else output


async def end_kept(log: LogId, notebook: Notebook) -> bool:
    """End the kernel that a run left alive; False when there is none."""
    run = notebook.run
    kernel = run.environment.get("kernel_id") if run is not None and not run.is_open else None
    if not isinstance(kernel, str):
        return False
    try:
        living = await adopt(kernel, log)
    except NotFound:
        return False
    except Conflict:
        if not notebook.runtimes:
            raise
        told = f"Run {log} is over, and {', '.join(notebook.runtimes)} works in its kernel"
        raise Conflict(f"{told}: that ends when nothing has happened in it for a while.") from None
    await living.close()
    return True


async def earlier(workspace: Workspace, name: str) -> Earlier:
    """Find the run to go on with. One that somebody still works on is not given away."""
    info = await workspace.find(name)
    notebook = await workspace.read(info.log)
    run = notebook.run
    if run is None:
        raise BadInput(f"{notebook.name!r} is a notebook, not a run: there is nothing to resume. Run it.")
    if run.is_open:
        raise Conflict(f"Run {info.log} is still {run.status}, by {run.runtime}. Wait, or `quire cancel {info.log}`.")
    return Earlier(info.log, notebook, run)
