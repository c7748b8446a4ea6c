"""What cells showed before a change and after it, where that differs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from ...core.diff.diff import OutputsChanged, diff
from ...core.sheet.sheet import Sheet, SheetCell
from ...core.values import Json
from ...core.visible import first_line
from ...formats.diff_view.change_rows import rows
from ...formats.output_text import output_lines
from ...formats.papermill import TAG as INJECTED
from .validation_run import Validation

_MOST_LINES = 6
_RESULT = re.compile(r"application/(?:vnd\.quire\.result|scrapbook\.scrap|papermill\.record)")


class ChangedOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A cell that shows something else now."""

    cell: str
    """Its name, or its first line."""
    before: tuple[str, ...]
    after: tuple[str, ...]


def changed_outputs(validation: Validation) -> list[ChangedOutput]:
    """Return the cells of both runs whose outputs differ, in the order of the notebook."""
    if validation.base is None or validation.head is None:
        return []
    return list(_changed(_without_injected(validation.base.sheet), _without_injected(validation.head.sheet)))


def _changed(old: Sheet, new: Sheet) -> Iterator[ChangedOutput]:
    for row in rows(diff(old, new).only("outputs"), old, new):
        if row.old is None or row.new is None:
            continue
        if any(isinstance(operation, OutputsChanged) for operation in row.operations):
            before, after = (tuple(_shown(cell)) for cell in (row.old, row.new))
            if before != after:
                name = row.new.name or first_line(row.new.source) or row.new.id
                yield ChangedOutput(cell=name, before=before, after=after)


def _shown(cell: SheetCell) -> list[str]:
    lines = output_lines([output for output in cell.outputs if not _is_result(output)])
    more = [f"… {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return [*lines[:_MOST_LINES], *more]


def _is_result(output: Json) -> bool:
    """Whether an output carries a recorded result and nothing to look at: the table of results has it."""
    data: Any = cast("dict[str, Any]", output).get("data") if isinstance(output, dict) else None
    return bool(data) and all(_RESULT.match(media) for media in cast("dict[str, Any]", data))


def _without_injected(sheet: Sheet) -> Sheet:
    return msgspec.structs.replace(sheet, cells=tuple(cell for cell in sheet.cells if INJECTED not in cell.tags))
