"""`quire wait`."""

from __future__ import annotations

from math import inf

import click

from ....verbs.answers.answer import Here
from ....verbs.arguments import WaitArguments
from ....verbs.wait import wait
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..auto_runtime import runtimes_beside
from ..printer import print_json
from ..workspace_command import notebook_argument, with_workspace

_BUDGET = 20_000
_EXIT = {"done": 0, "declined": 3, "withdrawn": 3, "expired": 3}


@click.command("wait", epilog=EXIT_STATUS)
@notebook_argument
@click.option("--since", metavar="N", type=click.IntRange(0), help="Also print what changed after this number.")
@click.option("--proposal", metavar="ID", help="Wait for the answer to this one, and for the end of what it runs.")
@click.option("--seconds", metavar="S", type=click.FloatRange(0), help="At most so long.  [default: no limit]")
@with_workspace
async def wait_verb(
    workspace: Workspace,
    notebook: str,
    since: int | None,
    proposal: str | None,
    seconds: float | None,
    as_json: bool,
) -> int:
    """Wait until nothing runs or waits in NOTEBOOK (or until a run is over), and print how it ended.

    \b
      quire wait sales --since 431
      quire wait sales --proposal 01M7GFVPH9 --seconds 60

    Exit status 1 where something did not end well, or is not over yet; 3 where a proposal was declined.
    """
    wanted = WaitArguments(
        notebook=notebook,
        since=since,
        proposal=proposal,
        seconds=inf if seconds is None else seconds,
        budget=_BUDGET,
    )
    async with runtimes_beside(workspace) as is_served:
        answer = await wait(Here(workspace=workspace, may_start=is_served), wanted)
    if as_json:
        print_json(answer.facts)
    else:
        click.echo(answer.text)
    return _EXIT.get(str(answer.facts.get("state")), 1)
