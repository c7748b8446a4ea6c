"""What has to be written so that a coding agent finds Quire, and what to remove so that it does not.

Files of others are changed in one entry and stay otherwise as they are (formats/settings_edit).
Everything is planned first, so that it can be shown; only `write` touches the disk.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, cast
from urllib.parse import urlsplit

import msgspec

from ...core.errors import BadInput, QuireError, Unavailable
from ...core.values import Json
from ...disk import check_writable, read_text, write_text
from ...formats import skill
from ...formats.settings_edit import json_edit, toml_edit
from .known_agents import AGENTS, SERVER, Agent, Scope, entry_of, place_of, settings_path

T = TypeVar("T")


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it is, and as it is going to be; None: it is not there."""

    path: Path
    before: str | None
    after: str | None

    @property
    def action(self) -> Literal["make", "change", "remove"]:
        """What happens to the file."""
        return "make" if self.before is None else "remove" if self.after is None else "change"

    def difference(self) -> str:
        """Line by line, as git shows it."""
        before, after = ((side or "").splitlines(keepends=True) for side in (self.before, self.after))
        old, new = ("/dev/null" if side is None else str(self.path) for side in (self.before, self.after))
        lines = difflib.unified_diff(before, after, old, new)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """An agent in a scope, and where its files are."""

    agent: Agent
    scope: Scope
    settings: Path
    skill: Path
    folder: str | None
    """What it puts in for the folder of the project."""

    @property
    def key(self) -> tuple[str, ...]:
        """Under which names our entry stands in its settings."""
        text = _text(self.settings) if self.agent.shape == "opencode" else None
        if text and text.strip():
            servers = _asked(self.settings, text, json_edit.entry, (self.agent.key, "servers"))
            # Newer files have the servers one level deeper; a server may be called so, too.
            if isinstance(servers, dict) and "type" not in servers:
                return (self.agent.key, "servers", SERVER)
        return (self.agent.key, SERVER)


def target_of(agent: Agent, scope: Scope, folder: Path, environ: Mapping[str, str] = os.environ) -> Target:
    """Find the files of an agent."""
    place = place_of(agent, scope)
    settings = settings_path(place.settings, folder, environ)
    if agent.shape == "opencode" and not settings.exists() and settings.with_suffix(".jsonc").exists():
        settings = settings.with_suffix(".jsonc")
    found = settings_path(place.skills, folder, environ) / skill.SKILL_NAME / "SKILL.md"
    return Target(agent=agent, scope=scope, settings=settings, skill=found, folder=place.folder)


def start_of(target: Target, *, at: str | None, asks: str) -> tuple[str, list[str]]:
    """The command that starts our server, and its arguments."""
    ours = Path(sys.executable).with_name("quire")
    found = shutil.which("quire")
    # Others have their own installation somewhere else: a project's file names it only where no path would find it.
    on_path = found is not None and Path(found).resolve() == ours.resolve()
    command = "quire" if target.scope == "project" and on_path else str(ours)
    where = _address(at) if at is not None else target.folder
    words = ["mcp", "--as", target.agent.name]
    return command, words + (["--at", where] if where else []) + (["--ask", asks] if asks else [])


def _address(at: str) -> str:
    """A workspace, for somebody who starts somewhere else; without a password, for it stands in a file then."""
    try:
        secret = urlsplit(at).password
    except ValueError:
        raise BadInput(f"{at!r} is no address. Give a folder, postgresql://… or https://….") from None
    if secret:
        raise BadInput(
            "That address holds a password, which would stand in a file. Set QUIRE_URL where the agent starts."
        )
    return str(Path(at).absolute()) if Path(at).is_dir() else at


# ---- Planning


def to_install(target: Target, *, at: str | None = None, asks: str = "") -> list[FileChange]:
    """What is written so that the agent finds us. Nothing, if it does already."""
    command, arguments = start_of(target, at=at, asks=asks)
    before = _text(target.settings)
    wanted = entry_of(target.agent, command, arguments)
    text = before or ""
    if target.agent.shape == "toml":
        after = _asked(target.settings, text, toml_edit.with_table, target.key, wanted)
    else:
        there = _asked(target.settings, text, json_edit.entry, target.key) if text.strip() else None
        kept = cast("dict[str, Json]", there) if isinstance(there, dict) else {}
        after = text
        if {**kept, **wanted} != there:
            after = _asked(target.settings, text, json_edit.with_entry, target.key, {**kept, **wanted})
    changes = [FileChange(path=target.settings, before=before, after=after)]
    taught = _text(target.skill)
    if taught is not None and not skill.is_ours(taught):
        raise BadInput(f"{target.skill} is somebody else's: it was not written by `quire agent install`. Move it away.")
    changes.append(FileChange(path=target.skill, before=taught, after=skill.SKILL))
    return [change for change in changes if change.before != change.after]


def to_uninstall(target: Target, others: list[Target]) -> list[FileChange]:
    """What is removed so that the agent does not find us any more. A skill that others read as well stays."""
    changes: list[FileChange] = []
    before = _text(target.settings)
    if before is not None and is_installed(target):
        edit = toml_edit.without_table if target.agent.shape == "toml" else json_edit.without_entry
        after = _asked(target.settings, before, edit, target.key)
        changes.append(
            FileChange(path=target.settings, before=before, after=None if json_edit.is_empty(after) else after)
        )
    taught = _text(target.skill)
    shared = any(
        other.skill == target.skill and other.agent != target.agent and is_installed(other) for other in others
    )
    if taught is not None and skill.is_ours(taught) and not shared:
        changes.append(FileChange(path=target.skill, before=taught, after=None))
    return changes


def is_installed(target: Target) -> bool:
    """Whether its settings name us."""
    text = _text(target.settings)
    if text is None or not text.strip():
        return False
    look = toml_edit.table if target.agent.shape == "toml" else json_edit.entry
    return _asked(target.settings, text, look, target.key) is not None


def targets(folder: Path, scope: Scope, environ: Mapping[str, str] = os.environ) -> list[Target]:
    """All that have files in that scope."""
    return [
        target_of(agent, scope, folder, environ) for agent in AGENTS if scope == "user" or agent.project is not None
    ]


def _text(path: Path) -> str | None:
    return read_text(path) if path.exists() else None


def _asked(path: Path, text: str, work: Callable[..., T], *arguments: Any) -> T:
    """Do something with the text of a file; what is wrong with it is said with its name."""
    try:
        return work(text, *arguments)
    except QuireError as error:
        raise type(error)(f"{path}: {error}") from None


# ---- Writing


def write(changes: list[FileChange]) -> None:
    """Make the changes. What somebody changed since they were shown is left alone."""
    for change in changes:
        if _text(change.path) != change.before:
            raise BadInput(f"{change.path} was changed meanwhile, and is left as it is. Try again.")
    for change in changes:
        if change.after is not None:
            check_writable(change.path)
            write_text(change.path, change.after)
        else:
            _remove(change.path)


def _remove(path: Path) -> None:
    """Remove a file, and the folders that this leaves empty: but not a project's or a home."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"{path} cannot be removed: {error.strerror}.") from error
    with contextlib.suppress(OSError):
        for folder in path.parents[:3]:
            if not folder.name.startswith(".") and folder.name not in ("skills", skill.SKILL_NAME):
                return
            folder.rmdir()
