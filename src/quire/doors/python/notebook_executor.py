"""Notebooks for programs: run, look into, read, write, compare and check them, by plain values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ...core.errors import BadInput, NotFound
from ...core.params.parameters import declared, inspected
from ...core.sheet.sheet import Sheet
from ...core.values import Json
from ...disk import read_text, write_text
from ...formats import registry
from ...runs.api import Place, as_node, run, text_of, wait_for
from ...runs.input_files import declared_inputs
from ...runs.notebook_inspection import as_json, declared_in, sheet_at

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ...runs.notebook_diff import NotebookInput

_AS_IPYNB = "notebook.ipynb"


class Validity(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a notebook is in order. True and false as such, too."""

    faults: tuple[str, ...] = ()
    """What is wrong, a sentence each."""

    def __bool__(self) -> bool:
        return not self.faults


class NotebookExecutor:
    """Runs notebooks and reads what they left. `at` is the workspace that keeps the records."""

    def __init__(self, at: Place | None = None) -> None:
        self._at = at

    def execute(
        self,
        input_path: Place | Mapping[str, Any],
        output_path: Place | None = None,
        parameters: Mapping[str, Any] | None = None,
        timeout: float | None = 300,
        *,
        run_timeout: float | None = None,
    ) -> dict[str, Json]:
        """Run a notebook and return the outcome of `quire run --json`, with `status` `success` or `error`.

        What happened to a run that did not simply fail is its `reason`: `timeout`, `dead_kernel`, `cancelled` or
        `lost`, else None. `timeout` is in seconds for each cell, as papermill's `execution_timeout`; `run_timeout` for
        the whole run; None is no limit. A cell that fails is a status, never an exception.
        """
        outcome = run(
            input_path,
            output_path,
            parameters,
            execution_timeout=timeout,
            timeout=run_timeout,
            progress_bar=False,
            check=False,
            at=self._at,
        )
        return {**as_json(outcome), **_plain_status(outcome.status)}

    def collect_outputs(self, path: Place) -> dict[str, Any]:
        """Return the results that a notebook has recorded: name to value. A run's id will do, too."""
        from ...runs.records.result_rows import gather, typed

        found = wait_for(lambda _: gather([os.fspath(path)], at=self._at, with_bytes=True))
        return {row.result.name: typed(row.result) for row in found.rows}

    def inspect_parameters(self, path: Place) -> dict[str, dict[str, Json]]:
        """Return what a notebook takes: name to type, default and help. Nothing in it is run."""
        return inspected(declared_in(sheet_at(path), path))

    def read_notebook(self, path: Place) -> NotebookNode:
        """Return a notebook of any format as nbformat has it."""
        return as_node(registry.write(sheet_at(path), _AS_IPYNB))

    def write_notebook(self, nb: Mapping[str, Any], path: Place) -> None:
        """Write a notebook in the format that the ending says, whole or not at all."""
        target = os.fspath(path)
        sheet = registry.read(text_of(nb), _AS_IPYNB)
        registry.check_language(sheet, target)
        write_text(Path(target), registry.write(sheet, target))

    def diff_notebooks(self, a: NotebookInput, b: NotebookInput, nbdime: bool = False) -> list[dict[str, Json]]:
        """Return the operations that turn `a` into `b`, both paths or NotebookNodes, as `quire.diff` does."""
        from ...runs.notebook_diff import diff

        return diff(a, b, nbdime=nbdime)

    def validate(self, path: Place, lax: bool = False) -> Validity:
        """Check that a file is a notebook that nbformat's schema takes and whose declarations can be read; then run its tests.

        The tests are those of `quire check`: every cell runs, and shows what is stored; with `lax` only cells that say so
        are compared. A notebook that is out of order is not run.
        """
        return Validity(faults=tuple(_format_faults(path) or _test_faults(path, lax=lax)))


def _plain_status(status: str) -> dict[str, Json]:
    """The two words that callers of an executor know, and the finer one beside them."""
    if status in ("success", "error"):
        return {"status": status, "reason": None}
    return {"status": "error", "reason": status}


# ---- Is it in order?


def _test_faults(path: Place, *, lax: bool) -> list[str]:
    from ...review.checks.check import check

    verdict = check(path, lax=lax)
    cells = [f"{os.fspath(path)}:{cell.line}: {cell.name or cell.cell}: {cell.fault}" for cell in verdict.failed]
    return [*verdict.faults, *cells]


def _format_faults(path: Place) -> list[str]:
    try:
        text = read_text(Path(path))
        sheet = registry.read(text, os.fspath(path))
    except NotFound:
        raise
    except BadInput as error:
        return [str(error)]
    return [*_against_schema(text, path), *_against_itself(sheet, path)]


def _against_schema(text: str, path: Place) -> list[str]:
    """What nbformat's schema says to an .ipynb; nothing to other formats, which become a valid one."""
    if registry.format_of(os.fspath(path)) != "ipynb":
        return []
    try:
        import nbformat
    except ImportError:
        raise BadInput("nbformat is not installed here, and the schema is its own. Install quire[formats].") from None
    import json
    import warnings

    node: Any = json.loads(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cast("Any", nbformat).validate(node)
    except (cast("Any", nbformat).ValidationError, Warning) as error:
        said = str(getattr(error, "message", error)).partition("\n")[0]
        return [f"{os.fspath(path)}: {said[:400]}"]
    return []


def _against_itself(sheet: Sheet, path: Place) -> list[str]:
    """What it declares, and cannot be read."""
    from ...core.results import declared as declared_results
    from ...kernels.requirements import needs_of

    faults: list[str] = []
    for read in (declared, declared_results, declared_inputs, needs_of):
        try:
            read(sheet)
        except BadInput as error:
            faults.append(f"{os.fspath(path)}: {error}")
    return faults
