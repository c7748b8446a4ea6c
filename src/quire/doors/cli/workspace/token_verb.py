"""`quire token new|list|pause|resume|revoke`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import click

from ....core.errors import BadInput, NotFound, Refused
from ....core.events import Draft, Scope, TokenRevoked
from ....core.ids import ACTOR_KINDS, WORKSPACE_LOG, ActorId, LogId, TokenId, actor_kind, nearest, resolve
from ....formats.terminal_safe import plain
from ....workspace.clock import new_id, now
from ....workspace.identity.tokens import ListedToken, ending, tokens_of
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..actor_argument import known_actor, new_actor
from ..printer import counted, print_json, table
from ..workspace_command import with_workspace
from .pause_verb import pause_verb, resume_verb

SCOPES: tuple[Scope, ...] = get_args(Scope)
NEVER = "never"
RUNTIME_DEFAULT = "read,serve"


@click.group("token", epilog=EXIT_STATUS)
def token_verb() -> None:
    """Let others in. Whoever holds a token acts as its actor, as far as its scopes go.

    \b
      quire token new --actor claude --kind agent --scope read,edit,run --ask edit,run
      quire token list
      quire token pause agent:claude --why "tests first"
      quire token revoke 01M7GFVPH9

    docs/how-to/tokens.md tells when to make which.
    """


token_verb.add_command(pause_verb)
token_verb.add_command(resume_verb)


# ---- new


@token_verb.command("new", epilog=EXIT_STATUS)
@click.option("--actor", metavar="NAME", required=True, help="Who acts with it: kind:name, or a name with --kind.")
@click.option("--kind", type=click.Choice(ACTOR_KINDS[:4]), help="What kind of actor that is.")
@click.option(
    "--on-behalf-of",
    metavar="WHO",
    help="For whom an agent, a runtime or a schedule acts.  [default: of an agent, you]",
)
@click.option(
    "--scope",
    metavar="SCOPE,…",
    help=f"What it allows: {', '.join(SCOPES)}.  [default: read; of a runtime, read and serve]",
)
@click.option(
    "--ask", metavar="SCOPE,…", default="", help="Which of edit and run become proposals, until somebody says yes."
)
@click.option("--notebooks", metavar="NOTEBOOK,…", multiple=True, help="Only these notebooks, and their runs.")
@click.option(
    "--expires",
    metavar="WHEN",
    default="90d",
    show_default=True,
    help="How long it is good for (30d, 8h, 45m), until when (2026-12-31T18:00Z), or never.",
)
@with_workspace
async def new_verb(
    workspace: Workspace,
    actor: str,
    kind: str | None,
    on_behalf_of: str | None,
    scope: str | None,
    ask: str,
    notebooks: tuple[str, ...],
    expires: str,
    as_json: bool,
) -> None:
    """Make a token and print it on stdout, once: only its hash is kept.

    \b
      export QUIRE_TOKEN=$(quire token new --actor claude --kind agent --scope read,edit --expires 8h)

    Times without a zone are in UTC. Whoever owns the files of a workspace can make any token: an agent with a
    shell of yours belongs in the sandbox.
    """
    who = new_actor(actor, kind)
    behalf = await known_actor(workspace, on_behalf_of) if on_behalf_of is not None else None
    default = RUNTIME_DEFAULT if actor_kind(who) == "runtime" else "read"
    scopes, asks = _scopes(default if scope is None else scope, SCOPES), _scopes(ask, ("edit", "run"))
    _check_runtime(who, scopes)
    logs = [log for name in notebooks for log in await _logs(workspace, name)] or None
    ends = _ends(expires)
    made = await workspace.create_token(who, scopes, on_behalf_of=behalf, notebooks=logs, expires_at=ends, asks=asks)
    (token,) = [each for each in await workspace.tokens() if each.token == made.token]
    if as_json:
        print_json({"secret": made.secret, **_shown(token)})
        return
    click.echo(made.secret)
    click.echo(f"{_told(token)}\nIt is shown this once. Whoever sets QUIRE_TOKEN to it acts as {plain(who)}.", err=True)


def _check_runtime(who: ActorId, scopes: Iterable[Scope]) -> None:
    """Say how a runtime gets what it is to have; the workspace would refuse the token all the same."""
    if actor_kind(who) != "runtime" or not (more := [scope for scope in scopes if scope not in ("read", "serve")]):
        return
    name = plain(who).partition(":")[2]
    first = f"quire token new --actor {name} --kind runtime --scope {RUNTIME_DEFAULT}"
    second = f"quire token new --actor {name} --kind agent --scope read,edit,run"
    told = f"A runtime serves what others ask for, so {plain(who)} cannot have {', '.join(more)}: `{first}`."
    raise Refused(f"{told} If it is also to ask or change something itself, give it a second token: `{second}`.")


def _scopes(text: str, allowed: tuple[Scope, ...]) -> list[Scope]:
    found: list[Scope] = []
    for name in filter(None, (each.strip() for each in text.split(","))):
        if name not in allowed:
            close = nearest(name, allowed)
            hint = f" Did you mean {', '.join(close)}?" if close else ""
            raise BadInput(f"{name!r} is none of {', '.join(allowed)}.{hint}")
        found.append(name)
    return list(dict.fromkeys(found))


async def _logs(workspace: Workspace, name: str) -> list[LogId]:
    """The notebook of that name, or those that are listed with commas; a name may have one itself."""
    try:
        return [(await workspace.find(name)).log]
    except NotFound:
        if "," not in name:
            raise
    return [(await workspace.find(each.strip())).log for each in name.split(",")]


def _ends(expires: str) -> str | None:
    if expires == NEVER:
        return None
    if ending(expires, now()) <= now():
        raise BadInput(f"--expires {expires!r} is over already. Give a later time, or a duration such as 30d.")
    return expires


def _told(token: ListedToken) -> str:
    allows = token.allows
    behalf = f" for {plain(allows.on_behalf_of)}" if allows.on_behalf_of is not None else ""
    asks = f", asking before {' and '.join(allows.asks)}" if allows.asks else ""
    only = f", in {counted(len(allows.notebooks), 'notebook')}" if allows.notebooks is not None else ""
    until = f"until {allows.expires_at[:16]}Z" if allows.expires_at is not None else "without end"
    return f"Token {token.token} of {plain(allows.actor)}{behalf}: {', '.join(allows.scopes)}{asks}{only}, {until}."


# ---- list


@token_verb.command("list", epilog=EXIT_STATUS)
@click.option("--all", "everything", is_flag=True, help="Also those that open nothing any more.")
@with_workspace
async def list_verb(workspace: Workspace, everything: bool, as_json: bool) -> None:
    """List the tokens that open something, the newest first. Their secrets are kept nowhere.

    \b
      quire token list --all

    A token opens nothing once the one that it was made with is over: --all tells with which one it ended. With
    --json, an array of objects.
    """
    found = [token for token in await workspace.tokens() if everything or token.state == "valid"]
    if as_json:
        print_json([_shown(token) for token in found])
    elif found:
        columns = ("token", "actor", "for", "scopes", "asks", "notebooks", "expires", "made with", "state")
        click.echo(table(columns, [_row(token) for token in found]))
    else:
        click.echo("There is no token. `quire token new` makes one.", err=True)


def _row(token: ListedToken) -> tuple[str, ...]:
    allows = token.allows
    state = f"revoked by {allows.revoked_by}" if allows.revoked_by is not None else token.state
    state = f"paused by {token.paused.by}" if token.paused is not None and token.state == "valid" else state
    state = f"ended with {token.ended_with}" if token.ended_with is not None else state
    return (
        token.token,
        allows.actor,
        allows.on_behalf_of or "",
        ",".join(allows.scopes),
        ",".join(allows.asks),
        "all" if allows.notebooks is None else ",".join(allows.notebooks),
        f"{allows.expires_at[:16]}Z" if allows.expires_at is not None else NEVER,
        allows.parent or "",
        state,
    )


def _shown(token: ListedToken) -> dict[str, object]:
    import msgspec

    shown: dict[str, object] = {"token": token.token, "state": token.state, "ended_with": token.ended_with}
    shown["paused"] = token.paused
    return shown | msgspec.structs.asdict(token.allows)


# ---- revoke


@token_verb.command("revoke", epilog=EXIT_STATUS)
@click.argument("tokens", nargs=-1, required=True, metavar="TOKEN...")
@with_workspace
async def revoke_verb(workspace: Workspace, tokens: tuple[str, ...], as_json: bool) -> None:
    """Make TOKENs open nothing any more, from this moment on: also where somebody is using one.

    \b
      quire token revoke 01M7GFVPH9
      quire token revoke human:bob         all that he has, and all that act on his behalf

    TOKEN is an id of `quire token list`, the beginning of one, or an actor. Whatever was made with a token ends with it:
    browsers that were signed in, runtimes, other tokens. What was done with it stays on record.
    """
    valid = [each for each in await workspace.tokens() if each.state != "revoked"]
    chosen = list(dict.fromkeys(found for name in tokens for found in _meant(name, valid)))
    drafts = [Draft(id=new_id(), event=TokenRevoked(token=token)) for token in chosen]
    await workspace.submit(WORKSPACE_LOG, drafts)
    if as_json:
        print_json({"revoked": chosen})
    else:
        click.echo(f"Revoked {', '.join(chosen)}. Nothing opens with {'it' if len(chosen) == 1 else 'them'}.", err=True)


def _meant(name: str, valid: Iterable[ListedToken]) -> list[TokenId]:
    if name.startswith("quire_"):
        raise BadInput("That is a secret, and it is in your shell's history now. Revoke by id: `quire token list`.")
    valid = list(valid)
    if ":" not in name:
        return [resolve(name, [each.token for each in valid], "token")]
    if found := tokens_of(ActorId(name), valid):
        return found
    close = nearest(name, dict.fromkeys(each.allows.actor for each in valid))
    hint = f" Nearest: {', '.join(close)}." if close else " `quire token list` lists them."
    raise NotFound(f"{name!r} has no token to revoke.{hint}")
