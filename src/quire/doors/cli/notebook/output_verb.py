"""`quire output`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import click
import msgspec

from ....core.errors import BadInput, NotFound
from ....core.events import Output, Stream
from ....core.notebook.notebook import Cell
from ....disk import writing
from ....formats.terminal_safe import plain
from ....runs.records.cell_output import json_pieces, text_pieces
from ....verbs.answers.answer import Here
from ....verbs.answers.handles import meant
from ....verbs.answers.page import BlobSource
from ....verbs.arguments import OutputArguments
from ....verbs.find import reading_of
from ....verbs.read import image_bytes, output, pictures_in
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import print_json
from ..workspace_command import notebook_argument, with_workspace

_MOST_HELD = 1_000_000
"""A line that goes on for longer is printed in parts."""


@click.command("output", epilog=EXIT_STATUS)
@notebook_argument
@click.argument("cell")
@click.option("--stream", type=click.Choice(["stdout", "stderr"]), help="Only what it printed there.")
@click.option("--from", "start", metavar="N", type=int, help="A page from character N on; negative: from the end.")
@click.option("--find", "pattern", metavar="RE", help="Only lines that match a regular expression, and where they are.")
@click.option("--budget", metavar="TOKENS", type=click.IntRange(100, 50_000), default=2000, help="How long a page is.")
@click.option("--image", type=click.Path(path_type=Path, dir_okay=False), help="Write the picture that it showed here.")
@with_workspace
async def output_verb(
    workspace: Workspace,
    notebook: str,
    cell: str,
    stream: str | None,
    start: int | None,
    pattern: str | None,
    budget: int,
    image: Path | None,
    as_json: bool,
) -> None:
    """Print all that CELL showed in NOTEBOOK, which may be a run.

    \b
      quire output 01M7GFVPH9 3 | less
      quire output sales c5aq.0@431 --find total

    CELL is an id or its beginning, a name, a number as `quire show` counts, or a handle that `quire show` gave. On a terminal the
    text is made harmless; in a pipe it is as it was printed. What is no text is named, with the hash of its blob. With --json, an
    object with the outputs; of a page or a search, where it is.
    """
    here = Here(workspace=workspace)
    is_part = start is not None or pattern is not None
    if is_part + (stream is not None) + (image is not None) > 1:
        raise BadInput(
            "--from and --find print a part, --stream what was printed there, --image a picture: choose one."
        )
    if image is not None:
        await _write_image(here, notebook, cell, image, as_json=as_json)
    elif is_part:
        wanted = OutputArguments(notebook=notebook, of=cell, at=start or 0, find=pattern, budget=budget)
        answer = await output(here, wanted)
        if as_json:
            print_json(answer.facts | {"text": answer.text})
        else:
            click.echo(answer.text)
    else:
        await _print_all(here, notebook, cell, stream, as_json=as_json)


async def _print_all(here: Here, notebook: str, cell: str, stream: str | None, *, as_json: bool) -> None:
    reading = await reading_of(here, notebook)
    found = await meant(here, reading, cell)
    numbers = {each.id: number for number, each in enumerate(reading.notebook.live_cells, 1)}
    shown = [each for _, each in found.outputs]
    outputs = [each for each in shown if stream is None or (isinstance(each, Stream) and each.name == stream)]
    if as_json:
        number, name, state = numbers.get(found.cell.id), found.cell.name, found.cell.state
        about = {"log": reading.log, "cell": found.cell.id, "number": number, "name": name, "state": state}
        about["imported"] = found.is_imported
        await _print_json(here.workspace, about, outputs)
        return
    printing = OutputPrinter()
    for each in outputs:
        await print_output(here.workspace, each, printing)
    printing.finish()
    _tell_state(numbers.get(found.cell.id), found.cell, has_shown=bool(outputs), is_imported=found.is_imported)


async def _write_image(here: Here, notebook: str, cell: str, file: Path, *, as_json: bool) -> None:
    """Write the last picture of a cell as it was shown."""
    reading = await reading_of(here, notebook)
    found = await meant(here, reading, cell)
    pictures = pictures_in(found)
    if not pictures:
        raise NotFound(f"{found.called} showed no picture. `quire output {notebook} {cell}` prints what it showed.")
    data = await image_bytes(BlobSource(here.workspace, reading.blobs), *pictures[-1])
    with writing(file) as target:
        target.write(data)
    if as_json:
        print_json({"file": str(file), "media": pictures[-1][1], "size": len(data)})
    else:
        click.echo(f"Wrote {file} ({pictures[-1][1]}, {len(data):,} bytes)", err=True)


async def print_output(workspace: Workspace, output: Output, printing: OutputPrinter) -> None:
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
    for number, each in enumerate(outputs):
        write(b"," if number else b"")
        async for piece in json_pieces(workspace, each):
            write(piece.encode())
    write(b"]}\n")


class OutputPrinter:
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


def _tell_state(number: int | None, cell: Cell, *, has_shown: bool, is_imported: bool) -> None:
    """Say on stderr what an output alone would leave open: that it is empty, unfinished, or not of a kernel here."""
    which = f"Cell {number} ({cell.id})" if number is not None else f"Cell {cell.id}"
    if not cell.runs:
        told = f"{which} is {cell.kind}: it shows nothing but itself."
    elif cell.state in ("queued", "running"):
        told = f"{which} is {cell.state}: there may be more."
    elif has_shown and is_imported:
        told = f"{which} is imported: a file brought this along, and nobody ran it here."
    elif has_shown:
        return
    else:
        told = f"{which} showed nothing: it is {cell.state}."
    click.echo(f"quire: {told}", err=True)
