"""What the cells of a notebook show when they are run from the top, until one fails: for a file that holds its outputs."""

from __future__ import annotations

import contextlib
from typing import Any, cast

from .notebooks import Cell, Outputs, as_ipynb


async def ran(cells: list[Cell]) -> Outputs:
    """The count and the outputs of each cell that ran, by its number, as notebook files have them."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    reads = cast("Any", nbformat).reads
    notebook: Any = reads(as_ipynb(cells).decode(), 4)
    with contextlib.suppress(CellExecutionError):  # what failed is an output as well
        await NotebookClient(notebook, kernel_name="python3", timeout=600).async_execute()
    numbered = enumerate(cast("list[Any]", notebook.cells))
    return {number: (cell.execution_count, cell.outputs) for number, cell in numbered if cell.get("execution_count")}
