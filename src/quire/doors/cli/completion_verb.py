"""`quire completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ...core.errors import BadInput
from . import EXIT_STATUS
from .printer import print_json

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", epilog=EXIT_STATUS)
@click.argument("shell", type=click.Choice(SHELLS))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON value on stdout, for programs.")
def completion_verb(shell: str, as_json: bool) -> None:
    """Print the completion script of SHELL; load it where your shell starts.

    \b
      quire completion bash > ~/.local/share/bash-completion/completions/quire
      quire completion zsh  > ~/.zfunc/_quire
      quire completion fish > ~/.config/fish/completions/quire.fish
    """
    from .main import cli

    made = get_completion_class(shell)
    if made is None:
        raise BadInput(f"There is no completion for {shell!r}; there is for {', '.join(SHELLS)}.")
    script = made(cli, {}, "quire", "_QUIRE_COMPLETE").source()
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)
