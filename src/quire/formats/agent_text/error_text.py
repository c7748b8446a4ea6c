"""An error as an agent reads it: what was raised, where in the cell, the frames that are the author's own, and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from ...core.events import Fault
from ...core.notebook.notebook import Cell, Run
from ...core.text import source_hash
from ...core.values import Json
from ...core.visible import visible
from ..terminal_safe import one_line, plain
from ..traceback import FrameLocation, Trace, place, trace
from ..value_text import value_text
from .error_hints import hints
from .excerpt import cost, cut, lines_cost
from .output_summary import how
from .render_context import Scene, fault_of

MARK = "! "
_AROUND = 2
_WIDE = 160
_FIRST_FRAMES, _LAST_FRAMES = 3, 5
_MOST_SAID = 4000
_MOST_ENTRIES = 1000
_OTHER_LINES = 8
_MOST_MISSED = 12


def said(fault: Fault, width: int) -> str:
    """`ename: evalue`, in one line."""
    name, value = one_line(fault.ename, 100), " ".join(plain(fault.evalue[:_MOST_SAID]).split())
    text = f"{name}: {value}" if name and value else name or value or "an error without a name"
    return text if len(text) <= width else text[: width - 1] + "…"


def block(scene: Scene, cell: Cell, most: int, *, with_hints: bool = True) -> list[str]:
    """The lines of an error, as many as can be paid for: what was raised first, then what helps, where, and on which way."""
    told, *more = _parts(scene, cell, most, with_hints)
    line = cut(MARK + told[0], most - 1)
    if not line:
        return []
    kept: dict[int, list[str]] = {0: [line]}
    room = most - cost(line) - 1
    # Where it failed reads better before what helps; if only one has room, it is what helps.
    for number in (2, 1, 3):
        marked = [MARK + line for line in more[number - 1]] if len(more) >= number else []
        price = lines_cost(marked)
        if price <= room:
            kept[number] = marked
            room -= price
    return [line for number in sorted(kept) for line in kept[number]]


def _parts(scene: Scene, cell: Cell, most: int, with_hints: bool) -> list[list[str]]:
    found = fault_of(cell.execution) if cell.missed is None else None
    if found is None:
        ended = cell.missed or cell.execution
        why = one_line(ended.why, 200) if ended is not None else ""
        return [[f"{cell.state}: {why}" if why else _ENDED.get(cell.state, cell.state)]]
    number, fault = found
    traced = trace(fault.traceback[:_MOST_ENTRIES])
    places = [each for each in map(place, traced.frames) if each is not None]
    return [
        [said(fault, max(most // 2, 100))],
        _context(cell, traced, places),
        [f"hint: {hint}" for hint in hints(scene, cell, fault)] if with_hints else [],
        [*_way(scene, fault, traced, places), _rest(traced, places, how(scene.output(cell, number)))],
    ]


_ENDED = {
    "timeout": "timeout: it took longer than it may",
    "dead_kernel": "dead_kernel: the kernel died while it ran; what cells had defined in it is gone",
    "lost": "lost: its runtime was lost while it ran; whether it finished is not known",
}


# ---- Where it failed


def _context(cell: Cell, traced: Trace, places: Sequence[FrameLocation]) -> list[str]:
    """The line of the cell that failed, with those around it: as they were when it ran."""
    if not traced.lines:
        return []
    at = traced.lines[0]
    first = next((each for each in places if each.count is not None or each.file is None), None)
    lines = _numbered(cell, at) or (list(first.around) if first is not None else [])
    near = [(number, text) for number, text in lines if abs(number - at) <= _AROUND]
    width = max((len(str(number)) for number, _ in near), default=1)
    return [f"{'>' if number == at else ' '} {number:>{width}} {_code(text)}".rstrip() for number, text in near]


def _numbered(cell: Cell, at: int) -> list[tuple[int, str]]:
    """The lines of the source around one; none if it has changed since it ran."""
    if cell.execution is None or cell.execution.source_hash != source_hash(cell.source):
        return []
    lines = cell.source.split("\n")
    first = max(at - 1 - _AROUND, 0)
    near = [visible(line[: 2 * _WIDE]) for line in lines[first : at + _AROUND]]
    return list(enumerate(near, first + 1)) if at <= len(lines) else []


def _code(line: str) -> str:
    line = plain(line[: 2 * _WIDE])
    return line if len(line) <= _WIDE else line[: _WIDE - 1] + "…"


# ---- On which way


def _way(scene: Scene, fault: Fault, traced: Trace, places: Sequence[FrameLocation]) -> Iterator[str]:
    """The frames that are the author's own, behind the one of the cell; of other languages what the kernel says."""
    if not places:
        text = "\n".join(traced.frames).strip()
        lines = [line for line in text.split("\n")[-_OTHER_LINES:] if line.strip()]
        yield from (_code(line) for line in lines if one_line(fault.evalue) not in line)
        return
    told = [_frame(scene, each) for each in _own(places)]
    frames = [_times(line, len(list(same))) for line, same in groupby(told)]
    if len(frames) <= _FIRST_FRAMES + _LAST_FRAMES:
        yield from frames
        return
    yield from frames[:_FIRST_FRAMES]
    yield f"  … {len(frames) - _FIRST_FRAMES - _LAST_FRAMES:,} frames …"
    yield from frames[-_LAST_FRAMES:]


def _frame(scene: Scene, place: FrameLocation) -> str:
    function = f" {one_line(place.function, 40)}" if place.function else ""
    code = f": {_code(place.code)}" if place.code else ""
    return f"  {_where(scene, place)}:{place.line}{function}{code}"


def _times(line: str, count: int) -> str:
    return f"{line} (×{count:,})" if count > 1 else line


def _own(places: Sequence[FrameLocation]) -> Sequence[FrameLocation]:
    """The frames behind the one that `_context` shows."""
    return places[1:] if places[0].file is None else places


def _where(scene: Scene, place: FrameLocation) -> str:
    if place.file is not None:
        return one_line(place.file, 100)
    for cell in scene.notebook.cells.values():
        if cell.execution is not None and cell.execution.count == place.count:
            return scene.short(cell.id)
    return f"In[{place.count}]"


def _rest(traced: Trace, places: Sequence[FrameLocation], rest: str) -> str:
    left = traced.left_out
    told = f"{left} library frame{'s' * (left != 1)} left out" if left else "traceback"
    return f"[{told}: {rest}]"


# ---- Beside the cells


def did_not_run(scene: Scene) -> list[str]:
    """The cells that were to run and did not, since an earlier one failed."""
    missed = [cell for cell in scene.notebook.live_cells if cell.missed is not None and cell.missed.state != "ok"]
    reasons: dict[str, list[str]] = {}
    for cell in missed:
        ended = cell.missed
        why = one_line(ended.why, 80) if ended is not None and ended.why else cell.state
        reasons.setdefault(why, []).append(scene.short(cell.id))
    return [f"did not run: {_some(cells)} ({why})" for why, cells in list(reasons.items())[:3]]


def _some(cells: Sequence[str]) -> str:
    more = f" and {len(cells) - _MOST_MISSED} more" if len(cells) > _MOST_MISSED else ""
    return ", ".join(cells[:_MOST_MISSED]) + more


def run_lines(scene: Scene) -> list[str]:
    """Of a run: what it was given, what it recorded, and an error that is no cell's."""
    run = scene.notebook.run
    if run is None:
        return []
    lines = [_values("parameters", run.parameters)] if run.parameters else []
    results = {
        each.name: each.value if each.blob is None else f"[{each.kind}]" for each in scene.notebook.results.values()
    }
    lines += [_values("results", results)] if results else []
    return [*lines, *_fault_of_run(run)]


def _values(what: str, values: Mapping[str, Json]) -> str:
    told = ", ".join(
        f"{one_line(name, 40)} = {one_line(_value(value), 80)}" for name, value in list(values.items())[:30]
    )
    more = f", … {len(values) - 30} more" if len(values) > 30 else ""
    return f"{what}: {told}{more}"


def _value(value: Json) -> str:
    return value_text(value[:200] if isinstance(value, str) else value, 4)


def _fault_of_run(run: Run) -> Iterator[str]:
    if run.fault is not None and run.failed_cell is None:
        yield MARK + said(run.fault, 300)
