"""A test for each cell of a notebook: collected from its file, told as soon as the cell has run."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, cast

import pytest

from ...core.errors import QuireError
from ...kernels.process import prestart
from ...review.checks.check import rules_for
from ...review.checks.find_notebooks import is_notebook
from ...review.checks.plan import CheckedCell, CheckOptions, NotebookPlan, plan_notebook
from ...review.checks.reports.text_report import failure_lines
from ...review.checks.verdict import CellVerdict
from .session import NotebookSession

OWN_TEST = "PYTEST_CURRENT_TEST"
"""ipykernel takes itself for a part of pytest where it sees this variable."""


class CellFailed(Exception):
    """The cell of a test does not do what it should."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(lines[0] if lines else "")
        self.lines = lines


def register(config: pytest.Config) -> None:
    """Have pytest collect notebooks: as we judge them, and, where that was asked for, as nbval does."""
    if (options := _own_options(config)) is not None:
        config.pluginmanager.register(OwnNotebooks(config, options), "quire-notebooks")
    if (options := _nbval_options(config)) is not None:
        config.pluginmanager.register(NbvalNotebooks(options), "quire-nbval")
    config.pluginmanager.register(Reports(), "quire-reports")


class NbvalNotebooks:
    """Collects what nbval collects."""

    def __init__(self, options: CheckOptions) -> None:
        self._options = options

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect an .ipynb."""
        return NotebookFile.of(parent, file_path, self._options) if file_path.suffix == ".ipynb" else None


class OwnNotebooks:
    """Collects notebooks of all formats."""

    def __init__(self, config: pytest.Config, options: CheckOptions) -> None:
        self._config, self._options = config, options

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect a notebook."""
        if not is_notebook(file_path) or self._is_module(file_path, parent):
            return None
        return NotebookFile.of(parent, file_path, self._options)

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Take a script with cells for a notebook also where pytest would import it."""
        return NotebookFile.of(parent, module_path, self._options) if is_notebook(module_path) else None

    def _is_module(self, path: Path, parent: pytest.Collector) -> bool:
        """Whether pytest takes a file for a module with tests, and asks by the other hook."""
        if path.suffix != ".py":
            return False
        patterns = cast("list[str]", self._config.getini("python_files"))
        return parent.session.isinitpath(path) or any(fnmatch(path.name, pattern) for pattern in patterns)


class Reports:
    """How the tests of cells are told and spread."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Have a test last as long as its cell ran: it is told later than that."""
        report = yield
        if isinstance(item, NotebookCell) and call.when == "call" and item.verdict is not None:
            report.duration = item.verdict.seconds
        return report

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Leave the cells of a notebook on one worker, where xdist would spread them: another would run it again."""
        if cast("Any", config.option).dist not in ("load", "worksteal"):
            return None
        from xdist.scheduler import LoadFileScheduling  # pyright: ignore[reportMissingTypeStubs]

        return LoadFileScheduling(config, log)


# ---- Options


def _own_options(config: pytest.Config) -> CheckOptions | None:
    given: Any = config.option
    if not (given.quire or given.quire_lax or given.quire_update):
        return None
    try:
        rules = rules_for(sanitize_with=given.quire_sanitize_with, tolerance=given.quire_tolerance)
    except QuireError as error:
        raise pytest.UsageError(str(error)) from None
    return CheckOptions(
        lax=given.quire_lax,
        rules=rules,
        kernel=given.quire_kernel,
        cell_timeout=given.quire_cell_timeout or None,
        update=given.quire_update,
    )


def _nbval_options(config: pytest.Config) -> CheckOptions | None:
    given: Any = config.option
    if config.pluginmanager.hasplugin("nbval") or not (
        getattr(given, "nbval", False) or getattr(given, "nbval_lax", False)
    ):
        return None
    file = given.nbval_sanitize_with or given.sanitize_with
    try:
        rules = rules_for(exact=True, sanitize_with=[file] if file else [])
    except QuireError as error:
        raise pytest.UsageError(str(error)) from None
    return CheckOptions(
        lax=given.nbval_lax,
        rules=rules,
        as_nbval=True,
        kernel=given.nbval_kernel_name,
        interpreter=sys.executable if given.nbval_current_env or given.current_env else None,
        cell_timeout=given.nbval_cell_timeout or None,
        start_timeout=given.nbval_kernel_startup_timeout,
    )


# ---- Files and cells


class NotebookFile(pytest.File):
    """A notebook. Its kernel starts with the first of its tests, and ends after the last."""

    options: CheckOptions
    plan: NotebookPlan
    run: NotebookSession | None = None

    @classmethod
    def of(cls, parent: pytest.Collector, path: Path, options: CheckOptions) -> NotebookFile:
        """Make the collector of a file."""
        made = cast("NotebookFile", cast("Any", cls).from_parent(parent, path=path))
        made.options = options
        return made

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each code cell, and one for what the notebook as a whole expects."""
        try:
            self.plan = plan_notebook(self.path, self.options)
        except QuireError as error:
            raise self.CollectError(str(error)) from None
        if self.plan.cells and not self.config.option.collectonly:
            prestart.begin_once()
        for checked in self.plan.cells:
            for warning in checked.marks.warnings:
                self.warn(pytest.PytestCollectionWarning(f"{self.path}:{checked.line}: {checked.name}: {warning}"))
            yield NotebookCell.of(self, checked)
        if self.plan.expects or self.plan.promises:
            yield cast("pytest.Item", cast("Any", ExpectedResults).from_parent(self, name="expected results"))

    def started(self) -> NotebookSession:
        """Return the run of the cells up to the last that is tested; start it if this is the first."""
        if self.run is None:
            mine = [item for item in self.session.items if item.parent is self]
            numbers = [item.checked.number for item in mine if isinstance(item, NotebookCell)]
            is_whole = len(numbers) == len(self.plan.cells)
            last = None if is_whole or len(numbers) < len(mine) else max(numbers)
            environ = {name: value for name, value in os.environ.items() if name != OWN_TEST}
            self.run = NotebookSession(self.plan, self.options, environ, last, may_update=is_whole)
        return self.run

    def teardown(self) -> None:
        """End the kernel, and store what the cells showed if that was asked for."""
        if self.run is not None:
            self.run.close()
            self.run = None


class _NotebookTest(pytest.Item):
    """A test of a notebook."""

    @property
    def notebook(self) -> NotebookFile:
        """The notebook that it is of."""
        return cast("NotebookFile", self.parent)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Tell what is wrong with the cell, and nothing of how pytest came there."""
        error = excinfo.value
        if isinstance(error, CellFailed):
            return "\n".join(error.lines)
        if isinstance(error, QuireError):
            return str(error)
        return super().repr_failure(excinfo, style)


class NotebookCell(_NotebookTest):
    """The test of a cell."""

    checked: CheckedCell
    verdict: CellVerdict | None = None

    @classmethod
    def of(cls, parent: NotebookFile, checked: CheckedCell) -> NotebookCell:
        """Make the test of a cell."""
        made = cast("NotebookCell", cast("Any", cls).from_parent(parent, name=checked.name))
        made.checked = checked
        return made

    def runtest(self) -> None:
        """Wait until the cell has run, and judge it."""
        if self.checked.marks.is_skipped:
            pytest.skip("the cell says so")
        run = self.notebook.started()
        self.verdict = verdict = run.verdict(self.checked)
        if verdict.status == "not_run" and run.has_timed_out:
            # As nbval has it: the one that took too long has failed, and those after it were bound to.
            pytest.xfail(verdict.fault)
        if verdict.status in ("failed", "not_run"):
            raise CellFailed(failure_lines(verdict, self.nodeid.partition("::")[0]))

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Where the cell begins."""
        return self.path, self.checked.line - 1, self.name


class ExpectedResults(_NotebookTest):
    """The test of what a notebook as a whole expects of its results."""

    def runtest(self) -> None:
        """Wait for the end of the run, and look at what it recorded."""
        if faults := self.notebook.started().faults():
            raise CellFailed(faults)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """The notebook."""
        return self.path, 0, self.name
