"""Teaching git about notebooks, and making it forget again.

Three things: settings (how to clean, compare and merge), attributes (which files), hooks
(notebooks that are written from scripts). Only what is ours is written and removed: our
sections of the settings, and lines between our marks. What `install` had to make is noted
in the settings, so that `uninstall` leaves nothing behind.

Attributes are those of the clone (`.git/info/attributes`), not of the repository: everybody
has to run `install` anyhow, and whoever did not never hears of it.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ..core.errors import Unavailable
from ..core.sheet.sheet import Sheet
from ..disk import writing
from ..formats.strip import Rules, strip
from ..kernels.kernel_environment import python_command
from .config_block import has_block, with_block, without_block
from .driver_commands import (
    clean_command,
    diff_command,
    merge_command,
    process_command,
    smudge_command,
    textconv_command,
)
from .other_tools import Other, find_others
from .repository import Repository, Scope, attempt, attributes_file, git, setting, settings_file, the_repository

ATTRIBUTES = """\
*.ipynb filter=quire diff=quire merge=quire
**/runs/**/*.ipynb !filter !diff !merge
**/outputs/**/*.ipynb !filter !diff !merge
"""
"""Notebooks, but for those that hold what runs gave: at any depth."""
HOOKS = ("post-checkout", "post-merge", "post-rewrite", "pre-commit")
"""After any of these the scripts under notebooks/ may be others; before a commit their notebooks are staged."""
SECTIONS = ("filter.quire", "diff.quire", "merge.quire")
_MADE = "filter.quire.made"
_WHERE = "filter.quire.attributes"
_NOTES = "refs/notes/textconv/quire"  # git's own, where somebody had it keep what the textconv said
_SHELL = re.compile(r"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(?:\S*/)?(?:ba|da|z|k|a)?sh\b")


class InstalledFiles(msgspec.Struct, frozen=True, kw_only=True):
    """What was written where, or removed."""

    scope: Scope
    settings: str | None
    attributes: list[str]
    hooks: list[str]
    notes: list[str] = []
    """What could not be done, and what to do about it."""
    others: list[Other] = []
    """Lines of other tools that do the same; they are left as they are."""


def settings(rules: Rules) -> dict[str, str]:
    """Git's settings, key and value."""
    stripping = msgspec.json.encode(rules).decode()
    return {
        "filter.quire.process": process_command(stripping),
        "filter.quire.clean": clean_command(stripping),
        "filter.quire.smudge": smudge_command(),
        "filter.quire.required": "true",
        "diff.quire.command": diff_command(stripping),
        "diff.quire.textconv": textconv_command(),
        "diff.quire.xfuncname": "^# %%.*$",
        "merge.quire.name": "notebooks, cell by cell",
        "merge.quire.driver": merge_command(),
    }


def install(scope: Scope, rules: Rules, *, attributes: Path | None = None, generate: bool = True) -> InstalledFiles:
    """Write settings, attributes and hooks. Again changes nothing, or what is asked for differently."""
    strip(Sheet(), rules)  # rules that make no sense are told now, not at the next `git add`
    repository = the_repository() if scope == "local" else None
    file = attributes.absolute() if attributes else _place(scope, repository)
    made = [*_missing(settings_file(scope)), *_missing(file)]
    for key, value in settings(rules).items():
        git("config", f"--{scope}", "--replace-all", key, value)
    _install_attributes(scope, file, asked=attributes is not None, shared=file == shared_attributes(repository))
    hooks, notes = _install_hooks(repository, made, generate=generate)
    _note(scope, made)
    return InstalledFiles(
        scope=scope,
        settings=str(settings_file(scope)),
        attributes=[str(file)],
        hooks=hooks,
        notes=notes,
        others=find_others(repository),
    )


def uninstall(scope: Scope) -> InstalledFiles:
    """Remove settings, attributes and hooks of ours, and what was made for them."""
    repository = the_repository() if scope == "local" else None
    made = _made(scope)
    attributes = [file for file in attributes_files(scope) if _remove_block(file, made)]
    hooks = [file for file in hook_files(repository) if _remove_block(file, made)]
    known = [not attempt("config", f"--{scope}", "--remove-section", section).returncode for section in SECTIONS]
    if repository is not None and not attempt("show-ref", "--verify", _NOTES).returncode:
        git("update-ref", "-d", _NOTES)
    # The deepest first: a folder goes when nothing is in it any more.
    for path in sorted(made, reverse=True):
        _remove_empty(path)
    return InstalledFiles(
        scope=scope,
        settings=str(settings_file(scope)) if any(known) else None,
        attributes=list(map(str, attributes)),
        hooks=list(map(str, hooks)),
        others=find_others(repository),
    )


# ---- Attributes


def attributes_files(scope: Scope) -> list[Path]:
    """The files that `install` put attributes into."""
    files = (attributes_file(scope), *map(Path, setting(_WHERE, scope)))
    return [file for file in dict.fromkeys(files) if has_block(_text(file))]


def _place(scope: Scope, repository: Repository | None) -> Path:
    """Where attributes are already, or else where they belong."""
    ours = attributes_files(scope)
    return ours[0] if ours else shared_attributes(repository) or attributes_file(scope)


def shared_attributes(repository: Repository | None) -> Path | None:
    """The attributes that somebody committed for everybody."""
    file = repository.top / ".gitattributes" if repository else None
    return file if file and has_block(_text(file)) else None


def _install_attributes(scope: Scope, file: Path, *, asked: bool, shared: bool) -> None:
    for old in attributes_files(scope):
        if old != file:
            _remove_block(old, _made(scope))
    if asked:
        git("config", f"--{scope}", "--replace-all", _WHERE, str(file))
    if asked or not shared:
        _rewrite(file, with_block(_text(file), ATTRIBUTES))


# ---- Hooks


def hook_files(repository: Repository | None) -> list[Path]:
    """The hooks that lines of ours are in."""
    files = [repository.hooks / name for name in HOOKS] if repository else []
    return [file for file in files if has_block(_text(file))]


def _install_hooks(repository: Repository | None, made: list[Path], *, generate: bool) -> tuple[list[str], list[str]]:
    """Write the hooks, and say which could not be written."""
    if not generate:
        for file in hook_files(repository):
            _remove_block(file, _made("local"))
        return [], []
    if repository is None:
        return [], ["Hooks belong to a repository: run `quire git install` in each that has notebooks/ with scripts."]
    if _is_shared(repository):
        told = f"{repository.hooks} (core.hooksPath) serves other repositories too: the hooks were left out."
        return [], [f"{told} Call `{_hook_line('NAME')}` from yours, NAME being {', '.join(HOOKS)}."]
    hooks: list[str] = []
    notes: list[str] = []
    for name in HOOKS:
        file = repository.hooks / name
        if fault := _hook_fault(file):
            notes.append(f"{file} {fault}: it was left as it is. Call `{_hook_line(name)}` from it.")
            continue
        made += _missing(file)
        text = _text(file) or "#!/bin/sh\n"
        first = text[: text.find("\n") + 1] or text if text.startswith("#!") else ""
        # Above what is there: many a hook leaves before its last line.
        _rewrite(file, with_block(text, _hook_line(name), below=first), executable=not file.exists())
        hooks.append(str(file))
    return hooks, notes


def _is_shared(repository: Repository) -> bool:
    folder = repository.hooks.resolve()
    return not any(folder.is_relative_to(root.resolve()) for root in (repository.common, repository.top))


def _hook_fault(file: Path) -> str | None:
    """Why lines of ours cannot be put into a hook."""
    if not file.exists():
        return None
    if not file.stat().st_mode & 0o100:
        return "is not executable, so git does not call it"
    text = without_block(_text(file))
    return None if not text.startswith("#!") or _SHELL.match(text) else "is no shell script"


def _hook_line(name: str) -> str:
    """What a hook calls; nothing where there are no notebooks or, any more, no quire. It never fails."""
    python = shlex.quote(sys.executable)
    call = shlex.join(python_command("quire.git", "hook", name))
    # Most commits change no notebook, and should not wait for a Python that finds that out.
    unless = " && ! git diff --cached --quiet -- notebooks" if name == "pre-commit" else ""
    return f'[ -d notebooks ] && [ -x {python} ]{unless} && {call} "$@" </dev/null || :'


# ---- Files


def _text(file: Path) -> str:
    """What the file says, byte for byte; nothing when it is not there."""
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Unavailable(f"{file} cannot be read: {error.strerror}.") from error


def _rewrite(file: Path, text: str, *, executable: bool = False) -> None:
    if file.exists() and _text(file) == text:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{file.parent} cannot be made: {error.strerror}.") from error
    with writing(file) as sink:
        sink.write(text.encode("utf-8", "surrogateescape"))
    if executable:
        file.chmod(file.stat().st_mode | 0o111)


def _missing(path: Path) -> Iterator[Path]:
    """The path and the folders above it that are not there."""
    while not path.exists():
        yield path
        path = path.parent


def _note(scope: Scope, made: list[Path]) -> None:
    """Keep in mind what had to be made, from the first time on."""
    folder = settings_file(scope).parent
    known = _made(scope)
    for path in dict.fromkeys(made):
        if path not in known:
            # A repository may be moved.
            told = path.relative_to(folder) if path.is_relative_to(folder) else path
            git("config", f"--{scope}", "--add", _MADE, str(told))


def _made(scope: Scope) -> list[Path]:
    folder = settings_file(scope).parent
    return [folder / told for told in setting(_MADE, scope)]


def _remove_block(file: Path, made: list[Path]) -> bool:
    """Take our lines out of the file, and the file away if there was none before."""
    text = without_block(_text(file))
    if file in made and text in ("", "#!/bin/sh\n"):
        file.unlink()
    else:
        _rewrite(file, text)
    return True


def _remove_empty(path: Path) -> None:
    try:
        if path.is_dir():
            path.rmdir()
        elif path.is_file() and not path.stat().st_size:
            path.unlink()
    except OSError:
        pass  # somebody put something there meanwhile: it is theirs now
