"""What the cells show now, stored: in the outputs of an .ipynb, or in the snapshot beside a script or a logbook.

A notebook of which a cell failed is left as it is: an error that nobody allowed is no reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from ...core.values import Json
from ...disk import read_text, write_text
from ...formats import registry
from .compare import is_in_range
from .execute import NotebookRun
from .plan import NotebookPlan
from .snapshot import write_snapshot
from .verdict import CellVerdict


def may_store(verdicts: Sequence[CellVerdict]) -> bool:
    """Whether nothing is wrong but that outputs differ."""
    return not any(each.status in ("failed", "not_run") and not each.differences for each in verdicts)


def update(plan: NotebookPlan, ran: NotebookRun) -> str | None:
    """Store what the cells showed; return the file that was written, if one was."""
    if plan.snapshot is None:
        return _update_ipynb(plan, ran)
    kept = [
        (each.cell, ran.cells[each.cell.id].outputs)
        for each in plan.cells
        if each.compares and not each.marks.is_skipped and each.cell.id in ran.cells
    ]
    results = plan.rules.results
    cleaned = [
        (cell, [_without_numbers(output) for output in outputs if not is_in_range(output, results)])
        for cell, outputs in kept
    ]
    return str(plan.snapshot) if write_snapshot(Path(plan.path), cleaned) else None


def _without_numbers(output: Json) -> Json:
    return {name: value for name, value in cast("dict[str, Any]", output).items() if name != "execution_count"}


def _update_ipynb(plan: NotebookPlan, ran: NotebookRun) -> str | None:
    skipped = {each.cell.id for each in plan.cells if each.marks.is_skipped}
    cells = tuple(
        msgspec.structs.replace(cell, outputs=found.outputs, count=found.count)
        if (found := ran.cells.get(cell.id)) is not None and found.status != "not_run" and cell.id not in skipped
        else cell
        for cell in plan.sheet.cells
    )
    text = registry.write(msgspec.structs.replace(plan.sheet, cells=cells), plan.path, like=plan.text, was=plan.sheet)
    if text == plan.text or read_text(Path(plan.path)) != plan.text:
        return None
    write_text(Path(plan.path), text)
    return plan.path
