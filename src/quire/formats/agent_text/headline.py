"""The lines an agent orients itself by: the title, one line per cell or for several, and what waits for somebody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby

from ...core.ids import CellId, LogId
from ...core.notebook.notebook import Cell, Execution, Notebook
from ...core.text import source_hash
from ...core.visible import visible_line
from ..terminal_safe import one_line, plain, reason_line
from .comment_text import comment_lines
from .excerpt import QUARTERS, Purse, cost, cut, head
from .render_context import Scene

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
