"""`quire sql`."""

from __future__ import annotations

import csv
import sys

import click

from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..printer import counted, print_json, table
from ..workspace_command import with_workspace


@click.command("sql", epilog=EXIT_STATUS)
@click.argument("query")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values.")
@click.option(
    "--limit",
    metavar="ROWS",
    type=click.IntRange(1, 10**6),
    default=10_000,
    show_default=True,
    help="At most so many rows.",
)
@click.option(
    "--timeout", metavar="SECONDS", type=float, default=30, show_default=True, help="Stop the query after this long."
)
@with_workspace
async def sql_verb(workspace: Workspace, query: str, as_csv: bool, limit: int, timeout: float, as_json: bool) -> None:
    """Ask a question over all that was recorded. It cannot change anything.

    \b
      quire sql "select actor, count(*) from events group by 1 order by 2 desc"

    Views: events, notebooks, cells, executions, outputs, runs, results, actors; their columns
    are in docs/reference/sql.md. With --json, an array of objects.
    """
    answer = await workspace.query(query, limit=limit, seconds=timeout)
    if as_json:
        print_json([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(answer.columns)
        writer.writerows(answer.rows)
    else:
        click.echo(table(answer.columns, answer.rows))
        click.echo(counted(len(answer.rows), "row"), err=True)
    if answer.truncated:
        click.echo(f"quire: there are more than {limit} rows; raise --limit to see them.", err=True)
