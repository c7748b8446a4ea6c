"""What all parts of an agent's text share: the notebook, the names of its cells and outputs, and the lines that orient.

Those are the title, a line per cell or for several, and what waits for somebody.

A handle names something that an answer left out, for good: `CELL.N@SEQ` is the N-th output, from
0, of the execution of CELL that began at SEQ; `CELL@SEQ` is the source of CELL as it was at SEQ. With
`:MEDIA`, one media type of an output; `CELL.N-M@SEQ` is several outputs, one after the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby

import msgspec

from ...core.events import Fault, Output, Raised
from ...core.ids import ActorId, CellId, LogId
from ...core.notebook.notebook import Cell, Execution, Notebook
from ...core.notebook.staleness import stale_cells
from ...core.text import source_hash
from ...core.visible import visible_line
from ..terminal_safe import one_line, plain, reason_line
from .comment_text import comment_lines
from .excerpt import QUARTERS, Purse, cost, cut, head

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


FAILED = ("error", "timeout", "dead_kernel", "lost")
"""How a cell ends that somebody has to look at."""
_TOLD = ("error", "timeout", "dead_kernel", "lost", "running", "queued", "cancelled", "skipped")
FOLDED = "… "
"""How a line begins that stands for several cells."""
_MOST_WAITING = 5
_EXCERPT = 60
_HASH = 8
_WIDE, _NARROW = 60, 24
_QUIET = ("ok", "never_run")
_LEAST_FOLDED = 3

Lines = dict[CellId, list[str]]
"""What stands in the place of a cell: its line, or, in the place of the first of many, theirs."""


def title(log: LogId | None, scene: Scene, most: int) -> str:
    """The first line: name, id, how large, how it is. What cannot be paid for is left out from its end."""
    notebook = scene.notebook
    which = f"[{log[:10]}…]" if log is not None else "[a file, not open yet: edit or run opens it]"
    name = cut(one_line(notebook.name, _EXCERPT) or "-", max(most // 2, QUARTERS * QUARTERS))
    line = f"{name} {which} cursor {notebook.seq}"
    facts = [f"{line}{fact}" for fact in _growing(_facts(scene))]
    fitting = [each for each in facts if cost(each) + 1 <= most]
    return fitting[-1] if fitting else head(line, most - 1)


def _growing(facts: Iterable[str]) -> Iterator[str]:
    told = ""
    yield told
    for fact in facts:
        told += f" · {fact}"
        yield told


def _facts(scene: Scene) -> Iterator[str]:
    notebook = scene.notebook
    cells = list(notebook.live_cells)
    if notebook.run is not None:
        yield f"run {notebook.run.status}"
    if notebook.archived:
        yield "archived"
    yield f"{len(cells)} cell{'s' * (len(cells) != 1)}"
    states = Counter(cell.state for cell in cells if cell.runs)
    told = [f"{states[state]} {state}" for state in _TOLD if states[state]]
    told += [f"{len(scene.stale)} stale"] if scene.stale else []
    if told:
        yield ", ".join(told)
    yield _kernels(notebook)


def _kernels(notebook: Notebook) -> str:
    if not notebook.runtimes:
        return "no kernel"
    how = "busy" if any(cell.state == "running" for cell in notebook.live_cells) else "idle"
    names = [one_line(each.language or each.name or each.id, 20) for each in notebook.runtimes.values()]
    return f"kernel {', '.join(names[:3])} {how}"


# ---- Cells


def header(scene: Scene, cell: Cell, *, number: int | None = None, excerpt: int = 0) -> str:
    """The line of a cell, with so many characters of its source."""
    # People count, and type whole ids; agents pay for every character.
    words = [scene.short(cell.id)] if number is None else [f"{number:>3}  {cell.id}"]
    words += [one_line(cell.name, 40)] if cell.name and cell.name != words[0] else []
    words += [cell.kind] if cell.kind != "code" else []
    if cell.runs:
        words += [cell.state, *_time(cell.execution)]
    if cell.after_run:
        # In a run that is over, what somebody changed is not what ran.
        words.append("changed after the run")
    words.append(f"#{source_hash(cell.source)[:_HASH]}")
    words += ["stale"] if cell.id in scene.stale else []
    words += [f"[{one_line(', '.join(cell.tags), 60)}]"] if cell.tags else []
    line = " ".join(words)
    said = visible_line(cell.source[:2000], excerpt) if excerpt else ""
    return f"{line} · {said}" if said else line


def _time(execution: Execution | None) -> list[str]:
    if execution is not None and execution.imported:
        return ["imported"]
    if execution is None or execution.started_at is None or execution.finished_at is None:
        return []
    spent = datetime.fromisoformat(execution.finished_at) - datetime.fromisoformat(execution.started_at)
    return [f"{spent.total_seconds():.2f}s"]


# ---- What waits


def waiting(scene: Scene, below: Collection[CellId] = ()) -> list[str]:
    """A line for each proposal, conflict and comment that is open, of so many; then a count.

    Comments that await the reader come first. Threads of cells in `below` are shown there.
    """
    comments = list(comment_lines(scene, below))
    mine = [line for awaits, line in comments if awaits]
    others = [line for awaits, line in comments if not awaits]
    found = [*mine, *_proposals(scene), *_conflicts(scene), *others]
    more = len(found) - _MOST_WAITING
    return found if more <= 0 else [*found[:_MOST_WAITING], f"… {more} more proposals, conflicts and comments are open"]


def _proposals(scene: Scene) -> Iterator[str]:
    for proposal, made in scene.notebook.proposals.items():
        if made.state == "open":
            yield f"proposal {proposal} by {plain(made.by)}: {reason_line(made.why)}"


def _conflicts(scene: Scene) -> Iterator[str]:
    for conflict, found in scene.notebook.conflicts.items():
        sides = f"the notebook says {_side(found.ours)}, the file said {_side(found.theirs)}"
        yield f"conflict {conflict} in {scene.short(found.cell)}: {sides}"


def _side(text: str) -> str:
    return repr(visible_line(text, 40)) if text else "nothing"


# ---- Many cells


def folded_line(scene: Scene, cells: list[Cell]) -> str:
    """One line for cells that follow each other."""
    states = Counter(cell.state if cell.runs else cell.kind for cell in cells)
    stale = sum(cell.id in scene.stale for cell in cells)
    told = ", ".join(f"{count} {state}" for state, count in states.most_common())
    if len(states) == 1:
        told = f"all {next(iter(states))}"
    told += f", {stale} stale" if stale else ""
    return f'{FOLDED}{len(cells):,} cells, {told}: read(cells=["{between(scene, cells[0].id, cells[-1].id)}"])'


def between(scene: Scene, first: CellId, last: CellId) -> str:
    """How a stretch of cells is asked for."""
    return f"{scene.short(first)}..{scene.short(last)}" if first != last else scene.short(first)


# ---- Which cells get a line of their own when not all of them can: those that say something, and of the others a count


def outline(
    scene: Scene, cells: Sequence[Cell], shown: Collection[CellId], purse: Purse, most: int, *, with_source: bool
) -> Lines:
    """Lines for the cells that are not `shown` yet, for no more than `most`: all of them, or with quiet ones folded."""
    for ways in _ways(scene, with_source):
        made = _made(scene, cells, shown, *ways)
        price = sum(sum(map(len, lines)) for lines in made.values())
        # A line costs at least its characters: most ways are out without a closer look.
        if price <= most and purse.pay([line for lines in made.values() for line in lines]):
            return made
    return {}


Told = Callable[[Cell], str]
Folds = Callable[[Cell], bool]


def _ways(scene: Scene, with_source: bool) -> Iterator[tuple[Told, Folds]]:
    """How to tell a cell, and which cells to fold, from the most to the least."""

    def is_quiet(cell: Cell) -> bool:
        return cell.id not in scene.stale and (not cell.runs or cell.state in _QUIET)

    def is_dull(cell: Cell) -> bool:
        is_heading = cell.kind == "markdown" and cell.source.startswith("#")
        return is_quiet(cell) and cell.name is None and not is_heading

    def told(wide: int, narrow: int) -> Told:
        return lambda cell: header(scene, cell, excerpt=narrow if is_quiet(cell) else wide)

    wide, narrow = (_WIDE, _NARROW) if with_source else (0, 0)
    yield told(wide, wide), lambda cell: False
    yield told(wide, narrow), lambda cell: False
    yield told(wide, narrow), is_dull
    yield told(narrow, 0), is_quiet
    yield told(0, 0), is_quiet
    yield told(0, 0), lambda cell: True


def _made(scene: Scene, cells: Sequence[Cell], shown: Collection[CellId], told: Told, folds: Folds) -> Lines:
    made: Lines = {}
    for (is_shown, is_folded), group in groupby(cells, lambda cell: (cell.id in shown, folds(cell))):
        stretch = list(group)
        if is_shown:
            continue
        if is_folded and len(stretch) >= _LEAST_FOLDED:
            made[stretch[0].id] = [folded_line(scene, stretch)]
        else:
            made |= {cell.id: [told(cell)] for cell in stretch}
    return made
