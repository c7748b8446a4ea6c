"""`quire runs list|show|diff`; `prune` is in runs_prune_verb.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from ....core.errors import NotFound
from ....core.visible import visible_line
from ....formats.terminal_safe import one_line, plain
from ....formats.value_text import value_text
from ....runs.records.recorded_environment import packages_of, revision_text
from ....runs.records.run_records import (
    STATUSES,
    RunEntry,
    RunRecord,
    language_of,
    listed,
    listing,
    matches,
    record_of,
    run_of,
    seconds_between,
)
from ....runs.records.run_snapshot import as_left
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import counted, parameters_text, print_json, spent, table
from ..screen import coloured
from ..workspace_command import names_of_logs, with_workspace
from .runs_prune_verb import prune_verb

_SHORTEST_ID = 12
"""The time in milliseconds, and two characters by chance: enough to find a run by."""
_MOST_ROWS = 10_000


@click.group("runs", epilog=EXIT_STATUS)
def runs_verb() -> None:
    """Look at the runs that were recorded, and remove old ones.

    \b
      quire runs list --status error
      quire runs show 01M7GFVPH9
      quire runs diff 01M7GFVPH9 01M7GG2K4T
      quire runs prune --older-than 30d --dry-run
    """


runs_verb.add_command(prune_verb)


# ---- list


@runs_verb.command("list", epilog=EXIT_STATUS)
@click.option("--status", type=click.Choice(STATUSES), help="Only runs that ended so, or have not ended.")
@click.option("--source", metavar="PATH", help="Only runs of this file.")
@click.option(
    "-n",
    "--last",
    metavar="COUNT",
    type=click.IntRange(1, _MOST_ROWS),
    default=20,
    show_default=True,
    help="At most so many.",
)
@with_workspace
async def list_verb(workspace: Workspace, status: str | None, source: str | None, last: int, as_json: bool) -> None:
    """List the runs, the last one first.

    \b
      quire runs list --source sales.py -n 5

    The times are this machine's; with --json, an array of objects with times in UTC and whole ids.
    """
    answer = await workspace.query(listing(status, source, last), limit=_MOST_ROWS)
    found = [run for run in listed(answer.rows) if source is None or matches(run.path, source)][:last]
    if as_json:
        print_json(found)
    elif found:
        click.echo(table(("run", "when", "name", "status", "took", "cells", "parameters"), list(_rows(found))))
    else:
        click.echo("There is no such run." if status or source else "Nothing was run yet. Try `quire run`.", err=True)


def _rows(found: Sequence[RunEntry]) -> Iterator[Sequence[str]]:
    length = _SHORTEST_ID
    while len({run.run[:length] for run in found}) < len(found):
        length += 1
    for run in found:
        yield (
            run.run[:length],
            _when(run.requested_at),
            one_line(run.name, 30),
            run.status,
            _took(run.started_at, run.finished_at, run.duration_seconds),
            f"{run.cells_executed}/{run.cells}",
            one_line(parameters_text(run.parameters), 60),
        )


def _when(at: str | None) -> str:
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S") if at is not None else ""


def _took(started: str | None, finished: str | None, seconds: float | None) -> str:
    """How long it took; how long it has, for one that is not over."""
    if finished is not None or started is None:
        return spent(seconds)
    return f"{spent(seconds_between(started, datetime.now(UTC).isoformat()))} …"


# ---- show


@runs_verb.command("show", epilog=EXIT_STATUS)
@click.argument("run", shell_complete=names_of_logs)
@click.option("--packages", is_flag=True, help="Only the packages, as lines that pip and uv read.")
@with_workspace
async def show_verb(workspace: Workspace, run: str, packages: bool, as_json: bool) -> None:
    """Print what is known of RUN (an id, the beginning of one, or a name).

    \b
      quire runs show 01M7GFVPH9

    How it ended, what it was given, where it ran and on which files, how long each cell took, and its results: all as the
    run left it.
    `quire show RUN --view full` prints its cells, with what was changed since. With --json, an object; `outcome` in it is
    what `quire run --json` printed.
    """
    info = await workspace.find(run)
    now = await workspace.read(info.log)
    notebook = await as_left(workspace, info.log, now)
    record = record_of(info.log, notebook, now, await packages_of(workspace, notebook))
    if as_json:
        print_json(record)
    elif packages:
        print_lines(_package_lines(record))
    else:
        print_lines(_record_lines(record, language_of(run_of(notebook))))


def _package_lines(record: RunRecord) -> Iterator[str]:
    """As pip and uv read them."""
    if record.packages is None:
        raise NotFound(f"Which packages run {record.outcome.run} had is not known: {_why_unknown(record)}.")
    yield from (plain(f"{name}=={version}") for name, version in sorted(record.packages.items()))


def _why_unknown(record: RunRecord) -> str:
    if record.started_at is None:
        return "its kernel never started"
    if "platform" not in record.environment:
        return "it is older than such records"
    return "its kernel is not one of Python, or it ended too soon" if record.packages is None else ""


def _record_lines(record: RunRecord, language: str) -> Iterator[str]:
    outcome = record.outcome
    took = _took(record.started_at, record.finished_at, outcome.duration_seconds)
    yield f"{plain(record.name)}  [{outcome.run}]  {inked(outcome.status)}{f' in {took}' if took else ''}"
    yield ""
    yield from _facts(_known(record, language))
    if record.parameters:
        yield from titled("parameters", _facts((name, value_text(value)) for name, value in record.parameters.items()))
    if outcome.scraps:
        yield from titled("results", _facts((name, value_text(value)) for name, value in outcome.scraps.items()))
    yield from titled("cells", table(("", "cell", "state", "took", ""), list(_cell_rows(record))).split("\n"))


def _known(record: RunRecord, language: str) -> Iterator[tuple[str, str]]:
    source, outcome = record.source, record.outcome
    if source.path is not None:
        yield "source", source.path + (f"  sha256 {source.digest[:16]}…" if source.digest is not None else "")
    elif source.notebook is not None:
        yield "source", f"notebook {source.notebook} at {source.seq}"
    if record.resumed is not None:
        yield "resumed", f"run {record.resumed}"
    if record.reproduces is not None:
        yield "reproduces", f"run {record.reproduces}"
    yield "asked by", record.by + (f" for {record.on_behalf_of}" if record.on_behalf_of else "")
    yield "asked at", _when(record.requested_at)
    yield "interpreter", " · ".join(filter(None, [outcome.interpreter or "", language]))
    yield "kernel", " · ".join(_said(record, "kernel", "kernel_version"))
    for name in ("platform", "cwd"):
        yield name, "".join(_said(record, name))
    yield "packages", _packages_word(record)
    if record.revision is not None:
        yield "revision", revision_text(record.revision)
    for file in record.inputs:
        yield "input", f"{file.path}  sha256 {file.digest[:16]}…"
    yield "runtime", record.runtime or "nobody has taken it yet"
    if record.cancelled_by is not None:
        yield "cancelled by", record.cancelled_by
    if outcome.failed_cell is not None:
        failed = outcome.failed_cell
        yield "stopped at", f"cell {failed.index + 1} ({failed.id}): quire output {outcome.run} {failed.index + 1}"
    if record.changed_since:
        changed = counted(len(record.changed_since), "cell")
        yield "changed since", f"{changed}: quire show {outcome.run}, quire propose {outcome.run}"
    if record.fault is not None:
        yield "since", f"{record.fault.ename}: {record.fault.evalue}"


def _packages_word(record: RunRecord) -> str:
    if record.packages is None:
        return f"not known: {_why_unknown(record)}"
    return f"{len(record.packages):,}: quire runs show {record.outcome.run} --packages"


def _said(record: RunRecord, *names: str) -> Iterator[str]:
    """What the environment says under these names."""
    values = map(record.environment.get, names)
    return (value for value in values if isinstance(value, str) and value)


def _cell_rows(record: RunRecord) -> Iterator[Sequence[str]]:
    for cell in record.cells:
        state = f"{cell.state} (carried over)" if cell.carried else cell.state or cell.kind
        yield (
            str(cell.number),
            cell.id,
            state,
            spent(cell.seconds),
            one_line(cell.name) if cell.name else visible_line(cell.first_line),
        )


# ---- diff


@runs_verb.command("diff", epilog=EXIT_STATUS)
@click.argument("a", shell_complete=names_of_logs)
@click.argument("b", shell_complete=names_of_logs)
@with_workspace
async def diff_verb(workspace: Workspace, a: str, b: str, as_json: bool) -> int:
    """Put the runs A and B side by side: parameters, sources, results, environment, packages, input files, timing.

    \b
      quire runs diff 01M7GFVPH9 01M7GG2K4T

    Exit status 0: parameters, sources and results are the same; 1: they are not. Another environment, other packages and
    files and other times are shown, and are no difference. With --json, an object that has both sides of everything; of
    packages, those that differ. `quire reproduce` also compares what cells showed.
    """
    from ....core.diff.diff import encode
    from ....runs.records.run_comparison import compare
    from .runs_diff import comparison_lines

    infos = [await workspace.find(each) for each in (a, b)]
    old, new = [(info.log, await as_left(workspace, info.log)) for info in infos]
    compared = compare(old, new, (await packages_of(workspace, old[1]), await packages_of(workspace, new[1])))
    if as_json:
        click.echo(encode(compared.comparison))
    else:
        print_lines(comparison_lines(compared, [info.name for info in infos]))
    return int(not compared.comparison.same)


# ---- Lines


def print_lines(lines: Iterator[str]) -> None:
    """Print lines as they come, in colour on a terminal."""
    for line in lines:
        click.echo(line, color=None if coloured(sys.stdout) else False)


def titled(title: str, lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    """A part of a page: an empty line, its title, its lines."""
    yield ""
    yield click.style(title, bold=True)
    yield from (f"  {line}".rstrip() for line in lines)


def _facts(facts: Any) -> Iterator[str]:
    rows = [(plain(name), plain(value).replace("\n", "⏎")) for name, value in facts if value]
    width = max((len(name) for name, _ in rows), default=0)
    yield from (f"{name:<{width}}  {value}" for name, value in rows)


def inked(status: str) -> str:
    """A status in its colour."""
    inks = {"success": "green", "running": "cyan", "queued": "cyan"}
    return click.style(status, fg=inks.get(status, "red"))
