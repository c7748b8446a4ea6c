"""What a notebook says it needs, and what of that is not there.

A notebook says so in a PEP 723 block (`# /// script`) in a code cell, and in `environment` of
our own metadata:

    # /// script
    # requires-python = ">=3.11"
    # dependencies = ["httpx<1"]
    # [tool.quire]
    # variables = ["REPORT_URL"]
    # secrets = ["API_KEY"]
    # ///

    "quire": {"environment": {"python": ">=3.11", "dependencies": ["httpx<1"], "variables": [], "secrets": []}}

Packages are looked up by name and version in the interpreter that is to run the notebook.
Versions and markers are compared where `packaging` is installed beside Quire; else names
only, and what has a marker is taken to be there. The packages of an extra are not looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from ..core.errors import BadInput
from ..core.results import script_table
from ..core.sheet.sheet import Sheet
from . import sql_cells
from .environments import ask
from .kernel_protocol import Spec

_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_LOOK_UP = """
import importlib.metadata as metadata, json, platform, sys
found = {}
for name in json.loads(sys.argv[1]):
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps({"python": platform.python_version(), "found": found}))
"""


class Needs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a notebook declares."""

    python: str | None = None
    packages: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    """Variables whose values must not be kept anywhere."""


class MissingRequirements(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a notebook declares and nobody provides, in its own words."""

    python: str | None = None
    packages: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


class _InstalledPackages(msgspec.Struct):
    python: str
    found: dict[str, str]


def needs_of(sheet: Sheet) -> Needs:
    """Return what a notebook declares, in its block and in its metadata together."""
    script = _Table(script_table(sheet), "the `# /// script` block")
    ours = script.table("tool").table("quire")
    kept = _Table(sheet.ours, "quire in the metadata").table("environment")
    packages = _once(script.texts("dependencies"), kept.texts("dependencies"))
    return Needs(
        python=script.text("requires-python") or kept.text("python") or kept.text("requires-python"),
        packages=_with_sql(packages, sheet),
        variables=_once(ours.texts("variables"), kept.texts("variables")),
        secrets=_once(ours.texts("secrets"), kept.texts("secrets")),
    )


def _with_sql(packages: tuple[str, ...], sheet: Sheet) -> tuple[str, ...]:
    """SQL cells need what runs them, whether or not anybody says so."""
    has_sql = any(cell.kind == "sql" for cell in sheet.cells)
    return (*packages, sql_cells.PACKAGE) if has_sql and sql_cells.PACKAGE not in map(_name, packages) else packages


def _once(*parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for part in parts for each in part))


class _Table:
    """A part of what was declared, whose values are checked when they are read."""

    def __init__(self, values: Any, where: str) -> None:
        if not isinstance(values, dict):
            raise BadInput(f"The environment of the notebook: {where} has to be a table.")
        self._values = cast("dict[str, Any]", values)
        self._where = where

    def table(self, name: str) -> _Table:
        return _Table(self._values.get(name, {}), f"{name} in {self._where}")

    def text(self, name: str) -> str | None:
        value = self._values.get(name)
        if value is not None and not isinstance(value, str):
            raise BadInput(f"The environment of the notebook: {name} in {self._where} has to be text.")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._values.get(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in cast("list[Any]", value)):
            raise BadInput(f"The environment of the notebook: {name} in {self._where} has to be a list of texts.")
        return tuple(cast("list[str]", value))


def missing(needs: Needs, spec: Spec, env: Mapping[str, str]) -> MissingRequirements:
    """Return what is not there. Starts the interpreter of `spec` if packages or a Python are declared.

    A secret that is empty is missing: that is what a secret nobody set up looks like in CI.
    """
    variables = tuple(name for name in needs.variables if name not in env)
    secrets = tuple(name for name in needs.secrets if not env.get(name))
    python, packages = None, ()
    if spec.interpreter is not None and (needs.python or needs.packages):
        python, packages = _compare(needs, spec.interpreter, env)
    return MissingRequirements(python=python, packages=packages, variables=_once(variables, secrets))


def _compare(needs: Needs, interpreter: str, env: Mapping[str, str]) -> tuple[str | None, tuple[str, ...]]:
    names = json.dumps([_name(each) for each in needs.packages])
    found = msgspec.json.decode(ask(interpreter, _LOOK_UP, env, names), type=_InstalledPackages)
    try:
        import packaging.requirements  # noqa: F401 # pyright: ignore[reportUnusedImport] - only whether it is there
    except ImportError:
        return None, tuple(each for each in needs.packages if ";" not in each and _name(each) not in found.found)
    return _python(needs.python, found.python), tuple(_unmet(needs.packages, found))


def _name(requirement: str) -> str:
    found = _NAME.match(requirement)
    if found is None:
        raise BadInput(f"The notebook declares the package {requirement!r}, which is no name of one.")
    return found[1]


def _python(wanted: str | None, there: str) -> str | None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        fits = wanted is None or SpecifierSet(wanted).contains(there, prereleases=True)
    except InvalidSpecifier:
        raise BadInput(f"The notebook declares Python {wanted!r}, which is no version. Try '>=3.11'.") from None
    return None if fits else wanted


def _unmet(packages: Iterable[str], found: _InstalledPackages) -> Iterable[str]:
    from packaging.requirements import InvalidRequirement, Requirement

    version = {"python_full_version": found.python, "python_version": ".".join(found.python.split(".")[:2])}
    for each in packages:
        try:
            wanted = Requirement(each)
        except InvalidRequirement as error:
            said = str(error).partition("\n")[0]
            raise BadInput(f"The notebook declares the package {each!r}: {said}.") from None
        if wanted.marker is not None and not wanted.marker.evaluate(version):
            continue
        there = found.found.get(_name(each))
        if there is None or not wanted.specifier.contains(there, prereleases=True):
            yield each
