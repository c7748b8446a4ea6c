"""`quire params`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ....core.errors import BadInput
from ....core.params.parameters import Parameter, as_json, declared
from ....core.sheet.sheet import Sheet
from ....core.values import untag
from ....disk import read_text
from ....formats import registry
from .. import EXIT_STATUS
from ..options import json_option
from ..printer import print_json, table


@click.command("params", epilog=EXIT_STATUS)
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def params_verb(file: Path, as_json: bool) -> None:
    """List the parameters that FILE, a notebook in any format, takes. Nothing in it is run.

    \b
      quire params sales.md

    They are what its frontmatter or its cell tagged `parameters` declares. `quire run` takes
    a value for each with -p NAME=VALUE.
    """
    tell(registry.read(read_text(file), str(file)), file, as_json=as_json)


def tell(sheet: Sheet, file: Path, *, as_json: bool) -> bool:
    """Print what a notebook takes, and return whether it takes anything."""
    found = _declared(sheet, file)
    if as_json:
        print_json([_told(each) for each in found])
    elif found:
        click.echo(table(("name", "type", "default", "help"), [row_of(each) for each in found]))
    else:
        hint = "Tag a cell `parameters`, or declare them in the frontmatter of an .md."
        click.echo(f"quire: {file} takes no parameters. {hint}", err=True)
    return bool(found)


def _declared(sheet: Sheet, file: Path) -> list[Parameter]:
    try:
        return declared(sheet)
    except BadInput as error:
        raise BadInput(f"{file}: {error}", **error.details) from None


def _told(parameter: Parameter) -> dict[str, Any]:
    return as_json(parameter)


def row_of(parameter: Parameter) -> tuple[str, str, str, str]:
    """A parameter as a line of a table: name, type, default, help."""
    help = parameter.help
    if parameter.choices:
        shown = ", ".join(_shown(untag(each)) for each in parameter.choices)
        help = f"{help} (one of: {shown})".lstrip()
    return parameter.name, parameter.type or "", _default(parameter), help


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    if parameter.expression is not None:
        return parameter.expression
    return _shown(untag(parameter.default))


def _shown(value: Any) -> str:
    """A value as it could be typed."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return str(value) if value and value == value.strip() else repr(str(value))
        case _ if hasattr(value, "isoformat"):
            return value.isoformat()
        case _:
            return repr(value)
