"""`quire agent install`, `quire agent uninstall` and `quire agent list`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ....connection import find_folder, new_folder
from ....core.errors import BadInput, QuireError
from ....formats.terminal_safe import plain
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import print_json, table
from ..screen import terminal_prompter

if TYPE_CHECKING:
    from ...agents.agent_files import FileChange, Target
    from ...agents.known_agents import Scope

F = TypeVar("F", bound=Callable[..., Any])


def _options(function: F) -> F:
    """What both have: whose files, and whether anybody is asked."""
    function = json_option(function)
    function = click.option("--yes", is_flag=True, help="Write it without asking.")(function)
    for name, whose in (("user", "yours, for all projects"), ("project", "this project's  [default]")):
        function = click.option(f"--{name}", "scope", flag_value=name, help=f"Settings that are {whose}.")(function)
    return click.argument("agent")(function)


@click.group("agent", epilog=EXIT_STATUS)
def agent_verb() -> None:
    """Set up a coding agent for notebooks: its MCP settings, and a skill that teaches it how to work here.

    \b
      quire agent install claude-code
      quire agent list

    docs/how-to/agents.md tells which agents there are, and what they may do.
    """


@agent_verb.command("install", epilog=EXIT_STATUS)
@_options
@click.option("--at", metavar="WHERE", help="The workspace that it works in.  [default: that of the folder it is in]")
@click.option("--ask", metavar="SCOPE,…", default="", help="What it has to ask for first: run, edit, or both.")
def install_verb(agent: str, scope: Scope | None, at: str | None, ask: str, yes: bool, as_json: bool) -> int:
    """Tell AGENT about Quire: its settings get an entry, and it gets a SKILL.md.

    \b
      quire agent install claude-code
      quire agent install codex --user --ask run

    What is going to be written is shown first. All else in the settings stays as it is. Nobody at a terminal, and no --yes:
    it is shown, and nothing is written. Installing again, with other options, replaces the entry.
    """
    from ...agents.agent_files import to_install

    target = _target(agent, scope)
    changes = to_install(target, at=at, asks=_scopes(ask))
    done = _done(changes, target, yes=yes, as_json=as_json, verb="install")
    if done and target.agent.note and not as_json:
        click.echo(f"quire: {target.agent.note}", err=True)
    return 0


@agent_verb.command("uninstall", epilog=EXIT_STATUS)
@_options
def uninstall_verb(agent: str, scope: Scope | None, yes: bool, as_json: bool) -> int:
    """Remove from AGENT's settings what `install` wrote, and nothing else.

    \b
      quire agent uninstall claude-code
    """
    from ...agents.agent_files import targets, to_uninstall

    target = _target(agent, scope)
    changes = to_uninstall(target, targets(_folder(), target.scope))
    _done(changes, target, yes=yes, as_json=as_json, verb="uninstall")
    return 0


@agent_verb.command("list", epilog=EXIT_STATUS)
@json_option
def list_verb(as_json: bool) -> None:
    """List the agents that can be set up, and where they are.

    \b
      quire agent list
    """
    from ...agents.agent_files import targets

    scopes: tuple[Scope, ...] = ("project", "user")
    found = [target for scope in scopes for target in targets(_folder(), scope)]
    rows = [(each.agent.name, each.scope, _installed(each), str(each.settings)) for each in found]
    if as_json:
        names = ("agent", "scope", "installed", "settings")
        print_json([dict(zip(names, row, strict=True)) for row in sorted(rows, key=lambda row: row[:2])])
        return
    words = {True: "yes", False: "", None: "cannot be read"}
    shown = [(name, scope, words[there], path) for name, scope, there, path in sorted(rows, key=lambda row: row[:2])]
    click.echo(table(("agent", "scope", "installed", "settings"), shown))


def _installed(target: Target) -> bool | None:
    """Whether it knows about us; None when its settings cannot be read."""
    from ...agents.agent_files import is_installed

    try:
        return is_installed(target)
    except QuireError:
        return None


def _folder() -> Path:
    """The project's: where its workspace is, or would be."""
    here = Path.cwd()
    return (find_folder(here) or new_folder(here)).parent


def _target(agent: str, scope: Scope | None) -> Target:
    from ...agents.agent_files import target_of
    from ...agents.known_agents import find_agent

    found = find_agent(agent)
    return target_of(found, scope or ("user" if found.project is None else "project"), _folder())


def _scopes(text: str) -> str:
    """What has to be asked for, as `quire mcp` takes it."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if wrong := [name for name in names if name not in ("edit", "run")]:
        raise BadInput(f"{wrong[0]!r} is neither run nor edit: only those are asked for. Try --ask run.")
    return ",".join(dict.fromkeys(names))


def _done(changes: list[FileChange], target: Target, *, yes: bool, as_json: bool, verb: str) -> bool:
    """Show the changes, and make them if somebody agrees."""
    from ...agents.agent_files import write

    if not as_json:
        for change in changes:
            click.echo(plain(change.difference()), nl=False)
    agreed = bool(changes) and (yes or _agreed(changes, as_json=as_json))
    if agreed:
        write(changes)
    if as_json:
        told = [{"path": str(each.path), "action": each.action, "difference": each.difference()} for each in changes]
        print_json({"agent": target.agent.name, "scope": target.scope, "changes": told, "written": agreed})
    else:
        click.echo(f"quire: {_end(changes, target, agreed=agreed, verb=verb)}", err=True)
    return agreed


def _agreed(changes: list[FileChange], *, as_json: bool) -> bool:
    if as_json or terminal_prompter() is None:
        return False
    files = "this file" if len(changes) == 1 else f"these {len(changes)} files"
    return click.confirm(f"Write {files}?", default=False, err=True)


def _end(changes: list[FileChange], target: Target, *, agreed: bool, verb: str) -> str:
    words = f"quire agent {verb} {target.agent.name} --{target.scope}"
    if not changes:
        return "There is nothing to change."
    if not agreed:
        return f"Nothing was written. To write it: {words} --yes"
    if verb == "uninstall":
        return f"{target.agent.title} does not know about Quire any more. It may have to be started again."
    return f"{target.agent.title} knows about Quire when it is started again. `quire agent uninstall` takes it back."
