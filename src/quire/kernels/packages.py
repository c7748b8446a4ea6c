"""The packages that are installed for a Python kernel, read from outside it.

The kernel says where it imports from, beside its startup; the folders are read here, while it runs its
first cell. Nothing is imported and nothing is started, so the packages are those of the kernel's
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

from ..core.values import Json

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
