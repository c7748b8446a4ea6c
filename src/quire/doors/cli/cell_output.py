"""`quire output`."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click
import msgspec

from ...core.events import Output, Stream
from ...core.finding import find_cell
from ...core.notebook import Cell
from ...files.plain import plain
from ...runs.shown import json_pieces, text_pieces
from ...workspace.workspace import Workspace
from . import EXIT_STATUS
from .verb import notebook_argument, with_workspace

_MOST_HELD = 1_000_000
"""A line that goes on for longer is printed in parts."""


@click.command("output", epilog=EXIT_STATUS)
@notebook_argument
@click.argument("cell")
@click.option("--stream", type=click.Choice(["stdout", "stderr"]), help="Only what it printed there.")
@with_workspace
async def output_verb(workspace: Workspace, notebook: str, cell: str, stream: str | None, as_json: bool) -> None:
    """Print all that CELL showed in NOTEBOOK, which may be a run.

    \b
      quire output 01M7GFVPH9 3 | less

    CELL is an id or its beginning, a name, or a number as `quire show` counts. On a terminal the text is made harmless; in a
    pipe it is as it was printed. What is no text is named, with the hash of its blob. With --json, an object with the outputs.
    """
    info = await workspace.find(notebook)
    cells = list((await workspace.read(info.log)).live_cells)
    index = find_cell(cells, cell)
    number, found = index + 1, cells[index]
    shown = found.execution.outputs if found.execution is not None and found.runs else []
    outputs = [each for each in shown if stream is None or (isinstance(each, Stream) and each.name == stream)]
    if as_json:
        about = {"log": info.log, "cell": found.id, "number": number, "name": found.name, "state": found.state}
        await _print_json(workspace, about, outputs)
        return
    printing = Printing()
    for output in outputs:
        await print_output(workspace, output, printing)
    printing.finish()
    _tell_state(number, found, has_shown=bool(outputs))


async def print_output(workspace: Workspace, output: Output, printing: Printing) -> None:
    """Streams go on where the one before ended, as they did in the kernel; all else has lines of its own."""
    if not isinstance(output, Stream):
        printing.end_line()
    async for piece in text_pieces(workspace, output):
        printing.write(piece)
    if not isinstance(output, Stream):
        printing.end_line()


async def _print_json(workspace: Workspace, about: Mapping[str, object], outputs: list[Output]) -> None:
    """Piece by piece: a text may be larger than the memory."""
    write = sys.stdout.buffer.write
    write(msgspec.json.encode(about)[:-1] + b',"outputs":[')
    for number, output in enumerate(outputs):
        write(b"," if number else b"")
        async for piece in json_pieces(workspace, output):
            write(piece.encode())
    write(b"]}\n")


class Printing:
    """Writes to stdout: harmless text to a terminal, by lines; to a pipe as it is."""

    def __init__(self) -> None:
        self._is_terminal = sys.stdout.isatty()
        self._encoding = sys.stdout.encoding if self._is_terminal else "utf-8"
        self._held = ""
        self._is_inside_line = False

    def write(self, text: str) -> None:
        """Print a piece of text."""
        if not text:
            return
        self._is_inside_line = not text.endswith("\n")
        if not self._is_terminal:
            self._pass_on(text)
            return
        # Whole lines: half of an escape sequence could not be told from text.
        lines, newline, self._held = (self._held + text).rpartition("\n")
        self._pass_on(plain(lines + newline))
        if len(self._held) > _MOST_HELD:
            self._flush()

    def end_line(self) -> None:
        """End a line that was begun."""
        if self._is_inside_line:
            self.write("\n")

    def finish(self) -> None:
        """Print what is left; a terminal's prompt is to begin a line."""
        if self._is_terminal:
            self.end_line()
        self._flush()

    def _flush(self) -> None:
        self._pass_on(plain(self._held))
        self._held = ""

    def _pass_on(self, text: str) -> None:
        sys.stdout.buffer.write(text.encode(self._encoding, "backslashreplace"))


def _tell_state(number: int, cell: Cell, *, has_shown: bool) -> None:
    """Say on stderr what an empty or unfinished output would leave open."""
    which = f"Cell {number} ({cell.id})"
    if not cell.runs:
        told = f"{which} is {cell.kind}: it shows nothing but itself."
    elif cell.state in ("queued", "running"):
        told = f"{which} is {cell.state}: there may be more."
    elif has_shown:
        return
    else:
        told = f"{which} showed nothing: it is {cell.state}."
    click.echo(f"quire: {told}", err=True)
