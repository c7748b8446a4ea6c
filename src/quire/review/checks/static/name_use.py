"""Names that a cell uses before any cell above it defines them, and parameters that no cell uses.

Only what is certain is told: below a cell that may define anything (a star import, a cell magic, another language)
nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ....core.params.parameters import declared
from ....core.python.cell_names import Names, analyse
from ....core.sheet.sheet import Sheet, SheetCell, cell_language
from ....formats.logbook.fill_values import sites
from ..markers import marks_of
from .finding import Finding, label


def undefined_names(sheet: Sheet) -> Iterator[Finding]:
    """Yield the names that are not there when their cell runs from the top."""
    cells = [cell for cell in sheet.cells if cell.kind in ("code", "sql") and not marks_of(cell).is_skipped]
    found = [_names(cell, sheet) for cell in cells]
    known = {parameter.name for parameter in declared(sheet)}
    for number, (cell, names) in enumerate(zip(cells, found, strict=True)):
        if names is None:
            if cell.kind == "sql" and cell.name:
                known.add(cell.name)
                continue
            return
        for name in names.uses:
            if name in known:
                continue
            below = (
                other
                for other, later in zip(cells[number + 1 :], found[number + 1 :], strict=True)
                if later is not None and name in later.defines
            )
            if (where := next(below, None)) is not None:
                told = f"{name} is used here and defined below, in {label(sheet, where)}."
            elif name in names.defines:
                told = f"{name} is used before the same cell defines it."
            else:
                told = f"{name} is used, and no cell defines it."
            yield Finding(check="names", message=told, cell=cell, line=_line_of(name, cell))
        known.update(names.defines)


def unused_parameters(sheet: Sheet) -> Iterator[Finding]:
    """Yield the parameters that are declared and that nothing uses."""
    takes = declared(sheet)
    used = _used(sheet, [parameter.name for parameter in takes])
    for parameter in takes:
        if used is not None and parameter.name not in used:
            cell = next((each for each in sheet.cells if each.id == parameter.cell), None)
            told = f"Parameter {parameter.name!r} is declared, and no cell uses it."
            yield Finding(check="parameters", message=told, cell=cell, line=parameter.line or 1)


def _used(sheet: Sheet, names: Iterable[str]) -> set[str] | None:
    """Return which of the names are used; None where some cell may use any."""
    wanted = dict.fromkeys(names)
    used: set[str] = set()
    for cell in sheet.cells:
        used.update(site.name for site in sites(cell.source, wanted)) if wanted else None
        if cell.kind not in ("code", "sql"):
            continue
        found = _names(cell, sheet)
        if found is None:
            used.update(name for name in wanted if re.search(rf"\b{re.escape(name)}\b", cell.source))
        else:
            used.update(found.uses)
            # Of names that the same cell defines and uses, only the text tells.
            used.update(name for name in found.defines if len(re.findall(rf"\b{re.escape(name)}\b", cell.source)) > 1)
    return used


def _line_of(name: str, cell: SheetCell) -> int:
    pattern = re.compile(rf"\b{re.escape(name)}\b")
    lines = enumerate(cell.source.split("\n"), 1)
    return next((number for number, line in lines if pattern.search(line.partition("#")[0])), 1)


def _names(cell: SheetCell, sheet: Sheet) -> Names | None:
    """The names of a cell; None where nothing is known of them."""
    if cell.kind != "code":
        return None
    return analyse(cell.source, cell_language(cell.metadata) or sheet.language)
