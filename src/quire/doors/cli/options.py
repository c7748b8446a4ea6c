"""Options that verbs share."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click

CommandFunction = TypeVar("CommandFunction", bound=Callable[..., Any])

NUMBER = click.IntRange(0, 2**53)
"""The number of an event, or a count."""
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON value on stdout, for programs.")


# ---- Of validation runs, and of the forge that is told of them

_VALIDATION_SECONDS = 900.0
_VALIDATION = (
    click.option("--remote", help="The remote.  [default: origin]"),
    click.option(
        "--forge", type=click.Choice(("gitea", "github", "gitlab", "none")), help="What the remote's host runs."
    ),
    click.option(
        "-p", "--parameter", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="For both runs."
    ),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        default=_VALIDATION_SECONDS,
        show_default=True,
        help="Stop a validation run after so long.",
    ),
)


def validation_options(command: CommandFunction) -> CommandFunction:
    """Add the options of verbs that run notebooks before and after a change."""
    return reduce(lambda made, option: option(made), reversed(_VALIDATION), command)


def validation_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return what those options say, as arguments of ProposeOptions."""
    from ...core.params.parameters import Text

    parameters = {name: Text(value) for name, value in options["parameters"]}
    return {"parameters": parameters, **{name: options[name] for name in ("remote", "forge", "timeout")}}
