"""What papermill writes into a notebook: parameters before it runs, and afterwards, from the log of a run, how that went.

The keys, the words and the two cells that mark an error are papermill's 2.7, so that
whatever reads them goes on to. Where papermill calls cells completed that never ran, they
are `pending` here. The cells that mark an error are in the file alone, never in the log.

Parameters stand in a cell of their own under the one tagged `parameters`. `parameterized` does what a run needs: it also
fills `{name}` where the frontmatter declares the name. Those are injected as well, so that code may use a parameter by its
name or as a variable. One that stands in braces and that the language cannot hold as a variable is only filled in: a dict in
a logbook of shell commands. What was given is in the metadata twice: under `papermill.parameters` as the plain JSON that
others read, and under `quire.given` as tagged values, exactly.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from ..core.errors import BadInput
from ..core.ids import CellId, LogId
from ..core.notebook.logbook_record import INJECTED
from ..core.notebook.notebook import Cell, Execution, Notebook, Run
from ..core.params.parameters import BoundParameters, tagged_cell
from ..core.sheet.sheet import OURS, Sheet, SheetCell, derived_ids
from ..core.values import Json, tag
from .literals.translate import fits, translate

KEY = "papermill"
VERSION = "2.7.0"
"""The version of papermill whose keys these are."""
ERROR_TAG = "papermill-error-cell-tag"
EXPECTED_TAG = "raises-exception"
"""The tag of a cell whose error is no failure."""
_STYLE = 'style="color:red; font-family:Helvetica Neue, Helvetica, Arial, sans-serif; font-size:2em;"'
_BANNER = "<span {}>An Exception was encountered at '<a href=\"#papermill-error-cell\">In [{}]</a>'.</span>"
_ANCHOR = (
    '<span id="papermill-error-cell" {}>Execution using papermill encountered an exception here and stopped:</span>'
)


class _Times(NamedTuple):
    """When something began and ended, as the workspace stamps it."""

    start: str | None = None
    end: str | None = None


def executed(
    sheet: Sheet, notebook: Notebook, *, input_path: str | None, output_path: str | None, log: LogId | None = None
) -> Sheet:
    """Return the sheet of a run, in its course or after it, with papermill's metadata and error cells.

    `notebook` is the fold of the run's log and `sheet` is what `sheet_of` makes of it. With
    `log`, the file says which run left it.
    """
    run = notebook.run
    if run is None:
        raise BadInput(f"{notebook.name!r} is a notebook, not a run: it has no record to write.")
    clean = without_markers(sheet)
    cells, failed = _cells(clean, notebook, run)
    metadata = _of_notebook(sheet.metadata, run, failed=failed, input_path=input_path, output_path=output_path)
    return replace(
        sheet, cells=_marked(cells, run), metadata=metadata | _of_kernel(sheet, run) | _ours(sheet, run, log)
    )


def prepared_only(sheet: Sheet, *, input_path: str | None, output_path: str | None) -> Sheet:
    """Return a sheet that has its parameters and was not run, with the metadata that papermill gives such a one."""
    told: dict[str, Json] = {"version": VERSION, "input_path": input_path, "output_path": output_path}
    return replace(without_markers(sheet), metadata=sheet.metadata | {KEY: _before(sheet.metadata) | told})


def without_markers(sheet: Sheet) -> Sheet:
    """Return the sheet without the cells that mark an error: what a run of it begins from."""
    if not any(ERROR_TAG in cell.tags for cell in sheet.cells):
        return sheet
    return replace(sheet, cells=tuple(cell for cell in sheet.cells if ERROR_TAG not in cell.tags))


# ---- The notebook


def _of_notebook(
    metadata: dict[str, Json], run: Run, *, failed: bool, input_path: str | None, output_path: str | None
) -> dict[str, Json]:
    over = not run.is_open
    told: dict[str, Json] = {
        "version": VERSION,
        "input_path": input_path,
        "output_path": output_path,
        # None, not False, while nothing went wrong: as papermill has it.
        "exception": True if failed or (over and run.status != "success") else None,
        **_timed(_Times(run.started_at or run.at, run.finished_at)),
    }
    return metadata | {KEY: _before(metadata) | told}


def _of_kernel(sheet: Sheet, run: Run) -> dict[str, Json]:
    """What the kernel said about itself; and its name, where the notebook had none, so that others open it with one."""
    info: Any = run.environment.get("language_info")
    if not isinstance(info, dict) or not isinstance(cast("dict[str, Json]", info).get("name"), str):
        return {}
    told: dict[str, Json] = {"language_info": info}
    name: Any = run.environment.get("kernel")
    if "kernelspec" not in sheet.metadata and isinstance(name, str):
        shown = "Python 3" if name == "python3" else name
        told["kernelspec"] = {"name": name, "display_name": shown, "language": info["name"]}
    return told


def _ours(sheet: Sheet, run: Run, log: LogId | None) -> dict[str, Json]:
    """Which run this is, and in which interpreter it was."""
    told: dict[str, Json] = {"run": log, "interpreter": run.environment.get("interpreter")}
    return {OURS: sheet.ours | {name: value for name, value in told.items() if value is not None}} if log else {}


def _before(metadata: dict[str, Json]) -> dict[str, Json]:
    """What there was already, and what papermill always has."""
    found: Any = metadata.get(KEY)
    before = cast("dict[str, Json]", found) if isinstance(found, dict) else {}
    return {"default_parameters": {}, "parameters": {}, "environment_variables": {}, **before}


def _timed(times: _Times) -> dict[str, Json]:
    start, end = _moment(times.start), _moment(times.end)
    return {
        "start_time": start.isoformat() if start is not None else None,
        "end_time": end.isoformat() if end is not None else None,
        "duration": (end - start).total_seconds() if start is not None and end is not None else None,
    }


def _moment(text: str | None) -> dt.datetime | None:
    return dt.datetime.fromisoformat(text) if text is not None else None


# ---- Its cells


def _cells(sheet: Sheet, notebook: Notebook, run: Run) -> tuple[list[SheetCell], bool]:
    """The cells with their states, and whether one of them failed."""
    known = [notebook.cells.get(cell.id) for cell in sheet.cells]
    failed = any(_state(cell, run) == "failed" for cell in known)
    passed = len(known) if run.status == "success" and not failed else _last_begun(known)
    made: list[SheetCell] = []
    clock = run.started_at or run.at
    for index, (cell, of_log) in enumerate(zip(sheet.cells, known, strict=True)):
        execution = _began(of_log)
        if execution is not None:
            told = _told(_state(of_log, run), _Times(execution.started_at, execution.finished_at))
            clock = execution.finished_at or clock
        elif cell.kind not in ("code", "sql") and index < passed:
            # Prose takes no time. It is done when the run has come past it.
            told = _told("completed", _Times(clock, clock))
        else:
            told = _told("pending", _Times())
        made.append(replace(cell, metadata=cell.metadata | {KEY: told}))
    return made, failed


def _began(cell: Cell | None) -> Execution | None:
    """The execution of this run: not what a file says of an earlier one."""
    execution = cell.execution if cell is not None else None
    return execution if execution is not None and not execution.imported else None


def _last_begun(cells: list[Cell | None]) -> int:
    return max((index for index, cell in enumerate(cells) if _began(cell) is not None), default=0)


def _state(cell: Cell | None, run: Run) -> str:
    execution = _began(cell)
    if cell is None or execution is None:
        return "pending"
    if execution.state == "error" and EXPECTED_TAG in cell.tags and run.failed_cell != cell.id:
        return "completed"
    return {"ok": "completed", "running": "running"}.get(execution.state, "failed")


def _told(state: str, times: _Times) -> dict[str, Json]:
    exception = None if state == "pending" else state == "failed"
    return {"exception": exception, **_timed(times), "status": state}


# ---- The cells that mark an error


def _marked(cells: list[SheetCell], run: Run) -> tuple[SheetCell, ...]:
    failed = run.failed_cell if not run.is_open and run.status != "success" else None
    place = next((index for index, cell in enumerate(cells) if cell.id == failed), None)
    if place is None:
        return tuple(cells)
    texts = (_BANNER.format(_STYLE, cells[place].count), _ANCHOR.format(_STYLE))
    ids = derived_ids([("markdown", text) for text in ("banner", "anchor")], [cell.id for cell in cells])
    banner, anchor = (_marker(id, text) for id, text in zip(ids, texts, strict=True))
    return (banner, *cells[:place], anchor, *cells[place:])


def _marker(id: CellId, text: str) -> SheetCell:
    return SheetCell(id=id, kind="markdown", source=text, tags=(ERROR_TAG,))


TAG = INJECTED
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
