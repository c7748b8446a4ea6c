"""`quire token pause|resume`."""

from __future__ import annotations

import click

from ....core.errors import BadInput
from ....core.ids import ActorId, TokenId, check_actor, resolve
from ....formats.terminal_safe import plain
from ....workspace.identity import pauses
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..actor_argument import known_actor
from ..printer import counted, print_json
from ..workspace_command import with_workspace


@click.command("pause", epilog=EXIT_STATUS)
@click.argument("target", metavar="TOKEN|ACTOR")
@click.option("--why", metavar="TEXT", default="", help="The reason. Whoever is paused is told it with every refusal.")
@click.option("--interrupt", is_flag=True, help="Also stop what it had asked to run, and take back what waits.")
@with_workspace
async def pause_verb(workspace: Workspace, target: str, why: str, interrupt: bool, as_json: bool) -> None:
    """Refuse everything to an agent or a token, at every door, until `quire token resume`.

    \b
      quire token pause agent:codex --why "tests first" --interrupt
      quire token pause 01M7GFVPH9

    It counts from this moment on, also where it is connected, and for tokens that were made with it. It reads nothing new,
    either. What runs goes on, unless --interrupt stops it. Takes `admin`, or to be the person for whom the agent acts.
    """
    name = await _meant(workspace, target)
    entry = await pauses.pause(workspace, name, why)
    actor = await _actor(workspace, name)
    stopped = await pauses.stop_work(workspace, actor) if interrupt else []
    if as_json:
        executions = [stop.log for stop in stopped]
        print_json({"paused": name, "by": entry.actor, "at": entry.at, "why": why, "stopped": executions})
        return
    told = f" Stopped {counted(len(stopped), 'thing')} that it had asked to run." if interrupt else ""
    click.echo(f"{plain(name)} is paused.{told} `quire token resume {plain(name)}` lets it go on.", err=True)


@click.command("resume", epilog=EXIT_STATUS)
@click.argument("target", metavar="TOKEN|ACTOR")
@with_workspace
async def resume_verb(workspace: Workspace, target: str, as_json: bool) -> None:
    """Let an agent or a token that was paused go on.

    \b
      quire token resume agent:codex

    Takes `admin`, or to be the one who paused it.
    """
    name = await _meant(workspace, target)
    entry = await pauses.resume(workspace, name)
    if as_json:
        print_json({"resumed": name, "by": entry.actor, "at": entry.at})
    else:
        click.echo(f"{plain(name)} may go on.", err=True)


async def _meant(workspace: Workspace, name: str) -> ActorId | TokenId:
    """The token or the actor that a name stands for. An agent without a token is named in full."""
    if name.startswith("quire_"):
        raise BadInput(
            "That is a secret, and it is in your shell's history now. Name the token's id: `quire token list`."
        )
    if ":" in name:
        return check_actor(name)
    tokens = (await workspace.directory()).tokens
    if name and any(token.startswith(name) for token in tokens):
        return resolve(name, tokens, "token")
    return await known_actor(workspace, name)


async def _actor(workspace: Workspace, name: ActorId | TokenId) -> ActorId:
    if ":" in name:
        return ActorId(name)
    return (await workspace.directory()).tokens[TokenId(name)].actor
