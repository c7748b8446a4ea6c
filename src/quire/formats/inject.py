"""Parameters on their way into a notebook that is about to run.

`inject` puts the values into a cell of their own under the one tagged `parameters`, as
papermill does. `parameterized` does what a run needs: it also fills `{name}` where the
frontmatter declares the name. Those are injected as well, so that code may use a
parameter by its name or as a variable. One that stands in braces and that the language
cannot hold as a variable is only filled in: a dict in a logbook of shell commands.

What was given is in the metadata twice: under `papermill.parameters` as the plain JSON
that others read, and under `quire.given` as tagged values, exactly.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from ..core.params.parameters import BoundParameters, tagged_cell
from ..core.sheet.sheet import OURS, Sheet, SheetCell, derived_ids
from ..core.values import Json, tag
from .literals.translate import fits, translate

TAG = "injected-parameters"
"""The tag of the cell that the values are in."""
GIVEN = "given"
"""The key in our metadata for the values that a run was given."""
_SAFE_INTEGER = 2**53


def inject(sheet: Sheet, values: Mapping[str, Any], language: str | None = None, *, report_mode: bool = False) -> Sheet:
    """Return the sheet with the values in a cell of their own; without values there is no such cell."""
    if values:
        source = translate(values, language or sheet.language)
        sheet = replace(sheet, cells=_with_cell(sheet, source), metadata=recorded(sheet.metadata, values))
    return _hidden(sheet) if report_mode else sheet


def parameterized(
    sheet: Sheet, bound: BoundParameters, language: str | None = None, *, report_mode: bool = False
) -> Sheet:
    """Return the sheet as it is to be run: `{name}` filled in, values injected."""
    front = _declared_in_front(sheet)
    # What a cell declares has its default there; what the frontmatter declares has it nowhere else.
    values = {name: value for name, value in bound.values.items() if name in front and name not in bound.given}
    # In the order in which they were given, as papermill has it.
    values |= bound.given
    if not front:
        return inject(sheet, values, language, report_mode=report_mode)
    from .logbook.fill_values import fill

    written = language or sheet.language
    in_braces = _in_braces(sheet.cells, bound.declared)
    variables = {name: each for name, each in values.items() if name not in in_braces or fits(name, each, written)}
    filled = fill(sheet, bound.declared)
    if not any(cell.kind == "code" for cell in sheet.cells):
        variables = {}
    made = inject(filled, variables, written, report_mode=report_mode)
    return replace(made, metadata=recorded(made.metadata, values)) if values else made


def _declared_in_front(sheet: Sheet) -> frozenset[str]:
    found: Any = sheet.ours.get("parameters")
    return frozenset(cast("dict[str, Json]", found)) if isinstance(found, dict) else frozenset()


def _in_braces(cells: Iterable[SheetCell], values: Mapping[str, Any]) -> set[str]:
    if not values:
        return set()
    from .logbook.fill_values import sites

    return {site.name for cell in cells if cell.kind != "raw" for site in sites(cell.source, values)}


# ---- The cell


def _with_cell(sheet: Sheet, source: str) -> tuple[SheetCell, ...]:
    before, old, after = _parted(sheet)
    if old is not None:
        id = old.id
    else:
        # Not from the values: two runs of one notebook have the same cells.
        (id,) = derived_ids([("code", TAG)], [cell.id for cell in sheet.cells])
    return (*before, SheetCell(id=id, source=source, tags=(TAG,)), *after)


def _parted(sheet: Sheet) -> tuple[Sequence[SheetCell], SheetCell | None, Sequence[SheetCell]]:
    """The cells before and after the place, and the cell of an earlier run that stands there."""
    cells = sheet.cells
    earlier = [index for index, cell in enumerate(cells) if TAG in cell.tags]
    if earlier:
        first = earlier[0]
        # A second one would undo what the first says.
        return cells[:first], cells[first], [cell for cell in cells[first + 1 :] if TAG not in cell.tags]
    declares = tagged_cell(sheet)
    place = cells.index(declares) + 1 if declares is not None else 0
    return cells[:place], None, cells[place:]


def _hidden(sheet: Sheet) -> Sheet:
    """Report mode: outputs are shown, sources are not."""
    return replace(sheet, cells=tuple(_hidden_cell(cell) for cell in sheet.cells))


def _hidden_cell(cell: SheetCell) -> SheetCell:
    if cell.kind not in ("code", "sql"):
        return cell
    found: Any = cell.metadata.get("jupyter")
    jupyter = cast("dict[str, Json]", found) if isinstance(found, dict) else {}
    return replace(cell, metadata=cell.metadata | {"jupyter": jupyter | {"source_hidden": True}})


# ---- The record


def recorded(metadata: dict[str, Json], values: Mapping[str, Any]) -> dict[str, Json]:
    """The notebook's metadata with what it was given, for others and exactly."""
    plain = {name: plain_json(value) for name, value in values.items()}
    exact = {name: tag(value) for name, value in values.items()}
    return metadata | {
        "papermill": _section(metadata, "papermill") | {"parameters": plain},
        OURS: _section(metadata, OURS) | {GIVEN: exact},
    }


def _section(metadata: dict[str, Json], name: str) -> dict[str, Json]:
    found: Any = metadata.get(name)
    return cast("dict[str, Json]", found) if isinstance(found, dict) else {}


def plain_json(value: Any) -> Json:
    """A value as JSON that every reader takes: what has no JSON of its own becomes a list or text."""
    match value:
        case None | bool():
            return value
        case int():
            return int(value) if abs(value) <= _SAFE_INTEGER else str(int(value))
        case float():
            return float(value) if math.isfinite(value) else repr(float(value))
        case str():
            return str.__str__(value)
        case list() | tuple():
            return [plain_json(each) for each in cast("list[Any]", value)]
        case set() | frozenset():
            return [plain_json(each) for each in sorted(cast("set[Any]", value), key=repr)]
        case Mapping():
            pairs = cast("Mapping[Any, Any]", value).items()
            return {key if isinstance(key, str) else str(plain_json(key)): plain_json(each) for key, each in pairs}
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case dt.date() | dt.time():
            return value.isoformat()
        case dt.timedelta():
            return value.total_seconds()
        case _:
            return str(value)
