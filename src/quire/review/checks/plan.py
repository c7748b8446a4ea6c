"""What of a notebook is checked: its code cells, what they are compared with, and what may differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from ...core.errors import BadInput
from ...core.ids import CellId
from ...core.results import DeclaredResult, declared, script_table
from ...core.sheet.sheet import Sheet, SheetCell
from ...core.values import Json
from ...disk import read_text
from ...formats import registry
from .compare import CompareRules
from .expect import check_range
from .locate import NOWHERE, CellLines, lines_of
from .markers import CellMarks, Expectation, marks_of, tolerance
from .sanitize import Sanitizer, rules_in
from .snapshot import OutputSnapshot, read_snapshot

KEY = "check"
"""The key of the settings, under `quire` in the metadata, in the frontmatter, and in a script block."""
RUNS = ("code", "sql")
_SETTINGS = ("lax", "tolerance", "image_tolerance", "expect", "sanitize", "timeout")


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How notebooks are checked."""

    lax: bool = False
    """Compare only the cells that say so."""
    rules: CompareRules = CompareRules()
    as_nbval: bool = False
    """Judge as nbval does: its marks and no others, and only the user's own rules."""
    values: dict[str, Any] = {}
    """For the parameters."""
    kernel: str | None = None
    interpreter: str | None = None
    """The Python to run in, in place of the notebook's kernel."""
    cell_timeout: float | None = None
    start_timeout: float = 60
    update: bool = False
    """Store what the cells show now."""


class CheckedCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell, and what its check takes."""

    cell: SheetCell
    number: int
    """Among the code cells, from 0."""
    name: str
    marks: CellMarks
    compares: bool
    stored: list[Json] | None
    """What it showed when that was stored; None: it has not run."""
    is_unrun: bool = False
    """Whether the file holds outputs and says that the cell has not run."""
    where: CellLines = NOWHERE

    @property
    def line(self) -> int:
        """The line of its file on which it begins."""
        return self.where.start


class NotebookPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What of a notebook is checked."""

    path: str
    text: str
    sheet: Sheet
    cells: tuple[CheckedCell, ...]
    rules: CompareRules
    expects: tuple[Expectation, ...] = ()
    """Of the notebook as a whole; cells have their own."""
    promises: tuple[DeclaredResult, ...] = ()
    """The results that it declares."""
    timeout: float | None = None
    snapshot: Path | None = None
    """The file that holds the outputs, where the notebook's own does not."""
    has_snapshot: bool = True

    @property
    def folder(self) -> Path:
        """Where its cells work, as they do in Jupyter."""
        return Path(self.path).absolute().parent


def plan_notebook(path: str | Path, options: CheckOptions) -> NotebookPlan:
    """Read a notebook and what it says about its check."""
    name = str(path)
    text = read_text(Path(path))
    sheet = registry.read(text, name)
    try:
        settings = _settings(sheet)
        rules, lax = _rules(settings, options), bool(settings.get("lax", False)) or options.lax
        expects = _expects(settings.get("expect"))
        promises = () if options.as_nbval else tuple(declared(sheet))
        marks = [marks_of(cell, as_nbval=options.as_nbval) for cell in sheet.cells]
        of_cells = [expected for mark in marks for expected in mark.expects]
        for each in (*expects, *of_cells):
            check_range(each.range, each.name)
    except BadInput as error:
        raise BadInput(f"{name}: {error}", **error.details) from None
    is_ipynb = registry.format_of(name) == "ipynb"
    snapshot = None if is_ipynb else read_snapshot(Path(path), sheet)
    return NotebookPlan(
        path=name,
        text=text,
        sheet=sheet,
        cells=_checked_cells(sheet, marks, snapshot, lines_of(sheet, text, name), options, lax=lax),
        rules=msgspec.structs.replace(rules, results=frozenset(each.name for each in (*expects, *of_cells))),
        expects=expects,
        promises=promises,
        timeout=_seconds(settings.get("timeout"), name) if options.cell_timeout is None else options.cell_timeout,
        snapshot=snapshot.path if snapshot is not None else None,
        has_snapshot=snapshot is None or snapshot.is_there,
    )


def _checked_cells(
    sheet: Sheet,
    marks: Sequence[CellMarks],
    snapshot: OutputSnapshot | None,
    lines: Mapping[CellId, CellLines],
    options: CheckOptions,
    *,
    lax: bool,
) -> tuple[CheckedCell, ...]:
    """Return the cells that run. Without a snapshot, the notebook itself holds their outputs."""
    cells: list[CheckedCell] = []
    names: dict[str, int] = {}
    for index, (cell, mark) in enumerate(zip(sheet.cells, marks, strict=True), 1):
        if cell.kind not in RUNS:
            continue
        has_run = cell.count is not None
        own = cell.outputs if has_run else None
        cells.append(
            CheckedCell(
                cell=cell,
                number=len(cells),
                name=_name(cell, mark, len(cells) if options.as_nbval else index, names, options),
                marks=mark,
                compares=mark.compares if mark.compares is not None else not lax,
                stored=snapshot.outputs.get(cell.id) if snapshot is not None else own,
                is_unrun=snapshot is None and not has_run and bool(cell.outputs),
                where=lines.get(cell.id, NOWHERE),
            )
        )
    return tuple(cells)


def _name(cell: SheetCell, marks: CellMarks, number: int, names: dict[str, int], options: CheckOptions) -> str:
    """What the test of a cell is called: no two are called the same."""
    if options.as_nbval:
        return f"Cell {number}"
    name = marks.name or cell.name or f"cell {number}"
    names[name] = names.get(name, 0) + 1
    return name if names[name] == 1 else f"{name} ({names[name]})"


# ---- Settings of the notebook


def _settings(sheet: Sheet) -> dict[str, Json]:
    """Return what stands under `check`; the metadata and the frontmatter have the last word."""
    of_script: Any = script_table(sheet)
    for name in ("tool", "quire", KEY):
        of_script = cast("dict[str, Any]", of_script).get(name) if isinstance(of_script, dict) else None
    ours: Any = sheet.ours.get(KEY)
    made: dict[str, Json] = {}
    for found in (of_script, ours):
        if found is None or found == "...":
            continue
        if not isinstance(found, dict):
            raise BadInput(f"`{KEY}` holds settings: names and values. Known: {', '.join(_SETTINGS)}.")
        made |= cast("dict[str, Json]", found)
    if unknown := [name for name in made if name not in _SETTINGS]:
        raise BadInput(f"`{KEY}` has no setting {unknown[0]!r}. Known: {', '.join(_SETTINGS)}.")
    return made


def _rules(settings: Mapping[str, Json], options: CheckOptions) -> CompareRules:
    rules = options.rules
    if options.as_nbval:
        return rules
    changed: dict[str, Any] = {}
    for name in ("tolerance", "image_tolerance"):
        if settings.get(name) is not None:
            changed[name] = tolerance(settings[name], name)
    if settings.get("sanitize") is not None:
        own = (*rules.sanitizer.own, *rules_in(settings["sanitize"], KEY))
        changed["sanitizer"] = Sanitizer(groups=rules.sanitizer.groups, own=own)
    return msgspec.structs.replace(rules, **changed)


def _expects(given: Json) -> tuple[Expectation, ...]:
    if given is None:
        return ()
    if not isinstance(given, dict):
        raise BadInput('`expect` names results and their ranges: `accuracy: ">= 0.9"`.')
    return tuple(Expectation(name=name, range=str(said)) for name, said in cast("dict[str, Json]", given).items())


def _seconds(given: Json, what: str) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or given < 0:
        raise BadInput(f"{what}: `timeout` is {given!r}, which is no number of seconds.")
    return float(given) or None
