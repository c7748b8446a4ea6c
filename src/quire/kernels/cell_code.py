"""What a kernel is given for a cell: its source, or code that has it run a cell of another language than its own.

A cell runs in its own language or not at all: the source of one language may well mean something in another.
"""

from __future__ import annotations

from ..core.errors import BadInput
from ..core.events import CellKind
from ..core.sheet.sheet import Sheet, cell_language
from ..core.values import Json
from . import sql_cells

_MAGICS = ("bash", "perl", "ruby")
"""The languages that IPython runs by a cell magic, in a process of their own for each cell."""
_ALIASES = {
    "sh": "bash",
    "shell": "bash",
    "zsh": "bash",
    "ipython": "python",
    "ipython3": "python",
    "python3": "python",
}


def code_of(kind: CellKind, source: str, metadata: dict[str, Json], name: str | None, kernel: str) -> str:
    """Return what a kernel of the language `kernel` runs for a cell; refuse a cell whose language it cannot run."""
    what = f"cell {name!r}" if name else "a cell"
    if kind == "sql":
        return sql_cells.as_code(source, kernel, name)
    own = _foreign(metadata, source, kernel)
    if own is None:
        return source
    _check_language(own, kernel, what)
    return f"%%{own}\n{source}"


def check(sheet: Sheet, kernel: str) -> None:
    """Refuse a notebook with a cell that its kernel cannot run in the cell's own language."""
    for cell in sheet.cells:
        if cell.kind == "sql":
            sql_cells.check_language(kernel, f"cell {cell.id}")
        own = _foreign(cell.metadata, cell.source, kernel) if cell.kind == "code" else None
        if own is not None:
            _check_language(own, kernel, f"cell {cell.name or cell.id}")


def _foreign(metadata: dict[str, Json], source: str, kernel: str) -> str | None:
    """The language of a cell, where it is another than the kernel's and its source does not say so by a magic."""
    own = cell_language(metadata)
    if own is None or _named(own) == _named(kernel):
        return None
    return None if _named(kernel) == "python" and source.lstrip().startswith("%%") else _named(own)


def _named(language: str) -> str:
    name = language.strip().lower()
    return _ALIASES.get(name, name)


def _check_language(own: str, kernel: str, what: str) -> None:
    if _named(kernel) == "python" and own in _MAGICS:
        return
    runs = f" Beside Python, it runs {', '.join(_MAGICS)} and SQL." if _named(kernel) == "python" else ""
    raise BadInput(
        f"{what} is {own}, and the kernel speaks {kernel}.{runs} Choose another kernel with -k, move the cell into a notebook "
        "of its language, or mark it as an example: `.noeval` behind the label of its fence."
    )
