"""What a person sees while notebooks are checked: on a terminal a line that moves, in a pipe one for each notebook."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator

import click

from ....formats.terminal_safe import one_line, plain
from ....review.checks.check import CheckObserver
from ....review.checks.execute import CellRun
from ....review.checks.plan import NotebookPlan
from ....review.checks.verdict import NotebookVerdict
from ..printer import spent
from ..screen import Screen, coloured, cut, moves


@contextlib.contextmanager
def progress(count: int) -> Generator[CheckObserver]:
    """Show on stderr how far a check of so many notebooks is."""
    if not moves(sys.stderr):
        yield CheckLines(count)
        return
    view = _LiveLine(count)
    try:
        yield view
    finally:
        view.close()


class CheckLines(CheckObserver):
    """A line for each notebook."""

    def __init__(self, count: int) -> None:
        self._count, self._done = count, 0

    def ended(self, verdict: NotebookVerdict) -> None:
        """Say what became of it."""
        self._done += 1
        with contextlib.suppress(OSError):  # nobody reads it any more
            self._print(f"{self._done:>{len(str(self._count))}}/{self._count} {self._words(verdict)}")

    def _print(self, line: str) -> None:
        click.echo(line, err=True)

    def _words(self, verdict: NotebookVerdict) -> str:
        said = {"passed": "ok", "failed": "failed", "error": "error"}[verdict.status]
        many = f", {len(verdict.failed)} of {len(verdict.cells)}" if verdict.failed else ""
        return f"{said:<6} {spent(verdict.seconds):>8}  {plain(verdict.path)}{many}"


class _LiveLine(CheckLines):
    """The same, with a line below for what runs."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._screen = Screen(sys.stderr)
        self._running: dict[str, tuple[NotebookPlan, int]] = {}

    def began(self, plan: NotebookPlan) -> None:
        """A notebook is checked now."""
        self._running[plan.path] = (plan, 0)
        self._draw()

    def cell_ended(self, plan: NotebookPlan, ran: CellRun) -> None:
        """A cell has run."""
        self._running[plan.path] = (plan, self._running.get(plan.path, (plan, 0))[1] + 1)
        self._draw()

    def ended(self, verdict: NotebookVerdict) -> None:
        """Say what became of it."""
        self._running.pop(verdict.path, None)
        super().ended(verdict)
        self._draw()

    def close(self) -> None:
        """Take the line away."""
        self._screen.close()

    def _draw(self) -> None:
        runs = (f"{one_line(path)} {done}/{len(plan.cells)}" for path, (plan, done) in sorted(self._running.items()))
        self._screen.draw([cut(f" ▸ {', '.join(runs)}", self._screen.width)] if self._running else [])

    def _print(self, line: str) -> None:
        ink = "32" if " ok " in line[:20] else "31"
        self._screen.print(f"\x1b[{ink}m{line}\x1b[0m" if coloured(sys.stderr) else line)
