"""What a repeated run came to, beside the one that it repeats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from ...core.diff.diff import AnyOperation
from ...core.ids import CellId, LogId
from ...core.notebook.notebook import Cell, Notebook
from ...core.results import Outcome
from ...formats.papermill import TAG as INJECTED
from ...workspace.protocol import Workspace
from ..records.recorded_environment import packages_of
from ..records.run_comparison import ComparedRuns, ValuePair, compare
from ..records.run_records import RUNS
from ..records.run_snapshot import as_left
from .cell_comparison import CellFinding, Texts, compare_executions, texts_of

if TYPE_CHECKING:
    from .reproduce_plan import ReproductionPlan


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What was around the two runs. None of it is a difference by itself: it may explain one."""

    source: tuple[AnyOperation, ...]
    """The operations that turn the cells that ran into those that ran now."""
    source_file: str | None
    """What has become of the file since: `same`, `changed` or `gone`; null where it is no file here."""
    parameters: dict[str, ValuePair]
    packages: dict[str, ValuePair] | None
    """Those that differ; null where those of one run are not known."""
    inputs: dict[str, ValuePair]
    environment: dict[str, ValuePair]

    @property
    def changed(self) -> list[str]:
        """The names of what is not as it was, for people."""
        pairs = {"parameters": self.parameters, "packages": self.packages or {}, "input files": self.inputs}
        pairs["environment"] = self.environment
        found = [name for name, each in pairs.items() if any(not pair.same for pair in each.values())]
        return [*(["source"] if self.source else []), *found]


class Reproduction(msgspec.Struct, frozen=True, kw_only=True):
    """A run and its repetition: true when the second came to the same."""

    same: bool
    """Whether status, every cell and every result are the same."""
    run: LogId
    """The recorded run: `a` in every pair."""
    reproduction: LogId
    """The one that was made of it: `b`."""
    status: ValuePair
    """How both ended."""
    cells: tuple[CellFinding, ...]
    """Every cell that runs, from the top down, with what it showed otherwise."""
    results: dict[str, ValuePair]
    """Every result, with both values."""
    around: Surroundings
    """What was around them: `source`, `source_file`, `parameters`, `packages`, `inputs`, `environment`."""
    outcome: Outcome
    """Of the repetition, as `quire run --json` prints it."""

    def __bool__(self) -> bool:
        return self.same

    @property
    def differing_cells(self) -> list[CellFinding]:
        """The cells that showed something else."""
        return [cell for cell in self.cells if not cell.same]

    @property
    def differing_results(self) -> dict[str, ValuePair]:
        """The results that are not what they were."""
        return {name: pair for name, pair in self.results.items() if not pair.same}


async def compare_with_record(
    workspace: Workspace, planned: ReproductionPlan, outcome: Outcome
) -> tuple[Reproduction, ComparedRuns]:
    """Compare the run that was just made with the one that it repeats."""
    old, log = planned.notebook, planned.plan.log
    new = await as_left(workspace, log)
    packages = await packages_of(workspace, old), await packages_of(workspace, new)
    compared = compare((planned.log, old), (log, new), packages)
    facts = compared.comparison
    cells = tuple(_findings(old, new, compared, await texts_of(workspace, old, new)))
    alike = all(cell.same for cell in cells) and all(pair.same for pair in facts.results.values())
    found = Reproduction(
        same=facts.status.same and alike,
        run=planned.log,
        reproduction=log,
        status=facts.status,
        cells=cells,
        results=facts.results,
        around=Surroundings(
            source=facts.sources,
            source_file=planned.source_state,
            parameters=facts.parameters,
            packages=facts.packages,
            inputs=facts.inputs,
            environment=facts.environment,
        ),
        outcome=outcome,
    )
    return found, compared


def _findings(old: Notebook, new: Notebook, compared: ComparedRuns, texts: Texts) -> Iterator[CellFinding]:
    """The cells of the repetition in their order; then those that are gone."""
    before, after = _numbered(old), _numbered(new)
    was = {compared.sheets[1].cells[j].id: compared.sheets[0].cells[i].id for i, j in compared.sources.alignment.pairs}
    put_in = next((id for id, (_, cell) in before.items() if INJECTED in cell.tags), None)
    for id, (number, cell) in after.items():
        earlier = before.pop(put_in if put_in is not None and INJECTED in cell.tags else was.get(id, id), None)
        differences = compare_executions(earlier[1], cell, texts) if earlier is not None else ()
        yield CellFinding(
            a_number=earlier[0] if earlier is not None else None,
            b_number=number,
            cell=id,
            label=_label(cell),
            same=earlier is not None and not differences,
            differences=differences,
        )
    for id, (number, cell) in before.items():
        yield CellFinding(a_number=number, b_number=None, cell=id, label=_label(cell), same=False, differences=())


def _numbered(notebook: Notebook) -> dict[CellId, tuple[int, Cell]]:
    return {cell.id: (number, cell) for number, cell in enumerate(notebook.live_cells, 1) if cell.kind in RUNS}


def _label(cell: Cell) -> str:
    return cell.name or next((line.strip() for line in cell.source.split("\n") if line.strip()), "")[:200]
