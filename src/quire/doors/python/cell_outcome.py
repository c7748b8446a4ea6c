"""What became of cells that were run: states and outputs, for programs, terminals and notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any, cast

import msgspec

from ...core.errors import NotFound, RunFailed
from ...core.events import Fault
from ...core.ids import CellId
from ...core.notebook.notebook import Cell, Execution, Notebook
from ...core.sheet.conversion import blobs_of_cell, outputs_of
from ...core.values import Json
from ...formats.terminal_safe import one_line
from ...verbs.execution_wait import ExecutionResults
from ...workspace.protocol import Workspace

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_TEXT = ("text/plain", "text/markdown", "text/latex")
"""Of what was displayed, the first of these that there is, is its text."""


class CellOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one cell."""

    cell: CellId
    """Its id."""
    name: str | None
    """Its name, if it has one."""
    state: str
    """`ok`, or what else: `error`, `timeout`, `cancelled`, `skipped`, `dead_kernel`, `lost`; or `queued`, `running`."""
    outputs: list[Json]
    """What it showed, as nbformat has it."""
    fault: Fault | None = None
    """What it raised: `ename`, `evalue`, `traceback`."""
    why: str = ""
    """Why it did not run."""

    @property
    def text(self) -> str:
        """What it printed, displayed and raised, as text."""
        return text_of(self.outputs)


class ExecutionOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of cells that were run together."""

    cells: tuple[CellOutcome, ...]
    """What became of each."""
    proposal: str | None = None
    """The id of the proposal that was made instead, where the actor has to ask before it may run."""
    waiting_for: str | None = None
    """Who has to come before anything runs."""

    @property
    def state(self) -> str:
        """`ok` if all cells ended well, else the state of the first that did not; or `proposed`."""
        if self.proposal is not None:
            return "proposed"
        return next((cell.state for cell in self.cells if cell.state != "ok"), "ok")

    @property
    def is_ok(self) -> bool:
        """Whether all cells ended well."""
        return self.state == "ok"

    @property
    def outputs(self) -> list[Json]:
        """What the cells showed, as nbformat has it."""
        return [output for cell in self.cells for output in cell.outputs]

    @property
    def text(self) -> str:
        """What the cells printed, displayed and raised, as text."""
        return text_of(self.outputs)

    @property
    def failed(self) -> CellOutcome | None:
        """The first cell that ended otherwise than well."""
        return next((cell for cell in self.cells if cell.state not in ("ok", "queued", "running")), None)

    def check(self) -> None:
        """Raise RunFailed unless all cells ended well."""
        if self.is_ok:
            return
        error, failed = RunFailed(self._summary()), self.failed
        fault = failed.fault if failed is not None else None
        if fault is not None:
            error.ename, error.evalue, error.traceback = fault.ename, fault.evalue, list(fault.traceback)
        raise error

    def _summary(self) -> str:
        failed, waits = self.failed, self.waiting_for
        if self.proposal is not None:
            return f"proposed as {self.proposal}: somebody has to say yes"
        if failed is not None:
            said = f"{failed.fault.ename}: {failed.fault.evalue}" if failed.fault is not None else failed.why
            return f"{failed.state} in cell {failed.name or failed.cell}{': ' + one_line(said, 400) if said else ''}"
        count = len(self.cells)
        return f"{self.state}: {count} cell{'s' * (count != 1)}{'; ' + waits if waits else ''}"

    def __repr__(self) -> str:
        return f"<ExecutionOutcome {self._summary()}>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """Show the outputs where a notebook displays the outcome, and what went wrong."""
        from ...formats.html.output_blocks import render_output

        shown = [render_output(output, "output") for output in self.outputs]
        return "\n".join([*shown, *([] if self.is_ok else [f"<p>{escape(self._summary())}</p>"])])


def text_of(outputs: list[Json]) -> str:
    """Return outputs as text: streams go on where the one before ended, all else has lines of its own."""
    text = ""
    for output in outputs:
        for piece, is_stream in _texts(cast("dict[str, Any]", output)):
            text += ("\n" if text and not text.endswith("\n") and not is_stream else "") + piece
            text += "" if is_stream or piece.endswith("\n") else "\n"
    return text


def _texts(output: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    match output["output_type"]:
        case "stream":
            yield output["text"], True
        case "error":
            yield _COLOURS.sub("", "\n".join(output["traceback"])) or f"{output['ename']}: {output['evalue']}", False
        case _:
            media = next((media for media in _TEXT if output["data"].get(media)), None)
            if media is not None:
                yield output["data"][media], False


async def outcome_of(workspace: Workspace, found: ExecutionResults) -> ExecutionOutcome:
    """Return what became of executions, with all that they showed."""
    cells = [await _cell_outcome(workspace, found.notebook, each) for each in found.executions]
    return ExecutionOutcome(cells=tuple(cells), waiting_for=found.waiting_for)


async def _cell_outcome(workspace: Workspace, notebook: Notebook, execution: Execution) -> CellOutcome:
    cell = notebook.cells[execution.cell]
    state = "queued" if execution.state == "claimed" else execution.state
    shown = msgspec.structs.replace(cell, execution=execution, kind=execution.cell_kind)
    outputs = await shown_by(workspace, shown)
    return CellOutcome(
        cell=cell.id, name=cell.name, state=state, outputs=outputs, fault=execution.fault, why=execution.why
    )


async def shown_by(workspace: Workspace, cell: Cell) -> list[Json]:
    """Return what a cell shows as nbformat has it; of a text that is too large for a file, beginning and end."""
    blobs: dict[str, bytes] = {}
    for ref in blobs_of_cell(cell):
        try:
            blobs[ref.hash] = await workspace.read_blob(ref.hash)
        except NotFound:
            continue  # it was removed, and the excerpt stands in
    return list(outputs_of(cell, blobs.get))
