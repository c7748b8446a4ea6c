"""A notebook that runs in a thread while pytest waits for its cells, one after the other."""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
from collections.abc import Mapping

from ...actors.runtime.run_cell import StopReason
from ...core.ids import CellId
from ...core.results import RecordedResult
from ...review.checks.check import notebook_faults, planned_run, why_not_run, within
from ...review.checks.execute import CellRun, NotebookRun, run_cells
from ...review.checks.plan import CheckedCell, CheckOptions, NotebookPlan
from ...review.checks.update import may_store, update
from ...review.checks.verdict import CellVerdict, judge, stored_now

LOOK_SECONDS = 0.2
"""How late Ctrl-C may be noticed at most: a signal just before a wait without a limit is handled after it."""


class NotebookSession:
    """One run of a notebook. The kernel goes ahead of those who wait for its cells."""

    def __init__(
        self,
        plan: NotebookPlan,
        options: CheckOptions,
        environ: Mapping[str, str],
        last: int | None,
        *,
        may_update: bool,
    ) -> None:
        self._plan, self._options, self._last = plan, options, last
        self._environ = environ
        self._may_update = may_update and options.update
        self._start = dt.datetime.now(dt.UTC)
        self._stopping = StopReason()
        self._cells: dict[CellId, CellRun] = {}
        self._run: NotebookRun | None = None
        self._error: BaseException | None = None
        self._news = threading.Condition()
        self._is_over = False
        self._thread = threading.Thread(target=self._run_all, name="quire.check", daemon=True)
        self._thread.start()

    def verdict(self, checked: CheckedCell) -> CellVerdict:
        """Wait until a cell has run, and judge it."""
        ran = self._wait_for(checked.cell.id)
        if ran is not None and ran.status != "not_run" and not checked.marks.expects:
            made = self._judge(checked, ran, {})
            if not made.differences:
                return made
        # A later cell may update what this one showed, and record what it expects: the end of the run decides.
        end = self._wait_for_end()
        made = self._judge(checked, end.cells.get(checked.cell.id), end.results)
        return stored_now(made) if self._options.update else made

    def faults(self) -> list[str]:
        """Wait for the end, and return what the notebook as a whole expects and does not get."""
        return notebook_faults(self._plan, self._wait_for_end().results)

    @property
    def has_timed_out(self) -> bool:
        """Whether a cell took too long."""
        return any(each.status == "timeout" for each in self._cells.values())

    def close(self) -> None:
        """Stop what still runs; store what was shown where that was asked for and all cells were tested."""
        if not self._is_over:
            self._stopping.ask("cancelled")
        self._thread.join()
        if self._may_update and self._run is not None:
            run = self._run
            verdicts = [self._judge(each, run.cells.get(each.cell.id), run.results) for each in self._plan.cells]
            if may_store(verdicts):
                update(self._plan, run)

    def _judge(self, checked: CheckedCell, ran: CellRun | None, results: dict[str, RecordedResult]) -> CellVerdict:
        plan = within(self._plan, self._start, dt.datetime.now(dt.UTC))
        return judge(plan, checked, ran, results, why_not_run(plan, self._cells))

    # ---- The thread

    def _run_all(self) -> None:
        try:
            self._run = asyncio.run(self._run_cells())
        except BaseException as error:
            self._error = error
        with self._news:
            self._is_over = True
            self._news.notify_all()

    async def _run_cells(self) -> NotebookRun:
        plan = await planned_run(self._plan, self._options, self._last, self._environ)
        return await run_cells(plan, self._stopping, ended=self._ended)

    def _ended(self, ran: CellRun) -> None:
        with self._news:
            self._cells[ran.cell] = ran
            self._news.notify_all()

    # ---- Waiting

    def _wait_for(self, cell: CellId) -> CellRun | None:
        with self._news:
            while cell not in self._cells and not self._is_over:
                self._news.wait(LOOK_SECONDS)
            if self._error is not None and cell not in self._cells:
                raise self._error
            return self._cells.get(cell)

    def _wait_for_end(self) -> NotebookRun:
        with self._news:
            while not self._is_over:
                self._news.wait(LOOK_SECONDS)
        if self._run is None:
            raise self._error or RuntimeError("The run ended without an outcome.")
        return self._run
