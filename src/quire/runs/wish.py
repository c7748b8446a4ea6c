"""From what somebody wants to a run of which everything is decided (rule 14)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import msgspec

from ..actors.runtime.environments import find
from ..actors.runtime.needs import Missing, missing, needs_of
from ..actors.runtime.running import Order
from ..actors.runtime.variables import variables
from ..core.errors import BadInput
from ..core.events import RunSource
from ..core.ids import LogId
from ..core.params import bind, declared
from ..core.sheet import Sheet
from ..core.values import Json, tag
from ..disk import read_text
from ..files import formats
from ..files.inject import parameterized
from ..files.papermill import without_markers
from ..files.templates import fill_path
from ..workspace.clock import new_id


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to be run, and how."""

    source: Path
    output: str | None = None
    """A path, which may be a template."""
    values: dict[str, Any] = {}
    """For the parameters; a `params.Text` is what somebody typed."""
    kernel: str | None = None
    language: str | None = None
    cwd: Path | None = None
    start_timeout: float = 60
    execution_timeout: float | None = None
    timeout: float | None = None
    report_mode: bool = False


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it will be: nothing is left to decide."""

    order: Order
    output: Path | None
    input_path: str
    warnings: tuple[str, ...] = ()


def prepare(wish: Wish, environ: Mapping[str, str], now: dt.datetime) -> Prepared:
    """Decide everything that a run needs, or say what is missing."""
    text = read_text(wish.source)
    path = str(wish.source)
    sheet = without_markers(formats.read(text, path))
    log = LogId(new_id())
    try:
        bound = bind(declared(sheet), wish.values)
        filled = parameterized(sheet, bound, wish.language, report_mode=wish.report_mode)
        output = fill_path(wish.output, bound.values, run=log, now=now) if wish.output is not None else None
    except BadInput as error:
        raise BadInput(f"{path}: {error}", **error.details) from None
    if output is not None:
        formats.format_of(output)
    return Prepared(
        order=_order(wish, log, text, filled, {name: tag(value) for name, value in bound.given.items()}, environ),
        output=Path(output) if output is not None else None,
        input_path=path,
        warnings=bound.warnings,
    )


def _order(
    wish: Wish, log: LogId, text: str, sheet: Sheet, parameters: dict[str, Json], environ: Mapping[str, str]
) -> Order:
    beside = wish.source.absolute().parent
    kernelspec: Any = sheet.metadata.get("kernelspec")
    preferred = cast("dict[str, Any]", kernelspec).get("name") if isinstance(kernelspec, dict) else None
    spec = find(wish.language or sheet.language, wish.kernel, cwd=beside, environ=environ, preferred=preferred)
    found = variables(beside, environ)
    needs = needs_of(sheet)
    _check_complete(str(wish.source), missing(needs, spec, found.env), spec.interpreter)
    return Order(
        log=log,
        name=wish.source.stem,
        source=RunSource(path=str(wish.source), digest=sha256(text.encode("utf-8", "surrogatepass")).hexdigest()),
        sheet=sheet,
        spec=spec,
        variables=found.env,
        cwd=wish.cwd or Path.cwd(),
        parameters=parameters,
        metadata=sheet.metadata,
        secrets={name: found.env[name] for name in needs.secrets},
        start_timeout=wish.start_timeout,
        execution_timeout=wish.execution_timeout,
        timeout=wish.timeout,
    )


def _check_complete(path: str, lacks: Missing, interpreter: str | None) -> None:
    """Refuse by name, before the first cell, what a notebook declares and nobody provides."""
    if lacks.variables:
        names = ", ".join(lacks.variables)
        raise BadInput(f"{path} needs {names}, which is not set. Set it, or put it into a .env beside the notebook.")
    if lacks.python:
        raise BadInput(
            f"{path} needs {lacks.python}; {interpreter} is another. Activate one that fits, or name one: -k."
        )
    if lacks.packages:
        names = " ".join(f"'{name}'" for name in lacks.packages)
        raise BadInput(f"{path} needs {names} in {interpreter}. Run `uv pip install --python {interpreter} {names}`.")
