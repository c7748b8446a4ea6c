"""Whether git does what `install` asked for: what is written where, and a notebook sent through it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from .driver_commands import GONE
from .install import attributes_files, hook_files, shared_attributes
from .other_tools import Other, find_others
from .repository import Scope, attempt, find_repository, git, setting

_SCOPES: tuple[Scope, ...] = ("local", "global", "system")
_SAMPLE = "a-notebook-of-any-name.ipynb"
_NOTEBOOK = b'{"cells": [], "metadata": {"widgets": {}}, "nbformat": 4, "nbformat_minor": 5}'
_AGAIN = "Run `quire git install`."


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What is installed, where, and whether it works."""

    installed: bool
    works: bool
    scopes: list[Scope]
    attributes: list[str]
    hooks: list[str]
    faults: list[str] = []
    """What is wrong, and what to do about it."""
    others: list[Other] = []
    """Lines of other tools that do the same; in the way only where a fault says so."""


def status() -> Status:
    """Look at git's settings as they hold here, and try them."""
    repository = find_repository()
    usable = _SCOPES if repository else _SCOPES[1:]
    scopes: list[Scope] = [scope for scope in usable if setting("filter.quire.process", scope)]
    attributes = [file for scope in usable for file in attributes_files(scope)]
    shared = shared_attributes(repository)
    faults = list(_faults(repository.top if repository else None)) if scopes else [f"Git knows no quire. {_AGAIN}"]
    return Status(
        installed=bool(scopes),
        works=not faults,
        scopes=scopes,
        attributes=list(map(str, dict.fromkeys([*attributes, *([shared] if shared else [])]))),
        hooks=list(map(str, hook_files(repository))),
        faults=faults,
        others=find_others(repository),
    )


def _faults(top: Path | None) -> Iterator[str]:
    if top is not None:
        yield from _faults_at(top)
        return
    # Settings for all repositories, and none here: one is made to try them in.
    with tempfile.TemporaryDirectory() as folder:
        git("init", "--quiet", folder)
        yield from _faults_at(Path(folder))


def _faults_at(top: Path) -> Iterator[str]:
    held = _attributes(top, _SAMPLE)
    for name, value in held.items():
        if value == "unspecified":
            yield f"Notebooks have no `{name}` attribute. {_AGAIN}"
        elif value != "quire":
            yield f"The `{name}` attribute of notebooks is {value!r}, not 'quire'. Delete the line that says so, or see below."
    if "quire" in _attributes(top, f"deep/runs/{_SAMPLE}").values():
        yield f"Notebooks under runs/ would lose their outputs. {_AGAIN}"
    done = attempt("hash-object", "--stdin", f"--path={_SAMPLE}", at=top, stdin=_NOTEBOOK)
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode or GONE in said:
        yield f"The filter does not work: {said}. Run `quire git install` with the quire that is there now."


def _attributes(top: Path, path: str) -> dict[str, str]:
    words = git("check-attr", "-z", "filter", "diff", "merge", "--", path, at=top).split("\0")
    return dict(zip(words[1::3], words[2::3], strict=True))
