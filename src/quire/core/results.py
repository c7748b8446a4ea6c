"""Results: what a notebook promises to record, whether it did, and what a run came to.

They are declared under `results` in the frontmatter or metadata, or in the `# /// script`
block of a cell under `[tool.quire.results]`; docs/reference/results.md has the rules. How a
result travels out of a kernel is in kernel.py; nothing here knows a file or a kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

import msgspec
from msgspec import UNSET, UnsetType

from .errors import BadInput, NotFound
from .ids import CellId, LogId, check_name, nearest
from .notebook.logbook_record import run_or_logbook
from .notebook.notebook import Cell, Notebook, Result, Run
from .params.param_types import ANY, Misfit, Type, article, fit, parse_type
from .sheet.sheet import Sheet
from .values import Json, tag, untag

KEY = "results"
"""The key in the metadata, and of the table in a script block."""
KINDS = ("frame", "array", "figure", "file", "display")
"""What a result can be that is no value: these are types in a declaration, too."""
_SYNONYMS = {"dataframe": "frame", "table": "frame", "ndarray": "array", "image": "figure", "json": "any"}
_FIELDS = ("type", "help", "choices", "min", "max", "required")
# As the standard has it: up to the last line that closes, as long as all lines are comments.
_BLOCK = re.compile(r"(?m)^# /// script\r?\n((?:#(?:| [^\n]*)\r?\n)*)# ///\r?$")


class DeclaredResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A result that a notebook promises."""

    name: str
    type: str | None = None
    """A type as parameters have it, or one of KINDS; None for anything."""
    help: str = ""
    choices: tuple[Json, ...] | None = None
    """The only values that are right, tagged."""
    minimum: Json | None = None
    maximum: Json | None = None
    """Tagged; a value between the two, ends included, is right."""
    required: bool = True


class RecordedResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A result that was recorded, wherever it was read."""

    name: str
    kind: str
    """text, json, frame, array, figure, file, display; or what another tool calls it."""
    value: Json | UnsetType = UNSET
    """Tagged; unset when it is bytes, or a blob that is not at hand."""
    data: bytes | None = None
    media: str | None = None
    """The media type of the bytes."""
    size: int | None = None
    file: str | None = None
    """The name that a file had."""
    cell: CellId | None = None


def recorded(result: Result) -> RecordedResult:
    """Return a result of a log as one to check. What is in its blob stays there."""
    blob = result.blob
    media = blob.media if blob is not None else _picture_in(result.value)
    return RecordedResult(
        name=result.name,
        kind=kind_of(result.kind, media),
        value=result.value if blob is None else UNSET,
        media=media,
        size=blob.size if blob is not None else None,
        # A log has no field for it, and beside a blob the value is free.
        file=result.value if blob is not None and isinstance(result.value, str) else None,
        cell=result.cell,
    )


def _picture_in(value: Json) -> str | None:
    """The media type of a picture that is small enough to stand in a log."""
    fields = cast("dict[str, Json]", value) if isinstance(value, dict) else {}
    return next((media for media in fields if media.startswith("image/")), None)


def kind_of(said: str, media: str | None) -> str:
    """Return our word for the kind of a result: scrapbook calls a frame pandas, and a picture display."""
    if said == "pandas":
        return "frame"
    return "figure" if said == "display" and media is not None and media.startswith("image/") else said


# ---- What is declared


def declared(sheet: Sheet) -> list[DeclaredResult]:
    """Return what a notebook promises. If both places name one result, the metadata has the last word."""
    ours = _section(_section(script_table(sheet), "tool"), "quire")
    said = _names(ours.get(KEY)) | _names(sheet.ours.get(KEY))
    return [_declared_as(name, each) for name, each in said.items()]


def _section(fields: dict[str, Json], name: str) -> dict[str, Json]:
    found: Any = fields.get(name)
    return cast("dict[str, Json]", found) if isinstance(found, dict) else {}


def _names(said: Json) -> dict[str, Json]:
    if said is None or said == "...":
        return {}
    if isinstance(said, list) and all(isinstance(each, str) for each in cast("list[Any]", said)):
        return dict.fromkeys(cast("list[str]", said))
    if not isinstance(said, dict):
        raise BadInput(f"`{KEY}` has no names: write a `name: type` line for each.")
    return cast("dict[str, Json]", said)


def _declared_as(name: str, said: Json) -> DeclaredResult:
    check_name(name, "A result's name")
    if said is None or said == "...":
        return DeclaredResult(name=name)
    if isinstance(said, str):
        return DeclaredResult(name=name, type=_type(name, said))
    if not isinstance(said, dict):
        raise _wrong(name, f"{said!r} is no type. Write `{name}: float`, or an object with {', '.join(_FIELDS)}.")
    return _long_form(name, cast("dict[str, Json]", said))


def _long_form(name: str, said: dict[str, Json]) -> DeclaredResult:
    if unknown := [key for key in said if key not in _FIELDS]:
        raise _wrong(name, f"{unknown[0]!r} is no part of a declaration: {', '.join(_FIELDS)} are.")
    named, help, required = said.get("type"), said.get("help") or "", said.get("required", True)
    if not isinstance(named, (str, type(None))) or not isinstance(help, str) or not isinstance(required, bool):
        raise _wrong(name, "type and help are text, and required is true or false.")
    type_ = _type(name, named) if named is not None else None
    limits = [_limit(name, key, said[key], type_) if said.get(key) is not None else None for key in ("min", "max")]
    return DeclaredResult(
        name=name,
        type=type_,
        help=help,
        choices=_choices(name, said.get("choices"), type_),
        minimum=limits[0],
        maximum=limits[1],
        required=required,
    )


def _wrong(name: str, fault: str) -> BadInput:
    return BadInput(f"result {name!r}: {fault}", result=name)


def _type(name: str, said: str) -> str | None:
    word = said.strip().lower()
    word = _SYNONYMS.get(word, word)
    if word in KINDS:
        return word
    found = parse_type(said if word == said.strip().lower() else word)
    if found is None:
        known = "int, float, str, bool, date, datetime, list[…], dict, … | None"
        raise _wrong(name, f"the type {said!r} is not known. These are: {known}, {', '.join(KINDS)}.")
    return str(found) if found != ANY else None


def _choices(name: str, said: Json, type_: str | None) -> tuple[Json, ...] | None:
    if said is None:
        return None
    if not isinstance(said, list) or not said:
        raise _wrong(name, f"choices are a list of values, not {said!r}.")
    return tuple(_limit(name, "choices", each, type_) for each in cast("list[Json]", said))


def _limit(name: str, key: str, said: Json, type_: str | None) -> Json:
    wanted = _wanted(type_)
    if wanted is None:
        raise _wrong(name, f"{key} is for values, and a {type_} is none.")
    try:
        value = fit(said, wanted)
        # What has no order has no least.
        _ = key == "choices" or value < value
        return tag(value)
    except (Misfit, TypeError):
        raise _wrong(name, f"{key}: {said!r} is not {article(wanted)}, or has no order.") from None


def _wanted(type_: str | None) -> Type | None:
    """The type that a value has to fit; None for what is no value."""
    if type_ in KINDS:
        return None
    return (parse_type(type_) if type_ else None) or ANY


def script_table(sheet: Sheet) -> dict[str, Any]:
    """Return the TOML of the one `# /// script` block among the cells; {} when there is none."""
    found = [
        (cell.id, match[1])
        for cell in sheet.cells
        if cell.kind == "code" and "# /// script" in cell.source
        for match in _BLOCK.finditer(cell.source)
    ]
    if len(found) > 1:
        cells = " and ".join(dict.fromkeys(id for id, _ in found))
        raise BadInput(f"Cells {cells}: one `# /// script` block is enough.")
    if not found:
        return {}
    import tomllib

    ((cell, content),) = found
    lines = (line[2:] if line.startswith("# ") else line[1:] for line in content.replace("\r\n", "\n").split("\n"))
    try:
        return tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"Cell {cell}: the `# /// script` block is no TOML: {error}.") from None


# ---- Whether it was recorded


def check(declared: Iterable[DeclaredResult], results: Mapping[str, RecordedResult]) -> list[str]:
    """Return what is wrong with the results, a sentence each. One that is not declared is never wrong."""
    faults: list[str] = []
    for each in declared:
        found = results.get(each.name)
        fault = _missing(each, results) if found is None else _fault(each, found)
        if fault is not None:
            faults.append(f"result {each.name!r} {fault}")
    return faults


def _missing(declared: DeclaredResult, results: Mapping[str, RecordedResult]) -> str | None:
    if not declared.required:
        return None
    close = nearest(declared.name, results)
    told = f" {close[0]!r} was: is that the one?" if close else f" Record it: result({declared.name!r}, …)."
    return f"is missing: the notebook declares it{_as(declared)}, and no cell recorded it.{told}"


def _as(declared: DeclaredResult) -> str:
    return f" as {_article(declared.type)}" if declared.type else ""


def _article(name: str) -> str:
    return article(Type(name))


def _fault(declared: DeclaredResult, found: RecordedResult) -> str | None:
    wanted = _wanted(declared.type)
    if wanted is None:
        return (
            None
            if _is_kind(declared.type, found)
            else f"wants {_article(cast('str', declared.type))}, got {_got(found)}."
        )
    if found.kind in KINDS and wanted != ANY:
        return f"wants {article(wanted)}, got {_article(found.kind)}."
    if found.value is UNSET or found.kind in KINDS:
        # In a blob, or no value at all: nothing more can be said of it here.
        return None
    try:
        value = fit(untag(found.value), wanted)
    except (Misfit, BadInput):
        return f"wants {article(wanted)}, got {_got(found)}."
    return None if value is None else _out_of_bounds(declared, value, found)


def _is_kind(kind: str | None, found: RecordedResult) -> bool:
    # Other languages have no arrays of numpy's, and lists do.
    return found.kind == kind or (kind == "array" and isinstance(found.value, list))


def _out_of_bounds(declared: DeclaredResult, value: Any, found: RecordedResult) -> str | None:
    if declared.choices is not None:
        choices = [untag(each) for each in declared.choices]
        if not any(type(value) is type(each) and value == each for each in choices):
            return f"is one of {', '.join(map(_short, choices))}, got {_got(found)}."
    try:
        # Said so that NaN, which is neither above nor below, is out of bounds.
        if declared.minimum is not None and not value >= untag(declared.minimum):
            return f"is at least {_short(untag(declared.minimum))}, got {_got(found)}."
        if declared.maximum is not None and not value <= untag(declared.maximum):
            return f"is at most {_short(untag(declared.maximum))}, got {_got(found)}."
    except TypeError:
        return f"cannot be compared with its limits, got {_got(found)}."
    return None


def _got(found: RecordedResult) -> str:
    if found.kind in KINDS or found.value is UNSET:
        return _article(found.kind)
    try:
        return _short(untag(found.value))
    except BadInput:
        return "a value that cannot be read"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:99]}…"


class FailedCell(msgspec.Struct, frozen=True, kw_only=True):
    """The cell that was running when a run did not succeed."""

    index: int
    """Among the cells of the output notebook, from 0."""
    id: CellId
    source: str
    ename: str
    evalue: str
    traceback: tuple[str, ...]


class RunFault(msgspec.Struct, frozen=True, kw_only=True):
    """What was wrong with a run as a whole."""

    ename: str
    evalue: str


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended. Anything but `success` is an error to whoever called."""

    status: str
    run: LogId | None
    """None: nothing was run, its parameters were only put in."""
    output: str | None
    duration_seconds: float | None
    cells_executed: int
    failed_cell: FailedCell | None
    scraps: dict[str, Json]
    """The results: name to value, tagged where JSON has no such value; of a blob, its hash."""
    fault: RunFault | None = None
    """What was wrong with the run as a whole, and with no cell of it: a kernel that cannot start, a result that is missing."""
    interpreter: str | None = None
    output_fault: str | None = None
    """Why the output is not what the log says; None: it is."""


def outcome_of(log: LogId, notebook: Notebook, output: str | None = None) -> Outcome:
    """Read the outcome of a run out of the notebook that its log folds to."""
    run = run_or_logbook(notebook)
    if run is None:
        raise NotFound(f"{notebook.name!r} is a notebook, not a run: it has no outcome.")
    interpreter = run.environment.get("interpreter")
    fault = run.fault if run.failed_cell is None else None
    return Outcome(
        status=run.status,
        run=log,
        output=output,
        duration_seconds=_seconds(run.started_at or run.at, run.finished_at),
        cells_executed=sum(_ran_here(cell) for cell in notebook.live_cells),
        failed_cell=_failed_cell(notebook, run),
        scraps={name: _value(notebook, name) for name in notebook.results},
        fault=RunFault(ename=fault.ename, evalue=fault.evalue) if fault is not None else None,
        interpreter=interpreter if isinstance(interpreter, str) else None,
    )


def _ran_here(cell: Cell) -> bool:
    return cell.execution is not None and not cell.execution.imported


def _seconds(start: str, end: str | None) -> float | None:
    if end is None:
        return None
    return round((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds(), 3)


def _value(notebook: Notebook, name: str) -> Json:
    result = notebook.results[name]
    return result.value if result.blob is None else {"blob": result.blob.hash, "media": result.blob.media}


def _failed_cell(notebook: Notebook, run: Run) -> FailedCell | None:
    if run.failed_cell is None:
        return None
    for index, cell in enumerate(notebook.live_cells):
        if cell.id == run.failed_cell:
            fault = run.fault
            return FailedCell(
                index=index,
                id=cell.id,
                source=cell.source,
                ename=fault.ename if fault is not None else "",
                evalue=fault.evalue if fault is not None else "",
                traceback=fault.traceback if fault is not None else (),
            )
    return None
