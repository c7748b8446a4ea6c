"""Cells as ruff sees them, told with the lines of the notebook's own file."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ....core.errors import BadInput
from ....core.sheet.sheet import Sheet, SheetCell, cell_language
from ....formats import registry
from .finding import Finding

MISSING = "ruff is not installed here, so the cells were not linted."
_SECONDS = 60
_PYTHON = ("python", "ipython")


class _Position(msgspec.Struct):
    row: int
    column: int


class _RuffFinding(msgspec.Struct):
    """As ruff's JSON has it."""

    message: str
    location: _Position
    code: str | None = None
    cell: int | None = None
    noqa_row: int | None = None


def find_ruff(environ: Mapping[str, str]) -> str | None:
    """Return ruff's command: on the path, else beside our own Python."""
    beside = Path(sys.executable).with_name("ruff")
    return shutil.which("ruff", path=environ.get("PATH")) or (str(beside) if beside.exists() else None)


def _bare(cell: SheetCell) -> SheetCell:
    """The cell without what it showed; one of another language says nothing, and keeps its place."""
    own = cell_language(cell.metadata)
    source = cell.source if own is None or own.lower() in _PYTHON else ""
    return msgspec.structs.replace(cell, source=source, outputs=[], count=None)


def ruff_findings(sheet: Sheet, path: Path, command: str) -> Iterator[Finding]:
    """Yield what ruff says, by the settings that hold for the folder of the notebook."""
    if sheet.language not in _PYTHON:
        return
    # As a notebook, whatever it is: so ruff knows magics, and that imports may stand in any cell.
    bare = msgspec.structs.replace(sheet, cells=tuple(map(_bare, sheet.cells)))
    name = path.absolute().with_suffix(".ipynb")
    arguments = ["check", "--output-format=json", "--no-fix", "--exit-zero", f"--stdin-filename={name}", "-"]
    try:
        done = subprocess.run(  # noqa: S603 - ruff, by its path; the notebook is its input
            [command, *arguments],
            input=registry.write(bare, str(name)).encode("utf-8", "replace"),
            cwd=path.absolute().parent,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        found = msgspec.json.decode(done.stdout, type=list[_RuffFinding])
    except (OSError, subprocess.TimeoutExpired, msgspec.DecodeError) as error:
        raise BadInput(f"{path}: ruff did not work: {error}.") from None
    for each in found:
        cell = sheet.cells[each.cell - 1] if each.cell and each.cell <= len(sheet.cells) else None
        told = f"{each.code or 'syntax'} {each.message}"
        yield Finding(check="ruff", message=told, cell=cell, line=each.location.row)
