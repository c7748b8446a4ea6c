"""`quire patch`."""

from __future__ import annotations

from pathlib import Path

import click

from ....core.diff.diff import decode
from ....core.diff.patch import patch
from ....core.errors import BadInput
from ....core.sheet.sheet import Sheet
from ....disk import STANDARD, read_text, write_text
from ....formats import registry
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import counted, print_json


@click.command("patch", epilog=EXIT_STATUS)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("diff", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to write; - is stdout.  [default: FILE]")
@click.option("--check", is_flag=True, help="Write nothing; only say whether it can be applied.")
@json_option
def patch_verb(file: Path, diff: Path, output: Path | None, check: bool, as_json: bool) -> None:
    """Apply DIFF, which `quire diff --json` printed (- is stdin), to the notebook FILE: all of it, or nothing.

    \b
      quire diff old.ipynb new.ipynb --json > change.json
      quire patch old.ipynb change.json

    FILE may have changed since, as long as the cells that DIFF names still say what it expects.
    Exit status 3: they do not. The message names the cell and the field.
    """
    target = output or file
    if as_json and target == STANDARD and not check:
        raise BadInput("With --output - the notebook goes to stdout, where --json would print. Leave one out.")
    if file == diff == STANDARD:
        raise BadInput("Notebook and diff cannot both come from standard input. Name a file for one.")
    text, operations = read_text(file), decode(read_text(diff), str(diff))
    was = registry.read(text, str(file))
    sheet = patch(was, operations)
    if not check:
        write_text(target, _written(sheet, text, was, file, target))
    if as_json:
        print_json({"output": None if check else str(target), "operations": len(operations)})
    elif check or target != STANDARD:
        did = "can be applied to" if check else "applied to"
        click.echo(f"{counted(len(operations), 'operation')} {did} {file}", err=True)


def _written(sheet: Sheet, text: str, was: Sheet, file: Path, target: Path) -> str:
    """In the format of the target; what did not change keeps the bytes of the file. It is a notebook, or refused."""
    if target == STANDARD or registry.format_of(str(target)) == registry.format_of(str(file)):
        target, made = file, registry.write(sheet, str(file), like=text, was=was)
    else:
        made = registry.write(sheet, str(target))
    try:
        is_notebook = len(registry.read(made, str(target)).cells) == len(sheet.cells)
    except BadInput as error:
        raise BadInput(f"The diff would make of {file} what is no notebook: {error}") from None
    if not is_notebook:
        raise BadInput(
            f"The diff would make of {file} another notebook than it says. It may have been written by hand."
        )
    return made
