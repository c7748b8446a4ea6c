"""`quire git install`, `quire git uninstall` and `quire git status`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ....formats.terminal_safe import plain
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import print_json
from .strip_verb import rules_of, rules_options

if TYPE_CHECKING:
    from ....git.other_tools import Other
    from ....git.repository import Scope

F = TypeVar("F", bound=Callable[..., Any])


def _scope_options(function: F) -> F:
    for name, whose in (("system", "all repositories on this machine"), ("global", "all your repositories")):
        function = click.option(f"--{name}", "scope", flag_value=name, help=f"For {whose}.")(function)
    return function


@click.group("git", epilog=EXIT_STATUS)
def git_verb() -> None:
    """Teach git to record, compare and merge notebooks by cell.

    \b
      quire git install
    """


@git_verb.command("install", epilog=EXIT_STATUS)
@_scope_options
@click.option(
    "--attributes",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the attributes go, say .gitattributes.  [default: .git/info/attributes]",
)
@click.option("--no-generate", is_flag=True, help="No hooks that write the .ipynb of each .py under notebooks/.")
@rules_options
@json_option
def install_verb(
    scope: Scope | None, attributes: Path | None, no_generate: bool, as_json: bool, **options: Any
) -> None:
    """Set up this repository for notebooks: without outputs, compared and merged by cell.

    \b
      quire git install

    Notebooks under runs/ and outputs/ keep their outputs. After a checkout, merge or rebase the
    .ipynb of each changed .py under notebooks/ is written again; outputs of cells that did not
    change stay. What is removed is what `quire strip` removes, by the same options. Installing
    again, with other options, replaces what is there.
    """
    from ....git.install import install

    done = install(scope or "local", rules_of(options), attributes=attributes, generate=not no_generate)
    if as_json:
        print_json(done)
        return
    _echo_paths("Settings", [done.settings or "none"])
    _echo_paths("Attributes", done.attributes)
    _echo_paths("Hooks", done.hooks)
    for note in done.notes:
        click.echo(f"quire: {plain(note)}", err=True)
    _echo_others(done.others)


@git_verb.command("uninstall", epilog=EXIT_STATUS)
@_scope_options
@json_option
def uninstall_verb(scope: Scope | None, as_json: bool) -> None:
    """Remove what `install` wrote, and nothing else.

    \b
      quire git uninstall
    """
    from ....git.install import uninstall

    done = uninstall(scope or "local")
    if as_json:
        print_json(done)
        return
    paths = [path for path in (done.settings, *done.attributes, *done.hooks) if path]
    for path in paths:
        click.echo(f"Removed from {plain(path)}", err=True)
    if not paths:
        click.echo("There was nothing to remove.", err=True)
    _echo_others(done.others)


@git_verb.command("status", epilog=EXIT_STATUS)
@json_option
def status_verb(as_json: bool) -> int:
    """Say what is installed where, and whether it works. Exit 1 if not.

    \b
      quire git status
    """
    from ....git.status import status

    found = status()
    if as_json:
        print_json(found)
        return int(not found.works)
    click.echo(f"Installed   {', '.join(found.scopes) or 'no'}")
    click.echo(f"Works       {'yes' if found.works else 'no'}")
    _echo_paths("Attributes", found.attributes, err=False)
    _echo_paths("Hooks", found.hooks, err=False)
    for fault in found.faults:
        click.echo(f"quire: {plain(fault)}", err=True)
    _echo_others(found.others)
    return int(not found.works)


def _echo_paths(title: str, paths: list[str], *, err: bool = True) -> None:
    for number, path in enumerate(paths or ["none"]):
        click.echo(f"{'' if number else title:<11} {plain(path)}", err=err)


def _echo_others(others: list[Other]) -> None:
    for other in others:
        told = f"{other.tool} is here too: `{other.what}` in {other.where}. To remove it: {other.remove}"
        click.echo(f"quire: {plain(told)}", err=True)
