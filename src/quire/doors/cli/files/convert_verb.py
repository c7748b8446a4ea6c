"""`quire convert`."""

from __future__ import annotations

from pathlib import Path

import click

from ....core.errors import BadInput
from ....disk import STANDARD, read_text, write_text
from ....formats import registry
from ....formats.convert import convert
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import counted, print_json


@click.command("convert", epilog=EXIT_STATUS)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="A B | --to FORMAT FILE…")
@click.option("--to", metavar="FORMAT", help="The ending of what to write beside each FILE: ipynb, py, md, html, R …")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Where to write, with --to and one FILE; - is stdout."
)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@json_option
def convert_verb(files: tuple[Path, ...], to: str | None, output: Path | None, check: bool, as_json: bool) -> int:
    """Write notebooks in another format. The ending says which.

    \b
      quire convert sales.ipynb sales.py
      quire convert --to ipynb notebooks/*.py

    What is written over keeps what the new text does not say: ids, metadata, and the outputs of cells whose source did not change.
    docs/reference/formats.md says what each format carries.
    """
    pairs = _pairs(files, to, output)
    if as_json and any(target == STANDARD for _, target in pairs):
        raise BadInput("With OUTPUT - the notebook goes to stdout, where --json would print. Leave one out.")
    written = [(source, target, *_converted(source, target, to)) for source, target in pairs]
    changed = [(target, text) for _, target, text, is_new in written if is_new]
    if not check:
        for target, text in changed:
            write_text(target, text)
    if as_json:
        rows = [{"source": str(a), "output": str(b), "changed": is_new} for a, b, _, is_new in written]
        print_json(rows)
    elif output != STANDARD:
        _tell([target for target, _ in changed], len(written), check=check)
    return int(check and bool(changed))


def _pairs(files: tuple[Path, ...], to: str | None, output: Path | None) -> list[tuple[Path, Path]]:
    if to is None:
        if len(files) != 2 or output is not None:
            raise BadInput("Name two files, or the format: `quire convert A B`, `quire convert --to ipynb FILE…`.")
        return [(files[0], files[1])]
    ending = f".{to.removeprefix('.')}"
    registry.format_of(f"x{ending}")
    if output is not None and len(files) != 1:
        raise BadInput("--output takes one FILE. Without it, each is written beside its source.")
    pairs = [(file, output or file.with_suffix(ending)) for file in files]
    for number, (source, target) in enumerate(pairs):
        if source == target:
            raise BadInput(f"{source} has the ending {ending} already: it would be written over. Name another file.")
        if other := next((each for each, same in pairs[:number] if same == target), None):
            raise BadInput(f"{other} and {source} would both be written to {target}. Convert one of them.")
    return pairs


def _converted(source: Path, target: Path, to: str | None) -> tuple[str, bool]:
    """The text for the target, and whether it is another than what is there."""
    existing = read_text(target) if target != STANDARD and target.exists() else None
    name = f"-.{to}" if target == STANDARD else str(target)
    text = convert(read_text(source), str(source), name, existing)
    return text, text != existing


def _tell(changed: list[Path], count: int, *, check: bool) -> None:
    for target in changed:
        click.echo(f"{target} {'would change' if check else 'written'}", err=True)
    if not changed:
        click.echo(f"{counted(count, 'notebook')} up to date.", err=True)
