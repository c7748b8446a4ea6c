"""A notebook with less of what its cells showed: for a reader who asks for the rest when it is looked at."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ..core.events import Display, Output, Raised, Stream
from ..core.notebook.notebook import Cell, Execution, Notebook

CUT = "quire_cut"
"""The key of a display's metadata that says how many bytes stood there. The execution by its id has all of them."""


def cut_outputs(notebook: Notebook, most_bytes: int) -> Notebook:
    """Return the notebook with at most so many bytes of outputs per execution that has ended.

    An output that does not fit is replaced by an empty display with CUT in its metadata. What runs keeps everything: its
    next outputs are appended to what is there.
    """
    changed = {id: cut for id, cell in notebook.cells.items() if (cut := _cut_cell(cell, most_bytes)) is not cell}
    return replace(notebook, cells=notebook.cells | changed) if changed else notebook


def _cut_cell(cell: Cell, most_bytes: int) -> Cell:
    execution = cell.execution
    if execution is None or execution.is_open:
        return cell
    cut = _cut_execution(execution, most_bytes)
    return cell if cut is execution else replace(cell, execution=cut)


def _cut_execution(execution: Execution, most_bytes: int) -> Execution:
    left, outputs, is_cut = most_bytes, list[Output](), False
    for output in execution.outputs:
        size = _size(output)
        left -= size
        if left >= 0:
            outputs.append(output)
            continue
        left += size
        is_cut = True
        display_id = output.display_id if isinstance(output, Display) else None
        outputs.append(Display(metadata={CUT: size}, display_id=display_id))
    return replace(execution, outputs=tuple(outputs)) if is_cut else execution


def _size(output: Output) -> int:
    match output:
        case Stream():
            return len(output.head) + len(output.tail)
        case Raised():
            return len(output.evalue) + sum(map(len, output.traceback))
        case Display():
            return sum(len(each) if isinstance(each, str) else _json_size(each) for each in output.data.values())


def _json_size(value: object) -> int:
    return len(msgspec.json.encode(value))
