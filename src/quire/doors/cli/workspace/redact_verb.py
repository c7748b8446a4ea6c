"""`quire redact`."""

from __future__ import annotations

import sys

import click

from ....core.errors import BadInput, NotFound
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..options import NUMBER
from ..printer import counted, print_json
from ..workspace_command import notebook_argument, with_workspace


@click.command("redact", epilog=EXIT_STATUS)
@notebook_argument
@click.option(
    "--seq",
    "seqs",
    metavar="N",
    type=NUMBER,
    multiple=True,
    help="Mask all that event N says. May be given several times.",
)
@click.option(
    "--secret",
    "ask_secret",
    is_flag=True,
    help="Mask a secret wherever it stands; it is asked for, or read from stdin.",
)
@click.option("--why", metavar="TEXT", required=True, help="The reason. It is on record, and seen by everybody.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask whether to go on.")
@with_workspace
async def redact_verb(
    workspace: Workspace,
    notebook: str,
    seqs: tuple[int, ...],
    ask_secret: bool,
    why: str,
    yes: bool,
    as_json: bool,
) -> None:
    """Mask what events of NOTEBOOK said, for good. That they happened stays on record.

    \b
      quire redact sales --secret --why "API key printed by mistake"

    The chain still verifies: who masked what, when and why becomes an event of its own.
    Blobs that held it go, too. Copies are out of reach: exports, backups, and what others have
    read. So change the secret as well.
    """
    if bool(seqs) == ask_secret:
        raise click.UsageError("Give either --seq, for whole events, or --secret.")
    log = (await workspace.find(notebook)).log
    secret = _secret() if ask_secret else None
    found = await workspace.holding(log, secret) if secret is not None else list(seqs)
    if not found:
        raise NotFound(f"The secret stands in no event of {notebook!r}. It may have been typed in pieces: see --seq.")
    if not yes and sys.stdin.isatty():
        click.confirm(
            f"Mask {counted(len(found), 'event')} for good ({', '.join(map(str, found[:10]))})?", abort=True, err=True
        )
    entries = await workspace.redact(log, found, why, secret=secret)
    if as_json:
        print_json({"log": log, "redacted": found, "entries": entries})
    else:
        click.echo(f"Masked {counted(len(found), 'event')} of {notebook}: {', '.join(map(str, found))}", err=True)
    if secret is not None and secret in str((await workspace.read(log)).cells):
        click.echo(
            "quire: the secret still stands in a cell, put together by several events: mask those with --seq.", err=True
        )


def _secret() -> str:
    if sys.stdin.isatty():
        secret: str = click.prompt("The secret (not shown)", hide_input=True, err=True)
    else:
        secret = sys.stdin.read().rstrip("\n")
    if len(secret) < 4:
        raise BadInput("A secret of fewer than 4 characters stands everywhere. Mask whole events with --seq.")
    return secret
