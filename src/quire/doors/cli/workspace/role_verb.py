"""`quire role set|list`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast, get_args

import click
import msgspec

from ....core.errors import BadInput
from ....core.events import Draft, Role, RoleSet
from ....core.ids import WORKSPACE_LOG, LogId
from ....core.notebook.directory import Directory, role_key
from ....core.roles import closed_notebooks
from ....formats.terminal_safe import plain
from ....workspace.clock import new_id
from ....workspace.protocol import Workspace
from .. import EXIT_STATUS
from ..actor_argument import known_actor
from ..printer import print_json, table
from ..workspace_command import names_of_logs, with_workspace

NONE = "none"


class _RoleLine(msgspec.Struct, frozen=True, kw_only=True):
    """Who is what, where, and why."""

    notebook: LogId | None
    name: str
    actor: str
    role: Role
    by: str
    """`given`, or `made` for who began the notebook."""


@click.group("role", epilog=EXIT_STATUS)
def role_verb() -> None:
    """Say who may do what in a notebook: owner, editor or viewer.

    \b
      quire role set bob viewer sales
      quire role list sales

    A notebook in which nobody was given a role is open: a token's scopes alone decide. Once somebody has one, those without
    stay outside, but for who made it, its owner. docs/reference/identity.md has the whole table.
    """


@role_verb.command("set", epilog=EXIT_STATUS)
@click.argument("actor")
@click.argument("role", type=click.Choice((*get_args(Role), NONE)))
@click.argument("notebooks", nargs=-1, metavar="[NOTEBOOK]...", shell_complete=names_of_logs)
@click.option("--all", "everywhere", is_flag=True, help="In all notebooks, also in those to come.")
@with_workspace
async def set_verb(
    workspace: Workspace, actor: str, role: str, notebooks: tuple[str, ...], everywhere: bool, as_json: bool
) -> None:
    """Give ACTOR a ROLE (owner, editor, viewer; none takes it away) in each NOTEBOOK.

    \b
      quire role set human:bob editor sales costs
      quire role set bob viewer --all

    It counts from this moment on, also for whoever is reading just now. A role in a notebook goes before one in all.
    """
    if everywhere == bool(notebooks):
        raise BadInput("Name the notebooks in which the role holds, or pass --all. One of the two.")
    who, given = await known_actor(workspace, actor), None if role == NONE else cast("Role", role)
    logs = [None] if everywhere else [(await workspace.find(name)).log for name in notebooks]
    before = closed_notebooks(await workspace.directory())
    drafts = [Draft(id=new_id(), event=RoleSet(actor=who, role=given, notebook=log)) for log in dict.fromkeys(logs)]
    await workspace.submit(WORKSPACE_LOG, drafts)
    if as_json:
        print_json({"actor": who, "role": given, "notebooks": None if everywhere else list(dict.fromkeys(logs))})
        return
    where = "all notebooks" if everywhere else ", ".join(plain(name) for name in notebooks)
    click.echo(f"{plain(who)} is {given or 'without a role'} in {where}.", err=True)
    _tell_closing(before, closed_notebooks(await workspace.directory()))


def _tell_closing(before: frozenset[str], after: frozenset[str]) -> None:
    for log in sorted(after - before):
        click.echo(
            f"{log} was open to every token; from now on it is for those with a role, and who made it.", err=True
        )
    for log in sorted(before - after):
        click.echo(f"{log} is open again: nobody has a role in it, so every token's scopes decide.", err=True)


@role_verb.command("list", epilog=EXIT_STATUS)
@click.argument("notebook", required=False, shell_complete=names_of_logs)
@with_workspace
async def list_verb(workspace: Workspace, notebook: str | None, as_json: bool) -> None:
    """List who has which role: everywhere, or in NOTEBOOK.

    \b
      quire role list sales

    With --json, an array of objects.
    """
    directory = await workspace.directory()
    only = (await workspace.find(notebook)).log if notebook is not None else None
    lines = [line async for line in _lines(workspace, directory, only)]
    if as_json:
        print_json(lines)
    elif lines:
        rows = [(line.name or "all notebooks", line.notebook or "", line.actor, line.role, line.by) for line in lines]
        click.echo(table(("notebook", "id", "actor", "role", "how"), rows))
    if not as_json and only is not None and only not in closed_notebooks(directory):
        click.echo(f"{only} is open: nobody was given a role in it, so every token's scopes decide.", err=True)
    elif not as_json and not lines:
        click.echo("Nobody was given a role: every notebook is open, and tokens' scopes decide.", err=True)


async def _lines(workspace: Workspace, directory: Directory, only: LogId | None):
    closed = closed_notebooks(directory)
    logs = {info.log: info for info in await workspace.logs()}
    for info in logs.values():
        imported = directory.imports.get(info.log)
        maker = imported.by if imported is not None else info.created_by
        given = role_key(info.log, maker) in directory.roles
        if info.log in closed and only in (None, info.log) and not given:
            yield _RoleLine(notebook=info.log, name=info.name, actor=maker, role="owner", by="made")
    for line in _given(directory):
        if line.notebook is None or (line.notebook in logs and only in (None, line.notebook)):
            name = logs[line.notebook].name if line.notebook is not None else ""
            yield msgspec.structs.replace(line, name=name)


def _given(directory: Directory) -> Iterator[_RoleLine]:
    for key, role in directory.roles.items():
        notebook, _, actor = key.partition(" ")
        yield _RoleLine(
            notebook=None if notebook == "*" else LogId(notebook), name="", actor=actor, role=role, by="given"
        )
