"""What all parts of an agent's text look at: the notebook, and how its cells and outputs are called in it.

A handle names something that an answer left out, for good: `CELL.N@SEQ` is the N-th output, from
0, of the execution of CELL that began at SEQ; `CELL@SEQ` is the source of CELL as it was at SEQ. With
`:MEDIA`, one media type of an output; `CELL.N-M@SEQ` is several outputs, one after the other.
"""

from __future__ import annotations

import re
from collections import Counter

import msgspec

from ...core.events import Fault, Output, Raised
from ...core.ids import ActorId, CellId
from ...core.notebook.notebook import Cell, Execution, Notebook
from ...core.notebook.staleness import stale_cells

SHORT = 4
"""Characters of a cell's id that tell it from all others, mostly."""
_HANDLE = re.compile(r"([A-Za-z0-9_-]{1,64})(?:\.(\d{1,9})(?:-(\d{1,9}))?)?(?:@(\d{1,15}))?(?::(.{1,200}))?")


class Handle(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to see of a cell."""

    cell: str
    number: int | None = None
    """Which output; None: all, or the source."""
    last: int | None = None
    """Up to which output, of several."""
    seq: int | None = None
    media: str | None = None


def handle(
    cell: str, seq: int | None, number: int | None = None, media: str | None = None, *, last: int | None = None
) -> str:
    """Name an output, or those up to `last`; without a number, a source."""
    which = f".{number}" if number is not None else ""
    which += f"-{last}" if last is not None else ""
    when = f"@{seq}" if seq is not None else ""
    return f"{cell}{which}{when}{f':{media}' if media else ''}"


def parse_handle(text: str) -> Handle | None:
    """Read what `handle` wrote, or the id of a cell; None where it is neither."""
    found = _HANDLE.fullmatch(text)
    if found is None:
        return None
    cell, number, last, seq, media = found.groups()
    first, until, when = (int(each) if each is not None else None for each in (number, last, seq))
    return Handle(cell=cell, number=first, last=until, seq=when, media=media)


def short_ids(notebook: Notebook) -> dict[CellId, str]:
    """What each cell is called: the beginning of its id where that names no other cell, else the id."""
    beginnings = Counter(id[:SHORT] for id in notebook.cells)
    named = {cell.name: cell.id for cell in notebook.cells.values() if cell.name is not None}
    shorts: dict[CellId, str] = {}
    for id in notebook.cells:
        short = id[:SHORT]
        # A name, or a number, would be taken for the cell that has it.
        is_good = beginnings[short] == 1 and named.get(short, id) == id and not short.isdigit()
        shorts[id] = short if is_good else id
    return shorts


def shown_outputs(execution: Execution | None) -> list[Output]:
    """What an execution showed; its error too, where the kernel told that only at the end."""
    if execution is None:
        return []
    fault = execution.fault
    if fault is None or any(isinstance(each, Raised) for each in execution.outputs):
        return execution.outputs
    return [*execution.outputs, Raised(ename=fault.ename, evalue=fault.evalue, traceback=fault.traceback)]


def fault_of(execution: Execution | None) -> tuple[int, Fault] | None:
    """The error of an execution, and which output it is."""
    for number, output in reversed(list(enumerate(shown_outputs(execution)))):
        if isinstance(output, Raised):
            return number, output
    return None


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook that is about to be shown."""

    notebook: Notebook
    shorts: dict[CellId, str]
    stale: frozenset[CellId]
    folder: str | None = None
    """Where its kernel works, if that is known."""
    reader: ActorId | None = None
    """Who reads, if that is known: what awaits them comes first."""

    def short(self, cell: CellId) -> str:
        """What a cell is called."""
        return self.shorts.get(cell, cell)

    def output(self, cell: Cell, number: int, media: str | None = None) -> str:
        """The handle of an output of a cell."""
        seq = cell.execution.started_seq if cell.execution is not None else None
        return handle(self.short(cell.id), seq, number, media)

    def source(self, cell: Cell) -> str:
        """The handle of the source of a cell."""
        return handle(self.short(cell.id), self.notebook.seq)


def scene_of(notebook: Notebook, folder: str | None = None, reader: ActorId | None = None) -> Scene:
    """Look at a notebook."""
    return Scene(
        notebook=notebook, shorts=short_ids(notebook), stale=stale_cells(notebook), folder=folder, reader=reader
    )
