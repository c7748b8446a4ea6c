"""The Markdown file of a logbook's run: written whole from its log, after each step (rules 12 and 13).

It is an export, and nothing that is written into it comes back into the log.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ..core import events as e
from ..core.errors import NotFound
from ..core.events import Entry
from ..core.ids import CellId, ExecutionId, LogId
from ..core.notebook.logbook_record import KEY, LogbookMark, LogbookStep, logbook_of, run_or_logbook, steps_of, tally_of
from ..core.notebook.notebook import Notebook
from ..core.sheet.conversion import blobs_of, sheet_of
from ..core.sheet.sheet import SheetCell
from ..disk import check_writable, in_thread, write_text
from ..formats import registry
from ..formats.logbook.run_export import LogbookRun, RunCell, run_sheet
from ..workspace.protocol import Workspace

_PAGE = 2000
_ATTEMPTS = 5
"""So often a file is written once more, when its log grows meanwhile: whoever makes it grow writes it, too."""
_PICTURES = {"image/png": "png", "image/jpeg": "jpg"}


async def write_export(workspace: Workspace, log: LogId, root: Path, now: Notebook | None = None) -> Path | None:
    """Write the file of a logbook's run as its log has it now, and return it; None where the log is none, or has no file."""
    now = now if now is not None else await workspace.read(log)
    mark = logbook_of(now)
    if mark is None or mark.export is None:
        return None
    file = root / mark.export
    for _ in range(_ATTEMPTS):
        text = await export_text(workspace, log, now, file)
        await in_thread(_write, file, text)
        # Another process may write the same file: what is older must not be what is left.
        after = await workspace.read(log)
        if after.seq == now.seq:
            break
        now = after
    return file


def _write(file: Path, text: str) -> None:
    check_writable(file)
    if not file.is_file() or file.read_bytes() != text.encode("utf-8", "surrogatepass"):
        write_text(file, text)


async def export_text(workspace: Workspace, log: LogId, now: Notebook, file: Path | None = None) -> str:
    """Return the file's text. Beside `file` pictures are written, which the text links to."""
    mark, run = logbook_of(now), run_or_logbook(now)
    if mark is None or run is None:
        raise NotFound(f"{now.name!r} is no run of a logbook. `quire logbook list` lists those.")
    steps = {step.cell: step for step in steps_of(now)}
    blobs = {ref.hash: await workspace.read_blob(ref.hash) for ref in blobs_of(now)}
    shown = {cell.id: cell for cell in sheet_of(now, blobs, log).cells}
    told = await _history(workspace, log, now, mark)
    laid = await _laid(workspace, log, mark, steps)
    cells: list[RunCell] = []
    for id in now.order:
        step, cell = steps.get(id), shown.get(id) or (laid.get(id) if id in steps else None)
        if cell is None:
            continue
        pictures = await _pictures(file, step, cell) if file is not None and step is not None else ()
        cells.append(
            RunCell(
                cell=cell,
                step=step,
                template=laid[id].source if step is not None and step.deviated and id in laid else None,
                by=told.by.get(id, ""),
                attempts=tuple(told.attempts.get(id, ())),
                pictures=pictures,
            )
        )
    results = {name: result.value for name, result in now.results.items() if result.blob is None}
    return registry.write(
        run_sheet(
            LogbookRun(
                log=log,
                mark=mark,
                actor=run.by,
                status=run.status,
                tally=tally_of(list(steps.values())),
                cells=tuple(cells),
                results=results,
            )
        ),
        mark.export or "run.md",
    )


async def _laid(
    workspace: Workspace, log: LogId, mark: LogbookMark, steps: Mapping[CellId, LogbookStep]
) -> dict[CellId, SheetCell]:
    """The template's cells as they were laid out, where a step is not as it was there."""
    if not mark.laid or not any(step.deviated or step.left_out for step in steps.values()):
        return {}
    before = await workspace.read(log, mark.laid)
    return {cell.id: cell for cell in sheet_of(before, {}).cells}


# ---- What only the log tells


class _History:
    """Who answered which step, and what code raised before it ended as it did."""

    def __init__(self, now: Notebook) -> None:
        self._last = {cell.execution.id for cell in now.cells.values() if cell.execution is not None}
        self._cells: dict[ExecutionId, CellId] = {}
        self.by: dict[CellId, str] = {}
        self.attempts: dict[CellId, list[str]] = {}

    def take(self, entry: Entry) -> None:
        match entry.event:
            case e.CellMetadataSet(cell=cell, values=values) if KEY in values:
                self.by[cell] = entry.by
            case e.ProposalAccepted(applied=applied):
                answered = [
                    each for each in applied or () if isinstance(each, e.CellMetadataSet) and KEY in each.values
                ]
                self.by |= {each.cell: entry.by for each in answered}
            case e.ExecutionStarted(execution=execution, cell=cell):
                self._cells[execution] = cell
            case e.ExecutionFinished(execution=execution, status=status, fault=fault) if status != "ok":
                cell = self._cells.get(execution)
                if cell is not None and execution not in self._last:
                    self.attempts.setdefault(cell, []).append(_fault(status, fault))
            case _:
                pass


def _fault(status: str, fault: e.Fault | None) -> str:
    return f"{fault.ename}: {fault.evalue}" if fault is not None and fault.ename else status


async def _history(workspace: Workspace, log: LogId, now: Notebook, mark: LogbookMark) -> _History:
    told = _History(now)
    if mark.mode == "headless":
        return told  # each cell ran once, and no prose was answered
    since = mark.laid
    types = ("cell_metadata_set", "proposal_accepted", "execution_started", "execution_finished")
    while since < now.seq:
        page = await workspace.entries(log, since, now.seq, limit=_PAGE, types=types)
        for entry in page:
            told.take(entry)
        since = page[-1].seq if len(page) == _PAGE else now.seq
    return told


# ---- Pictures


async def _pictures(file: Path, step: LogbookStep, cell: SheetCell) -> tuple[str, ...]:
    found: list[str] = []
    for output in cast("list[dict[str, Any]]", cell.outputs):
        data: Any = output.get("data")
        for media, ending in _PICTURES.items():
            packed: Any = cast("dict[str, Any]", data).get(media) if isinstance(data, dict) else None
            if isinstance(packed, str):
                name = f"step-{step.number}{f'-{len(found) + 1}' if found else ''}.{ending}"
                await in_thread(_write_picture, file.with_suffix("") / name, packed)
                found.append(f"{file.stem}/{name}")
                break
    return tuple(found)


def _write_picture(file: Path, packed: str) -> None:
    try:
        data = base64.b64decode("".join(packed.split()), validate=True)
    except ValueError:
        return
    if not file.is_file() or file.read_bytes() != data:
        check_writable(file)
        file.write_bytes(data)
