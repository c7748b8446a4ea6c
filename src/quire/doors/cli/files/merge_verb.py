"""`quire merge`."""

from __future__ import annotations

from pathlib import Path

import click

from ....core.diff.diff import encode
from ....core.diff.merge import MergeConflict, MergeResult, UnresolvedConflict, unresolved
from ....core.errors import BadInput
from ....core.sheet.sheet import Sheet
from ....core.visible import visible_line
from ....disk import STANDARD, read_text, write_text
from ....formats import registry
from ....formats.terminal_safe import one_line
from ....git.revisions import FileRevision, merge_versions, three_files
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import counted


@click.command("merge", epilog=EXIT_STATUS)
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="BASE OURS THEIRS | --check FILE…"
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to write; - is stdout. May be OURS.")
@click.option("--check", is_flag=True, help="List the conflicts that are left in each FILE.")
@json_option
def merge_verb(files: tuple[Path, ...], output: Path | None, check: bool, as_json: bool) -> int:
    """Merge what became of BASE in OURS and in THEIRS, cell by cell, and line by line inside a cell.

    \b
      quire merge base.ipynb ours.ipynb theirs.ipynb -o merged.ipynb
      quire merge --check merged.ipynb

    Where both changed the same lines, the cell holds both between markers, and the notebook opens as any other:
    edit the cell to resolve it. Two runs never conflict. BASE may be missing or empty.
    Exit status 1: conflicts are left, and OUTPUT is written.
    """
    if check:
        return _check(files, as_json=as_json)
    if len(files) != 3 or output is None:
        raise BadInput("Name three notebooks and where to write: `quire merge BASE OURS THEIRS -o OUT`.")
    if as_json and output == STANDARD:
        raise BadInput("With --output - the notebook goes to stdout, where --json would print. Leave one out.")
    base, ours, theirs = three_files(*files)
    merged = merge_versions(base, ours, theirs)
    write_text(output, _written(merged.sheet, ours, output))
    if as_json:
        click.echo(encode({"output": str(output), "cells": len(merged.sheet.cells), "conflicts": merged.conflicts}))
    else:
        _tell(merged, output)
    return int(bool(merged.unresolved))


def _written(sheet: Sheet, ours: FileRevision, output: Path) -> str:
    """In the format of the output; what did not change keeps the bytes that it has in OURS."""
    path = ours.path if output == STANDARD else str(output)
    if registry.format_of(path) != registry.format_of(ours.path):
        return registry.write(sheet, path)
    return registry.write(sheet, path, like=ours.text, was=ours.sheet)


def _tell(merged: MergeResult, output: Path) -> None:
    numbers = {cell.id: number for number, cell in enumerate(merged.sheet.cells, 1)}
    for conflict in merged.conflicts:
        where = f"cell {numbers[conflict.cell]} ({conflict.cell})" if conflict.cell else "notebook"
        click.echo(f"{where}: {_said(conflict)}", err=True)
    if left := len(merged.unresolved):
        click.echo(
            f"{counted(left, 'conflict')} left in {output}: edit the cells, then `quire merge --check`.", err=True
        )


def _said(conflict: MergeConflict) -> str:
    if conflict.settled:
        return f"both sides changed {one_line(conflict.field)}; one value was kept."
    if conflict.ours is None or conflict.theirs is None:
        return "one side removed it, the other changed it."
    return "both sides changed the same lines." if conflict.base is not None else "both sides added it, differently."


def _check(files: tuple[Path, ...], *, as_json: bool) -> int:
    found = [(file, unresolved(registry.read(read_text(file), str(file)))) for file in files]
    if as_json:
        click.echo(encode([{"file": str(file), "conflicts": conflicts} for file, conflicts in found]))
    else:
        for file, conflicts in found:
            for conflict in conflicts:
                click.echo(_line(file, conflict))
    return int(any(conflicts for _, conflicts in found))


def _line(file: Path, conflict: UnresolvedConflict) -> str:
    ours, theirs = (visible_line(side, 30) or "nothing" for side in (conflict.ours, conflict.theirs))
    return f"{file}: cell {conflict.number} ({conflict.cell}): {ours} | {theirs}"
