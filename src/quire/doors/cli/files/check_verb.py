"""`quire check`."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ....formats.terminal_safe import plain
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import counted, print_json
from ..printer import tell as say

if TYPE_CHECKING:
    from ....review.checks.plan import CheckOptions
    from ....review.checks.verdict import NotebookVerdict


@click.command("check", epilog=EXIT_STATUS)
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path())
@click.option("--lax", is_flag=True, help="Compare only the cells that say so; the others only have to run.")
@click.option("--exact", is_flag=True, help="Compare texts as they are and no images, as nbval does.")
@click.option("--update", is_flag=True, help="Store what the cells show now; what raises still fails.")
@click.option("-j", "--jobs", metavar="N", default="1", help="Check N notebooks at once; `auto`: one per core.")
@click.option("-p", "--parameters", metavar="NAME VALUE", nargs=2, multiple=True, help="Fill a parameter.")
@click.option("-k", "--kernel", metavar="NAME", help="Run in this kernel.")
@click.option("--cell-timeout", metavar="SECONDS", type=click.FloatRange(min=0), help="Stop a cell after so long.")
@click.option(
    "--start-timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=60,
    help="Wait so long for a kernel.  [default: 60]",
)
@click.option(
    "--tolerance", metavar="SHARE", type=click.FloatRange(min=0), help="How far apart floats may be.  [default: 1e-9]"
)
@click.option(
    "--image-tolerance",
    metavar="SHARE",
    type=click.FloatRange(0, 1),
    help="How many pixels may differ.  [default: 0.01]",
)
@click.option(
    "--sanitize-with",
    metavar="FILE",
    multiple=True,
    type=click.Path(),
    help="Rules of your own: `regex:` and `replace:` lines, as nbval takes them.",
)
@click.option("--sanitize", metavar="GROUP", multiple=True, help="Replace these as well: hashes; or all.")
@click.option(
    "--no-sanitize", metavar="GROUP", multiple=True, help="Compare these: times, paths, addresses, ids; or all."
)
@click.option("--static", is_flag=True, help="Execute nothing: check what reading the notebooks tells.")
@click.option("--only", metavar="CHECK", multiple=True, help="Of the static checks, only these.")
@click.option("--stripped", is_flag=True, help="With --static: outputs must not be stored.")
@click.option("--changed-since", metavar="REV", help="Check only what differs from where REV and HEAD parted.")
@click.option("--junit", metavar="FILE", type=click.Path(dir_okay=False), help="Write a JUnit report.")
@click.option(
    "--code-quality", metavar="FILE", type=click.Path(dir_okay=False), help="Write a code quality report for GitLab."
)
@click.option(
    "--annotate/--no-annotate",
    default=None,
    help="Print `::error` lines for GitHub and Gitea.  [default: in their runners]",
)
@json_option
def check_verb(paths: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Run notebooks, and fail where a cell raises or shows something else than what is stored.

    \b
      quire check notebooks/ --jobs 2

    PATH is a notebook in any format, or a folder. What is stored are the outputs of an .ipynb, and for a script or a
    logbook the file NAME.snapshot.yaml beside it; --update writes both. The source is run where it stands, and nothing
    is recorded. Failures go to stdout, progress to stderr.
    """
    from ....review.checks.find_notebooks import find_notebooks

    found = find_notebooks(paths)
    if not found:
        raise click.UsageError(f"There is no notebook in {', '.join(paths)}.")
    if options["changed_since"] is not None:
        from ....review.checks.changed_files import changed_since

        found = changed_since(found, options["changed_since"])
    if options["static"]:
        verdicts, is_stopped = _check_static(found, options), False
    elif options["only"] or options["stripped"]:
        raise click.UsageError("--only and --stripped are for static checks. Add --static.")
    else:
        verdicts, is_stopped = asyncio.run(_check(found, _options(options), _jobs(options["jobs"])))
    _report(verdicts, options, as_json=as_json)
    if is_stopped:
        return 130
    return 0 if all(verdicts) else 2 if any(each.status == "error" for each in verdicts) else 1


def _jobs(given: str) -> int:
    if given == "auto":
        return os.cpu_count() or 1
    if not given.isdecimal() or not 1 <= int(given) <= 1000:
        raise click.UsageError(f"--jobs {given}: give a number from 1 on, or auto.")
    return int(given)


def _options(given: dict[str, Any]) -> CheckOptions:
    from ....core.params.parameters import Text
    from ....review.checks.check import rules_for
    from ....review.checks.plan import CheckOptions

    rules = rules_for(
        exact=given["exact"],
        sanitize_with=[Path(each) for each in given["sanitize_with"]],
        sanitize=given["sanitize"],
        no_sanitize=given["no_sanitize"],
        tolerance=given["tolerance"],
        image_tolerance=given["image_tolerance"],
    )
    return CheckOptions(
        lax=given["lax"],
        rules=rules,
        values={name: Text(value) for name, value in given["parameters"]},
        kernel=given["kernel"],
        cell_timeout=given["cell_timeout"],
        start_timeout=given["start_timeout"],
        update=given["update"],
    )


async def _check(paths: list[str], options: CheckOptions, jobs: int) -> tuple[list[NotebookVerdict], bool]:
    from ....review.checks.check import StopGroup, check_all
    from .check_progress import progress

    stops = StopGroup()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stops.signal)
    with progress(len(paths)) as observer:
        return await check_all(paths, options, stops, observer, jobs), stops.is_stopped


def _check_static(paths: list[str], options: dict[str, Any]) -> list[NotebookVerdict]:
    from ....review.checks.static.check_static import check_static, checks_of

    if options["update"]:
        raise click.UsageError("--update stores what cells show, and --static runs none. Give one of them.")
    checks = checks_of(options["only"], stripped=options["stripped"])
    return [check_static(path, checks) for path in paths]


def _report(verdicts: list[NotebookVerdict], options: dict[str, Any], *, as_json: bool) -> None:
    """Write the reports that were asked for, and tell what is wrong."""
    from ....disk import write_text
    from ....review.checks.reports.annotations import code_quality, workflow_commands
    from ....review.checks.reports.junit import junit

    root = Path(os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR") or ".").absolute()
    if options["junit"] is not None:
        write_text(Path(options["junit"]), junit(verdicts))
    if options["code_quality"] is not None:
        write_text(Path(options["code_quality"]), code_quality(verdicts, root))
    annotates = options["annotate"]
    # Gitea's runner calls itself GitHub's, too.
    if os.environ.get("GITHUB_ACTIONS") == "true" if annotates is None else annotates:
        for line in workflow_commands(verdicts, root):
            click.echo(plain(line), err=as_json)
    tell(verdicts, as_json=as_json, is_static=options["static"])


def tell(verdicts: list[NotebookVerdict], *, as_json: bool, is_static: bool) -> None:
    """Print what is wrong, and at the end how much is right."""
    from ....review.checks.reports.text_report import notebook_lines

    if as_json:
        print_json({"ok": all(verdicts), "notebooks": verdicts})
        return
    for verdict in verdicts:
        for line in notebook_lines(verdict):
            click.echo(line)
        for warning in verdict.warnings:
            say(f"{verdict.path}: {warning}")
        if verdict.updated is not None:
            say(f"{verdict.updated} was written.")
    if is_static:
        found = sum(len(verdict.cells) + len(verdict.faults) for verdict in verdicts)
        click.echo(f"{counted(len(verdicts), 'notebook')}: {counted(found, 'finding')}", err=True)
        return
    cells = [cell for verdict in verdicts for cell in verdict.cells]
    failed = sum(cell.status in ("failed", "not_run") for cell in cells)
    said = f"{counted(len(verdicts), 'notebook')}, {counted(len(cells), 'cell')}"
    click.echo(f"{said}: {failed} failed" if failed or not all(verdicts) else f"{said}: all as stored", err=True)
