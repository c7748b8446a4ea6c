"""The five tasks: what is asked, and when it is done. Each side has its own way of doing them, and the same check."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

import msgspec

from .notebooks import BOTH, BROKEN, MONTHLY, RIGHT, TOTAL, WRONG
from .tools import Tools

TASKS = {
    "read": "A notebook of 160 cells: how many orders came late, and how many are worth a second look?",
    "fix": "The same, run from the top: it stopped somewhere. Find the cell, correct it, and run it.",
    "plot": "Add a plot of the revenue in Swiss francs below the monthly table, and look at it.",
    "output": "A cell printed 50 MB: what is the grand total?",
    "recover": "Lower the limit for a second look from 400 to 350. Somebody else changes the cell meanwhile.",
}
PATIENCE_SECONDS = 20.0
LATE, LARGE = "2762", "14"


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A cell, as it is afterwards."""

    source: str
    media: frozenset[str] = frozenset()
    """What it showed, by kind; `error` where it failed."""


class Side(Protocol):
    """One of the two: does a task, and gives its answer; shows the notebook afterwards."""

    tools: Tools

    async def do(self, task: str) -> str:
        """Do it, with its own tools; the answer, where one was asked for."""
        ...

    async def cells(self, task: str) -> list[Shown]:
        """The cells of the task's notebook, as they are kept."""
        ...


def _answered(*wanted: str) -> Callable[[str, list[Shown]], bool]:
    return lambda answer, cells: answer.split() == list(wanted)


def _fixed(answer: str, cells: list[Shown]) -> bool:
    found = [cell for cell in cells if cell.source == BROKEN.replace(WRONG, RIGHT)]
    return len(found) == 1 and "stream" in found[0].media and "error" not in found[0].media


def _plotted(answer: str, cells: list[Shown]) -> bool:
    """A cell right below the table that names the column and shows an image, and somebody saw it."""
    below = [cells[number + 1] for number, cell in enumerate(cells[:-1]) if cell.source == MONTHLY]
    return len(below) == 1 and "CHF" in below[0].source and "image/png" in below[0].media and answer == "seen"


def _recovered(answer: str, cells: list[Shown]) -> bool:
    """Both changes are there."""
    return [cell.source for cell in cells].count(BOTH) == 1


CHECKS: dict[str, Callable[[str, list[Shown]], bool]] = {
    "read": _answered(LATE, LARGE),
    "fix": _fixed,
    "plot": _plotted,
    "output": _answered(TOTAL),
    "recover": _recovered,
}


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """How a task went."""

    calls: int
    characters: int
    good: bool


async def done(side: Side, task: str) -> Result:
    """Have a task done, and look whether it is."""
    tools = side.tools
    calls, characters = tools.calls, tools.characters
    try:
        answer = await side.do(task)
    except LookupError:
        answer = ""  # what it went by was not there
    used = tools.calls - calls, tools.characters - characters
    # A file is written a moment after what is in it changed.
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (good := CHECKS[task](answer, await side.cells(task))) and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0.5)
    return Result(calls=used[0], characters=used[1], good=good)
