"""`quire runs prune`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ....formats.terminal_safe import one_line
from ....workspace.protocol import Workspace
from ....workspace.prune_runs import PrunePlan, PruneStep
from .. import EXIT_STATUS
from ..printer import counted, print_json, sized, table
from ..workspace_command import with_workspace

_SHOWN = 50
"""So many runs are listed; --json has them all."""


@click.command("prune", epilog=EXIT_STATUS)
@click.option(
    "--older-than",
    metavar="AGE",
    help="Remove runs in which nothing happened for so long: 30d, 8h; or since a time.  [default: `keep` of [runs]]",
)
@click.option(
    "--keep-last",
    metavar="N",
    type=click.IntRange(0),
    help="Keep the last N runs of each notebook or file, however old.  [default: `keep_last` of [runs], else 0]",
)
@click.option("--dry-run", is_flag=True, help="Only say what would go, and how much room that frees.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask whether to go on.")
@with_workspace
async def prune_verb(
    workspace: Workspace, older_than: str | None, keep_last: int | None, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Remove old runs for good, with the blobs that nothing else refers to, and give their room back.

    \b
      quire runs prune --older-than 30d --keep-last 5 --dry-run
      quire runs prune --older-than 30d --keep-last 5

    A run stays that is not over, that somebody works in or commented on, or that anything that stays refers to: a notebook,
    a comment, a proposal, a run that resumed it. What is left of a run that goes is its id, name, outcome and head, in the
    workspace's log; ids and keys that it used stay used. `quire export` keeps a copy. With --json, an object.
    """
    age, last = _wanted(older_than, keep_last)
    plan = await workspace.plan_prune(age, last)
    if not as_json:
        _print_plan(plan)
    done: list[PruneStep] = []
    if not dry_run and not yes and plan.runs and sys.stdin.isatty():
        click.confirm(f"Remove {counted(len(plan.runs), 'run')} for good?", abort=True, err=True)
    if not dry_run:
        async for step in workspace.prune(age, last, only=[run.log for run in plan.runs]):
            done.append(step)
            _print_progress(len(done), len(plan.runs))
        _end_progress(len(plan.runs))
    if as_json:
        print_json(_as_json(plan, done, dry_run=dry_run))
    elif dry_run:
        click.echo("Nothing was removed: --dry-run.", err=True)
    else:
        _print_done(done)


def _wanted(older_than: str | None, keep_last: int | None) -> tuple[str, int]:
    from ..server.server_workspace import place_of
    from ..settings import read_runs

    at: str | None = click.get_current_context().params.get("at")
    is_far = at is not None and at.startswith(("http://", "https://"))
    kept = read_runs(Path.cwd() if is_far else place_of(at, make=False).home)
    age = older_than or kept.keep
    if age is None:
        raise click.UsageError("How old? Give --older-than 30d, or set `keep` under [runs] in quire.toml.")
    return age, kept.keep_last if keep_last is None else keep_last


def _print_plan(plan: PrunePlan) -> None:
    if plan.runs:
        rows = [
            (
                run.log,
                run.at[:16].replace("T", " "),
                one_line(run.name, 30),
                run.status,
                run.head.seq,
                sized(run.bytes),
            )
            for run in plan.runs[:_SHOWN]
        ]
        click.echo(table(("run", "last event (UTC)", "name", "status", "events", "room"), rows))
        if len(plan.runs) > _SHOWN:
            click.echo(f"… and {len(plan.runs) - _SHOWN:,} more (--json lists them)")
    for kept in plan.kept[:_SHOWN]:
        click.echo(f"stays  {kept.log}  {one_line(kept.name, 30)}: {one_line(kept.why)}")
    if plan.kept_count > _SHOWN:
        click.echo(f"stays  … and {plan.kept_count - _SHOWN:,} more (--json lists them)")
    room = f"{sized(plan.bytes)} of events, {sized(plan.blob_bytes)} in {counted(plan.blobs, 'blob')}"
    click.echo(f"{counted(len(plan.runs), 'run')} from before {plan.before[:16]} UTC would go: about {room}", err=True)


def _print_progress(done: int, total: int) -> None:
    if sys.stderr.isatty() and total:
        click.echo(f"\rRemoved {min(done, total):,} of {total:,}", nl=False, err=True)


def _end_progress(total: int) -> None:
    if sys.stderr.isatty() and total:
        click.echo(err=True)


def _print_done(done: list[PruneStep]) -> None:
    for step in done:
        if step.kept is not None:
            click.echo(f"stayed {step.kept.log}  {one_line(step.kept.why)}")
    told = _summary(done)
    saved = max(0, (told["database_before"] or 0) - (told["database_after"] or 0))
    blobs = f"{counted(told['blobs'], 'blob')} ({sized(told['blob_bytes'])})"
    click.echo(
        f"Removed {counted(told['removed'], 'run')} and {blobs}; the database gave back {sized(saved)}", err=True
    )
    if told["not_compacted"]:
        click.echo(f"quire: the database was not compacted: {told['not_compacted']}.", err=True)


def _summary(done: list[PruneStep]) -> dict[str, Any]:
    return {
        "removed": sum(step.pruned is not None for step in done),
        "stayed": [step.kept for step in done if step.kept is not None],
        "blobs": sum(step.blobs or 0 for step in done),
        "blob_bytes": sum(step.blob_bytes for step in done),
        "database_before": next((step.database_before for step in done if step.database_before is not None), None),
        "database_after": next((step.database_after for step in done if step.database_before is not None), None),
        "not_compacted": next((step.not_compacted for step in done if step.not_compacted), ""),
    }


def _as_json(plan: PrunePlan, done: list[PruneStep], *, dry_run: bool) -> dict[str, Any]:
    return {"dry_run": dry_run, "plan": plan, "done": None if dry_run else _summary(done)}
