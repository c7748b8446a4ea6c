"""What a person sees of `quire run`: on a terminal a view that moves, in a pipe a line for each cell.

`make` gives the view, `tell` ends it and says what came of the run: which cell failed and where, what to do next, the
results. All of it goes to stderr
but the results, or the outcome with `--json`. Whether anybody looks, or has stopped to, is
nothing to the run.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import click

from ....actors.runtime.run_cell import CellRunOutcome
from ....actors.runtime.run_notebook import RunPlan
from ....core.results import FailedCell, Outcome
from ....core.sheet.sheet import SheetCell
from ....core.visible import visible_line
from ....disk import STANDARD
from ....formats.terminal_safe import one_line, plain
from ....formats.value_text import value_text
from ....outputs.display_events import KernelMessage
from ....runs.locations import is_remote
from ....runs.progress import Streams
from ..printer import counted, print_json, spent
from ..screen import Screen, TerminalWriter, coloured, columns, cut, moves, read_line, terminal_prompter

TICK_SECONDS = 0.1
"""How often a view is redrawn, at most."""
MOST_LINES = 30
"""A notebook with more cells than that leaves no line for those that were quick and fine."""
SLOW_SECONDS = 1.0
_LONGEST = 4000
_INK = {"ok": "32", "error": "31", "dim": "2"}
_LEVELS = ("NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_OPEN: list[_View] = []
"""The view that `tell` ends: a process has one terminal."""


def make(options: Mapping[str, Any], plan: RunPlan) -> Streams:
    """Return what shows a run on stderr, as `progress_bar`, `log_output` and `log_level` want it."""
    wanted = ViewOptions.of(options)
    view = (_Live if wanted.shows and moves(sys.stderr) else _LineView)(plan, wanted)
    _OPEN.append(view)
    return view


def tell(outcome: Outcome, plan: RunPlan, as_json: bool) -> None:
    """End the view, and say what came of the run."""
    close()
    say(outcome, plan, as_json=as_json)


def close() -> None:
    """End the view: what is written to stderr from now on stands below it."""
    while _OPEN:
        _OPEN.pop().close()


class ViewOptions(NamedTuple):
    """What somebody wants to see."""

    shows: bool = True
    logs: frozenset[str] = frozenset()
    """The streams of cells that are passed on."""
    warns: bool = True

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> ViewOptions:
        """Read the options. papermill logs stdout as information, and stderr as a warning."""
        level = _LEVELS.index(options.get("log_level", "INFO"))
        worth = {"stdout": _LEVELS.index("INFO"), "stderr": _LEVELS.index("WARNING")}
        logs = {name for name, its in worth.items() if options.get("log_output") and level <= its}
        return cls(bool(options.get("progress_bar", True)), frozenset(logs), level < _LEVELS.index("CRITICAL"))


def label_of(cell: SheetCell) -> str:
    """What a cell is told by: its name, else its first line."""
    return one_line(cell.name, 200) if cell.name else visible_line(cell.source, 200)


class _View(Streams):
    """What both kinds do."""

    def __init__(self, plan: RunPlan, wanted: ViewOptions) -> None:
        super().__init__(plan.secrets)
        self._count = len(plan.sheet.cells)
        self._wanted = wanted
        self._cell_began = time.monotonic()

    def cell_began(self, index: int, cell: SheetCell) -> None:
        """A cell starts."""
        self._cell_began = time.monotonic()

    async def cell_ended(self, index: int, cell: SheetCell, ran: CellRunOutcome) -> None:
        """A cell has ended."""
        await super().cell_ended(index, cell, ran)
        self._end_line()
        self._finished(index, cell, ran, time.monotonic() - self._cell_began)

    @property
    def answers(self) -> bool:
        """Whether somebody is there to answer what a cell asks for."""
        return terminal_prompter() is not None

    def close(self) -> None:
        """Leave the terminal in order. Once is enough."""

    def _end_line(self) -> None:
        """What comes next begins a line."""

    def _finished(self, index: int, cell: SheetCell, ran: CellRunOutcome, seconds: float) -> None:
        """Say how a cell ended."""


class _LineView(_View):
    """A line for each cell that has ended, and what cells print as they print it."""

    def __init__(self, plan: RunPlan, wanted: ViewOptions) -> None:
        super().__init__(plan, wanted)
        self._writer = TerminalWriter(sys.stderr)
        self._is_inside_line = False

    def heard(self, message: KernelMessage) -> None:
        """Only if somebody wants to see it."""
        if self._wanted.logs:
            super().heard(message)

    def printed(self, name: str, text: str) -> None:
        """Pass it on, at once. What would go back to the start of a line begins another."""
        if name not in self._wanted.logs:
            return
        self._writer.write(plain(text.replace("\r\n", "\n").replace("\r", "\n")))
        self._is_inside_line = not text.endswith(("\n", "\r"))

    def warn(self, text: str) -> None:
        """Something is otherwise than asked for."""
        if self._wanted.warns:
            self._end_line()
            self._writer.write(f"quire: {plain(text)}\n")

    async def asked(self, prompt: str, *, password: bool) -> str:
        """A cell asks for input."""
        return await read_line(plain(prompt), self._writer.write, echo=not password)

    def close(self) -> None:
        """Wait until all is read."""
        self._end_line()
        self._writer.close()

    def _end_line(self) -> None:
        if self._is_inside_line:
            self._writer.write("\n")
            self._is_inside_line = False

    def _finished(self, index: int, cell: SheetCell, ran: CellRunOutcome, seconds: float) -> None:
        if self._wanted.shows:
            place = f"{index + 1:>4}/{self._count}"
            self._writer.write(f"{place}  {ran.status:<9}  {spent(seconds):>8}  {cut(label_of(cell), 60)}\n")


class _Live(_View):
    """Lines of cells that have ended, and below them the one that runs, with what it last printed."""

    def __init__(self, plan: RunPlan, wanted: ViewOptions) -> None:
        super().__init__(plan, wanted)
        self._screen = Screen(sys.stderr)
        self._began = time.monotonic()
        self._running: tuple[int, SheetCell] | None = None
        self._tail = ""
        """The end of what the cell printed, as far as a line may be in it."""
        self._begun = ""
        """The line that it has begun, if lines are passed on."""
        runs = [index for index, cell in enumerate(plan.sheet.cells) if cell.kind in ("code", "sql")]
        self._last, self._is_long = max(runs, default=0), len(runs) > MOST_LINES
        self._doing = "starting the kernel"
        self._untold = 0
        self._is_paused = self._is_closed = False
        self._redrawing: asyncio.Task[None] | None = None

    async def began(self) -> None:
        """The run has a log, and its kernel starts."""
        self._redrawing = asyncio.ensure_future(self._redraw())

    async def _redraw(self) -> None:
        # Whatever ends the run ends this task: the terminal is left in order also when nobody comes to `tell`.
        try:
            while True:
                if not self._is_paused:
                    self._screen.draw(self._view())
                await asyncio.sleep(TICK_SECONDS)
        finally:
            self.close()

    def close(self) -> None:
        """Take the view away; what has scrolled by stays."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._redrawing is not None:
            self._redrawing.cancel()
        self._end_line()
        if self._untold:
            self._screen.print(f" {self._ink('✓', 'ok')} {self._untold:,} more, each ok within a second")
        self._screen.close()

    # ---- What happens

    def cell_began(self, index: int, cell: SheetCell) -> None:
        """A cell starts."""
        super().cell_began(index, cell)
        self._running, self._doing = (index, cell), ""
        self._tail = ""

    def printed(self, name: str, text: str) -> None:
        """Keep the last line, and pass all of them on if somebody wants that."""
        self._tail = (self._tail + text[-_LONGEST:])[-_LONGEST:]
        if name in self._wanted.logs:
            *lines, self._begun = (self._begun + text).split("\n")
            for line in lines:
                self._screen.print(_folded(line))
            if len(self._begun) > 16 * _LONGEST:
                self._end_line()

    def warn(self, text: str) -> None:
        """Something is otherwise than asked for."""
        if self._wanted.warns:
            self._screen.print(f"quire: {plain(text)}")

    async def asked(self, prompt: str, *, password: bool) -> str:
        """A cell asks for input: the view makes room for it."""
        self._is_paused = True
        try:
            self._end_line()
            return await read_line(plain(prompt), self._screen.clear, echo=not password)
        finally:
            self._is_paused = False

    def _end_line(self) -> None:
        if self._begun:
            self._screen.print(_folded(self._begun))
            self._begun = ""

    def _finished(self, index: int, cell: SheetCell, ran: CellRunOutcome, seconds: float) -> None:
        self._running = None
        self._doing = "finishing" if index >= self._last or ran.status != "ok" else ""
        if self._is_long and ran.status == "ok" and seconds < SLOW_SECONDS:
            self._untold += 1
            return
        mark = self._ink("✓", "ok") if ran.status == "ok" else self._ink("✗", "error")
        said = "" if ran.status == "ok" else f"{ran.status}  "
        room = self._screen.width - columns(f"   {self._place(index)} {spent(seconds):>10}  {said}")
        said = self._ink(said, "error")
        self._screen.print(f" {mark} {self._place(index)} {spent(seconds):>10}  {said}{cut(label_of(cell), room)}")

    # ---- How it looks

    def _view(self) -> list[str]:
        """Two lines: what runs since when, and what it last printed."""
        now, width = time.monotonic(), self._screen.width
        total = f"  {_ticking(now - self._began)} in all"
        if self._running is None:
            return [cut(f" ▸ {self._doing}{total}", width)]
        index, cell = self._running
        left = f" ▸ {self._place(index)} {_ticking(now - self._cell_began):>10}  "
        room = width - columns(left) - len(total)
        label = cut(label_of(cell), max(room, 0))
        first = left + label + " " * (room - columns(label)) + self._ink(total, "dim")
        last = _last_line(self._tail)
        return [first, self._ink(cut(f"     {last}", width), "dim")] if last else [first]

    def _place(self, index: int) -> str:
        return f"{index + 1:>{len(str(self._count))}}/{self._count}"

    def _ink(self, text: str, ink: str) -> str:
        return f"\x1b[{_INK[ink]}m{text}\x1b[0m" if text and coloured(sys.stderr) else text


def _ticking(seconds: float) -> str:
    """A duration that is still going on: nobody reads hundredths of those."""
    return f"{seconds:.1f} s" if seconds < 10 else spent(int(seconds)).replace(".0 s", " s")


def _folded(line: str) -> str:
    """A line as a terminal leaves it: what followed the last carriage return, harmless."""
    return plain(next((part for part in reversed(line.split("\r")) if part), "")).replace("\t", "    ")


def _last_line(text: str) -> str:
    """The last line that says anything."""
    lines = (_folded(line).strip() for line in reversed(text.split("\n")))
    return next((line for line in lines if line), "")


_ARROW = "-->"
_SAID = {
    "timeout": "took too long and was stopped",
    "cancelled": "was running when the run was cancelled",
    "dead_kernel": "lost its kernel",
    "lost": "was running when its runtime was lost",
}


def say(outcome: Outcome, plan: RunPlan, *, as_json: bool) -> None:
    """Say how the run ended, on stderr, and print the results or the outcome."""
    is_terminal = sys.stderr.isatty()
    for line in _lines(outcome, plan, whole=is_terminal):
        # Whoever closed it does not want to know, and the exit status tells all the same.
        with contextlib.suppress(OSError):
            click.echo(line, err=True, color=None if coloured(sys.stderr) else False)
    try:
        if as_json:
            print_json(outcome)
        else:
            # With OUTPUT `-` stdout has the notebook, and nothing else.
            for name, value in outcome.scraps.items():
                click.echo(plain(f"{name} = {value_text(value)}"), err=outcome.output == str(STANDARD))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _lines(outcome: Outcome, plan: RunPlan, *, whole: bool) -> Iterator[str]:
    failed = outcome.failed_cell
    if failed is not None:
        yield f"quire: {_which(failed, plan)} {_what(failed, outcome.status)}"
        yield from _where(failed, whole=whole)
    elif outcome.fault is not None and outcome.fault.ename == "ResultError":
        yield f"quire: {one_line(outcome.fault.evalue, 400)}"
    yield _summary(outcome)
    if outcome.status != "success":
        yield from _next(outcome, plan)
    if plan.keep and outcome.status != "dead_kernel":
        yield from _kept(outcome)


def _which(failed: FailedCell, plan: RunPlan) -> str:
    cells = plan.sheet.cells
    name = next((cell.name for cell in cells if cell.id == failed.id and cell.name), None)
    told = f"{failed.id}, {one_line(name)}" if name is not None else failed.id
    return f"cell {failed.index + 1} of {len(cells)} ({told})"


def _what(failed: FailedCell, status: str) -> str:
    said = one_line(failed.evalue, 400)
    fault = one_line(f"{failed.ename}: {said}" if said else failed.ename, 400)
    if status == "error":
        return f"raised {fault}"
    if not fault:
        return "was next when the run was stopped"
    # How a kernel says that it was interrupted is what had been asked for.
    return _SAID.get(status, status) + (f": {one_line(failed.evalue, 400)}" if failed.ename == "DeadKernel" else "")


def _where(failed: FailedCell, *, whole: bool) -> Iterator[str]:
    """The line that failed; with `whole`, each frame that is not a library's, in which it stands as well."""
    from ....formats.traceback import source_lines, trace

    found = trace(failed.traceback)
    if not whole or not found.frames:
        yield from (f"  {line}" for line in source_lines(failed.source, found.lines))
        return
    for frame in found.frames:
        for line in frame.split("\n"):
            yield click.style(f"  {line}", fg="red") if _ARROW in line[:12] else f"  {line}"
    if found.left_out:
        yield click.style(f"  and {counted(found.left_out, 'frame')} of libraries", dim=True)


def _summary(outcome: Outcome) -> str:
    status = click.style(outcome.status, fg="green" if outcome.status == "success" else "red", bold=True)
    seconds = f" in {spent(outcome.duration_seconds)}" if outcome.duration_seconds is not None else ""
    written = outcome.output if outcome.output_fault is None else None
    where = f", written to {plain(written)}" if written else ""
    return f"{status}{seconds}, {counted(outcome.cells_executed, 'cell')}: run {outcome.run}{where}"


def _next(outcome: Outcome, plan: RunPlan) -> Iterator[str]:
    """What to do now, ready to be copied."""
    failed = outcome.failed_cell
    if failed is not None:
        yield f"  what it showed   quire output {outcome.run} {failed.index + 1}"
    else:
        yield f"  why              quire runs show {outcome.run}"
    if outcome.cells_executed and plan.input_path and plan.input_path != str(STANDARD):
        # With the same parameters; from this cell on if its kernel was to live on, else from the top.
        what = "to go on        " if plan.keep else "to run it again "
        # An address may be shown without what it takes to write there.
        output = outcome.output if outcome.output is not None and not is_remote(outcome.output) else None
        places = " ".join(plain(shlex.quote(each)) for each in (plan.input_path, output) if each is not None)
        yield f"  {what} quire run {places} --resume {outcome.run}"


def _kept(outcome: Outcome) -> Iterator[str]:
    """How to go on in the kernel, which lives: for a day, if nobody uses it."""
    yield f"  to work in it    quire serve, then quire open {outcome.run}"
    yield f"  to pass it on    quire propose {outcome.run}   (what was changed in it, to its source)"
    yield f"  to end it        quire cancel {outcome.run}"
