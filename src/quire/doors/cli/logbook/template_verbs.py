"""`quire logbook list`, `new` and `lint`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from ....core.errors import BadInput
from ....core.params.parameters import as_json as parameter_json
from ....core.values import Json
from ....formats.terminal_safe import one_line, plain
from ....logbooks.run_tally import RunTally, run_tallies
from ....logbooks.template_files import (
    Template,
    find_root,
    find_template,
    new_template,
    path_from,
    read_template,
    template_paths,
)
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..files.mirror_verb import folder_of_files
from ..options import json_option
from ..printer import print_json, table
from ..workspace_command import with_workspace


class _TemplateLine(msgspec.Struct, frozen=True, kw_only=True):
    """A template, as one line of a list."""

    template: str
    path: str
    title: str
    parameters: list[Json]
    runs: RunTally
    fault: str | None = None
    """Why it cannot be run."""


def logbook_root(folder: Path | None = None) -> Path:
    """Return the folder whose `logbooks/` is meant: the nearest upwards from here, else the workspace's."""
    return find_root(Path.cwd(), folder if folder is not None else folder_of_files())


@click.command("list", epilog=EXIT_STATUS)
@with_workspace
async def list_verb(workspace: Workspace, as_json: bool) -> None:
    """List the templates, with how many of their runs succeeded, deviated, skipped steps or failed.

    \b
      quire logbook list

    A run succeeded if every step was done as the template has it. Templates of which only runs are left are listed, too.
    """
    root = logbook_root()
    lines = list(_lines(root, await run_tallies(workspace)))
    if as_json:
        print_json(lines)
    elif lines:
        columns = ("template", "parameters", "runs", "succeeded", "deviated", "skipped", "failed", "open", "title")
        click.echo(table(columns, [_row(each) for each in lines]))
    else:
        click.echo(
            f"quire: No template lies in {root / 'logbooks' / 'templates'}. `quire logbook new NAME` makes one.",
            err=True,
        )


def _lines(root: Path, tallies: dict[str, RunTally]) -> Iterator[_TemplateLine]:
    for file in template_paths(root):
        path = path_from(root, file)
        yield _line(root, file, path, tallies.pop(path, RunTally()))
    for path, tally in tallies.items():
        gone = None if (root / path).is_file() else "the template is gone"
        yield _TemplateLine(template=Path(path).stem, path=path, title="", parameters=[], runs=tally, fault=gone)


def _line(root: Path, file: Path, path: str, tally: RunTally) -> _TemplateLine:
    try:
        template = read_template(root, file)
    except BadInput as error:
        return _TemplateLine(template=file.stem, path=path, title="", parameters=[], runs=tally, fault=str(error))
    parameters: list[Json] = [parameter_json(each) for each in template.parameters]
    return _TemplateLine(template=template.name, path=path, title=template.title, parameters=parameters, runs=tally)


def _row(line: _TemplateLine) -> tuple[Any, ...]:
    runs = line.runs
    names = [f"{each['name']}{'' if each['required'] else '?'}" for each in line.parameters]  # type: ignore[index]
    counts = (runs.runs, runs.succeeded, runs.deviated, runs.skipped, runs.failed, runs.open)
    return (line.template, " ".join(names), *counts, line.fault or one_line(line.title, 50))


@click.command("new", epilog=EXIT_STATUS)
@click.argument("name")
@click.option("--task", default="", help="What it is for, in a sentence or two.")
@json_option
def new_verb(name: str, task: str, as_json: bool) -> None:
    """Write a template NAME to begin with, into logbooks/templates/.

    \b
      quire logbook new rotate_keys --task "Rotate the keys of a service"

    It has a parameter, a step of code and a step of prose, and runs as it is. Prints its path.
    """
    root = logbook_root()
    file = new_template(root, name, task)
    if as_json:
        print_json({"path": path_from(root, file)})
    else:
        click.echo(plain(path_from(Path.cwd(), file)))


@click.command("lint", epilog=EXIT_STATUS)
@click.argument("templates", nargs=-1, metavar="[TEMPLATE]…")
@json_option
def lint_verb(templates: tuple[str, ...], as_json: bool) -> int:
    """Say what is wrong with TEMPLATEs (a name or a path; all of them by default). Nothing in them is run.

    \b
      quire logbook lint EXAMPLE_TEMPLATE

    Exit status 1: a template has an error, which keeps it from running. Warnings alone are fine.
    """
    from ....logbooks.template_check import check_template

    root = logbook_root()
    files = [find_template(root, each, Path.cwd()) for each in templates] or template_paths(root)
    if not files:
        raise BadInput(f"No template lies in {root / 'logbooks' / 'templates'}. `quire logbook new NAME` makes one.")
    faults = [fault for file in files for fault in check_template(root, file)]
    if as_json:
        print_json(faults)
    else:
        for fault in faults:
            click.echo(plain(f"{fault.path}:{fault.line}: {fault.severity}: {fault.message}"))
    return int(any(fault.severity == "error" for fault in faults))


def template_named(root: Path, name: str) -> Template:
    """Return the template that somebody means by a name or a path."""
    return read_template(root, find_template(root, name, Path.cwd()))
