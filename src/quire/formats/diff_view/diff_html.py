"""A diff as one page: old and new side by side, with what the cells showed. Needs nothing from anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.diff import diff as d
from ...core.diff.diff import PARTS, Diff, Part
from ...core.sheet.sheet import Sheet, SheetCell
from ...core.visible import first_line
from ..html.escape import escape_code
from ..html.output_blocks import render_output
from ..html.page_frame import page
from .change_rows import ChangeRow, DiffTextLine, LinePair, rows, source_pairs, value_changes

_FOLD = 8
"""Longer stretches that both have are folded but for some lines around the changes."""
_AROUND = 3

_STYLE = """
:root { --old: #fbe7e4; --old-word: #f3b9b1; --new: #e2f3e3; --new-word: #a9dbb0; }
@media (prefers-color-scheme: dark) {
  :root { --old: #391d1e; --old-word: #7c2c2b; --new: #17301f; --new-word: #24663a; }
}
.changes { max-width: 110rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
.changes h1 { font-size: 1.4rem; margin: 0; }
.changes header p, .same { color: var(--soft); margin: .3rem 0 1.3rem; font: .85rem/1.5 system-ui, sans-serif; }
.change { border: 1px solid var(--line); border-radius: 7px; margin: 0 0 1.3rem; overflow: hidden; }
.change h2 { font-size: .92rem; margin: 0; padding: .5rem .9rem; letter-spacing: 0; background: var(--code); }
.change h2 span { font-weight: 400; color: var(--soft); }
.change h2 .fate { float: right; font-weight: 650; color: var(--accent); }
.added h2 .fate { color: var(--s); } .removed h2 .fate { color: var(--wrong); }
.change table { width: 100%; border-collapse: collapse; table-layout: fixed; margin: 0; border-top: 1px solid var(--line); }
.change td, .which {
  padding: 0 .6rem; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4;
  font: .8rem/1.5 ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
.which { margin: 0; padding: .3rem .9rem; color: var(--soft); border-top: 1px solid var(--line); }
.change td.number { width: 3.4rem; text-align: right; color: var(--soft); user-select: none; }
.change td.old { background: var(--old); } .change td.new { background: var(--new); }
.old mark { background: var(--old-word); } .new mark { background: var(--new-word); } .change mark { color: inherit; }
.change td.none, .change td.fold { background: var(--code); } .change td.fold { color: var(--soft); text-align: center; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; border-top: 1px solid var(--line); padding: .6rem .9rem; }
.sides .outputs { margin: 0; align-content: start; min-width: 0; }
.sides .old { border-left: 3px solid var(--old-word); } .sides .new { border-left: 3px solid var(--new-word); }
"""


def render_page(diff: Diff, old: Sheet, new: Sheet, labels: tuple[str, str], *, parts: Sequence[Part] = PARTS) -> str:
    """Return a page that shows what changed from `old` to `new`."""
    diff = diff.only(*parts)
    found = rows(diff, old, new)
    body = "\n".join((_header(found, labels), *_notebook(diff), *_cells(found, outputs="outputs" in parts)))
    return page(f"{labels[0]} → {labels[1]}", f'<main class="changes">\n{body}\n</main>', _STYLE)


def _header(found: list[ChangeRow], labels: tuple[str, str]) -> str:
    counts = {"added": 0, "removed": 0, "moved": 0, "changed": 0}
    for row in found:
        if row.operations:
            counts[_fate(row) or "changed"] += 1
    said = ", ".join(f"{count} {fate}" for fate, count in counts.items() if count) or "no cell changed"
    title = f"{escape_code(labels[0])} → {escape_code(labels[1])}"
    return f"<header><h1>{title}</h1><p>{said}</p></header>"


def _notebook(diff: Diff) -> Iterator[str]:
    changed = [op for op in diff.operations if isinstance(op, d.MetadataSetOp | d.ExtraSet)]
    if facts := _facts(changed):
        yield f'<section class="change"><h2>notebook</h2>{facts}</section>'


def _cells(found: list[ChangeRow], *, outputs: bool) -> Iterator[str]:
    same = 0
    for row in found:
        if not row.operations:
            same += 1
            continue
        yield _same(same)
        same = 0
        yield _cell(row, outputs=outputs)
    yield _same(same)


def _same(count: int) -> str:
    return f'<p class="same">{count} cell{"s" * (count != 1)} unchanged</p>' if count else ""


def _fate(row: ChangeRow) -> str:
    if row.old is None:
        return "added"
    if row.new is None:
        return "removed"
    return "moved" if row.moved else ""


def _cell(row: ChangeRow, *, outputs: bool) -> str:
    facts = [f"cell {row.new_number}" if row.new is not None else f"old cell {row.old_number}", row.kinds]
    if row.cell.name:
        facts.append(escape_code(row.cell.name))
    tags = "".join(f" <span>[{escape_code(tag)}]</span>" for tag in row.cell.tags)
    fate = _fate(row)
    said = f'<span class="fate">{fate}{f" from {row.old_number}" if row.moved else ""}</span>' if fate else ""
    head = f"<h2>{' · '.join(facts)}{tags}{said}</h2>"
    showed = _outputs(row) if outputs else ""
    return f'<section class="change {fate}">{head}{_source(row)}{showed}{_facts(row.operations)}</section>'


def _source(row: ChangeRow) -> str:
    if lines := source_pairs(row):
        return f"<table>{''.join(_folded(lines))}</table>"
    if row.old is None or row.new is None:
        return ""
    return f'<p class="which">{escape_code(first_line(row.new.source, 100))}</p>'


def _folded(lines: list[LinePair]) -> Iterator[str]:
    """The rows of the table; of a long stretch that both have only what is near a change."""
    near = [False] * len(lines)
    for index, pair in enumerate(lines):
        if pair.old is None or pair.new is None or pair.old.sign != " ":
            start = max(0, index - _AROUND)
            near[start : index + _AROUND + 1] = [True] * len(near[start : index + _AROUND + 1])
    numbers = [0, 0]
    index = 0
    while index < len(lines):
        end = index
        while end < len(lines) and not near[end]:
            end += 1
        if end - index > _FOLD:
            numbers = [number + end - index for number in numbers]
            yield f'<tr><td class="fold" colspan="4">⋯ {end - index} lines</td></tr>'
            index = end
            continue
        for pair in lines[index : max(end, index + 1)]:
            yield _pair(pair, numbers)
        index = max(end, index + 1)


def _pair(pair: LinePair, numbers: list[int]) -> str:
    cells: list[str] = []
    for side, line in enumerate(pair):
        if line is None:
            cells.append('<td class="number"></td><td class="none"></td>')
            continue
        numbers[side] += 1
        kind = {"-": "old", "+": "new", " ": ""}[line.sign]
        cells.append(f'<td class="number">{numbers[side]}</td><td class="{kind}">{_marked(line)}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _marked(line: DiffTextLine) -> str:
    parts: list[str] = []
    at = 0
    for start, end in line.marks:
        parts.append(f"{escape_code(line.text[at:start])}<mark>{escape_code(line.text[start:end])}</mark>")
        at = end
    return "".join(parts) + escape_code(line.text[at:])


def _outputs(row: ChangeRow) -> str:
    changed = any(isinstance(operation, d.OutputsChanged) for operation in row.operations)
    if row.old is not None and row.new is not None and not changed:
        return ""
    sides = _side(row.old, "old"), _side(row.new, "new")
    return f'<div class="sides">{"".join(side or "<div></div>" for side in sides)}</div>' if any(sides) else ""


def _side(cell: SheetCell | None, side: str) -> str:
    if cell is None or not cell.outputs:
        return ""
    shown = (render_output(output, f"{side} output {number}") for number, output in enumerate(cell.outputs, 1))
    return f'<div class="outputs {side}">{"".join(shown)}</div>'


def _facts(operations: Sequence[d.AnyOperation]) -> str:
    """Names, tags and metadata, each with what it was and what it is."""
    lines = [change for operation in operations for change in value_changes(operation)]
    shown = (
        f'<tr><td class="{"old" if was else "none"}">{escape_code(f"{path}: {was}") if was else ""}</td>'
        f'<td class="{"new" if now else "none"}">{escape_code(f"{path}: {now}") if now else ""}</td></tr>'
        for path, was, now in lines
    )
    return f"<table>{''.join(shown)}</table>" if lines else ""
