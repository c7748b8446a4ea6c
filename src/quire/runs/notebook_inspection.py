"""What a notebook takes, and what a run of it came to, as plain values for programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from ..core.errors import BadInput
from ..core.params.parameters import Parameter, declared, tagged_cell
from ..core.results import Outcome
from ..core.sheet.sheet import Sheet
from ..core.values import Json, untag
from .api import Place, wait_for
from .request import RunRequest, read_source


def as_json(outcome: Outcome) -> dict[str, Json]:
    """Return an outcome as `quire run --json` prints it."""
    return msgspec.json.decode(msgspec.json.encode(outcome))


def inspect_notebook(notebook_path: Place, parameters: Mapping[str, Any] | None = None) -> dict[str, dict[str, str]]:
    """Return what a notebook takes, as papermill's function of that name does: every value is text."""
    sheet = sheet_at(notebook_path, parameters)
    return {each.name: _as_papermill(each, sheet) for each in declared_in(sheet, notebook_path)}


def sheet_at(path: Place, values: Mapping[str, Any] | None = None) -> Sheet:
    """Return the notebook in a file of any format."""
    request = RunRequest(source=os.fspath(path), values=dict(values or {}))
    return wait_for(lambda _: read_source(request))


def declared_in(sheet: Sheet, path: Place) -> list[Parameter]:
    """Return the parameters of a notebook; what is wrong with them is told with the file's name."""
    try:
        return declared(sheet)
    except BadInput as error:
        raise BadInput(f"{os.fspath(path)}: {error}", **error.details) from None


# ---- As papermill tells it


def _as_papermill(parameter: Parameter, sheet: Sheet) -> dict[str, str]:
    default = _as_written(parameter, sheet)
    return {
        "name": parameter.name,
        "inferred_type_name": parameter.type or "None",
        "default": default,
        "help": parameter.help,
    }


def _as_written(parameter: Parameter, sheet: Sheet) -> str:
    cell = tagged_cell(sheet)
    if parameter.cell is not None and cell is not None and (written := _in_python(parameter.name, cell.source)):
        return written
    if parameter.expression is not None:
        return parameter.expression
    return "" if parameter.required else repr(untag(parameter.default))


def _in_python(name: str, source: str) -> str | None:
    import ast

    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError):  # another language, or magics
        return None
    # The last one counts, as it does for Python.
    for statement in reversed(statements):
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=found)], value=value)
                | ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value)
            ) if found == name:
                return ast.unparse(value)
            case _:
                pass
    return None
