"""How `quire reproduce` looks."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ....core.visible import visible_line
from ....formats.terminal_safe import one_line, plain
from ....runs.records.run_comparison import ComparedRuns
from ....runs.reproduce.cell_comparison import CellFinding, Difference
from ....runs.reproduce.reproduction import Reproduction
from ..printer import counted
from .runs_diff import packages_part, pairs_part, sources_part
from .runs_verb import inked, titled

_WIDTH = 100
_HINT = (
    "Look for a clock, a seed that is not set, something from the network, or a file that `inputs` does not declare.",
)
_FILE = {"changed": "the file was changed since: --with-current-source runs it as it is", "gone": "the file is gone"}


def reproduction_lines(found: Reproduction, compared: ComparedRuns) -> Iterator[str]:
    """What is the same, what is not, and what changed around it, as lines for people."""
    yield _headline(found)
    yield f"run {found.run} was repeated as {found.reproduction}"
    if not found.status.same:
        yield f"status: {inked(str(found.status.a))} then, {inked(str(found.status.b))} now"
    if found.differing_cells:
        title = f"cells: {_of(len(found.differing_cells), len(found.cells))}"
        yield from titled(title, [line for cell in found.differing_cells for line in _cell_lines(cell)])
    if found.differing_results:
        yield from pairs_part("results", found.results)
    yield from _around(found, compared)


def _headline(found: Reproduction) -> str:
    if found.same:
        counts = f"{counted(len(found.cells), 'cell')} and {counted(len(found.results), 'result')}"
        return f"{click.style('the same', fg='green', bold=True)}: {counts}"
    parts = [
        counted(len(found.differing_cells), "cell") if found.differing_cells else "",
        counted(len(found.differing_results), "result") if found.differing_results else "",
        "" if found.status.same else "the status",
    ]
    return f"{click.style('not the same', fg='red', bold=True)}: {', '.join(filter(None, parts))}"


def _of(some: int, all: int) -> str:
    return f"{some} of {all} differ"


def _cell_lines(cell: CellFinding) -> Iterator[str]:
    number = cell.b_number if cell.b_number is not None else cell.a_number
    only = {(True, False): "  it is new", (False, True): "  it is gone"}
    said = only.get((cell.a_number is None, cell.b_number is None), "")
    yield f"{number}  {visible_line(cell.label)}{said}"
    for difference in cell.differences:
        yield f"     {_what(difference)}"
        yield f"       was  {_side(difference.a)}"
        yield f"       is   {_side(difference.b)}"


def _what(difference: Difference) -> str:
    match difference.part:
        case "state":
            return "how it ended"
        case "error":
            return "what it raised"
        case "display":
            return f"display {difference.number}{f', {plain(difference.media)}' if difference.media else ''}"
        case name:
            return f"{name}, line {difference.number}"


def _side(text: str | None) -> str:
    return "nothing" if text is None else one_line(text, _WIDTH) or '""'


def _around(found: Reproduction, compared: ComparedRuns) -> Iterator[str]:
    around = found.around
    file = _FILE.get(around.source_file or "")
    if not around.changed and file is None:
        packages = "" if around.packages is not None else "; the packages of one are not known"
        yield from titled(f"around it: nothing changed that is recorded{packages}", () if found.same else _HINT)
        return
    if around.source:
        yield from sources_part(compared)
    elif file is not None:
        yield from titled(f"source: {file}", ())
    if any(not pair.same for pair in around.parameters.values()):
        yield from pairs_part("parameters", around.parameters)
    yield from packages_part(around.packages)
    if around.inputs:
        yield from pairs_part("input files", around.inputs)
    if any(not pair.same for pair in around.environment.values()):
        yield from pairs_part("environment", around.environment)
