"""All static checks of a notebook, as a verdict like any other."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ....core.errors import BadInput, QuireError
from ....core.ids import CellId
from ....core.params.parameters import declared
from ....core.results import declared as declared_results
from ....core.sheet.sheet import Sheet
from ....disk import read_text
from ....formats import registry
from ....formats.convert import convert
from ....formats.strip import strip
from ....kernels.requirements import needs_of
from ..locate import NOWHERE, lines_of
from ..plan import CheckOptions, plan_notebook
from ..verdict import CellVerdict, NotebookVerdict
from .finding import Finding, label
from .name_use import undefined_names, unused_parameters
from .ruff import MISSING, find_ruff, ruff_findings
from .secret_values import secrets_in

CHECKS = ("format", "parameters", "names", "secrets", "generated", "ruff", "outputs")
DEFAULT_CHECKS = frozenset(CHECKS) - {"outputs"}
"""Whether outputs are stored or stripped is decided by whoever keeps the notebooks: it is asked for."""


class StaticCheck(NamedTuple):
    """A notebook that is read, and what its checks need."""

    path: Path
    text: str
    sheet: Sheet
    environ: Mapping[str, str]


def checks_of(only: Sequence[str], *, stripped: bool) -> frozenset[str]:
    """Return the checks that were chosen, or the usual ones."""
    if unknown := [name for name in only if name not in CHECKS]:
        raise BadInput(f"There is no static check {unknown[0]!r}: {', '.join(CHECKS)} are there.")
    return frozenset(only or DEFAULT_CHECKS) | ({"outputs"} if stripped else frozenset[str]())


def check_static(path: str, checks: frozenset[str] = DEFAULT_CHECKS) -> NotebookVerdict:
    """Check a notebook without executing anything."""
    began = time.monotonic()
    warnings: list[str] = []
    try:
        text = read_text(Path(path))
        sheet = registry.read(text, path)
    except QuireError as error:
        status = "failed" if isinstance(error, BadInput) else "error"
        return NotebookVerdict(path=path, status=status, faults=(str(error),))
    given = StaticCheck(Path(path), text, sheet, os.environ)
    findings: list[Finding] = []
    faults: list[str] = []
    for name in CHECKS:
        if name not in checks:
            continue
        try:
            findings += _BY_NAME[name](given)
        except QuireError as error:
            # Several checks read the same declarations: what is wrong with them is told once.
            faults.append(str(error))
    if "names" in checks:
        # Both see these; ours says where the name is defined.
        findings = [each for each in findings if not (each.check == "ruff" and each.message.startswith("F821 "))]
    if "ruff" in checks and find_ruff(os.environ) is None:
        warnings.append(MISSING)
    return _verdict(given, findings, list(dict.fromkeys(faults)), warnings, time.monotonic() - began)


def sheet_findings(sheet: Sheet, folder: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what is found in a notebook that is in no file: declarations, parameters, names and secrets."""
    yield from _declarations(sheet)
    for find in (unused_parameters, undefined_names):
        with contextlib.suppress(BadInput):  # declarations that cannot be read are told once
            yield from find(sheet)
    yield from secrets_in(sheet, folder, environ)


def _verdict(
    given: StaticCheck, findings: Sequence[Finding], faults: list[str], warnings: Sequence[str], seconds: float
) -> NotebookVerdict:
    lines = lines_of(given.sheet, given.text, str(given.path))
    cells: list[CellVerdict] = []
    for each in findings:
        if each.cell is None:
            faults.append(f"{each.check}: {each.message}")
            continue
        where = lines.get(each.cell.id, NOWHERE)
        name = f"{label(given.sheet, each.cell)} ({each.check})"
        cells.append(
            CellVerdict(
                cell=CellId(each.cell.id), name=name, line=where.line(each.line), status="failed", fault=each.message
            )
        )
    return NotebookVerdict(
        path=str(given.path),
        status="failed" if cells or faults else "passed",
        seconds=round(seconds, 3),
        cells=tuple(sorted(cells, key=lambda cell: cell.line)),
        faults=tuple(dict.fromkeys(faults)),
        warnings=tuple(warnings),
    )


# ---- The checks


def _format(given: StaticCheck) -> Iterator[Finding]:
    """What it declares can be read; so can what it says about its check."""
    yield from _declarations(given.sheet)
    try:
        plan_notebook(given.path, CheckOptions())
    except BadInput as error:
        yield Finding(check="format", message=str(error).removeprefix(f"{given.path}: "))


def _declarations(sheet: Sheet) -> Iterator[Finding]:
    for read in (declared, declared_results, needs_of):
        try:
            read(sheet)
        except BadInput as error:
            yield Finding(check="format", message=str(error))


def _outputs(given: StaticCheck) -> Iterator[Finding]:
    if registry.format_of(str(given.path)) != "ipynb" or strip(given.sheet, path=str(given.path)) is given.sheet:
        return
    shown = [cell for cell in given.sheet.cells if cell.outputs or cell.count is not None]
    for cell in shown:
        yield Finding(check="outputs", message="Its outputs are not stripped. Run `quire strip`.", cell=cell)
    if not shown:
        yield Finding(check="outputs", message="Its metadata are not stripped. Run `quire strip`.")


def _generated(given: StaticCheck) -> Iterator[Finding]:
    """An .ipynb beside a script is what the script says."""
    path = given.path
    if registry.format_of(str(path)) != "ipynb":
        return
    for ending in (".py", ".md"):
        script = path.with_suffix(ending)
        if not script.is_file() or not (ending == ".py" or _is_paired(given.sheet)):
            continue
        text = read_text(script)
        if ending == ".py" and "# %%" not in text:
            continue
        written = registry.read(convert(text, str(script), str(path), given.text), str(path))
        if [(cell.kind, cell.source) for cell in written.cells] != [(c.kind, c.source) for c in given.sheet.cells]:
            told = f"It is not what {script.name} says. Write it again: quire convert {script} {path}"
            yield Finding(check="generated", message=told)


def _is_paired(sheet: Sheet) -> bool:
    """Whether a notebook says that it is written in several formats, as Jupytext has it."""
    found = sheet.metadata.get("jupytext")
    return isinstance(found, dict) and "formats" in found


def _ruff(given: StaticCheck) -> Iterator[Finding]:
    command = find_ruff(given.environ)
    return ruff_findings(given.sheet, given.path, command) if command is not None else iter(())


_BY_NAME: Mapping[str, Callable[[StaticCheck], Iterator[Finding]]] = {
    "format": _format,
    "parameters": lambda given: unused_parameters(given.sheet),
    "names": lambda given: undefined_names(given.sheet),
    "secrets": lambda given: secrets_in(given.sheet, given.path.absolute().parent, given.environ),
    "generated": _generated,
    "ruff": _ruff,
    "outputs": _outputs,
}
