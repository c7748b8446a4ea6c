"""What a notebook needs of its kernel, what of that is not there, and which packages are installed for it.

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

What is installed is read from outside the kernel. It says where it imports from, beside its startup; the folders are read
here, while it runs its first cell. Nothing is imported and nothing is started, so the packages are those of the kernel's
interpreter, never Quire's. Of a package that is there twice the first counts, as in an import.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from ..core.errors import BadInput
from ..core.results import script_table
from ..core.sheet.sheet import Sheet
from ..core.values import Json
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


QUESTION = (
    "(lambda os, sys, json: json.dumps({"
    "'path': [each for each in sys.path if isinstance(each, str)],"
    " 'python': '.'.join(map(str, sys.version_info[:3])),"
    " 'implementation': sys.implementation.name,"
    " 'platform': [*os.uname()[::4], *([os.confstr('CS_GNU_LIBC_VERSION')] if sys.platform == 'linux'"
    " and 'CS_GNU_LIBC_VERSION' in os.confstr_names else [])]"
    "}))(*map(__import__, ('os', 'sys', 'json')))"
)
"""An expression for the kernel: in Python 3.8, and without a name left behind."""
MEDIA = "application/json"
HEAD_BYTES = 4096
"""Name and version of a package stand among the first lines of its metadata."""
_METADATA = {"dist-info": "METADATA", "egg-info": "PKG-INFO"}
_FIELD = re.compile(rb"^(Name|Version):[ \t]*([^\n]*?)[ \t]*$", re.MULTILINE)
_WORDS = ((b"Name", "name"), (b"Version", "version"))
_NAMED = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-py[\d.]+.*)?")
_SEPARATORS = re.compile(r"[-_.]+")


class KernelPython(msgspec.Struct, frozen=True):
    """What a Python kernel says of itself."""

    path: list[str]
    python: str
    implementation: str
    platform: list[str]

    @property
    def facts(self) -> dict[str, Json]:
        """What a run records at its start: nothing of it names a place on the machine."""
        return {"python": self.python, "implementation": self.implementation, "platform": _platform(self.platform)}


class InstalledPackages:
    """The packages in folders that a kernel imports from. A folder is read again only once it was changed."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[int, list[tuple[str, str]]]] = {}

    def read_ahead(self, interpreter: str) -> None:
        """Read where the packages of an interpreter nearly always are, while its kernel starts."""
        prefix = Path(interpreter).absolute().parent.parent
        for folder in prefix.glob("lib/python3*/site-packages"):
            self._packages_of(str(folder))

    def versions(self, path: Iterable[str], cwd: Path) -> dict[str, str]:
        """Return each package with its version; folders that are relative begin at `cwd`."""
        versions: dict[str, str] = {}
        for folder in dict.fromkeys(str(cwd / each) for each in path):
            for name, version in self._packages_of(folder):
                versions.setdefault(name, version)
        return versions

    def _packages_of(self, folder: str) -> list[tuple[str, str]]:
        if (at := _changed(folder)) is None:
            return []
        read = self._read.get(folder)
        if read is None or read[0] != at:
            read = self._read[folder] = (at, sorted(_packages_in(folder)))
        return read[1]


def as_json(versions: Mapping[str, str]) -> bytes:
    """Return packages as they are kept: the same packages are the same bytes."""
    return json.dumps(versions, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def platform_facts() -> dict[str, Json]:
    """What is known of a kernel that answers no question: the system on which it runs, as this process does."""
    return {"platform": _platform(os.uname()[::4])}


def _platform(parts: Sequence[str]) -> str:
    """Such as "Linux x86_64, glibc 2.36"."""
    return ", ".join(filter(None, [" ".join(parts[:2]), *parts[2:]]))


def read_answer(answers: Json, name: str) -> KernelPython | None:
    """Return what a kernel answered to QUESTION, the expression `name`; None where it cannot be read."""
    fields = cast("dict[str, Any]", answers) if isinstance(answers, dict) else {}
    try:
        return msgspec.json.decode(ast.literal_eval(fields[name]["data"]["text/plain"]), type=KernelPython)
    except (KeyError, TypeError, ValueError, SyntaxError, msgspec.MsgspecError):
        return None


def read_versions(data: bytes) -> dict[str, str]:
    """Return what `as_json` wrote; it may come from another workspace."""
    try:
        return msgspec.json.decode(data, type=dict[str, str])
    except msgspec.MsgspecError:
        return {}


def _changed(folder: str) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        found = Path(folder).stat()
        return found.st_mtime_ns if stat.S_ISDIR(found.st_mode) else None
    return None


def _packages_in(folder: str) -> Iterator[tuple[str, str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            stem, dot, ending = entry.name.rpartition(".")
            if dot and ending in _METADATA:
                yield from _package(Path(entry.path), stem, _METADATA[ending])


def _package(place: Path, stem: str, file: str) -> Iterator[tuple[str, str]]:
    """What the metadata of a package says; what the name of its folder says, where there is nothing to read in it."""
    fields = {each: value.decode("utf-8", "replace") for each, value in _FIELD.findall(_head(place / file, place))}
    named = _NAMED.fullmatch(stem)
    name, version = (fields.get(key) or (named[word] if named else "") for key, word in _WORDS)
    if name and version:
        yield _SEPARATORS.sub("-", name).lower(), version


def _head(*files: Path) -> bytes:
    """The first lines of the first that is there: an old .egg-info is a file itself."""
    for file in files:
        with contextlib.suppress(OSError), file.open("rb") as metadata:
            # Up to the blank line, below which a package describes itself in its own words.
            return metadata.read(HEAD_BYTES).replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    return b""
