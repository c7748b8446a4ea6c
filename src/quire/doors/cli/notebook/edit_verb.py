"""`quire edit`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec

from ....core.edits.operations import Replace
from ....core.errors import BadInput, QuireError
from ....core.events import SourceEdited
from ....core.notebook.cell_lookup import find_cell
from ....core.text import source_hash
from ....disk import read_text
from ....formats.terminal_safe import plain
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..auto_runtime import runtimes_beside
from ..files.mirror_verb import folder_of_files
from ..printer import print_json
from ..screen import terminal_prompter
from ..submission import submit
from ..workspace_command import notebook_argument, with_workspace

if TYPE_CHECKING:
    from ....verbs.answers.answer import Here
    from ....verbs.arguments import Cells, EditArguments

_UNLIMITED = 1_000_000
"""Tokens: a terminal has no budget."""


@click.command("edit", epilog=EXIT_STATUS)
@notebook_argument
@click.argument("cell", required=False)
@click.option(
    "--file", type=click.Path(path_type=Path, allow_dash=True), help="What it is to say; `-`: standard input."
)
@click.option("--base", metavar="HASH", help="The hash of the text that was read: refused if it has moved on.")
@click.option(
    "--batch",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Several edits, as JSON; `-`: standard input. All are made, or none.",
)
@click.option(
    "--run", metavar="CELLS", help="Then run `changed`, `stale` or `all` cells, or those named, as in load,total."
)
@with_workspace
async def edit_verb(
    workspace: Workspace,
    notebook: str,
    cell: str | None,
    file: Path | None,
    base: str | None,
    batch: Path | None,
    run: str | None,
    as_json: bool,
) -> int:
    """Change what CELL of NOTEBOOK (or of a run that is over) says; or, with --batch, several cells at once.

    \b
      quire edit 01M7GFVPH9 5 --file fixed.py
      echo "total = 0" | quire edit sales total --file - --run stale
      echo '[{"op": "patch", "cell": "load", "old": "2025", "new": "2026"}]' | quire edit sales --batch -

    CELL is an id or its beginning, a name, or a number as `quire show` counts. Without --file your editor opens ($VISUAL or
    $EDITOR). A cell that somebody else changes meanwhile is refused, with its text. The edits of a batch are replace, patch,
    insert, delete, move, tag and step, as agents have them; inserts into a notebook that is not there make it. What --run runs is run
    by a server or by `quire runtime`; where neither is there and the store is at hand, a runtime is started.
    """
    if batch is not None:
        if cell is not None or file is not None or base is not None:
            raise BadInput("--batch says which cells and what: leave CELL, --file and --base out.")
        return await _edited(workspace, _batch(batch, notebook, run), as_json=as_json)
    if cell is None:
        raise BadInput(
            "Name the cell, or give several edits: `quire edit NOTEBOOK CELL`, `quire edit NOTEBOOK --batch FILE`."
        )
    from ....verbs.resolve import opened

    log = await opened(_here(workspace), notebook)
    now = await workspace.read(log)
    cells = list(now.live_cells)
    found = cells[find_cell(cells, cell)]
    text = _text(found.source, file)
    if run is not None:
        replaced = Replace(cell=found.id, base=base or source_hash(found.source), source=text)
        return await _edited(workspace, _wanted(log, [replaced], _cells(run), check=False), as_json=as_json)
    event = SourceEdited(cell=found.id, text=text, base_hash=base or source_hash(found.source))
    entries = await submit(workspace, log, [event], as_json=as_json)
    if entries is None:
        return 0
    if as_json:
        told = {"log": log, "cell": found.id, "seq": entries[-1].seq, "source_hash": source_hash(text)}
        print_json(told)
    else:
        click.echo(f"Changed cell {found.id} of {plain(now.name)} [{log}]", err=True)
    return 0


def _text(source: str, file: Path | None) -> str:
    if file is not None:
        # A cell has no newline at its end where a file has one.
        return read_text(file).replace("\r\n", "\n").removesuffix("\n")
    if terminal_prompter() is None:
        raise BadInput("Nobody is there to type. Name the file with the new text, or `-`: --file.")
    text = click.edit(source)
    if text is None:
        raise BadInput("The editor was left without saving: nothing was changed.")
    return text.removesuffix("\n")


# ---- As agents do it


def _batch(file: Path, notebook: str, run: str | None) -> EditArguments:
    """The edits in a file: a list of them, or an object with `edits` and what else an agent may say."""
    from ....verbs.arguments import EditArguments

    try:
        given: Any = msgspec.json.decode(read_text(file))
        asked = cast("dict[str, Any]", given) if isinstance(given, dict) else {"edits": given}
        asked |= {"notebook": notebook} | ({"run": _cells(run)} if run is not None else {})
        wanted = msgspec.convert(asked, EditArguments)
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
        told = f"{'Standard input' if str(file) == '-' else file} holds no edits: {error}."
        example = '[{"op": "patch", "cell": "load", "old": "2025", "new": "2026"}]'
        raise BadInput(f"{told} Write a list such as {example}.") from None
    return msgspec.structs.replace(wanted, seconds=math.inf, budget=_UNLIMITED)


def _wanted(notebook: str, edits: Sequence[Replace], run: Cells, *, check: bool) -> EditArguments:
    from ....verbs.arguments import EditArguments

    return EditArguments(
        notebook=notebook, edits=tuple(edits), run=run, check=check, seconds=math.inf, budget=_UNLIMITED
    )


def _cells(run: str) -> Cells:
    match run:
        case "changed" | "stale" | "all":
            return run
        case _:
            return tuple(name.strip() for name in run.split(",") if name.strip())


async def _edited(workspace: Workspace, wanted: EditArguments, *, as_json: bool) -> int:
    from ....verbs.answers.error_answer import shown
    from ....verbs.edit import edit

    try:
        async with runtimes_beside(workspace) if wanted.run else nullcontext(False) as may_start:
            answer = await edit(_here(workspace, may_start=may_start), wanted, _tell)
    except QuireError as error:
        if not as_json and (text := shown(error)):
            click.echo(text, err=True)
        raise
    if as_json:
        print_json(answer.facts)
    else:
        click.echo(answer.text)
    return 1 if answer.facts.get("state") == "error" else 0


def _here(workspace: Workspace, *, may_start: bool = False) -> Here:
    from ....verbs.answers.answer import Here

    at = click.get_current_context().params.get("at") or ""
    is_far = at.partition("://")[0] in ("http", "https")
    return Here(workspace=workspace, folder=None if is_far else folder_of_files(), may_start=may_start)


async def _tell(message: str, part: float | None) -> None:
    click.echo(f"quire: {plain(message)}", err=True)
