"""What `quire doctor` looks at beside the workspace: Python, packages, kernels, git, settings."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from .... import __version__
from ....core.errors import BadInput, QuireError
from .doctor_finding import DoctorFinding, fault, ok, warning

OLDEST, NEWEST = (3, 11), (3, 13)
_NEEDED = re.compile(r"\s*([A-Za-z0-9][\w.-]*)(\[[^]]*\])?\s*([^;]*)(?:;(.*))?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")
_USES = {
    "kernels": "`quire run` and live notebooks",
    "serve": "`quire serve`",
    "remote": "workspaces at http(s)://, and notebooks at s3:// and the like",
    "postgres": "workspaces on PostgreSQL",
    "s3": "blobs on S3",
    "formats": "notebooks in formats of Jupytext",
    "frames": "results that are data frames",
    "html": "`quire convert` to .html",
    "forge": "pull requests",
}
_CONVENIENCES = ("keyring",)
"""Extras that nothing misses: there is another way to do the same."""


def look_at_python() -> Iterator[DoctorFinding]:
    """The interpreter that runs this."""
    told = f"Python {platform.python_version()} at {sys.executable}, Quire {__version__}"
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        yield ok("python", told)
    else:
        yield fault("python", told, "Install Quire with Python 3.11, 3.12 or 3.13.")


# ---- Packages


def look_at_packages() -> Iterator[DoctorFinding]:
    """What Quire needs, and what its extras would add."""
    try:
        wanted = metadata.requires("quire") or []
    except metadata.PackageNotFoundError:
        yield warning("packages", "Quire runs from a folder and is not installed.", "pip install -e . in its folder.")
        return
    extras: dict[str, list[str]] = {}
    for line in wanted:
        extra = _EXTRA.search(line)
        extras.setdefault(extra[1] if extra else "", []).append(line)
    for extra in ("all", *_CONVENIENCES):
        extras.pop(extra, None)
    for extra, lines in extras.items():
        yield from _look_at_extra(extra, lines)


def _look_at_extra(extra: str, lines: list[str]) -> Iterator[DoctorFinding]:
    missing: list[str] = []
    unfit: list[str] = []
    for line in lines:
        name, needs, there = _required(line)
        if there is None:
            missing.append(name)
        elif not _fits(there, needs):
            unfit.append(f"{name} {there} (needed: {needs})")
    add = f"pip install 'quire[{extra}]'" if extra else "pip install quire"
    if unfit:
        yield fault("packages", f"Too old or too new: {', '.join(unfit)}", add)
    if missing and extra:
        yield warning("packages", f"Not installed: {', '.join(missing)}, for {_USES.get(extra, extra)}", add)
    elif missing:
        yield fault("packages", f"Not installed: {', '.join(missing)}", add)
    if not missing and not unfit:
        yield ok("packages", f"{extra or 'core'}: {', '.join(_shown(line) for line in lines)}")


def _required(line: str) -> tuple[str, str, str | None]:
    found = _NEEDED.match(line)
    name, needs = (found[1], found[3].strip(" ()")) if found else (line, "")
    try:
        return name, needs, metadata.version(name)
    except metadata.PackageNotFoundError:
        return name, needs, None


def _shown(line: str) -> str:
    name, _, there = _required(line)
    return f"{name} {there}"


def _fits(there: str, needs: str) -> bool:
    try:
        from packaging.specifiers import InvalidSpecifier, SpecifierSet
    except ImportError:
        return True
    try:
        return SpecifierSet(needs).contains(there, prereleases=True)
    except InvalidSpecifier:
        return True


# ---- Kernels


def look_at_kernels(folder: Path) -> Iterator[DoctorFinding]:
    """Where a Python notebook in this folder would run, and the kernels that Jupyter knows."""
    from ....kernels.environments import ask, find, registered

    try:
        spec = find("python", None, cwd=folder, environ=os.environ)
        version = ask(spec.interpreter or sys.executable, "import ipykernel; print(ipykernel.__version__)", os.environ)
        yield ok("kernels", f"Python notebooks here run in {spec.interpreter}, with ipykernel {version}")
    except QuireError as error:
        yield fault("kernels", str(error))
        return
    try:
        for name, found in registered(folder, os.environ):
            if isinstance(found, BadInput):
                yield warning("kernels", str(found))
            elif shutil.which(found.argv[0]) is None:
                told = f"Kernel {name!r} is started by {found.argv[0]}, which is not there."
                yield warning(
                    "kernels", told, f"Install that kernel again, or remove it: jupyter kernelspec remove {name}"
                )
            else:
                yield ok("kernels", f"{name} ({found.language or 'no language'})")
    except QuireError as error:
        yield warning("kernels", str(error))


# ---- Git


def look_at_git(folder: Path) -> Iterator[DoctorFinding]:
    """Whether git treats notebooks as it was told to."""
    from ....git.repository import find_repository, git

    if shutil.which("git") is None:
        yield warning("git", "git is not on the path: notebooks are not compared or merged.", "Install git.")
        return
    version = git("--version").removeprefix("git version ")
    if find_repository(folder) is None:
        yield ok("git", f"git {version}; {folder} is in no repository")
        return
    yield from _look_at_repository(version)


def _look_at_repository(version: str) -> Iterator[DoctorFinding]:
    from ....git.status import status

    found = status()
    if not found.installed:
        yield ok("git", f"git {version}; it knows no notebooks (`quire git install` lets it compare and merge them)")
    for told in found.faults if found.installed else ():
        yield fault("git", told)
    for other in found.others if found.installed else ():
        yield warning(
            "git", f"{other.tool} is here too: `{other.what}` in {other.where}.", f"To remove it: {other.remove}"
        )
    if found.installed and found.works:
        yield ok("git", f"git {version} compares, merges and cleans notebooks ({', '.join(found.scopes)})")


# ---- Settings


def look_at_settings(folder: Path) -> Iterator[DoctorFinding]:
    """Names that nobody knows, and values that do not fit."""
    from ..settings import read, unknown_variables

    wrong = list(unknown_variables(os.environ))
    for told in wrong:
        yield warning("settings", told)
    try:
        read(folder, {name: value for name, value in os.environ.items() if not any(name in each for each in wrong)}, {})
    except BadInput as error:
        yield fault("settings", str(error))
    else:
        if not wrong:
            yield ok("settings", "Every setting is known")
