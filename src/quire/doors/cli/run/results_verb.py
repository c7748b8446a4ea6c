"""`quire results`."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import sys
from pathlib import Path
from typing import Any, cast

import click
import msgspec
from msgspec import UNSET

from ....core.errors import BadInput
from ....core.results import RecordedResult
from ....core.values import Json
from ....formats.terminal_safe import one_line, plain
from ....kernel import plain as nearest_json
from ....runs.records.result_rows import COLUMNS, ResultRow, as_json, encodable, gather, write_parquet
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import CELL_WIDTH, counted, table
from ..workspace_command import at_option

SHORT_ID = 10
"""So much of a run's id is shown in a table: `quire runs show` takes a beginning."""


@click.command("results", epilog=EXIT_STATUS)
@click.argument("places", nargs=-1, required=True, metavar="RUN|FILE|DIR…")
@click.option("--name", "names", metavar="NAME", multiple=True, help="Only results of this name; may be given again.")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values.")
@click.option(
    "--parquet", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="Write a Parquet file."
)
@at_option
@json_option
def results_verb(
    places: tuple[str, ...], names: tuple[str, ...], as_csv: bool, parquet: Path | None, at: str | None, as_json: bool
) -> int:
    """List what notebooks recorded: of runs, of files, and of every .ipynb below folders.

    \b
      quire results runs/
      quire results runs/october.ipynb --json
      quire results runs/ --name score --csv > scores.csv

    Of frames, arrays, figures and files the rows say kind, media type and size; `quire.results(…, load=True)` in
    Python has them whole. A file in a folder that cannot be read is named on stderr, and the exit status is 1.
    """
    if as_json + as_csv + (parquet is not None) > 1:
        raise BadInput("--json, --csv and --parquet each say how the rows come out. Choose one.")
    found = asyncio.run(gather(places, at=at, names=names or None))
    nothing = f"nothing was recorded in {', '.join(places)}{' under that name' * bool(names)}."
    try:
        _print(found.rows, nothing, as_json=as_json, as_csv=as_csv, parquet=parquet)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has seen enough. What is left goes nowhere, or Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    for fault in found.faults:
        click.echo(f"quire: {_shown(fault)}", err=True)
    return int(bool(found.faults))


def _print(rows: list[ResultRow], nothing: str, *, as_json: bool, as_csv: bool, parquet: Path | None) -> None:
    if as_json:
        _print_json(rows)
    elif as_csv:
        _print_csv(rows)
    elif parquet is not None:
        write_parquet(rows, parquet)
        click.echo(f"quire: {counted(len(rows), 'result')}, written to {_shown(str(parquet))}", err=True)
    elif rows:
        click.echo(_table(rows))
    else:
        click.echo(f"quire: {_shown(nothing)}", err=True)


def _print_json(rows: list[ResultRow]) -> None:
    told = [as_json(row) for row in rows]
    try:
        click.echo(msgspec.json.encode(told))
    except UnicodeEncodeError:
        # Half a character, in a file's name or in a value: JSON has it as an escape.
        click.echo(json.dumps(told))


def _print_csv(rows: list[ResultRow]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    show = _shown if sys.stdout.isatty() else encodable
    for row in rows:
        told = as_json(row) | {"value": _value(row.result)}
        writer.writerow([show(each) if isinstance(each, str) else each for each in told.values()])


def _table(rows: list[ResultRow]) -> str:
    """File and run, where there are some, then name, kind and value."""
    places = [name for name in ("file", "run") if any(getattr(row, name) is not None for row in rows)]
    lines = [[*(_place(row, name) for name in places), *_told(row.result)] for row in rows]
    return table((*places, "name", "kind", "value"), lines)


def _place(row: ResultRow, name: str) -> str:
    found: str = getattr(row, name) or ""
    return encodable(found[:SHORT_ID] if name == "run" else found)


def _told(result: RecordedResult) -> tuple[str, str, str]:
    return result.name, encodable(result.kind), one_line(encodable(_seen(result)), CELL_WIDTH)


def _seen(result: RecordedResult) -> str:
    """A result as a person looks at it: its value, or what there is instead."""
    if result.value is UNSET:
        size = f"{result.size:,} bytes of {result.media}"
        return f"{result.file}, {size}" if result.file is not None else size
    value: Any = result.value
    if result.kind == "display" and isinstance(value, dict):
        shown = cast("dict[str, Json]", value)
        return str(shown.get("text/plain") or ", ".join(shown))
    return _value(result)


def _value(result: RecordedResult) -> str:
    """A value as text: text as it is, others as the nearest JSON."""
    if result.value is UNSET:
        return result.file or ""
    simple = nearest_json(result.value)
    return simple if isinstance(simple, str) else json.dumps(simple, ensure_ascii=False)


def _shown(text: str) -> str:
    return plain(encodable(text))
