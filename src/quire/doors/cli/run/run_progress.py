"""What a person sees of `quire run`: on a terminal a view that moves, in a pipe a line for each cell.

`make` gives the view, `tell` ends it and says what came of the run. All of it goes to stderr
but the results, or the outcome with `--json`. Whether anybody looks, or has stopped to, is
nothing to the run.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from ....actors.runtime.run_cell import CellRunOutcome
from ....actors.runtime.run_notebook import RunPlan
from ....core.outcome import Outcome
from ....core.sheet.sheet import SheetCell
from ....core.visible import visible_line
from ....formats.terminal_safe import one_line, plain
from ....outputs.display_events import KernelMessage
from ....runs.progress import Streams
from ..printer import spent
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
    from .run_summary import say

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
