"""A notebook as compact text, for agents and for terminals.

The outline has one line per cell; `source` adds what is written, `full` what came out.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, TypeAlias

from ..core.events import Display, Output, Raised, Stream
from ..core.ids import CellId, LogId
from ..core.notebook import Cell, Execution, Notebook
from ..core.stale import stale_cells
from .plain import one_line, plain

View: TypeAlias = Literal["outline", "source", "full"]
VIEWS: tuple[View, ...] = ("outline", "source", "full")


def render(log: LogId, notebook: Notebook, view: View = "outline") -> str:
    """Return the notebook as text."""
    stale = stale_cells(notebook)
    lines = [_title(log, notebook), ""]
    for number, cell in enumerate(notebook.live_cells, 1):
        lines.append(_header(number, cell, cell.id in stale, with_source=view == "outline"))
        if view != "outline":
            lines += _indented(plain(cell.source))
        if view == "full" and cell.execution is not None:
            lines += _outputs(cell.execution)
        if view != "outline":
            lines.append("")
    lines += _open_questions(notebook)
    return "\n".join(lines).rstrip() + "\n"


def _title(log: LogId, notebook: Notebook) -> str:
    cells = sum(1 for _ in notebook.live_cells)
    updated = (notebook.updated_at or "")[:19].replace("T", " ")
    facts = [f"{cells} cell{'s' * (cells != 1)}", f"at {notebook.seq}", f"updated {updated}"]
    if notebook.run is not None:
        facts.insert(0, f"run {notebook.run.status}")
    if notebook.archived:
        facts.insert(0, "archived")
    return f"{plain(notebook.name)}  [{log}]  {' · '.join(facts)}"


def _header(number: int, cell: Cell, stale: bool, *, with_source: bool) -> str:
    state = cell.state if cell.runs else "-"
    name = f" {plain(cell.name)}" if cell.name else ""
    tags = f" [{', '.join(map(plain, cell.tags))}]" if cell.tags else ""
    time = _duration(cell.execution)
    source = f"  {one_line(cell.source, 72)}" if with_source else ""
    # In a run that is over, what somebody changed is not what ran.
    changed = " changed after the run" if cell.after_run else ""
    facts = f"{state}{' stale' if stale else ''}{changed}{time}"
    return f"{number:>3}  {cell.id:<8}  {cell.kind:<8}  {facts:<14}{name}{tags}{source}".rstrip()


def _duration(execution: Execution | None) -> str:
    if execution is not None and execution.imported:
        return " imported"
    if execution is None or execution.started_at is None or execution.finished_at is None:
        return ""
    spent = datetime.fromisoformat(execution.finished_at) - datetime.fromisoformat(execution.started_at)
    return f" {spent.total_seconds():.2f} s"


def _indented(text: str, mark: str = "     ") -> list[str]:
    return [f"{mark}{line}".rstrip() for line in text.splitlines()]


def _outputs(execution: Execution) -> Iterator[str]:
    for output in execution.outputs:
        yield from _indented(_output(output), "   > ")


def _output(output: Output) -> str:
    match output:
        case Stream():
            cut = f"\n[… {output.omitted:,} characters left out …]\n" if output.omitted else ""
            return plain(output.head) + cut + plain(output.tail)
        case Raised():
            trace = "\n".join(map(plain, output.traceback))
            return trace or f"{plain(output.ename)}: {plain(output.evalue)}"
        case Display():
            text = output.data.get("text/plain")
            others = [media for media in (*output.data, *output.blobs) if media != "text/plain"]
            also = f"[{', '.join(map(one_line, dict.fromkeys(others)))}]" if others else ""
            return "\n".join(filter(None, [plain(text) if isinstance(text, str) else "", also]))


def _open_questions(notebook: Notebook) -> Iterator[str]:
    """What waits for somebody: proposals, conflicts, comments."""
    for proposal, made in notebook.proposals.items():
        if made.state == "open":
            yield f"Proposal {proposal} by {made.by}: {one_line(made.why)}"
    for conflict, found in notebook.conflicts.items():
        yield f"Conflict {conflict} in cell {found.cell}: the notebook says {_side(found.ours)}, the file said {_side(found.theirs)}"
    for comment, said in notebook.comments.items():
        if said.resolved_by is None:
            yield f"Comment {comment} by {said.by}{_about(said.cell)}: {one_line(said.text)}"


def _side(text: str) -> str:
    return repr(one_line(text, 40)) if text else "nothing"


def _about(cell: CellId | None) -> str:
    return f" on {cell}" if cell is not None else ""
