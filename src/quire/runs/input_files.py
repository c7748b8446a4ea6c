"""The files that a notebook declares to read, found before its run begins.

They are declared under `inputs` in the frontmatter or metadata, or in the `# /// script` block of a cell
under `[tool.quire]`. A path may have parameters in it, `{month}`, and may be a pattern, `data/*.csv`.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ..actors.runtime.run_environment import InputPath
from ..connection import find_folder, new_folder
from ..core.errors import BadInput
from ..core.results import script_table
from ..core.sheet.sheet import Sheet
from ..core.values import Json
from .locations import fill_path

KEY = "inputs"
"""The key in the metadata, and in the script block."""
MOST_FILES = 1000
"""Past this a folder or a pattern is refused: a record names each file."""
_PATTERN = frozenset("*?[")


def declared_inputs(sheet: Sheet) -> tuple[str, ...]:
    """Return the paths that a notebook declares, as they are written; both places together."""
    return tuple(dict.fromkeys((*_paths(_in_script(sheet)), *_paths(sheet.ours.get(KEY)))))


def _in_script(sheet: Sheet) -> Json:
    table: Any = script_table(sheet)
    for name in ("tool", "quire"):
        table = cast("dict[str, Any]", table).get(name, {})
        if not isinstance(table, dict):
            return None
    return cast("dict[str, Any]", table).get(KEY)


def _paths(said: Json) -> tuple[str, ...]:
    if said is None:
        return ()
    paths = cast("list[Any]", said) if isinstance(said, list) else [said]
    for path in paths:
        if not isinstance(path, str) or not path.strip() or "\0" in path:
            raise BadInput(f"`{KEY}` is a list of paths, such as [data/sales.csv]; {path!r:.80} is none.")
    return tuple(cast("list[str]", paths))


def find_inputs(
    declared: Iterable[str], values: Mapping[str, Any], cwd: Path, run: str, now: dt.datetime
) -> tuple[InputPath, ...]:
    """Return the declared files, or say which is missing or outside of the project.

    Paths begin at `cwd`, where the cells run, and are recorded from the folder of the project on.
    """
    paths = tuple(declared)
    if not paths:
        return ()
    project = project_folder(cwd)
    found: dict[str, InputPath] = {}
    for path in paths:
        for file in _files(path, values, cwd, run, now):
            name = _name(path, file, project)
            found[name] = InputPath(place=file, name=name)
        if len(found) > MOST_FILES:
            raise BadInput(f"`{KEY}` names {path!r}, with which there are more than {MOST_FILES:,} files. Name fewer.")
    return tuple(found[name] for name in sorted(found))


def project_folder(cwd: Path) -> Path:
    """The folder of the project that a folder is in: the one with `.quire/`, else with `.git` or `pyproject.toml`."""
    here = cwd.resolve()
    return (find_folder(here) or new_folder(here)).parent


def _files(path: str, values: Mapping[str, Any], cwd: Path, run: str, now: dt.datetime) -> Iterator[Path]:
    if not (cwd / path).exists():
        path = fill_path(path, values, run=run, now=now)
    place = cwd / path
    if place.is_file():
        yield place
    elif place.is_dir():
        yield from _below(path, place)
    elif _PATTERN & set(path) and not Path(path).is_absolute():
        yield from _matching(path, cwd)
    elif os.path.lexists(place) and place.exists():
        raise BadInput(f"`{KEY}` names {path!r}, which is neither a file nor a folder.")
    else:
        raise BadInput(
            f"`{KEY}` names {path!r}, which is not in {cwd}, where the cells run. "
            "Put the file there, correct the path, or start the run in the folder that the path begins at."
        )


def _below(path: str, folder: Path) -> Iterator[Path]:
    """The files below a folder; hidden ones are not data."""
    count = 0
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for file in files:
            if not file.startswith(".") and (count := count + 1):
                yield Path(at, file)
        if count > MOST_FILES:
            raise BadInput(f"`{KEY}` names the folder {path!r}, which has more than {MOST_FILES:,} files. Name fewer.")


def _matching(pattern: str, cwd: Path) -> Iterator[Path]:
    try:
        files = [place for place in cwd.glob(pattern) if place.is_file()]
    except (ValueError, NotImplementedError) as error:
        raise BadInput(f"`{KEY}`: {pattern!r} is no pattern: {error}.") from None
    if not files:
        raise BadInput(f"`{KEY}` names {pattern!r}, and no file in {cwd} is called like that.")
    yield from files


def _name(path: str, file: Path, project: Path) -> str:
    """The path from the folder of the project on, links followed: nothing outside of it is read for a record."""
    place = file.resolve()
    if not place.is_relative_to(project):
        raise BadInput(
            f"`{KEY}` names {path!r}, which leads out of the project ({project}). "
            "A record names no other places of the machine: copy the file into the project, or do not declare it."
        )
    return place.relative_to(project).as_posix()
