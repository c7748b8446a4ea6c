"""Notebook files that no log knows: made and edited as they lie on disk, whole or not at all.

Others may write them at the same moment. Among ourselves a lock on the folder makes one wait for
the other; whoever else was faster is noticed before anything is replaced.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from ..core.edits.edit_errors import not_python, unified
from ..core.edits.operations import check_source
from ..core.errors import BadInput, Conflict, NotFound, Refused
from ..core.notebook.cell_lookup import NamedCell, find_cell
from ..core.python.parse import fault_in
from ..core.sheet.sheet import Sheet, SheetCell
from ..core.text import source_hash
from ..disk import check_writable, decode, read_bytes, write_text
from ..formats import registry

LEAST_HASH = 6
"""Characters of a hash that say which source it is of."""


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet."""
    check_writable(path)
    try:
        # Claimed first: who comes at the same time finds it taken, and replaces nothing.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except FileExistsError:
        raise Conflict(f"{path} is there already, and is not replaced. Name another file, or edit this one.") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}. Name another place.") from error
    try:
        write_text(path, text)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write_beside(folder: Path, name: str, text: str) -> Path:
    """Write a new file of that name, or of the next one that nobody has: `name.py`, `name-2.py` …"""
    number = 1
    while True:
        path = folder / (f"{name}.py" if number == 1 else f"{name}-{number}.py")
        try:
            write_new(path, text)
            return path
        except Conflict:
            number += 1


def read_sheet(path: Path) -> Sheet:
    """The notebook that a file holds."""
    return registry.read(decode(read_bytes(path), str(path)), str(path))


def edit_file(path: Path, cell: str | int, source: str, base: str | None) -> SheetCell:
    """Give a cell of a file another source, and return the cell as the file has it then."""
    if registry.format_of(str(path)) == "html":
        raise BadInput(f"{path}: a page cannot be edited as a notebook. Edit the notebook that it was made of.")
    with _alone(path.parent):
        data = read_bytes(path)
        text = decode(data, str(path))
        sheet = registry.read(text, str(path))
        place = place_of(sheet.cells, cell, base)
        _check(sheet, sheet.cells[place], source, base)
        cells = (*sheet.cells[:place], replace(sheet.cells[place], source=source), *sheet.cells[place + 1 :])
        written = registry.write(replace(sheet, cells=cells), str(path), text, sheet)
        found = _as_written(written, path, place, source)
        if read_bytes(path) != data:
            raise Conflict(f"{path} was written by somebody else at the same moment. Try again.")
        write_text(path, written)
        return found


def place_of(cells: Sequence[NamedCell], cell: str | int, base: str | None) -> int:
    """Where a cell is: by its id or its beginning, its name, or (with the hash of what was read) its index from 0."""
    name = str(cell)
    if not name.isdecimal() or any(name in (each.id, each.name) for each in cells):
        return _named(cells, name)
    if base is None:
        raise BadInput(f"Cells move: index {name} needs base_hash, the hash of what you read there. Or name the cell.")
    if len(name) > 9 or int(name) >= len(cells):
        raise NotFound(f"There is no cell {name}: the cells have the indexes 0 to {len(cells) - 1}.")
    return int(name)


def _named(cells: Sequence[NamedCell], name: str) -> int:
    try:
        return find_cell(cells, name)
    except NotFound as error:
        close: list[str] = error.details["nearest"] or [each.name or each.id for each in cells[:5]]
        raise NotFound(f"There is no cell {name[:80]!r}. Nearest: {', '.join(close)}.", nearest=close) from None


def _check(sheet: Sheet, cell: SheetCell, source: str, base: str | None) -> None:
    """Refuse an edit of another source than the cell has, and what no cell or kernel could take."""
    now = source_hash(cell.source)
    if base is not None and not now.startswith(base):
        raise Refused(
            f"Cell {cell.name or cell.id!r} is not the source that {base[:12]!r} names: it was changed since, or is another "
            f"cell. Its source is in `source`, how yours differs from it in `difference`. Send the edit again with "
            f"base_hash {now[:12]}. Nothing was changed.",
            cell=cell.id,
            source=cell.source,
            source_hash=now,
            difference=unified(cell.source, source),
        )
    check_source(source)
    if cell.kind == "code" and sheet.language in ("python", "ipython") and (fault := fault_in(source)) is not None:
        error = not_python(cell.id, source, fault)
        raise type(error)(f"{error} Nothing was changed.", **error.details)


def checked_base(base: str | None) -> str | None:
    """The beginning of a hash, as it may be given."""
    if base is None:
        return None
    bare = base.removeprefix("#").lower()
    if not LEAST_HASH <= len(bare) <= 64 or set(bare) - set("0123456789abcdef"):
        raise BadInput(
            f"base_hash is {LEAST_HASH} to 64 characters of a hash such as {source_hash('')[:12]}, not {base[:80]!r}."
        )
    return bare


def _as_written(text: str, path: Path, place: int, source: str) -> SheetCell:
    """The cell as whoever reads the file next finds it; what a format cannot hold is not written."""
    cells = registry.read(text, str(path)).cells
    if place >= len(cells) or cells[place].source != source:
        raise BadInput(f"{path}: this format cannot hold that source as one cell. Nothing was changed. Use .ipynb.")
    return cells[place]


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise NotFound(f"{folder} cannot be read: {error.strerror or error}. Look for a typing error.") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
