"""What a kernel is given to run for a cell: its source, unless it is SQL, or in another language than the kernel's.

IPython runs a cell of bash, Perl or Ruby by a magic. Parameters are no variables there: a logbook puts them in as `{name}`.
"""

from __future__ import annotations

from typing import Any, cast

from ..core.errors import BadInput
from ..core.sheet.sheet import OURS, Sheet
from ..core.values import Json
from .sql_cells import as_code

MAGICS = {"bash": "%%bash", "sh": "%%bash", "perl": "%%perl", "ruby": "%%ruby"}
"""Languages of cells that a Python kernel runs, and how."""
_PYTHON = ("python", "ipython", "python3", "ipython3")


def kernel_code(kind: str, source: str, name: str | None, metadata: dict[str, Json], language: str) -> str:
    """Return what a kernel that speaks `language` is given for a cell."""
    if kind == "sql":
        return as_code(source, language, name)
    own = cell_language(metadata)
    magic = MAGICS.get(own) if own is not None and language.lower() in _PYTHON else None
    return source if magic is None else f"{magic}\n{source}"


def cell_language(metadata: dict[str, Json]) -> str | None:
    """Return the language that a cell says it is in; None: it is in that of its notebook."""
    ours: Any = metadata.get(OURS)
    said: Any = cast("dict[str, Json]", ours).get("language") if isinstance(ours, dict) else None
    return said.lower() if isinstance(said, str) else None


def check_languages(sheet: Sheet, language: str) -> None:
    """Refuse a notebook with a cell in a language that its kernel does not run."""
    here = language.lower()
    for cell in sheet.cells:
        own = cell_language(cell.metadata) if cell.kind == "code" else None
        if own is None or own == here or (here in _PYTHON and (own in _PYTHON or own in MAGICS)):
            continue
        runs = f" and {', '.join(MAGICS)}" if here in _PYTHON else ""
        told = f"Cell {cell.name or cell.id} is in {own}, and the kernel runs {language}{runs}."
        raise BadInput(f"{told} Choose another kernel (-k), or mark the cell as an example: `.noeval` behind {own}.")
