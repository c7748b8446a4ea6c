"""`quire strip`, and the options that say what stays."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from .. import EXIT_STATUS
from ..options import json_option
from ..printer import counted, print_json

if TYPE_CHECKING:
    from ....formats.strip import Rules

F = TypeVar("F", bound=Callable[..., Any])
STANDARD = "-"


def _size(ctx: click.Context, param: click.Parameter, value: str) -> int:
    """A number of characters, as nbstripout takes it: 500, 10k, 2M."""
    found = re.fullmatch(r"([0-9]{1,15})([KMG]?)", value.upper())
    if not found:
        raise click.BadParameter(f"{value!r} is no size. Write a number, or one with K, M or G after it: 10k.")
    return int(found[1]) * {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}[found[2]]


def _words(ctx: click.Context, param: click.Parameter, value: str | tuple[str, ...]) -> tuple[str, ...]:
    """nbstripout takes several in one argument; the option may also be given several times."""
    given = (value,) if isinstance(value, str) else value
    return tuple(word for each in given for word in each.split())


def _several(name: str, metavar: str, said: str) -> Callable[[F], F]:
    return click.option(name, metavar=metavar, multiple=True, callback=_words, help=said)


_RULES: Sequence[Callable[[Any], Any]] = (
    click.option("--keep-output", is_flag=True, help="Keep outputs."),
    click.option("--keep-count", is_flag=True, help="Keep execution counts."),
    click.option(
        "--keep-id/--number-id", "keep_id", default=True, help="Keep ids, or make them 0, 1, 2 ….  [default: keep]"
    ),
    _several("--keep-metadata-keys", "KEYS", "Keep these: `metadata.NAME`, `cell.metadata.NAME`."),
    _several("--extra-keys", "KEYS", "Remove these as well."),
    click.option("--drop-empty-cells", is_flag=True, help="Remove cells with nothing in them."),
    _several("--drop-tagged-cells", "TAGS", "Remove cells that have one of these tags."),
    click.option("--strip-init-cells", is_flag=True, help="Strip cells with `init_cell` like any other."),
    _several("--keep-output-type", "TYPES", "Keep outputs of these types: `error`, `stream:stderr`."),
    _several("--drop-output-type", "TYPES", "Remove these even where outputs stay."),
    click.option("--max-size", metavar="SIZE", callback=_size, default="0", help="Keep outputs up to SIZE characters."),
)
_PLURAL = {"keep_output_type": "keep_output_types", "drop_output_type": "drop_output_types"}


def rules_options(function: F) -> F:
    """Give a verb the options that `rules_of` understands."""
    for option in reversed(_RULES):
        function = option(function)
    return function


def rules_of(options: dict[str, Any]) -> Rules:
    """Take the rules out of a verb's options."""
    from ....formats.strip import Rules

    names = [_PLURAL.get(name, name) for name in options]
    return Rules(**dict(zip(names, options.values(), strict=True)))


class _Strip(NamedTuple):
    """One file: what it says, and what it will say."""

    path: str
    text: str
    stripped: str

    @property
    def changed(self) -> bool:
        return self.text != self.stripped


@click.command("strip", epilog=EXIT_STATUS)
@click.argument("files", metavar="FILE…", nargs=-1, type=click.Path())
@click.option("--check", "--verify", "check", is_flag=True, help="Write nothing; exit 1 when a file is not stripped.")
@click.option("--dry-run", is_flag=True, help="Write nothing; say what would be stripped.")
@click.option("-t", "--textconv", is_flag=True, help="Write nothing; print the stripped notebooks.")
@click.option("-f", "--force", is_flag=True, help="Take files with another ending for .ipynb.")
@rules_options
@json_option
def strip_verb(
    files: tuple[str, ...], check: bool, dry_run: bool, textconv: bool, force: bool, as_json: bool, **options: Any
) -> int:
    """Remove from notebooks what running them left: outputs, counts and some metadata.

    \b
      quire strip --check notebooks/*.ipynb

    The rules are nbstripout's: a cell keeps its outputs when its tags or metadata say
    `keep_output`, or its metadata `init_cell`; so does a notebook whose metadata says
    `keep_output`. `-`, or no FILE, is standard input to standard output. When one FILE cannot be
    read, none is written. Files without outputs (.py, .md) are left as they are.
    """
    names = files or _standard()
    prints = textconv or (STANDARD in names and not check and not dry_run)
    if as_json and prints:
        raise click.UsageError("--json and the notebook itself cannot both go to stdout.")
    rules = rules_of(options)
    done = [_strip(name, rules, force=force) for name in names]
    if prints:
        return _print(done)
    written = not check and not dry_run
    if written:
        _write(done)
    _tell(done, "Stripped" if written else "Not stripped", as_json=as_json, written=written)
    return int(check and any(each.changed for each in done))


def _standard() -> tuple[str, ...]:
    if sys.stdin.isatty():
        raise click.UsageError("Name a FILE, or send a notebook to standard input.")
    return (STANDARD,)


def _strip(name: str, rules: Rules, *, force: bool) -> _Strip:
    from ....disk import read_text
    from ....formats.registry import ENDINGS, ending_of, format_of, read, write
    from ....formats.strip import strip

    # Standard input has no ending; a path only has to say .ipynb to be read as one.
    path = "stdin.ipynb" if name == STANDARD else name
    if force and ENDINGS.get(ending_of(path)) != "ipynb":
        path = f"{path}.ipynb"
    text = read_text(Path(name))
    if format_of(path) != "ipynb":
        return _Strip(name, text, text)
    sheet = read(text, path)
    stripped = strip(sheet, rules, path)
    return _Strip(name, text, text if stripped is sheet else write(stripped, path, like=text, was=sheet))


def _print(done: Sequence[_Strip]) -> int:
    from ....disk import STANDARD as STDOUT
    from ....disk import write_text

    for each in done:
        write_text(STDOUT, each.stripped)
    return 0


def _write(done: Sequence[_Strip]) -> None:
    from ....disk import write_text

    for each in done:
        if each.changed:
            write_text(Path(each.path), each.stripped)


def _tell(done: Sequence[_Strip], did: str, *, as_json: bool, written: bool) -> None:
    from ....formats.terminal_safe import plain

    changed = [each.path for each in done if each.changed]
    if as_json:
        print_json(
            {"changed": changed, "unchanged": [each.path for each in done if not each.changed], "written": written}
        )
        return
    for path in changed:
        click.echo(f"{did}: {plain(path)}", err=True)
    if not changed:
        click.echo(f"Nothing to strip in {counted(len(done), 'file')}.", err=True)
